package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
)

func policyReplayCommand() *cobra.Command {
	var src auditSource
	var since string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "replay FILE --since TIME",
		Short: "Run recorded tool calls through a candidate policy and print what would change",
		Long: "Asks the policy of a configuration file about the tool calls in the audit chain, and prints for each tool how many calls it\n" +
			"would answer otherwise than the gate did. It reads the chain only, also while a gateway is running.\n\n" +
			"The chain keeps the names of tools, and of arguments no more than hashes. A call is skipped when the candidate's answer depends\n" +
			"on more than the tool: on a condition, or on provenance; the list says which. The others are taken for calls whose arguments can\n" +
			"be read. Calls that a human let through count as flagged, which is what the policy said. Exits 2 when nothing could be replayed.",
		Example: "  gatehouse policy replay candidate.yaml --since 7d\n" +
			"  gatehouse policy replay candidate.yaml --since 2026-03-01 --config gatehouse.yaml --json",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			from, err := sinceTime(since, time.Now())
			if err != nil {
				return exitError{2, err.Error()}
			}
			c, err := loadConfig(args[0], 2)
			if err != nil {
				return err
			}
			p, err := policy.Compile(c.Tools)
			if err != nil {
				return exitError{2, err.Error()}
			}
			st, err := src.open(cmd.Context())
			if err != nil {
				return err
			}
			defer st.Close()
			r := newReplay(p.Replay(), from)
			if err := r.run(cmd.Context(), st); err != nil {
				return auditAnswer(err)
			}
			return r.report(cmd.OutOrStdout(), asJSON)
		},
	}
	cmd.Flags().StringVar(&src.config, "config", "", "configuration file that names the store")
	cmd.Flags().StringVar(&src.store, "store", "sqlite:gatehouse.db", "the store itself")
	cmd.MarkFlagsMutuallyExclusive("config", "store")
	cmd.Flags().StringVar(&since, "since", "", "the oldest calls: 12h or 7d ago, or from a time as in RFC 3339 or a date on")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as a JSON object")
	cmd.MarkFlagRequired("since") //nolint:errcheck // it is there
	return cmd
}

// sinceTime reads a time, a date (in UTC), or a duration back from now.
func sinceTime(text string, now time.Time) (time.Time, error) {
	for _, layout := range [...]string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), nil
		}
	}
	ahead, err := expiry(text, now) // reads the same durations the other way
	if err != nil {
		return time.Time{}, errors.New("--since must be a duration such as 12h or 7d, a time such as 2026-03-01T00:00:00Z, or a date")
	}
	return now.Add(now.Sub(ahead)).UTC(), nil
}

// replay is what became of recorded calls under another policy. Its JSON is what the command prints.
type replay struct {
	Since    time.Time     `json:"since"`
	Calls    int           `json:"calls"`    // that the gate judged
	Replayed int           `json:"replayed"` // of those
	Changed  int           `json:"changed"`  // of those again
	Changes  []replayGroup `json:"changes"`
	Skipped  []replayGroup `json:"skipped"`

	policy  *policy.Replay
	answers map[string]answer // by tool
	groups  map[replayKey]*replayGroup
}

// answer is what the candidate says of a tool.
type answer struct {
	policy.Judgement
	open []string
}

// replayKey is what calls have in common that are counted together.
type replayKey struct {
	tool     string
	from, to gatehouse.Verdict // to is empty for calls that were skipped
}

func newReplay(p *policy.Replay, since time.Time) *replay {
	return &replay{Since: since, Changes: []replayGroup{}, Skipped: []replayGroup{}, policy: p, answers: map[string]answer{}, groups: map[replayKey]*replayGroup{}}
}

// run reads the records from then on.
func (r *replay) run(ctx context.Context, st *store.Store) error {
	oldest, _, err := st.Records(ctx, audit.Filter{Since: r.Since, Limit: 1})
	if err != nil || len(oldest) == 0 {
		return err
	}
	for e, err := range st.Entries(ctx, oldest[0].Seq) {
		if err != nil {
			return err
		}
		record, err := e.Decode()
		if err != nil {
			return err
		}
		if !record.Time.Before(r.Since) {
			r.record(record)
		}
	}
	for _, g := range r.groups {
		if g.To == "" {
			r.Skipped = append(r.Skipped, *g)
		} else {
			r.Changes = append(r.Changes, *g)
			r.Changed += g.Calls
		}
	}
	for _, list := range [...][]replayGroup{r.Changes, r.Skipped} {
		slices.SortFunc(list, func(a, b replayGroup) int {
			return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
		})
	}
	return nil
}

// record replays the calls of one exchange. A call that was judged again once a human had answered is one call.
func (r *replay) record(rec audit.Record) {
	last := map[int]gatehouse.CallVerdict{} // by part
	for _, d := range rec.Decisions {
		for _, c := range d.Calls {
			last[c.Part] = c
		}
	}
	for _, c := range last {
		r.call(c, rec.Time)
	}
}

func (r *replay) call(c gatehouse.CallVerdict, at time.Time) {
	r.Calls++
	from := c.Verdict
	if c.Digest != "" {
		from = gatehouse.Flag // and a human's answer made something else of it
	}
	a := r.answer(c.Tool)
	// What no policy can let through stays as it was.
	if c.Rule == "arguments" || c.Rule == "agent" && len(a.open) == 0 && from.Stricter(a.Verdict) {
		a = answer{Judgement: policy.Judgement{Verdict: from}}
	}
	if len(a.open) == 0 {
		r.Replayed++
		if a.Verdict == from {
			return
		}
	}
	key := replayKey{c.Tool, from, a.Verdict}
	g := r.groups[key]
	if g == nil {
		g = &replayGroup{Tool: c.Tool, From: from, To: a.Verdict, Rule: a.Rule, Reason: a.Reason, DependsOn: a.open, First: at, Last: at}
		r.groups[key] = g
	}
	g.Calls++
	if at.Before(g.First) {
		g.First = at
	}
	if at.After(g.Last) {
		g.Last = at
	}
}

func (r *replay) answer(tool string) answer {
	a, ok := r.answers[tool]
	if ok {
		return a
	}
	a.Judgement, a.open = r.policy.Judge(tool)
	if strings.HasSuffix(tool, "…") { // as no tool is called
		a = answer{open: []string{"the rest of the name, which was too long to be kept"}}
	}
	r.answers[tool] = a
	return a
}
