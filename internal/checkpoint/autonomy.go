package checkpoint

import (
	"context"
	"fmt"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
)

const warningAutonomy = "[Gateway notice: a tool call in this answer is outside the policy for this agent.]"

// autonomy is the tool-call gate. Before the model it looks at the tools that the request declares, behind it at the calls
// that are about to leave.
func autonomy(ctx context.Context, l look) (opinion, error) {
	if l.x.Answered {
		return calls(ctx, l)
	}
	return declared(l), nil
}

// declared judges tools by name. One that the client runs is only reported, because each call of it will be judged; one
// that the provider runs is called before any gate could see it, so it must be allowed outright.
func declared(l look) opinion {
	o := opinion{warning: warningAutonomy}
	for i := range l.x.Request {
		p := &l.x.Request[i]
		if p.Kind != gatehouse.ToolDef {
			continue
		}
		j := l.s.Policy.JudgeDeclared(p.Tool)
		switch {
		case j.Verdict == gatehouse.Allow || j.Verdict == gatehouse.Flag && !p.Hosted():
		case p.Hosted():
			o.stop = true
			o.raise(gatehouse.Block, j.Rule, "a tool that the provider runs is not allowed: "+j.Reason)
			o.advise("autonomy.policy", gatehouse.Critical, "a declared tool that the provider runs is outside the policy ("+j.Rule+")", "")
		default:
			o.advise("autonomy.policy", gatehouse.Warn, "a declared tool is outside the policy ("+j.Rule+")", "")
		}
	}
	return o
}

func calls(ctx context.Context, l look) (opinion, error) {
	o := opinion{warning: warningAutonomy}
	var around *policy.Call
	for i := range l.x.Response {
		p := &l.x.Response[i]
		if p.Kind != gatehouse.ToolCall || p.Removed || p.Hosted() {
			continue
		}
		if around == nil {
			known, err := l.surroundings(ctx)
			if err != nil {
				return o, fmt.Errorf("what is known around a call: %w", err)
			}
			around = &known
		}
		c := *around
		c.Tool, c.Args, c.Freeform = p.Tool, p.Text, p.Media == "freeform"
		j := l.s.Policy.Judge(c)
		o.calls = append(o.calls, gatehouse.CallVerdict{Part: p.ID, Tool: clip(p.Tool), CallID: clip(p.CallID),
			Verdict: j.Verdict, Rule: j.Rule, Reason: j.Reason})
		if j.Verdict == gatehouse.Allow {
			continue
		}
		o.raise(j.Verdict, j.Rule, j.Reason)
		o.edits = append(o.edits, gatehouse.Edit{Part: p.ID, Op: gatehouse.Remove, Choice: p.Choice, Text: refusal(p, j)})
		o.advise("autonomy.policy", gatehouse.Warn, "a tool call was outside the policy: "+string(j.Verdict)+" ("+j.Rule+")", "withheld")
	}
	return o, nil
}

// refusal says what became of a call that policy does not let through.
func refusal(p *gatehouse.Part, j policy.Judgement) string {
	if j.Verdict == gatehouse.Flag {
		return "[The call to the tool " + toolName(p.Tool) + " was withheld by the gateway: it needs a human's approval (" + j.Reason + "), and approvals are not available here. The tool did not run.]"
	}
	return refusedCall(p, j.Reason)
}

// refusedCall is the text that stands where a refused call stood.
func refusedCall(p *gatehouse.Part, why string) string {
	return "[The call to the tool " + toolName(p.Tool) + " was refused by the gateway: " + why + ". The tool did not run.]"
}

// toolName keeps the name of a tool to what a name may hold: it comes from the model.
func toolName(name string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("_-./:", r):
			return r
		}
		return -1
	}, name)
	return clean[:min(len(clean), 64)]
}
