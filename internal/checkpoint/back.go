package checkpoint

import (
	"context"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
	"github.com/gatehouse-gateway/gatehouse/internal/redact"
)

const warningBack = "[Gateway notice: this answer holds what looks like a secret.]"

// back reads everything that leaves. Secrets are redacted in text; a call whose arguments hold one goes, because arguments
// are never rewritten.
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
		secrets := of("secret", r.Findings)
		if len(secrets) == 0 || l.s.Secrets == "off" {
			continue
		}
		o.findings = append(o.findings, secrets...)
		l.withhold(&o, p, secrets)
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

func (l look) withhold(o *opinion, p *gatehouse.Part, secrets []gatehouse.Finding) {
	worst := top(secrets)
	reason := "secret in " + place(p) + " (" + worst.Type + ")"
	switch {
	case l.s.Secrets == "report":
		o.note(reason)
		o.advise("safe_house.dlp", gatehouse.Warn, reason, "")
		return
	case p.Kind == gatehouse.ToolCall:
		text := "[The call to the tool " + toolName(p.Tool) + " was refused by the gateway: its arguments hold a secret. The tool did not run.]"
		o.edits = append(o.edits, gatehouse.Edit{Part: p.ID, Op: gatehouse.Remove, Choice: p.Choice, Text: text})
		o.raise(gatehouse.Block, worst.Detector, reason)
		o.advise("safe_house.dlp", gatehouse.Critical, reason, "the call was refused")
		return
	case p.Signed:
		o.edits = append(o.edits, unsign(l.x, p)...)
		o.raise(gatehouse.Redact, worst.Detector, reason)
		o.advise("safe_house.dlp", gatehouse.Critical, reason, "dropped with the calls that hang on it")
		return
	}
	for _, e := range redact.Edits(p.Text, secrets, redact.Token) {
		e.Part = p.ID
		o.edits = append(o.edits, e)
	}
	o.raise(gatehouse.Redact, worst.Detector, reason)
	o.advise("safe_house.dlp", gatehouse.Critical, reason, "redacted")
}

// unsign drops signed reasoning whole, and the calls of its choice, which the provider would refuse without it.
func unsign(x *gatehouse.Exchange, signed *gatehouse.Part) []gatehouse.Edit {
	out := []gatehouse.Edit{{Part: signed.ID, Op: gatehouse.Remove, Choice: signed.Choice}}
	for _, p := range x.Response {
		if p.Kind == gatehouse.ToolCall && p.Choice == signed.Choice && !p.Removed {
			out = append(out, gatehouse.Edit{Part: p.ID, Op: gatehouse.Remove, Choice: p.Choice,
				Text: "[The call to the tool " + toolName(p.Tool) + " was refused by the gateway: the reasoning behind it holds a secret. The tool did not run.]"})
		}
	}
	return out
}
