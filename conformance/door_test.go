package conformance_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/fake"
)

// dialect is how one provider's format says what a case says.
type dialect interface {
	name() string
	format() string          // of the upstream
	path(stream bool) string // of the gateway, with its query
	model(script fake.Script) http.Handler
	request(c conversation, stream bool) any
	// read reads a whole 200 answer and refuses what the provider's SDKs would stumble over.
	read(body []byte) ([]answer, usage, error)
	readStream(body []byte) ([]answer, usage, error)
	code(body []byte) string // of an error
}

// door is a provider's API at the gateway, streamed or not.
type door struct {
	dialect
	stream bool
	mode   string // of streaming, in the configuration
}

func (d door) Name() string {
	switch {
	case d.array():
		return d.name() + "/array/" + d.mode
	case d.stream:
		return d.name() + "/stream/" + d.mode
	}
	return d.name() + "/whole"
}

// array reports whether the door streams without server-sent events.
func (d door) array() bool {
	g, ok := d.dialect.(gemini)
	return ok && g.array
}

// Run plays the turns as an agent does that believes what it is answered: each turn continues with the answer to the last.
func (d door) Run(t *testing.T, c *testcase, with equipment) []outcome {
	var (
		script  fake.Turn
		reached []reached
	)
	upstream := &chopped{dice: with.dice, next: d.model(func(r fake.Request) fake.Turn {
		reached = append(reached, reachedBy(r))
		return script
	})}
	server := httptest.NewServer(upstream)
	t.Cleanup(server.Close)
	address := serve(t, c, with, d.format(), server.URL, d.mode)
	var (
		outcomes []outcome
		said     conversation
	)
	for i := range c.turns {
		turn := &c.turns[i]
		said = turn.conversation.after(said, outcomes)
		script, reached = d.script(turn), nil
		upstream.last.Reset()
		o := d.ask(t, address+d.path(d.stream), with.key, said.Session, d.body(turn, said))
		o.reached, o.from = reached, bytes.Clone(upstream.last.Bytes())
		if early := d.stream && d.mode == "window" && len(reached) > 0 && o.status == http.StatusOK; o.early != early && d.mode != "auto" {
			t.Errorf("headers before all was decided: %v, want %v", o.early, early)
		}
		if len(reached) > 0 && script.Status < http.StatusBadRequest && script.DropAfter == 0 {
			var err error
			if o.modelSaid, o.modelUsed, err = d.answers(o.from); err != nil {
				t.Fatalf("the case's own model answer: %v", err)
			}
		}
		outcomes = append(outcomes, o)
	}
	return outcomes
}

// after is the conversation of a turn with what was said before, the last answer included.
func (c conversation) after(before conversation, outcomes []outcome) conversation {
	if c.Resent || len(outcomes) == 0 {
		return c
	}
	c.Messages = append(slices.Clone(before.Messages), append(reply(outcomes[len(outcomes)-1]), c.Messages...)...)
	if c.System == "" {
		c.System = before.System
	}
	if c.Tools == nil {
		c.Tools = before.Tools
	}
	if c.Session == "" {
		c.Session = before.Session
	}
	return c
}

func reply(o outcome) []message {
	if len(o.answers) == 0 {
		return nil
	}
	a := o.answers[0]
	return []message{{Role: "assistant", Text: a.text, Reasoning: a.reasoning, Calls: a.calls}}
}

// body is the request: the case's own bytes for this format, else the conversation in its words.
func (d door) body(turn *turn, c conversation) []byte {
	raw, ok := turn.raw[d.name()]["request.json"]
	if !ok {
		return marshal(d.request(c, d.stream))
	}
	stream := "false"
	if d.stream {
		stream = "true"
	}
	return bytes.ReplaceAll(raw, []byte("$STREAM"), []byte(stream))
}

func (d door) script(turn *turn) fake.Turn {
	out := turn.model.turn()
	name := "response.json"
	switch {
	case d.array():
		name = "response.array"
	case d.stream:
		name = "response.sse"
	}
	out.Raw = turn.raw[d.name()][name]
	return out
}

func (m model) turn() fake.Turn {
	out := fake.Turn{Text: m.Text, Reasoning: m.Reasoning, Status: m.Status, Error: m.Error, DropAfter: m.DropAfter}
	for _, c := range m.Calls {
		out.Calls = append(out.Calls, fake.Call{ID: c.ID, Name: c.Name, Args: c.Args})
	}
	for _, a := range m.Alternatives {
		out.Alternatives = append(out.Alternatives, a.turn())
	}
	return out
}

func reachedBy(r fake.Request) reached {
	out := reached{body: r.Raw}
	for _, m := range r.Messages {
		if m.Role == "tool" {
			out.results = append(out.results, m.Text)
		}
	}
	return out
}

func (d door) answers(body []byte) ([]answer, usage, error) {
	if d.stream {
		return d.readStream(body)
	}
	return d.read(body)
}

func (d door) ask(t *testing.T, url, key, session string, body []byte) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	if session != "" {
		r.Header.Set("X-Mnemom-Session", session)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	o := outcome{status: res.StatusCode, header: res.Header, asked: body}
	o.body, err = io.ReadAll(res.Body)
	o.cut = err != nil
	o.late(t, res.Trailer, d.format() != "gemini")
	switch {
	case o.status != http.StatusOK:
		o.code = d.code(o.body)
	case o.cut:
	default:
		if got := res.Header.Get("Content-Type"); strings.HasPrefix(got, "text/event-stream") != (d.stream && !d.array()) {
			t.Errorf("Content-Type %s", got)
		}
		if o.answers, o.usage, err = d.answers(o.body); err != nil {
			t.Fatalf("the answer cannot be read: %v\n%s", err, o.body)
		}
	}
	return o
}
