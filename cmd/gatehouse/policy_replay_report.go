package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
)

// replayGroup is calls of one tool that would change alike, or that were skipped.
type replayGroup struct {
	Tool      string            `json:"tool"`
	From      gatehouse.Verdict `json:"from"`
	To        gatehouse.Verdict `json:"to,omitempty"`
	Calls     int               `json:"calls"`
	Rule      string            `json:"rule,omitempty"` // of the candidate
	Reason    string            `json:"reason,omitempty"`
	DependsOn []string          `json:"depends_on,omitempty"` // why they were skipped
	First     time.Time         `json:"first"`
	Last      time.Time         `json:"last"`
}

// report prints what was found out. When that is nothing, the answer is no answer.
func (r *replay) report(w io.Writer, asJSON bool) error {
	if err := r.write(w, asJSON); err != nil {
		return err
	}
	switch {
	case r.Calls == 0:
		return exitError{2, "no tool call was judged since " + r.Since.Format(time.RFC3339)}
	case r.Replayed == 0:
		return exitError{2, "nothing could be replayed: what the policy says depends on more than the chain holds"}
	}
	return nil
}

func (r *replay) write(w io.Writer, asJSON bool) error {
	if asJSON {
		return writeJSON(w, r)
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(r.Changes) > 0 {
		fmt.Fprintln(tw, "TOOL\tFROM\tTO\tCALLS\tRULE\tFIRST\tLAST")
	}
	for _, g := range r.Changes {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", printable(cmp.Or(g.Tool, "-")), g.From, g.To, g.Calls, printable(g.Rule), g.First.UTC().Format(time.RFC3339), g.Last.UTC().Format(time.RFC3339))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, g := range r.Skipped {
		fmt.Fprintf(w, "skipped: %s, calls: %d, now %s: it depends on %s\n", printable(g.Tool), g.Calls, g.From, printable(strings.Join(g.DependsOn, ", ")))
	}
	_, err := fmt.Fprintf(w, "calls: %d, replayed: %d, changed: %d, skipped: %d\n", r.Calls, r.Replayed, r.Changed, r.Calls-r.Replayed)
	return err
}
