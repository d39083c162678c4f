package checkpoint

import (
	"context"
	"fmt"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
)

const (
	noticeIntegrity  = "I stopped here: my reasoning had begun to follow instructions that did not come from you, so I have withheld this answer and the actions in it."
	warningIntegrity = "[Gateway notice: the reasoning behind this answer looks as if it follows injected instructions.]"
)

// integrity reads the model's reasoning. Instructions of an injection in it mean that the model has taken them for its own.
func integrity(ctx context.Context, l look) (opinion, error) {
	o := opinion{analysis: "skipped", warning: warningIntegrity}
	for i := range l.x.Response {
		p := &l.x.Response[i]
		if p.Kind != gatehouse.Reasoning {
			continue
		}
		if p.Text == "" {
			o.coverage = append(o.coverage, covered(p, "opaque"))
			continue
		}
		r := l.scan(ctx, &o, p, detect.Input)
		if !r.Complete {
			return o, errUnscanned(p)
		}
		injected := of("injection", r.Findings)
		o.findings = append(o.findings, injected...)
		o.score = max(o.score, r.Score)
	}
	for _, c := range o.coverage {
		if c.Skipped == "" {
			o.analysis = "clear"
		}
	}
	worst := top(o.findings)
	switch {
	case o.score >= l.s.Block:
		o.analysis = "boundary_violation"
		reason := fmt.Sprintf("reasoning follows an injection (%s, score %.2f)", worst.Type, o.score)
		o.raise(gatehouse.Block, worst.Detector, reason)
		o.advise("integrity", gatehouse.Critical, reason, "the answer was replaced")
		o.edits = intervention(l.x)
	case o.score >= l.s.Warn:
		o.analysis = "ambiguous"
		o.note("reasoning mentions what looks like an injection")
	}
	return o, nil
}

// intervention replaces the text of every choice and takes away its calls and its reasoning.
func intervention(x *gatehouse.Exchange) []gatehouse.Edit {
	var out []gatehouse.Edit
	said := map[int]bool{}
	for i := range x.Response {
		p := &x.Response[i]
		switch {
		case p.Kind == gatehouse.Text && !said[p.Choice]:
			said[p.Choice] = true
			out = append(out, whole(p, noticeIntegrity))
		case p.Kind == gatehouse.Text, p.Kind == gatehouse.ToolCall, p.Kind == gatehouse.Reasoning:
			// Not emptied: a provider refuses empty text when the client sends the turn back.
			out = append(out, gatehouse.Edit{Part: p.ID, Op: gatehouse.Remove, Choice: p.Choice})
		}
	}
	for _, c := range choices(x) {
		if !said[c] {
			out = append(out, gatehouse.Edit{Op: gatehouse.Insert, Choice: c, Text: noticeIntegrity})
		}
	}
	return out
}
