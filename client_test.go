package gatehouse_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
)

const clientKey = "mnm_key-of-the-client"

// answering is a gateway that has one answer, and a client of it.
func answering(t *testing.T, status int, body string) *gatehouse.Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, body) //nolint:errcheck // the test sees it
	}))
	t.Cleanup(s.Close)
	return &gatehouse.Client{URL: s.URL, Key: clientKey}
}

func hello() *gatehouse.Exchange {
	x := &gatehouse.Exchange{}
	x.Ask(gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.User, Text: "hello", Latest: true})
	return x
}

// Whatever a gateway says that is no decision, the client decides: nothing passes unless it is to.
func TestNoDecisionIsAFailure(t *testing.T) {
	const id = `"id":"7d2f1f0a-3c53-4f5e-9d3c-0a7f4f1a2b3c"`
	const kept = `"request":[{"id":0,"kind":"text","role":"user","text":"hello"}]`
	cases := []struct {
		desc   string
		status int
		body   string
		reason string
	}{
		{"an error", 503, `{"error":{"code":"checkpoint_unavailable","message":"hello"}}`, "checkpoint_unavailable: the gateway has answered with status 503"},
		{"no key", 401, `{"error":{"code":"invalid_credentials","message":"` + clientKey + `"}}`, "invalid_credentials: the gateway has answered with status 401"},
		{"a code that is none", 500, `{"error":{"code":"` + clientKey + ` hello","message":""}}`, "unexpected_answer: the gateway has answered with status 500"},
		{"a page", 404, `<html>hello</html>`, "unexpected_answer: the gateway has answered with status 404"},
		{"a page that is fine", 200, `<html>hello</html>`, "the answer is not that of a gateway"},
		{"nothing", 200, ``, "the answer is not that of a gateway"},
		{"an empty object", 200, `{}`, "the answer is not that of a gateway"},
		{"no proof", 200, `{"decision":{"at":"front"},"exchange":{` + id + `,` + kept + `}}`, "the answer is not that of a gateway"},
		{"no exchange", 200, `{"decision":{"at":"front"},"proof":"p"}`, "the answer is not that of a gateway"},
		{"a decision of another checkpoint", 200, `{"decision":{"at":"back"},"exchange":{` + id + `,` + kept + `},"proof":"p"}`, "the answer is not that of a gateway"},
		{"an exchange without its parts", 200, `{"decision":{"at":"front"},"exchange":{` + id + `},"proof":"p"}`, "the answer is not that of a gateway"},
		{"an exchange of other parts", 200, `{"decision":{"at":"front"},"exchange":{` + id + `,"request":[{"id":0,"kind":"tool_call"}]},"proof":"p"}`, "the answer is not that of a gateway"},
		{"parts of no order", 200, `{"decision":{"at":"front"},"exchange":{` + id + `,"request":[{"id":7,"kind":"text"}]},"proof":"p"}`, "the answer is not that of a gateway"},
	}
	for _, c := range cases {
		t.Run(c.desc, func(t *testing.T) {
			client := answering(t, c.status, c.body)
			x := hello()
			d := client.Check(t.Context(), x, gatehouse.Front)
			if !d.Failed || !d.Stop || d.Verdict != gatehouse.Block || x.Stopped() == nil || x.Status != 503 || x.Error != "checkpoint_unavailable" {
				t.Errorf("%+v", d)
			}
			if want := "the gateway could not be asked: " + c.reason; d.Reason != want {
				t.Errorf("%q, want %q", d.Reason, want)
			}
			if raw, err := json.Marshal(d); err != nil || strings.Contains(string(raw), clientKey) || strings.Contains(string(raw), "hello") {
				t.Errorf("%s, %v", raw, err)
			}
			client.FailOpen, x = true, hello()
			if d := client.Check(t.Context(), x, gatehouse.Integrity); !d.Failed || d.Stop || d.Outcome != gatehouse.Observed || d.Analysis != "error" || x.Error != "" || len(x.Advisories()) != 1 {
				t.Errorf("open: %+v", d)
			}
			if err := client.Finish(t.Context(), hello()); !strings.Contains(c.body, `"proof"`) && err == nil {
				t.Error("it says that there is a record")
			}
		})
	}
}

// Who is stopped by an operator is stopped, however the client fails.
func TestRefusedIsClosed(t *testing.T) {
	for status, body := range map[int]string{403: `{"error":{"code":"agent_killed"}}`, 429: `{"error":{"code":"rate_limit_exceeded"}}`} {
		client := answering(t, status, body)
		client.FailOpen = true
		if d := client.Check(t.Context(), hello(), gatehouse.Front); !d.Stop || d.Outcome != gatehouse.Enforced {
			t.Errorf("%d: %+v", status, d)
		}
	}
}

func TestUnreachable(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	for url, want := range map[string]string{strings.Replace(s.URL, "//", "//user:secret@", 1): "connection refused", "http://\x7f": "URL"} {
		c := &gatehouse.Client{URL: url, Key: clientKey}
		d := c.Check(t.Context(), hello(), gatehouse.Front)
		if !d.Stop || !strings.Contains(d.Reason, want) || strings.Contains(d.Reason, "secret") {
			t.Errorf("%+v", d)
		}
		if err := c.Finish(t.Context(), hello()); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v", err)
		}
	}
}

func TestTimeout(t *testing.T) {
	stay := make(chan struct{})
	asked := atomic.Int32{}
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		io.Copy(io.Discard, r.Body) //nolint:errcheck // whatever came
		<-stay
	}))
	defer s.Close()
	defer close(stay)
	c := &gatehouse.Client{URL: s.URL, Timeout: 50 * time.Millisecond}
	if d := c.Check(t.Context(), hello(), gatehouse.Front); !d.Stop || !strings.Contains(d.Reason, "deadline") {
		t.Errorf("%+v", d)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Finish(ctx, hello()); !errors.Is(err, context.Canceled) || asked.Load() != 1 {
		t.Errorf("%v after %d requests", err, asked.Load())
	}
}

// A connection that breaks is tried once more; a question about calls that have no id is then the same question.
func TestSecondTry(t *testing.T) {
	var mu sync.Mutex
	var keys, bodies []string
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body) //nolint:errcheck // compared below
		mu.Lock()
		defer mu.Unlock()
		keys, bodies = append(keys, r.Header.Get("Idempotency-Key")), append(bodies, string(raw))
		panic(http.ErrAbortHandler)
	}))
	defer s.Close()
	c := &gatehouse.Client{URL: s.URL}
	for _, answer := range [][]gatehouse.Part{
		nil,
		{{Kind: gatehouse.ToolCall, Role: gatehouse.Assistant, Tool: "t", CallID: "c", Text: "{}"}},
		{{Kind: gatehouse.ToolCall, Role: gatehouse.Assistant, Tool: "t", CallID: "c", Text: "{}"}, {Kind: gatehouse.ToolCall, Role: gatehouse.Assistant, Tool: "t", Text: "{}"}},
	} {
		mu.Lock()
		keys, bodies = nil, nil
		mu.Unlock()
		x := hello()
		x.Answered = true
		x.Answer(answer...)
		if d := c.Check(t.Context(), x, gatehouse.Autonomy); !d.Failed {
			t.Errorf("%+v", d)
		}
		mu.Lock()
		if len(keys) != 2 || keys[0] != keys[1] || (keys[0] != "") != (len(answer) == 2) || bodies[0] != bodies[1] || !json.Valid([]byte(bodies[0])) {
			t.Errorf("%q %q", keys, bodies)
		}
		mu.Unlock()
	}
}

// What the client says is what the exchange holds, its parts included, and nothing that is not the gateway's to know.
func TestQuestion(t *testing.T) {
	var said struct {
		Checkpoint gatehouse.Checkpoint
		Exchange   gatehouse.Exchange
		Proof      string
		Unreached  []gatehouse.Checkpoint
	}
	var header http.Header
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		header = r.Header
		if err := json.NewDecoder(r.Body).Decode(&said); err != nil {
			t.Error(err)
		}
	}))
	defer s.Close()
	c := &gatehouse.Client{URL: s.URL + "/", Key: clientKey, Agent: "worker"}
	x := hello()
	x.Proof, x.Session, x.Key, x.Event = "p", "s", "mk-1", &gatehouse.Event{}
	x.Answer(gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.Assistant, Text: "<ü>"}, gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.Assistant})
	x.Decisions = []gatehouse.Decision{{At: gatehouse.Front}, {At: gatehouse.Back, Failed: true, Rule: "unreached"}, {At: gatehouse.Back, Failed: true, Rule: "on_error"}}
	if err := c.Finish(t.Context(), x); err == nil {
		t.Error("an empty answer is none")
	}
	y := said.Exchange
	if said.Checkpoint != "finish" || said.Proof != "p" || len(said.Unreached) != 1 || said.Unreached[0] != gatehouse.Back || len(y.Decisions) != 2 ||
		y.Session != "s" || y.Key != "" || y.Event != nil || y.Proof != "" || len(y.Request) != 1 || len(y.Response) != 2 || y.Response[0] != x.Response[0] || y.ID == "" {
		t.Errorf("%+v", said)
	}
	if header.Get("Authorization") != "Bearer "+clientKey || header.Get("X-Mnemom-Agent") != "worker" {
		t.Errorf("%v", header)
	}
}
