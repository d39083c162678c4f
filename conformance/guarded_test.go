package conformance_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/gateway"
	"github.com/gatehouse-gateway/gatehouse/internal/header"
)

// guarded is code that calls its model behind gatehouse.Guard, with the gateway in its own process or on the network.
type guarded struct{ remote bool }

func (s guarded) Name() string {
	if s.remote {
		return "sdk/remote"
	}
	return "sdk/local"
}

// Plays reports whether code can say what the case says: what a provider answers in place of a message, and a format's own bytes,
// do not reach a checkpoint there.
func (s guarded) Plays(c *testcase) bool {
	return !slices.ContainsFunc(c.turns, func(u turn) bool {
		return len(u.conversation.Messages) == 0 || u.model.Status != 0 || u.model.DropAfter != 0
	})
}

// Run plays the turns as an agent's code does that keeps the conversation and its session.
func (s guarded) Run(t *testing.T, c *testcase, with equipment) (outcomes []outcome) {
	checker := s.checker(t, open(t, c, with), with.key)
	var said conversation
	for i := range c.turns {
		turn := &c.turns[i]
		session := turn.conversation.Session
		said = turn.conversation.after(said, outcomes)
		switch {
		case session != "":
		case len(outcomes) == 0 || turn.conversation.Resent:
			session = uuid.NewString()
		default:
			session = outcomes[i-1].header.Get("X-Mnemom-Session")
		}
		outcomes = append(outcomes, guard(t, checker, said, session, turn.model))
	}
	return outcomes
}

func (s guarded) checker(t *testing.T, g *gateway.Gateway, key string) gatehouse.Checker {
	if !s.remote {
		return g.Inside("")
	}
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	return &gatehouse.Client{URL: server.URL, Key: key}
}

// guard is one exchange.
func guard(t *testing.T, checker gatehouse.Checker, c conversation, session string, m model) outcome {
	t.Helper()
	x := &gatehouse.Exchange{ID: uuid.NewString(), Time: time.Now(), Surface: "sdk", Session: session}
	x.Ask(c.asked()...)
	o := outcome{header: http.Header{}, asked: wording(x.Request)}
	err := gatehouse.Guard(t.Context(), checker, x, func(_ context.Context, f *gatehouse.Flow) error {
		o.reached = append(o.reached, reached{wording(x.Request), results(x.Request)})
		x.Status = http.StatusOK
		for i, choice := range append([]model{m}, m.Alternatives...) {
			choice.feed(f, i)
		}
		o.from = wording(x.Response)
		return nil
	})
	header.Set(o.header, x)
	o.status, o.code = x.Status, x.Error
	switch stop := x.Stopped(); {
	case err != nil:
		failed := gatehouse.AsFailure(err)
		o.status, o.code = failed.Status, failed.Code
	case stop != nil && stop.Failed:
		o.status, o.code = http.StatusServiceUnavailable, "checkpoint_unavailable"
	case stop != nil:
		o.answers = []answer{{text: x.Notice()}}
		for range max(c.N, 1) - 1 {
			o.answers = append(o.answers, o.answers[0])
		}
	default:
		o.body, o.answers = wording(x.Response), heardFrom(x.Response, 1+len(m.Alternatives))
	}
	return o
}

// asked are the messages of a conversation as parts, and the tools.
func (c conversation) asked() (parts []gatehouse.Part) {
	if c.System != "" {
		parts = append(parts, gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.System, Text: c.System})
	}
	latest, tools := 0, map[string]string{}
	for i, m := range c.Messages {
		if m.Role == "assistant" {
			latest = i + 1
		}
		for _, call := range m.Calls {
			tools[call.ID] = call.Name
		}
	}
	for i, m := range c.Messages {
		role := gatehouse.Role(m.Role)
		part := gatehouse.Part{Kind: gatehouse.Text, Role: role, Latest: i >= latest}
		if role == gatehouse.Tool {
			part.Kind, part.Tool, part.CallID = gatehouse.ToolResult, tools[m.Call], m.Call
		}
		if m.Reasoning != "" {
			parts = append(parts, gatehouse.Part{Kind: gatehouse.Reasoning, Role: role, Text: m.Reasoning, Signed: true})
		}
		for _, piece := range m.pieced() {
			p := part
			if p.Text = piece.Text; piece.Image != "" {
				p.Kind, p.Media = gatehouse.Opaque, "image"
			}
			parts = append(parts, p)
		}
		for _, call := range m.Calls {
			parts = append(parts, gatehouse.Part{Kind: gatehouse.ToolCall, Role: role, Tool: call.Name, CallID: call.ID, Text: call.Args})
		}
	}
	for _, tool := range c.Tools {
		if tool.Hosted {
			tool.Name = "hosted:" + strings.TrimSuffix(tool.Name, "_options")
		}
		parts = append(parts, gatehouse.Part{Kind: gatehouse.ToolDef, Role: gatehouse.System, Tool: tool.Name, Text: tool.said()})
	}
	return parts
}

// pieced are the parts of a message, or its text as one.
func (m message) pieced() []part {
	if m.Parts == nil && (m.Text != "" || m.Calls == nil) {
		return []part{{Text: m.Text}}
	}
	return m.Parts
}

// feed tells the flow what the model says.
func (m model) feed(f *gatehouse.Flow, choice int) {
	say := func(kind gatehouse.Kind, text string) {
		if text == "" {
			return
		}
		id := f.Open(gatehouse.Part{Kind: kind, Role: gatehouse.Assistant, Choice: choice})
		for piece := range strings.SplitAfterSeq(text, " ") {
			f.Text(id, piece)
		}
		f.Close(id)
	}
	say(gatehouse.Reasoning, m.Reasoning)
	say(gatehouse.Text, m.Text)
	for _, c := range m.Calls {
		f.Close(f.Open(gatehouse.Part{Kind: gatehouse.ToolCall, Role: gatehouse.Assistant, Tool: c.Name, CallID: c.ID, Text: c.Args, Choice: choice}))
	}
}

// wording is what parts say, as a JSON list, to be compared.
func wording(parts []gatehouse.Part) []byte {
	list := []string{}
	for _, p := range parts {
		if p.Removed {
			p.Text = p.Notice
		}
		list = append(list, p.Text)
	}
	return marshal(list)
}

func results(parts []gatehouse.Part) (list []string) {
	for _, p := range parts {
		if p.Kind == gatehouse.ToolResult {
			list = append(list, p.Text)
		}
	}
	return list
}

// heardFrom are the choices of a response, as the checkpoints left it.
func heardFrom(parts []gatehouse.Part, choices int) []answer {
	list := make([]answer, choices)
	for _, p := range parts {
		a := &list[p.Choice]
		switch {
		case p.Removed:
			a.text += p.Notice
		case p.Kind == gatehouse.Text:
			a.text += p.Text
		case p.Kind == gatehouse.Reasoning:
			a.reasoning += p.Text
		case p.Kind == gatehouse.ToolCall:
			a.calls = append(a.calls, newCall(p.CallID, p.Tool, p.Text))
		}
	}
	return list
}
