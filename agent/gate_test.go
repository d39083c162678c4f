package agent_test

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/gatehouse-gateway/gatehouse"
)

// gate is a small checker: it stops users who say ATTACK, cuts POISON out of results, and holds tool calls to what the tools
// declare. What a human has decided stands in answers.
type gate struct {
	mu        sync.Mutex
	answers   map[string]gatehouse.Verdict // call id → allow or block
	exchanges []*gatehouse.Exchange        // finished
	fail      gatehouse.Checkpoint         // cannot decide
	loose     bool                         // judges no call
	violated  bool                         // integrity replaces the answer
}

func (g *gate) Check(_ context.Context, x *gatehouse.Exchange, at gatehouse.Checkpoint) gatehouse.Decision {
	d := gatehouse.Decision{At: at, Mode: gatehouse.Enforce, Verdict: gatehouse.Allow, Would: gatehouse.Allow, Outcome: gatehouse.Pass}
	switch {
	case g.fail == at:
		d.Stop, d.Failed, d.Verdict, d.Outcome = true, true, gatehouse.Block, gatehouse.Enforced
	case at == gatehouse.Front:
		g.front(x, &d)
	case at == gatehouse.Integrity && g.violated:
		d.Verdict, d.Outcome, d.Reason = gatehouse.Block, gatehouse.Enforced, "follows an injection"
		for _, p := range x.Response {
			d.Edits = append(d.Edits, gatehouse.Edit{Part: p.ID, Op: gatehouse.Remove})
		}
		d.Edits = append(d.Edits, gatehouse.Edit{Op: gatehouse.Insert, Text: "I stopped here."})
	case at == gatehouse.Autonomy && x.Answered && !g.loose:
		g.calls(x, &d)
	}
	x.Decisions = append(x.Decisions, d)
	x.Apply(d.Edits)
	return d
}

func (g *gate) front(x *gatehouse.Exchange, d *gatehouse.Decision) {
	for _, p := range x.Request {
		at := strings.Index(p.Text, "POISON")
		switch {
		case p.Skip:
		case p.Role == gatehouse.User && p.Latest && strings.Contains(p.Text, "ATTACK"):
			d.Stop, d.Verdict, d.Outcome, d.Reason = true, gatehouse.Block, gatehouse.Enforced, "suspected injection"
		case p.Kind == gatehouse.ToolResult && at >= 0:
			d.Verdict, d.Outcome = gatehouse.Redact, gatehouse.Enforced
			d.Edits = append(d.Edits, gatehouse.Edit{Part: p.ID, Op: gatehouse.Replace, Start: at, End: at + len("POISON"), Text: "[cut]"})
		}
	}
}

func (g *gate) calls(x *gatehouse.Exchange, d *gatehouse.Decision) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range x.Response {
		if p.Kind != gatehouse.ToolCall {
			continue
		}
		v := gatehouse.CallVerdict{Part: p.ID, Tool: p.Tool, CallID: p.CallID, Verdict: policy(x, p.Tool), Reason: "the tool's own policy"}
		if v.Verdict == gatehouse.Flag {
			v.Approval = "apr-" + p.CallID
			if said := g.answers[p.CallID]; said != "" {
				v.Verdict = said
			}
		}
		if d.Calls = append(d.Calls, v); v.Verdict != gatehouse.Allow {
			d.Outcome = gatehouse.Enforced
			d.Edits = append(d.Edits, gatehouse.Edit{Part: p.ID, Op: gatehouse.Remove, Text: "The call was refused: " + string(v.Verdict)})
		}
	}
}

func policy(x *gatehouse.Exchange, tool string) gatehouse.Verdict {
	for _, p := range x.Request {
		if p.Kind == gatehouse.ToolDef && p.Tool == tool && p.Policy != "" {
			return p.Policy
		}
	}
	return gatehouse.Allow
}

func (g *gate) Finish(_ context.Context, x *gatehouse.Exchange) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.exchanges = append(g.exchanges, x)
	return nil
}

// decide is what a human does.
func (g *gate) decide(call string, v gatehouse.Verdict) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.answers == nil {
		g.answers = map[string]gatehouse.Verdict{}
	}
	g.answers[call] = v
}

// judged are the ids of the calls that an exchange asked about.
func judged(x *gatehouse.Exchange) []string {
	var ids []string
	for _, p := range x.Response {
		if p.Kind == gatehouse.ToolCall {
			ids = append(ids, p.CallID)
		}
	}
	slices.Sort(ids)
	return ids
}
