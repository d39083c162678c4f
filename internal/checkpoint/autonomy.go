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

// calls judges the calls that are about to leave. What waits for a human, or was refused, goes; text stands in its place.
func calls(ctx context.Context, l look) (opinion, error) {
	o := opinion{warning: warningAutonomy}
	list, err := l.judge(ctx)
	if err != nil {
		return o, err
	}
	if l.enforcing {
		if err := l.leave(ctx, list); err != nil {
			return o, err
		}
	}
	for _, c := range list {
		o.calls = append(o.calls, gatehouse.CallVerdict{Part: c.part.ID, Tool: clip(c.part.Tool), CallID: clip(c.part.CallID),
			Verdict: c.Verdict, Rule: c.Rule, Reason: c.Reason, Digest: c.digest,
			Approval: c.answer.Approval, State: string(c.answer.State), Expires: c.answer.Expires})
		switch {
		case c.Verdict != gatehouse.Allow:
			o.raise(c.Verdict, c.Rule, c.Reason)
			o.edits = append(o.edits, gatehouse.Edit{Part: c.part.ID, Op: gatehouse.Remove, Choice: c.part.Choice, Text: l.refusal(c)})
			o.advise("autonomy.policy", gatehouse.Warn, "a tool call was outside the policy: "+string(c.Verdict)+" ("+c.Rule+")", "withheld")
		case c.digest != "":
			o.note(c.Reason)
			o.advise("autonomy.approval", gatehouse.Info, "a flagged tool call was let through: "+c.Rule, "")
		}
	}
	return o, nil
}

// judge asks the policy about each call that is about to leave.
func (l look) judge(ctx context.Context) ([]judged, error) {
	var list []judged
	var known *ambience
	for i := range l.x.Response {
		p := &l.x.Response[i]
		if p.Kind != gatehouse.ToolCall || p.Removed || p.Hosted() && p.Media != gatehouse.LeaveAsked && l.x.Surface == "proxy" {
			continue // a codec says of a call that the provider has run it; elsewhere that is but a name
		}
		if c, left := l.follower.kept(p); left {
			list = append(list, c)
			continue
		}
		if known == nil {
			var err error
			if known, err = l.ambience(ctx); err != nil {
				return nil, fmt.Errorf("what is known around a call: %w", err)
			}
		}
		list = append(list, l.ask(known, p))
	}
	return list, nil
}

// ambience is what the calls of an answer have in common.
type ambience struct {
	around policy.Call                  // what is known around them
	own    map[string]gatehouse.Verdict // the strictest that the agent's own code says of a tool among those that it declares
}

func (l look) ambience(ctx context.Context) (*ambience, error) {
	around, err := l.surroundings(ctx)
	if err != nil {
		return nil, err
	}
	a := &ambience{around, map[string]gatehouse.Verdict{}}
	for i := range l.x.Request {
		if p := &l.x.Request[i]; p.Kind == gatehouse.ToolDef && p.Policy.Stricter(a.own[p.Tool]) {
			a.own[p.Tool] = p.Policy
		}
	}
	return a, nil
}

// ask asks the policy about one call.
func (l look) ask(known *ambience, p *gatehouse.Part) judged {
	c := known.around
	c.Tool, c.Args, c.Freeform, c.Own = p.Tool, p.Text, p.Media == "freeform", known.own[p.Tool]
	return judged{part: p, call: c, Judgement: l.s.Policy.Judge(c)}
}

// refusal says what became of a call that is not let through.
func (l look) refusal(c judged) string {
	switch {
	case c.Verdict != gatehouse.Flag:
		return refusedCall(c.part, c.Reason)
	case c.answer.Approval == "":
		return "[The call to the tool " + toolName(c.part.Tool) + " was withheld by the gateway: it needs a human's approval (" + c.Reason + "). The tool did not run.]"
	}
	return "[The call to the tool " + toolName(c.part.Tool) + " waits for a human's approval (" + c.Reason + "): " + c.answer.Approval +
		", " + l.s.ApprovalURL + "/v1/approvals/" + c.answer.Approval + ". The tool did not run.]"
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
