package checkpoint

import (
	"context"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
	"github.com/gatehouse-gateway/gatehouse/internal/redact"
)

const warningBack = "[Gateway notice: this answer holds what looks like a secret or personal data.]"

// back reads everything that leaves. Secrets and PII are redacted in text; a call whose arguments hold a secret goes, because
// arguments are never rewritten.
func back(ctx context.Context, l look) (opinion, error) {
	o := opinion{warning: warningBack}
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
		l.withhold(&o, p, r.Findings)
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

// withhold takes secrets and PII out of one part, or the part itself where it cannot be edited.
func (l look) withhold(o *opinion, p *gatehouse.Part, findings []gatehouse.Finding) {
	var out []gatehouse.Finding
	for _, f := range findings {
		action := l.s.private(f)
		if action != "redact" && action != "report" {
			continue
		}
		o.findings = append(o.findings, f)
		if action == "report" || f.Kind == "pii" && p.Kind == gatehouse.ToolCall {
			o.note(found(f, p))
			o.advise("safe_house.dlp", f.Severity, found(f, p), "")
			continue
		}
		out = append(out, f)
	}
	if len(out) == 0 {
		return
	}
	verdict, done := gatehouse.Redact, "redacted"
	switch {
	case p.Kind == gatehouse.ToolCall:
		o.edits = append(o.edits, gatehouse.Edit{Part: p.ID, Op: gatehouse.Remove, Choice: p.Choice,
			Text: refusedCall(p, "its arguments hold a secret")})
		verdict, done = gatehouse.Block, "the call was refused"
	case p.Signed:
		o.edits = append(o.edits, unsign(l.x, p)...)
		done = "dropped with the calls that hang on it"
	default:
		for _, e := range redact.Edits(p.Text, out, redact.Token) {
			e.Part = p.ID
			o.edits = append(o.edits, e)
		}
	}
	for _, f := range out {
		o.raise(verdict, f.Detector, found(f, p))
		o.advise("safe_house.dlp", gatehouse.Critical, found(f, p), done)
	}
}

// unsign drops signed reasoning whole, and the calls of its choice, which the provider would refuse without it.
func unsign(x *gatehouse.Exchange, signed *gatehouse.Part) []gatehouse.Edit {
	out := []gatehouse.Edit{{Part: signed.ID, Op: gatehouse.Remove, Choice: signed.Choice}}
	for i := range x.Response {
		p := &x.Response[i]
		if p.Kind == gatehouse.ToolCall && p.Choice == signed.Choice && !p.Removed {
			out = append(out, gatehouse.Edit{Part: p.ID, Op: gatehouse.Remove, Choice: p.Choice,
				Text: refusedCall(p, "the reasoning behind it holds a secret")})
		}
	}
	return out
}
