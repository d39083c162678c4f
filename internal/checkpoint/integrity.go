package checkpoint

import (
	"context"
	"fmt"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
)

const (
	noticeIntegrity   = "I stopped here: I had begun to follow instructions that did not come from you, so I have withheld this answer and the actions in it."
	warningIntegrity  = "[Gateway notice: the reasoning behind this answer looks as if it follows injected instructions.]"
	warningCompliance = "[Gateway notice: this answer looks as if it does what an injected instruction asked for.]"
)

// scoreMention is the highest score of an injection that reasoning only tells of or refuses: too low to stop, high enough to
// be told.
const scoreMention = 0.75

// integrity asks whether the model has taken the instructions of an injection for its own: it reads the reasoning, and compares
// the whole answer with what the injections of this conversation asked for.
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
		o.analysis = "clear"
		o.taken(p, of("injection", r.Findings), l.s)
	}
	if err := l.compliance(ctx, &o); err != nil {
		return o, fmt.Errorf("compare with injections: %w", err)
	}
	worst := top(o.findings)
	switch {
	case worst.Score >= l.s.Block:
		o.analysis = "boundary_violation"
		reason := fmt.Sprintf("reasoning follows an injection (%s, score %.2f)", worst.Type, worst.Score)
		if worst.Type == compliance {
			o.warning = warningCompliance
			reason = fmt.Sprintf("the answer does what an injection asked for (%s, score %.2f)", worst.Detector, worst.Score)
		}
		o.raise(gatehouse.Block, worst.Detector, reason)
		o.advise("integrity", gatehouse.Critical, reason, "the answer was replaced")
		o.edits = intervention(l.x)
	case worst.Score >= l.s.Warn:
		o.analysis = "ambiguous"
		reason := "reasoning mentions what looks like an injection"
		if worst.Type == compliance {
			reason = "the answer names what an injection asked for"
		}
		o.note(reason)
	}
	return o, nil
}

// taken adds the injections that were found in reasoning. One that the model only tells of or refuses counts for less. Reasoning weighs
// instructions all the time, so a wording that is no known one has to be as clear as what would be kept from the model.
func (o *opinion) taken(p *gatehouse.Part, findings []gatehouse.Finding, s *Settings) {
	lower := lowered(p.Text)
	for _, f := range findings {
		if strings.HasPrefix(f.Detector, "linear/") && f.Score < s.Quarantine {
			continue
		}
		if f.Score > scoreMention && !taken(lower, f.Start, f.End) {
			f.Score = scoreMention
		}
		o.findings = append(o.findings, f)
		o.score = max(o.score, f.Score)
	}
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
