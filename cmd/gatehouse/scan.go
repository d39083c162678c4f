package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
)

// maxText bounds a text and a row, in bytes, as the default limits.body bounds a request.
const maxText = 32 << 20

func scanCommand() *cobra.Command {
	var s scan
	var kind string
	var names []string
	cmd := &cobra.Command{
		Use:   "scan [FILE|-]",
		Short: "Scan one text, or many as JSON lines",
		Long: "Prints the injection score, the verdict by that score alone (allow, warn, quarantine or block, at the default\n" +
			"thresholds) and the findings. Exits 1 when the verdict on the one text is block. With --jsonl, reads rows\n" +
			`{"id","text","kind"?,"tool"?} and writes, in order, {"id","score","verdict","findings":[…]}.`,
		Example: "  echo 'Ignore all previous instructions.' | gatehouse scan\n" +
			"  gatehouse scan page.html --kind tool_result --json\n" +
			"  gatehouse scan --jsonl rows.jsonl --detectors patterns",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if s.kind, err = channel(kind); err != nil {
				return err
			}
			if s.set, err = chooseDetectors(names, cmd.ErrOrStderr()); err != nil {
				return err
			}
			in, err := openInput(cmd, args)
			if err != nil {
				return exitError{2, err.Error()}
			}
			defer in.Close()
			if s.jsonl {
				return s.rows(cmd.Context(), in, cmd.OutOrStdout())
			}
			return s.text(cmd.Context(), in, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&kind, "kind", string(detect.Input), "what the text is: input, tool_result or output")
	cmd.Flags().StringSliceVar(&names, "detectors", nil, "stages to run: patterns, linear, hidden, exfiltration, secrets, pii, model (default all)")
	cmd.Flags().BoolVar(&s.jsonl, "jsonl", false, "read and write JSON lines")
	cmd.Flags().BoolVar(&s.json, "json", false, "print JSON")
	return cmd
}

// openInput opens the file that the arguments name, or standard input.
func openInput(cmd *cobra.Command, args []string) (io.ReadCloser, error) {
	if len(args) == 0 || args[0] == "-" {
		return io.NopCloser(cmd.InOrStdin()), nil
	}
	return os.Open(args[0])
}

// channel reads a kind as users write it.
func channel(kind string) (detect.Channel, error) {
	c := detect.Channel(kind)
	if !slices.Contains([]detect.Channel{detect.Input, detect.ToolResult, detect.Output}, c) {
		return "", exitError{2, fmt.Sprintf("kind %q is none of input, tool_result and output", kind)}
	}
	return c, nil
}

// chooseDetectors is the set of the named stages; all of them when none is named. A transformer that is not built in, or that this CPU is too
// slow for, is left out with a warning, unless nothing would be left.
func chooseDetectors(names []string, warnings io.Writer) (*detect.Set, error) {
	set, err := detect.Default()
	if err != nil || len(names) == 0 {
		return set, err
	}
	var have, missing []string
	for _, name := range names {
		switch name {
		case "patterns":
			have = append(have, "patterns", "hidden") // hidden text is the patterns' other half
		case "model":
			if why := set.Without(); why != "" {
				missing = append(missing, name)
				continue
			}
			have = append(have, name)
		default:
			have = append(have, name)
		}
	}
	without := "not available here: " + strings.Join(missing, ", ")
	if len(have) == 0 {
		return nil, exitError{2, "detectors " + without}
	}
	if len(missing) > 0 {
		fmt.Fprintln(warnings, "gatehouse: scanning without detectors "+without)
	}
	slices.Sort(have)
	only, err := set.Only(slices.Compact(have)...)
	if err != nil {
		return nil, exitError{2, err.Error()}
	}
	return only, nil
}

// scan is one run of the command.
type scan struct {
	set         *detect.Set
	kind        detect.Channel
	jsonl, json bool
}

// scanned is what is written about one text.
type scanned struct {
	ID       json.RawMessage     `json:"id,omitempty"` // as the row has it
	Score    float64             `json:"score"`
	Verdict  string              `json:"verdict"`
	Findings []gatehouse.Finding `json:"findings"`
}

func (s *scan) one(ctx context.Context, t detect.Text) (scanned, error) {
	r := s.set.Scan(ctx, t)
	if !r.Complete {
		return scanned{}, exitError{2, "the scan was interrupted"}
	}
	return scanned{
		Score:    r.Score,
		Verdict:  verdictOf(r.Score),
		Findings: append([]gatehouse.Finding{}, r.Findings...), // a list even when it is empty
	}, nil
}

// verdictOf is the verdict by score alone, at the default thresholds.
func verdictOf(score float64) string {
	t := config.Default().Protection.Thresholds
	switch {
	case score >= t.Block:
		return "block"
	case score >= t.Quarantine:
		return "quarantine"
	case score >= t.Warn:
		return "warn"
	}
	return "allow"
}

func (s *scan) text(ctx context.Context, in io.Reader, out io.Writer) error {
	data, err := io.ReadAll(io.LimitReader(in, maxText+1))
	if err != nil {
		return exitError{2, err.Error()}
	}
	if len(data) > maxText {
		return exitError{2, "the text is longer than 32 MiB"}
	}
	r, err := s.one(ctx, detect.Text{Channel: s.kind, Text: string(data)})
	if err != nil {
		return err
	}
	if err := s.print(out, r); err != nil {
		return err
	}
	if r.Verdict == "block" {
		return exitError{1, ""}
	}
	return nil
}

func (s *scan) print(out io.Writer, r scanned) error {
	if s.json {
		return writeJSON(out, r)
	}
	if _, err := fmt.Fprintf(out, "%s %.2f\n", r.Verdict, r.Score); err != nil {
		return err
	}
	for _, f := range r.Findings {
		if _, err := fmt.Fprintf(out, "  %s %s %.2f at bytes %d-%d (%s)\n", f.Kind, f.Type, f.Score, f.Start, f.End, f.Detector); err != nil {
			return err
		}
	}
	return nil
}

// row is one line of input.
type row struct {
	ID   json.RawMessage `json:"id"`
	Text *string         `json:"text"`
	Kind string          `json:"kind"`
	Tool string          `json:"tool"`
}

// rows scans line by line and writes each answer before it reads on.
func (s *scan) rows(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxText)
	n := 0
	for lines.Scan() {
		n++
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		r, err := s.row(ctx, line)
		if err != nil {
			return exitError{2, fmt.Sprintf("line %d: %v", n, err)}
		}
		if err := writeJSON(out, r); err != nil {
			return err
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return exitError{2, fmt.Sprintf("line %d: longer than 32 MiB", n+1)}
	} else if err != nil {
		return exitError{2, err.Error()}
	}
	return nil
}

func (s *scan) row(ctx context.Context, line []byte) (scanned, error) {
	var in row
	if err := json.Unmarshal(line, &in); err != nil {
		return scanned{}, errors.New("not a JSON object with id, text, kind and tool") // the reader's own words quote the text
	}
	if in.Text == nil || len(in.ID) == 0 {
		return scanned{}, errors.New("id or text is missing")
	}
	kind := s.kind
	if in.Kind != "" {
		var err error
		if kind, err = channel(in.Kind); err != nil {
			return scanned{}, err
		}
	}
	r, err := s.one(ctx, detect.Text{Channel: kind, Tool: in.Tool, Text: *in.Text})
	r.ID = append(json.RawMessage(nil), in.ID...)
	return r, err
}
