package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/verdict"
)

// views are the endpoints of the checkpoints, one for each thing that is said: what a user says goes to input, what a tool returned
// to tool-result, and what the model says to output and tool-call.
type views struct{}

func (views) Name() string { return "api/views" }

// Plays reports whether the views can be told what the case says. They know nothing of operators' text, declared tools, several
// answers, reasoning, pictures and what a provider does, and integrity is not theirs.
func (views) Plays(c *testcase) bool {
	return !slices.ContainsFunc(c.turns, func(u turn) bool {
		s := u.conversation
		return s.System != "" || s.Resent || s.N > 1 || u.model.Reasoning != "" || u.model.Status != 0 || u.model.DropAfter != 0 || len(s.Messages) == 0 ||
			!strings.Contains(u.want["sdk"].Verdict, "integrity=pass") ||
			slices.ContainsFunc(s.Tools, func(t tool) bool {
				return t.Hosted || t.Arguments != nil || t.Description != "" && len(t.Description) > 20
			}) ||
			slices.ContainsFunc(s.Messages, func(m message) bool { return m.Parts != nil || m.Reasoning != "" })
	})
}

// TestViews asks the views about everything that a case says, and wants the verdicts that the doors give.
func TestViews(t *testing.T) {
	for _, c := range load(t, "cases") {
		if s := (views{}); s.Plays(c) && c.on(s.Name()) && c.skip == "" {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				s.play(t, c)
			})
		}
	}
}

// viewer is a session of one agent that asks the views.
type viewer struct {
	url, session string
	heard        verdict.Verdicts // the strongest of every checkpoint
	told         []string         // what was asked about
	sent, said   []string         // what goes on, to the model and from it
	calls        []string         // that may run
	waiting      int              // approvals
}

func (s views) play(t *testing.T, c *testcase) {
	server := httptest.NewServer(open(t, c, equipment{store: openStore(t)}))
	t.Cleanup(server.Close)
	v := &viewer{url: server.URL, session: "views"}
	tools := map[string]string{}
	for i := range c.turns {
		turn := &c.turns[i]
		v.told, v.sent, v.said, v.calls, v.waiting = nil, nil, nil, nil, 0
		v.heard = verdict.Verdicts{Front: "pass", Autonomy: "pass", Integrity: "pass", Back: "pass"}
		stopped := false
		for _, m := range turn.conversation.Messages {
			for _, call := range m.Calls {
				tools[call.ID] = call.Name
			}
			stopped = v.hear(t, m, tools) || stopped
		}
		if !stopped {
			v.answer(t, turn.model)
		}
		for _, call := range turn.model.Calls {
			tools[call.ID] = call.Name
		}
		t.Run(fmt.Sprintf("turn %d", i+1), func(t *testing.T) { v.check(t, turn.want["sdk"], stopped) })
	}
}

// hear asks about a message that is to go to the model, and reports whether it may not.
func (v *viewer) hear(t *testing.T, m message, tools map[string]string) (stopped bool) {
	t.Helper()
	v.told = append(v.told, m.Text)
	switch m.Role {
	case "user":
		a := v.ask(t, "input", object{"text": m.Text})
		if a.Verdict == gatehouse.Block {
			return true
		}
		if a.Text != nil {
			m.Text = *a.Text
		}
		v.sent = append(v.sent, m.Text)
	case "tool":
		a := v.ask(t, "tool-result", object{"tool": tools[m.Call], "call_id": m.Call, "result": m.Text})
		v.sent = append(v.sent, texts(a.Result))
	}
	return false
}

// answer asks about what the model says.
func (v *viewer) answer(t *testing.T, m model) {
	t.Helper()
	v.told = append(v.told, m.Text)
	if m.Text != "" {
		v.said = append(v.said, texts(v.ask(t, "output", object{"text": m.Text}).Result))
	}
	for _, c := range m.Calls {
		args := any(c.Args) // a string holds what is no JSON as well
		if json.Valid([]byte(c.Args)) {
			args = json.RawMessage(c.Args)
		}
		switch a := v.ask(t, "tool-call", object{"tool": c.Name, "call_id": c.ID, "arguments": args}); a.Verdict {
		case gatehouse.Allow:
			v.calls = append(v.calls, c.Name)
		case gatehouse.Flag:
			v.waiting++
		}
	}
}

type viewAnswer struct {
	Verdict gatehouse.Verdict
	Text    *string
	Result  json.RawMessage
}

// ask asks one view, and adds its verdicts to those that were heard.
func (v *viewer) ask(t *testing.T, view string, body object) (a viewAnswer) {
	t.Helper()
	body["session"] = v.session
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, v.url+"/v1/checkpoints/"+view, bytes.NewReader(marshal(body)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer key")
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&a); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", view, res.StatusCode, err)
	}
	told, err := verdict.ParseStrict(res.Header.Get(verdict.Header))
	if err != nil {
		t.Error(err)
	}
	for at, now := range map[*verdict.Value]verdict.Value{&v.heard.Front: told.Front, &v.heard.Autonomy: told.Autonomy, &v.heard.Back: told.Back} {
		if gatehouse.Outcome(now).Stronger(gatehouse.Outcome(*at)) {
			*at = now
		}
	}
	return a
}

func (v *viewer) check(t *testing.T, w want, stopped bool) {
	t.Helper()
	same(t, "verdicts", v.heard.String(), w.Verdict)
	same(t, "the model is not to be called", stopped, w.NotCalled)
	holds(t, "what goes to the model", strings.Join(v.sent, "\n"), v.about(w.Sent))
	holds(t, "what leaves", strings.Join(v.said, "\n"), v.about(w.Said))
	same(t, "approvals", v.waiting, w.Approvals)
	if !slices.Equal(v.calls, w.Calls) {
		t.Errorf("calls %q, want %q", v.calls, w.Calls)
	}
}

// about are those of the wanted texts that speak of what was told in this turn: the views do not hear the rest again.
func (v *viewer) about(wanted []string) []string {
	return slices.DeleteFunc(slices.Clone(wanted), func(text string) bool {
		return !strings.Contains(strings.Join(v.told, "\n"), strings.TrimPrefix(text, "!"))
	})
}
