package checkpoint

import (
	"context"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
)

const warningBack = "[Gateway notice: this answer holds what looks like a secret or personal data.]"

// back reads everything that leaves. Secrets and PII are redacted in text; a call whose arguments hold a secret goes, because
// arguments are never rewritten.
func back(ctx context.Context, l look) (opinion, error) {
	o := opinion{warning: warningBack}
	l.unsigned = map[int]bool{}
	for i := range l.x.Response {
		p := &l.x.Response[i]
		if why := l.unsent(p); why != "" {
			o.coverage = append(o.coverage, covered(p, why))
			if p.Kind == gatehouse.Opaque {
				o.advise("gatehouse.coverage", gatehouse.Info, "parts that cannot be inspected were seen: "+mediaName(p.Media), "")
			}
			continue
		}
		r := l.scan(ctx, &o, p, detect.Output)
		if !r.Complete {
			return o, errUnscanned(p)
		}
		private, err := l.private(ctx, &o, p, r)
		if err != nil {
			return o, err
		}
		l.withhold(&o, p, private)
	}
	return o, nil
}

// unsent says why a part of the response is not scanned; empty when it is.
func (l look) unsent(p *gatehouse.Part) string {
	switch {
	case p.Kind == gatehouse.Opaque:
		return "opaque"
	case p.Removed:
		return "removed"
	case p.Text == "" || p.Inserted:
		return "empty"
	case p.Kind == gatehouse.ToolCall && !l.s.ToolCalls:
		return "off"
	case p.Kind != gatehouse.ToolCall && !l.s.Outgoing:
		return "off"
	}
	return ""
}

// private writes down what was found that policy minds, and returns what shall go: of a text that can be edited as a [sifting],
// which decides the same while a text still grows.
func (l look) private(ctx context.Context, o *opinion, p *gatehouse.Part, r detect.Result) (sifted, error) {
	var out sifted
	for _, f := range r.Findings {
		switch action := l.s.private(f); {
		case action == "report", action == "redact" && f.Kind == "pii" && p.Kind == gatehouse.ToolCall:
			o.reported(f, p)
		case action == "redact":
			out.findings = append(out.findings, f)
		}
	}
	if p.Kind == gatehouse.ToolCall || p.Signed {
		return out, nil
	}
	return l.sift(ctx, o, p, out.findings, r)
}

// reported notes a finding that changes nothing.
func (o *opinion) reported(f gatehouse.Finding, p *gatehouse.Part) {
	o.findings = append(o.findings, f)
	o.note(found(f, p))
	o.advise("safe_house.dlp", f.Severity, found(f, p), "")
}

// withhold takes secrets and PII out of one part, or the part itself where it cannot be edited.
func (l look) withhold(o *opinion, p *gatehouse.Part, out sifted) {
	o.findings = append(o.findings, out.findings...)
	if len(out.findings) == 0 {
		return
	}
	verdict, done := gatehouse.Redact, "redacted"
	switch {
	case p.Kind == gatehouse.ToolCall:
		o.edits = append(o.edits, gatehouse.Edit{Part: p.ID, Op: gatehouse.Remove, Choice: p.Choice,
			Text: refusedCall(p, "its arguments hold a secret")})
		verdict, done = gatehouse.Block, "the call was refused"
	case p.Signed:
		o.edits = append(o.edits, l.unsign(p)...)
		done = "dropped with the calls that hang on it"
	default:
		o.edits = append(o.edits, out.edits...)
	}
	for _, f := range out.findings {
		o.raise(verdict, f.Detector, found(f, p))
		o.advise("safe_house.dlp", gatehouse.Critical, found(f, p), done)
	}
}

// unsign drops signed reasoning whole, and the calls behind it in its choice, which the provider would refuse without it. They go
// with the first of several.
func (l look) unsign(signed *gatehouse.Part) []gatehouse.Edit {
	out := []gatehouse.Edit{{Part: signed.ID, Op: gatehouse.Remove, Choice: signed.Choice}}
	if l.unsigned[signed.Choice] {
		return out
	}
	l.unsigned[signed.Choice] = true
	for i := range l.x.Response {
		p := &l.x.Response[i]
		if p.Kind == gatehouse.ToolCall && p.Choice == signed.Choice && p.ID > signed.ID && !p.Removed {
			out = append(out, gatehouse.Edit{Part: p.ID, Op: gatehouse.Remove, Choice: p.Choice,
				Text: refusedCall(p, "the reasoning behind it holds a secret")})
		}
	}
	return out
}
