package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/agent"
)

// play is a model that gives its answers in order, and keeps what it was asked.
type play struct {
	answers []agent.Answer
	asked   []agent.Request
}

func (p *play) Answer(_ context.Context, r agent.Request) (agent.Answer, error) {
	p.asked = append(p.asked, r)
	if len(p.asked) > len(p.answers) {
		return agent.Answer{Text: "done"}, nil
	}
	return p.answers[len(p.asked)-1], nil
}

func calls(list ...agent.Call) agent.Answer { return agent.Answer{Calls: list} }

// world is what tools do, counted.
type world struct {
	mu   sync.Mutex
	done []string
	keys map[string]bool
}

func (w *world) tool(answer string, policy gatehouse.Verdict) agent.Tool {
	return agent.Tool{Policy: policy, Handler: func(ctx context.Context, arguments json.RawMessage) (string, error) {
		c := agent.CallFrom(ctx)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.done = append(w.done, c.Tool+" "+c.ID+" "+string(arguments))
		if w.keys == nil {
			w.keys = map[string]bool{}
		}
		w.keys[c.IdempotencyKey] = true
		return answer, nil
	}}
}

func (w *world) tools() map[string]agent.Tool {
	return map[string]agent.Tool{
		"search":     w.tool("found", gatehouse.Allow),
		"send_email": w.tool("sent", gatehouse.Flag),
		"delete":     w.tool("deleted", gatehouse.Block),
	}
}

func (w *world) did() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.done, "; ")
}

// results are the tool results of the last request: call id, and text.
func results(r agent.Request) string {
	var list []string
	for _, m := range r.Messages {
		if m.Role == gatehouse.Tool {
			list = append(list, m.CallID+"="+m.Text)
		}
	}
	return strings.Join(list, "; ")
}

func mixed() agent.Answer {
	return calls(agent.Call{ID: "a", Tool: "delete", Arguments: `{"id":1}`}, agent.Call{ID: "b", Tool: "send_email", Arguments: `{"to":"x"}`},
		agent.Call{ID: "c", Tool: "search", Arguments: `{"q":"y"}`})
}

// Of three calls beside each other the allowed one runs at once, the flagged one after a human's word, the blocked one never;
// the model gets one result for each, in the order of the calls. Every attempt reads the run back from JSON.
func TestMixedCallsPauseAndResume(t *testing.T) {
	for _, c := range []struct {
		desc         string
		human        gatehouse.Verdict
		did, answers string
	}{
		{"approved", gatehouse.Allow, `search c {"q":"y"}; send_email b {"to":"x"}`, "a=The call was refused: block; b=sent; c=found"},
		{"denied", gatehouse.Block, `search c {"q":"y"}`, "a=The call was refused: block; b=The call was refused: block; c=found"},
	} {
		t.Run(c.desc, func(t *testing.T) {
			g, w, m := &gate{}, &world{}, &play{answers: []agent.Answer{mixed()}}
			cfg := agent.Config{Checker: g, Model: m, Tools: w.tools(), Prompt: "do it"}
			r, err := agent.Run(t.Context(), cfg)
			if err != nil || r.Status != agent.Paused || len(r.Waiting()) != 1 || r.Waiting()[0].Approval != "apr-b" {
				t.Fatalf("%+v %v", r, err)
			}
			for range 2 { // nobody has decided: it stays as it is
				if r, err = agent.Resume(t.Context(), cfg, reread(t, r.Run)); err != nil || r.Status != agent.Paused {
					t.Fatalf("%+v %v", r, err)
				}
			}
			if got := w.did(); got != `search c {"q":"y"}` {
				t.Fatalf("before the decision: %s", got)
			}
			g.decide("b", c.human)
			if r, err = agent.Resume(t.Context(), cfg, reread(t, r.Run)); err != nil || r.Status != agent.Done || r.Text != "done" {
				t.Fatalf("%+v %v", r, err)
			}
			if got := w.did(); got != c.did {
				t.Errorf("tools did %s", got)
			}
			if got := results(m.asked[1]); got != c.answers {
				t.Errorf("the model read %s", got)
			}
			if len(m.asked) != 2 || r.Turns != 2 {
				t.Errorf("the model was asked %d times, %d turns", len(m.asked), r.Turns)
			}
			again := judged(g.exchanges[1])
			if !reflect.DeepEqual(again, []string{"b"}) {
				t.Errorf("checked again: %v", again)
			}
			if r, err = agent.Resume(t.Context(), cfg, r.Run); err != nil || r.Status != agent.Done || w.did() != c.did {
				t.Errorf("a finished run did more: %v %v", r.Status, err)
			}
		})
	}
}

// Of two calls that wait, one is decided: it runs, and the other waits on.
func TestOneOfTwoApprovals(t *testing.T) {
	g, w := &gate{}, &world{}
	m := &play{answers: []agent.Answer{calls(agent.Call{ID: "a", Tool: "send_email", Arguments: `{"to":"x"}`}, agent.Call{ID: "b", Tool: "send_email", Arguments: `{"to":"x"}`})}}
	cfg := agent.Config{Checker: g, Model: m, Tools: w.tools(), Prompt: "go"}
	r, err := agent.Run(t.Context(), cfg)
	if err != nil || len(r.Waiting()) != 2 {
		t.Fatalf("%+v %v", r, err)
	}
	g.decide("b", gatehouse.Allow)
	if r, err = agent.Resume(t.Context(), cfg, reread(t, r.Run)); err != nil || r.Status != agent.Paused || w.did() != `send_email b {"to":"x"}` {
		t.Fatalf("%+v %v", r, err)
	}
	g.decide("a", gatehouse.Block)
	if r, err = agent.Resume(t.Context(), cfg, reread(t, r.Run)); err != nil || r.Status != agent.Done || results(m.asked[1]) != "a=The call was refused: block; b=sent" {
		t.Errorf("%+v %v %s", r, err, results(m.asked[1]))
	}
	if again := judged(g.exchanges[2]); !reflect.DeepEqual(again, []string{"a"}) {
		t.Errorf("checked again: %v", again)
	}
}

func reread(t *testing.T, s *agent.State) *agent.State {
	t.Helper()
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	out := new(agent.State)
	if err := json.Unmarshal(data, out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCheckpoints(t *testing.T) {
	search := agent.Tool{Handler: func(context.Context, json.RawMessage) (string, error) { return "good POISON good", nil }}
	fails := agent.Tool{Handler: func(context.Context, json.RawMessage) (string, error) { return "", errors.New("no POISON here") }}
	for _, c := range []struct {
		desc, prompt string
		use          []agent.Checkpoint
		tool         agent.Tool
		status       agent.Status
		read         string // by the model, in its second turn
	}{
		{"an attack ends the run before the model", "ATTACK", nil, search, agent.Stopped, ""},
		{"without the input checkpoint it goes on", "ATTACK", []agent.Checkpoint{agent.ToolCall, agent.ToolResult}, search, agent.Done, "a=good [cut] good"},
		{"poison is cut from results", "hello", nil, search, agent.Done, "a=good [cut] good"},
		{"poison is cut from errors", "hello", nil, fails, agent.Done, "a=error: no [cut] here"},
		{"without the result checkpoint it stays", "hello", []agent.Checkpoint{agent.Input, agent.ToolCall}, search, agent.Done, "a=good POISON good"},
		{"a blocked tool comes back as a refusal", "hello", nil, agent.Tool{Handler: search.Handler, Policy: gatehouse.Block}, agent.Done,
			"a=The call was refused: block"},
		{"without the gate it runs", "hello", []agent.Checkpoint{agent.Input}, agent.Tool{Handler: search.Handler, Policy: gatehouse.Block}, agent.Done,
			"a=good POISON good"},
		{"no checkpoint at all", "ATTACK", []agent.Checkpoint{}, search, agent.Done, "a=good POISON good"},
	} {
		t.Run(c.desc, func(t *testing.T) {
			m := &play{answers: []agent.Answer{calls(agent.Call{ID: "a", Tool: "search"}), calls(agent.Call{ID: "b", Tool: "other"})}}
			r, err := agent.Run(t.Context(), agent.Config{Checker: &gate{}, Model: m, Tools: map[string]agent.Tool{"search": c.tool}, Prompt: c.prompt,
				Checkpoints: c.use})
			if err != nil || r.Status != c.status {
				t.Fatalf("%+v %v", r, err)
			}
			if c.status == agent.Stopped {
				if len(m.asked) != 0 || r.ToolCalls != 0 || r.Text == "" || r.Reason != "front: suspected injection" {
					t.Errorf("asked %d, %+v", len(m.asked), r)
				}
				return
			}
			if got := results(m.asked[1]); got != c.read {
				t.Errorf("the model read %s", got)
			}
			// Later turns say the same again, and a tool that does not exist has an error for a result.
			if got := results(m.asked[2]); got != c.read+"; b=There is no tool of this name." {
				t.Errorf("later the model read %s", got)
			}
		})
	}
}

// The checkpoints read the conversation as it was, turn after turn, and the model reads it as they left it, even where they
// forget to make an edit again.
func TestEditsStay(t *testing.T) {
	g := &gate{}
	tool := agent.Tool{Handler: func(context.Context, json.RawMessage) (string, error) { return "POISON", nil }}
	m := &play{answers: []agent.Answer{calls(agent.Call{ID: "a", Tool: "search"}), calls(agent.Call{ID: "b", Tool: "none"})}}
	cfg := agent.Config{Checker: g, Model: m, Tools: map[string]agent.Tool{"search": tool}, Prompt: "hello"}
	r, err := agent.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range g.exchanges[1:] {
		for _, p := range x.Request {
			if p.CallID == "a" && p.Kind == gatehouse.ToolResult && p.Original() != "POISON" {
				t.Errorf("exchange %d: the checkpoints read %q", i+1, p.Original())
			}
		}
	}
	cfg.Checkpoints, cfg.Prompt = []agent.Checkpoint{agent.Input}, "and now?"
	if _, err = agent.Continue(t.Context(), cfg, reread(t, r.Run)); err != nil {
		t.Fatal(err)
	}
	if last := m.asked[len(m.asked)-1]; !strings.HasPrefix(results(last), "a=[cut]") {
		t.Errorf("the model read %s", results(last))
	}
}

func TestLimits(t *testing.T) {
	endless := agent.ModelFunc(func(_ context.Context, r agent.Request) (agent.Answer, error) {
		n := len(r.Messages)
		return calls(agent.Call{ID: fmt.Sprint(n, "x"), Tool: "search"}, agent.Call{ID: fmt.Sprint(n, "y"), Tool: "search"}), nil
	})
	for _, c := range []struct {
		desc      string
		limit     func(*agent.Config)
		turns     int
		toolCalls int
	}{
		{"turns", func(c *agent.Config) { c.MaxTurns = 3 }, 3, 6},
		{"tool budget", func(c *agent.Config) { c.MaxToolCalls = 3 }, 2, 3},
		{"no tools at all", func(c *agent.Config) { c.MaxToolCalls = -1 }, 1, 0},
		{"time", func(c *agent.Config) { c.MaxTime, c.MaxTurns, c.MaxToolCalls = 50*time.Millisecond, 1e9, 1e9 }, -1, -1},
		{"turns by default", func(*agent.Config) {}, agent.DefaultMaxTurns, 2 * agent.DefaultMaxTurns},
	} {
		t.Run(c.desc, func(t *testing.T) {
			cfg := agent.Config{Checker: &gate{}, Model: endless, Tools: (&world{}).tools(), Prompt: "go"}
			c.limit(&cfg)
			r, err := agent.Run(t.Context(), cfg)
			if err != nil || r.Status != agent.Limit || r.Reason == "" {
				t.Fatalf("%v %v", r.Status, err)
			}
			if c.turns >= 0 && (r.Turns != c.turns || r.ToolCalls != c.toolCalls) {
				t.Errorf("%d turns, %d tool calls", r.Turns, r.ToolCalls)
			}
			if open := len(r.Run.Steps); open != 0 && c.turns >= 0 {
				t.Errorf("%d calls have no result", open)
			}
		})
	}
}

// An approval is not asked for when the budget would not let its call run.
func TestBudgetSparesApprovals(t *testing.T) {
	g, w, m := &gate{}, &world{}, &play{answers: []agent.Answer{mixed()}}
	cfg := agent.Config{Checker: g, Model: m, Tools: w.tools(), Prompt: "go", MaxToolCalls: 1}
	r, err := agent.Run(t.Context(), cfg)
	if err != nil || r.Status != agent.Paused {
		t.Fatalf("%+v %v", r, err)
	}
	g.decide("b", gatehouse.Allow)
	asked := len(g.exchanges)
	if r, err = agent.Resume(t.Context(), cfg, r.Run); err != nil || r.Status != agent.Limit || len(g.exchanges) != asked {
		t.Fatalf("%+v %v, %d exchanges more", r.Status, err, len(g.exchanges)-asked)
	}
	cfg.MaxToolCalls = 2
	if r, err = agent.Resume(t.Context(), cfg, r.Run); err != nil || r.Status != agent.Done || r.ToolCalls != 2 {
		t.Fatalf("%+v %v", r, err)
	}
}

func TestTroubleIsNotTheEnd(t *testing.T) {
	outage := errors.New("overloaded")
	for _, c := range []struct {
		desc string
		hurt func(*agent.Config, *gate)
		want string
	}{
		{"the model", func(c *agent.Config, _ *gate) {
			c.Model = agent.ModelFunc(func(context.Context, agent.Request) (agent.Answer, error) { return agent.Answer{}, outage })
		}, "overloaded"},
		{"a model that panics", func(c *agent.Config, _ *gate) {
			c.Model = agent.ModelFunc(func(context.Context, agent.Request) (agent.Answer, error) { panic("x") })
		}, "internal_error"},
		{"a checkpoint before the model", func(_ *agent.Config, g *gate) { g.fail = gatehouse.Front }, "checkpoint_unavailable"},
		{"a checkpoint behind it", func(_ *agent.Config, g *gate) { g.fail = gatehouse.Back }, "checkpoint_unavailable"},
	} {
		t.Run(c.desc, func(t *testing.T) {
			g, w := &gate{}, &world{}
			good := agent.Config{Checker: g, Model: &play{answers: []agent.Answer{calls(agent.Call{ID: "a", Tool: "search"})}}, Tools: w.tools(), Prompt: "go"}
			bad := good
			c.hurt(&bad, g)
			r, err := agent.Run(t.Context(), bad)
			if err == nil || !strings.Contains(err.Error(), c.want) || r.Run == nil || r.Turns != 0 || w.did() != "" {
				t.Fatalf("%+v %v", r, err)
			}
			g.fail = ""
			good.Model = &play{answers: []agent.Answer{calls(agent.Call{ID: "a", Tool: "search"})}}
			if r, err = agent.Resume(t.Context(), good, reread(t, r.Run)); err != nil || r.Status != agent.Done || w.did() != "search a {}" {
				t.Errorf("%+v %v %s", r, err, w.did())
			}
		})
	}
}

// Tools that panic, end their goroutine, take too long or do not exist have errors for results, and the run goes on.
func TestBadTools(t *testing.T) {
	tools := map[string]agent.Tool{
		"panics": {Handler: func(context.Context, json.RawMessage) (string, error) { panic("with a secret") }},
		"slow": {Timeout: time.Millisecond, Handler: func(ctx context.Context, _ json.RawMessage) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}},
		"bytes": {Handler: func(context.Context, json.RawMessage) (string, error) { return "a\xffb", nil }},
	}
	m := &play{answers: []agent.Answer{calls(agent.Call{ID: "a", Tool: "panics"}, agent.Call{ID: "b", Tool: "slow"}, agent.Call{ID: "c", Tool: "bytes"})}}
	var events []string
	r, err := agent.Run(t.Context(), agent.Config{Checker: &gate{}, Model: m, Tools: tools, Prompt: "go", Parallel: 1,
		Events: func(e agent.Event) { events = append(events, string(e.Kind)+e.Step.ID) }})
	if err != nil || r.Status != agent.Done {
		t.Fatalf("%+v %v", r, err)
	}
	if got := results(m.asked[1]); got != "a=error: the tool failed unexpectedly; b=error: context deadline exceeded; c=a\uFFFDb" {
		t.Errorf("the model read %s", got)
	}
	want := "turn_begun turn_decided call_beguna call_settleda call_begunb call_settledb call_begunc call_settledc turn_begun turn_decided run_ended"
	if got := strings.Join(events, " "); got != want {
		t.Errorf("events %s", got)
	}
}

// What the gate has not judged does not run, and a call that bears an id that was used before is another call.
func TestTheGateHasTheLastWord(t *testing.T) {
	w := &world{}
	cfg := agent.Config{Checker: &gate{loose: true}, Model: &play{answers: []agent.Answer{calls(agent.Call{ID: "a", Tool: "search"})}}, Tools: w.tools(), Prompt: "go"}
	if r, err := agent.Run(t.Context(), cfg); err != nil || r.Status != agent.Done || w.did() != "" {
		t.Errorf("%v %v %s", r.Status, err, w.did())
	}

	g, mail := &gate{}, agent.Call{ID: "b", Tool: "send_email", Arguments: `{"to":"x"}`}
	cfg.Checker, cfg.Model = g, &play{answers: []agent.Answer{calls(mail), calls(mail), calls(mail, mail)}}
	g.decide("b", gatehouse.Allow)
	r, err := agent.Run(t.Context(), cfg)
	if err != nil || r.Status != agent.Paused || w.did() != `send_email b {"to":"x"}` || r.Waiting()[0].ID == "b" {
		t.Errorf("%+v %v %s", r, err, w.did())
	}

	cfg.Checker, cfg.Model = &gate{violated: true}, &play{answers: []agent.Answer{calls(agent.Call{ID: "s", Tool: "search"})}}
	if r, err = agent.Run(t.Context(), cfg); err != nil || r.Status != agent.Stopped || r.Text != "I stopped here." || r.ToolCalls != 0 {
		t.Errorf("%+v %v", r, err)
	}

	cut := calls(agent.Call{ID: "s", Tool: "search"})
	cut.Cut = "max_tokens"
	cfg.Checker, cfg.Model = &gate{}, &play{answers: []agent.Answer{cut}}
	if r, err = agent.Run(t.Context(), cfg); err != nil || r.Status != agent.Limit || r.ToolCalls != 0 {
		t.Errorf("%+v %v", r, err)
	}
}

// Two names that a handler would take for one are not judged as one.
func TestNamesThatDifferInCase(t *testing.T) {
	for arguments, runs := range map[string]bool{`{"to":"a","To":"b"}`: false, `{"x":[{"to":1,"TO":2}]}`: false, `"{\"to\":1,\"tO\":2}"`: false,
		`{"k":1,"\u212a":2}`: false, `{"to":"a","from":"b"}`: true, `{"a":{"to":1},"b":{"To":2}}`: true, ``: true, `"{\"to\":1}"`: true} {
		w := &world{}
		m := &play{answers: []agent.Answer{calls(agent.Call{ID: "a", Tool: "search", Arguments: arguments})}}
		if _, err := agent.Run(t.Context(), agent.Config{Checker: &gate{}, Model: m, Tools: w.tools(), Prompt: "go"}); err != nil || (w.did() != "") != runs {
			t.Errorf("%s: tools did %q, %v", arguments, w.did(), err)
		}
	}
}

func TestParallelIsBounded(t *testing.T) {
	var now, most atomic.Int32
	tool := agent.Tool{Handler: func(context.Context, json.RawMessage) (string, error) {
		most.Store(max(most.Load(), now.Add(1)))
		time.Sleep(20 * time.Millisecond)
		now.Add(-1)
		return "", nil
	}}
	var list []agent.Call
	for i := range 9 {
		list = append(list, agent.Call{ID: fmt.Sprint(i), Tool: "wait"})
	}
	m := &play{answers: []agent.Answer{calls(list...)}}
	r, err := agent.Run(t.Context(), agent.Config{Checker: &gate{}, Model: m, Tools: map[string]agent.Tool{"wait": tool}, Prompt: "go", Parallel: 3})
	if err != nil || r.ToolCalls != 9 || most.Load() != 3 {
		t.Errorf("%v, %d calls, %d at a time", err, r.ToolCalls, most.Load())
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := &world{}
	tools := w.tools()
	tools["search"] = agent.Tool{Handler: func(context.Context, json.RawMessage) (string, error) { cancel(); return "found", nil }}
	m := &play{answers: []agent.Answer{calls(agent.Call{ID: "a", Tool: "search"}, agent.Call{ID: "b", Tool: "search"})}}
	cfg := agent.Config{Checker: &gate{}, Model: m, Tools: tools, Prompt: "go", Parallel: 1}
	r, err := agent.Run(ctx, cfg)
	if !errors.Is(err, context.Canceled) || r.ToolCalls != 1 || r.Run.Steps[0].Result != "found" || r.Run.Steps[1].State != agent.Ready {
		t.Fatalf("%+v %v", r, err)
	}
	if r, err = agent.Resume(t.Context(), cfg, reread(t, r.Run)); err != nil || r.Status != agent.Done || r.ToolCalls != 2 {
		t.Errorf("%+v %v", r, err)
	}
}

func TestConfig(t *testing.T) {
	handler := func(context.Context, json.RawMessage) (string, error) { return "", nil }
	for _, c := range []struct {
		desc string
		hurt func(*agent.Config)
	}{
		{"no prompt", func(c *agent.Config) { c.Prompt = "" }},
		{"no checker", func(c *agent.Config) { c.Checker = nil }},
		{"no model", func(c *agent.Config) { c.Model = nil }},
		{"a session with a space", func(c *agent.Config) { c.Session = "a b" }},
		{"an unknown checkpoint", func(c *agent.Config) { c.Checkpoints = []agent.Checkpoint{"output"} }},
		{"an unknown policy", func(c *agent.Config) { c.Tools = map[string]agent.Tool{"a": {Handler: handler, Policy: "maybe"}} }},
		{"no handler", func(c *agent.Config) { c.Tools = map[string]agent.Tool{"a": {}} }},
		{"a tool of the provider's name", func(c *agent.Config) { c.Tools = map[string]agent.Tool{"hosted:a": {Handler: handler}} }},
		{"a schema that is none", func(c *agent.Config) { c.Tools = map[string]agent.Tool{"a": {Handler: handler, Schema: []byte("{")}} }},
		{"a negative limit", func(c *agent.Config) { c.MaxTurns = -1 }},
	} {
		t.Run(c.desc, func(t *testing.T) {
			cfg := agent.Config{Checker: &gate{}, Model: &play{}, Prompt: "go"}
			c.hurt(&cfg)
			if _, err := agent.Run(t.Context(), cfg); !errors.Is(err, agent.ErrConfig) {
				t.Errorf("%v", err)
			}
		})
	}
	if _, err := agent.Resume(t.Context(), agent.Config{}, &agent.State{ID: "x", Version: 99}); !errors.Is(err, agent.ErrConfig) {
		t.Errorf("%v", err)
	}
}

func TestContinueAfterABlock(t *testing.T) {
	m := &play{}
	cfg := agent.Config{Checker: &gate{}, Model: m, Prompt: "ATTACK"}
	r, err := agent.Run(t.Context(), cfg)
	if err != nil || r.Status != agent.Stopped {
		t.Fatal(r, err)
	}
	cfg.Prompt = "sorry"
	if r, err = agent.Continue(t.Context(), cfg, r.Run); err != nil || r.Status != agent.Done || len(m.asked[0].Messages) != 1 {
		t.Errorf("%+v %v", r, err)
	}
}
