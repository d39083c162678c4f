package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
	"github.com/gatehouse-gateway/gatehouse/internal/scorecard"
)

// benchDetect is one run of the command.
type benchDetect struct {
	files, hard, benign []string
	detectors, by       []string
	sample              scorecard.Sample
	times, json         bool
}

func benchDetectCommand() *cobra.Command {
	var b benchDetect
	cmd := &cobra.Command{
		Use:   "detect FILE…",
		Short: "The scorecard of detection on labelled texts",
		Long: `Reads files of JSON lines and scans every text. A row is

  {"text", "label": 0 or 1, "kind"?: "input" or "tool_result", "tool"?, "source"?, "lang"?, "family"?, "carrier"?,
   "payload"?, "spans"?, "hard"?}

Label 1 is an attack. Kind is input where it is missing. The set is the name of the file. attack_type stands in for family,
container for carrier, injected_goal for payload. Spans are [start, end] or {"start", "end"} in characters (code points);
without them payload is looked for in the text: as it is, in one line, or as JSON or HTML would write it. Other fields are
passed over.

Thresholds at 1 % FPR are set for each kind by all benign texts of the files: at most one in a hundred scores above, ties
below; recall counts the attacks above. Where the files have no benign text of a kind, those of --threshold-from stand in.

Hard negatives are the benign rows of --hard and those with "hard": true; of rows that do not say, twins of attacks (twin_of)
and those with hard negative, trigger, look-alike or over-defence in the name of family, attack_type, source or file. They
count as benign everywhere; over-defence is the share of them that reaches warn.

What is cut out of tool results is measured on attacks of kind tool_result whose payload is known: injection findings from
warn up, cut as the gateway cuts them.

Intervals are 95 %: Wilson's for documents, of which ≤ is the upper end; for characters by rows. Scores use all cores;
times are taken in a second pass, one text at a time, after warming up: on one core, and as it is served, where a long text
uses those that are idle.`,
		Example: `  gatehouse bench detect rows.jsonl
  gatehouse bench detect attacks.jsonl --threshold-from benign.jsonl --by kind,lang,family
  gatehouse bench detect rows.jsonl --hard triggers.jsonl --detectors patterns --limit 5000 --json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt)
			defer stop()
			b.files = args
			if err := b.check(); err != nil {
				return err
			}
			return b.run(ctx, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&b.detectors, "detectors", nil, "stages to run, as in gatehouse scan (default all)")
	f.StringSliceVar(&b.by, "by", []string{"set", "kind", "stage"}, "tables to print: "+strings.Join(scorecard.Dimensions(), ", "))
	f.StringArrayVar(&b.hard, "hard", nil, "a further `FILE`, all of whose benign rows are hard negatives")
	f.StringArrayVar(&b.benign, "threshold-from", nil, "a `FILE` of benign texts for the thresholds of kinds of which the others have none")
	f.IntVar(&b.sample.Limit, "limit", 0, "measure a sample of `N` rows (default all)")
	f.Uint64Var(&b.sample.Seed, "seed", 1, "which sample")
	f.BoolVar(&b.times, "times", true, "measure time as well")
	f.BoolVar(&b.json, "json", false, "print JSON")
	return cmd
}

func (b *benchDetect) check() error {
	if len(b.files)+len(b.hard) == 0 {
		return exitError{2, "name at least one file of labelled rows"}
	}
	if b.sample.Limit < 0 {
		return exitError{2, "--limit must not be below 0"}
	}
	for _, by := range b.by {
		if !slices.Contains(scorecard.Dimensions(), by) {
			return exitError{2, fmt.Sprintf("--by %q is none of %s", by, strings.Join(scorecard.Dimensions(), ", "))}
		}
	}
	return nil
}

func (b *benchDetect) run(ctx context.Context, out, progress io.Writer) error {
	set, err := chooseDetectors(b.detectors, progress)
	if err != nil {
		return err
	}
	run, err := b.read()
	if err != nil {
		return exitError{2, err.Error()}
	}
	if run.Stages, err = stagesOf(set); err != nil {
		return err
	}
	run.Scanner = set
	if b.times {
		alone := set.Alone()
		run.Alone, run.Watched = alone, func(watch func(string, time.Duration)) scorecard.Scanner { return alone.Watched(watch) }
	}
	fmt.Fprintf(progress, "measuring: %d rows\n", len(run.Rows))
	card, err := run.Measure(ctx)
	switch {
	case err != nil:
		return exitError{2, "the measurement was interrupted"}
	case b.json:
		return writeJSON(out, card)
	}
	return card.Print(out)
}

// read reads the files. A file that is named twice is read once; as one of --hard, when it is that.
func (b *benchDetect) read() (*scorecard.Run, error) {
	run := &scorecard.Run{Thresholds: scorecard.Thresholds(config.Default().Protection.Thresholds), By: b.by}
	var read []string
	for i, path := range slices.Concat(b.hard, b.files) {
		if slices.Contains(read, path) {
			continue
		}
		read = append(read, path)
		hard := i < len(b.hard)
		err := scorecard.Read(path, func(r scorecard.Row) {
			r.Hard = r.Hard || hard && !r.Attack
			b.sample.Add(r)
		})
		if err != nil {
			return nil, err
		}
	}
	for _, path := range b.benign {
		err := scorecard.Read(path, func(r scorecard.Row) {
			if !r.Attack {
				run.Spare = append(run.Spare, r)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	if run.Rows = b.sample.Rows(); len(run.Rows) == 0 {
		return nil, fmt.Errorf("%s: no rows", strings.Join(read, ", "))
	}
	return run, nil
}

// stagesOf are the parts of a set that find injections by themselves, and all of it but the transformer, to show what that adds.
func stagesOf(set *detect.Set) ([]scorecard.Stage, error) {
	var stages []scorecard.Stage
	for _, parts := range [][]string{{"patterns", "hidden"}, {"linear"}, {"model"}} {
		parts = slices.DeleteFunc(parts, func(name string) bool { return !slices.Contains(set.Names(), name) })
		if len(parts) == 0 {
			continue
		}
		only, err := set.Only(parts...)
		if err != nil {
			return nil, err
		}
		stages = append(stages, scorecard.Stage{Name: parts[0], Scanner: only})
	}
	if names := set.Names(); len(names) > 1 && slices.Contains(names, "model") {
		stages = append(stages, scorecard.Stage{Name: "inline", Scanner: set.Inline()})
	}
	return stages, nil
}
