package conformance_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/agent"
	"github.com/gatehouse-gateway/gatehouse/internal/header"
)

// loop is the SDK's agent loop. It makes its own conversation: what a case says of the assistant's past, its model says here, and
// what tools have returned, tools return.
type loop struct{}

func (loop) Name() string { return "sdk/agent" }

// Plays reports whether a loop can come to the case's exchanges: one user, one answer at a time, tools of its own.
func (loop) Plays(c *testcase) bool {
	_, _, ok := scenes(c)
	return ok && guarded{}.Plays(c)
}

// Ends reports that a loop may end before the case does: after a call that waits, or was refused, it goes another way than a client
// that is told so by text.
func (loop) Ends() bool { return true }

// scene is what a user says, and what the model answers until it has done with it.
type scene struct {
	prompt  string
	answers []scripted
}

type scripted struct {
	model
	turn int // of the case; -1: its past
}

// scenes are a case as a loop plays it, and what its tools return, by the ids of calls.
func scenes(c *testcase) (list []scene, results map[string]string, ok bool) {
	results = map[string]string{}
	for i, turn := range c.turns {
		said := turn.conversation
		if said.Resent || said.N > 1 || slices.ContainsFunc(said.Tools, func(t tool) bool { return t.Hosted }) {
			return nil, nil, false
		}
		for _, m := range said.Messages {
			switch {
			case m.Role == "user" && m.Parts == nil && m.Text != "" && (len(list) == 0 || len(list[len(list)-1].answers) > 0):
				list = append(list, scene{prompt: m.Text})
			case m.Role == "assistant" && len(list) > 0:
				at := &list[len(list)-1]
				at.answers = append(at.answers, scripted{model{Text: m.Text, Reasoning: m.Reasoning, Calls: m.Calls}, -1})
			case m.Role == "tool" && len(list) > 0:
				results[m.Call] = m.Text
			default:
				return nil, nil, false
			}
		}
		if len(list) == 0 {
			return nil, nil, false
		}
		at := &list[len(list)-1]
		at.answers = append(at.answers, scripted{turn.model, i})
	}
	return list, results, true
}

var errScriptOver = errors.New("the case says no more")

// Run plays the scenes as far as a loop comes.
func (loop) Run(t *testing.T, c *testcase, with equipment) (outcomes []outcome) {
	list, results, _ := scenes(c)
	seen := &observed{Checker: open(t, c, with).Inside("")}
	cfg := agent.Config{Checker: seen, System: c.turns[0].conversation.System, Session: c.turns[0].conversation.Session, Tools: c.tools(results)}
	var run *agent.State
	for _, s := range list {
		seen.exchanges, cfg.Prompt = nil, s.prompt
		answered := 0
		cfg.Model = agent.ModelFunc(func(context.Context, agent.Request) (agent.Answer, error) {
			if answered++; answered > len(s.answers) {
				return agent.Answer{}, errScriptOver
			}
			return s.answers[answered-1].spoken(), nil
		})
		var r agent.Result
		var err error
		if run == nil {
			r, err = agent.Run(t.Context(), cfg)
		} else {
			r, err = agent.Continue(t.Context(), cfg, run)
		}
		if err != nil && !errors.Is(err, errScriptOver) && gatehouse.AsFailure(err).Status != http.StatusServiceUnavailable {
			t.Fatal(err)
		}
		for i, a := range s.answers {
			if i < len(seen.exchanges) && a.turn >= 0 {
				c.undeclare(seen.exchanges[i])
				outcomes = append(outcomes, observe(seen.exchanges[i], i < answered))
			}
		}
		if run = r.Run; err != nil || len(seen.exchanges) != len(s.answers) || r.Status != agent.Done && r.Status != agent.Stopped {
			break
		}
	}
	if len(outcomes) == 0 {
		t.Skip("the loop does not come to the case's first exchange")
	}
	return outcomes
}

func (m model) spoken() agent.Answer {
	a := agent.Answer{Text: m.Text}
	if m.Reasoning != "" {
		a.Thoughts = []agent.Thought{{Text: m.Reasoning}}
	}
	for _, c := range m.Calls {
		a.Calls = append(a.Calls, agent.Call{ID: c.ID, Tool: c.Name, Arguments: c.Args})
	}
	return a
}

// tools are those that the case declares, and those that its model calls without.
func (c *testcase) tools(results map[string]string) map[string]agent.Tool {
	out := map[string]agent.Tool{}
	handler := func(ctx context.Context, _ json.RawMessage) (string, error) {
		return results[agent.CallFrom(ctx).ID], nil
	}
	for _, turn := range c.turns {
		calls := turn.model.Calls
		for _, m := range turn.conversation.Messages {
			calls = append(calls, m.Calls...)
		}
		for _, call := range calls {
			out[call.Name] = agent.Tool{Handler: handler}
		}
	}
	for _, turn := range c.turns {
		for _, tool := range turn.conversation.Tools {
			schema, err := json.Marshal(tool.schema())
			if err != nil {
				panic(err) // it was read from JSON
			}
			out[tool.Name] = agent.Tool{Handler: handler, Description: tool.Description, Schema: schema}
		}
	}
	return out
}

// undeclare takes back what was said of tools that the case does not declare: a loop has to.
func (c *testcase) undeclare(x *gatehouse.Exchange) {
	if slices.ContainsFunc(c.turns, func(u turn) bool { return u.conversation.Tools != nil }) {
		return
	}
	for i, d := range x.Decisions {
		x.Decisions[i].Advisories = slices.DeleteFunc(d.Advisories, func(a gatehouse.Advisory) bool {
			return strings.HasPrefix(a.Text, "a declared tool is outside the policy")
		})
	}
}

// observed keeps the exchanges that a checker has decided.
type observed struct {
	gatehouse.Checker
	exchanges []*gatehouse.Exchange
}

// Finish implements [gatehouse.Checker].
func (o *observed) Finish(ctx context.Context, x *gatehouse.Exchange) error {
	o.exchanges = append(o.exchanges, x)
	return o.Checker.Finish(ctx, x)
}

// observe is what an exchange came to.
func observe(x *gatehouse.Exchange, called bool) outcome {
	o := outcome{header: http.Header{}, status: x.Status, code: x.Error, asked: original(x.Request)}
	header.Set(o.header, x)
	if called {
		o.reached, o.from = []reached{{wording(x.Request), results(x.Request)}}, original(x.Response)
	}
	switch stop := x.Stopped(); {
	case stop != nil && stop.Failed:
		o.status, o.code = http.StatusServiceUnavailable, "checkpoint_unavailable"
	case stop != nil:
		o.answers = []answer{{text: x.Notice()}}
	default:
		o.body, o.answers = wording(x.Response), heardFrom(x.Response, 1)
	}
	return o
}

// original is what parts said before anybody changed them.
func original(parts []gatehouse.Part) []byte {
	list := []string{}
	for _, p := range parts {
		if !p.Inserted {
			list = append(list, p.Original())
		}
	}
	return marshal(list)
}
