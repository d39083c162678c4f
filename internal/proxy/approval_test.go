package proxy_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/approval"
	"github.com/gatehouse-gateway/gatehouse/internal/checkpoint"
	"github.com/gatehouse-gateway/gatehouse/internal/fake"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
	"github.com/gatehouse-gateway/gatehouse/internal/proxy"
	"github.com/gatehouse-gateway/gatehouse/internal/seal"
)

// queued is a gateway with a queue of approvals.
func queued(t *testing.T, o options) (*gateway, *approval.Queue) {
	t.Helper()
	key := make([]byte, seal.KeySize)
	rand.Read(key)
	box, err := seal.New(key)
	if err != nil {
		t.Fatal(err)
	}
	q := &approval.Queue{Box: box, Log: slog.New(slog.DiscardHandler)}
	more := o.settings
	o.settings = func(s *checkpoint.Settings) {
		s.ApprovalAge, s.ApprovalURL = time.Hour, "https://gate.example"
		if more != nil {
			more(s)
		}
	}
	o.engine = func(e *checkpoint.Engine) { e.Approvals = q }
	g := start(t, o)
	q.Store, q.Record = g.store, g.engine.Record
	g.proxy.Approvals = q
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { q.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })
	return g, q
}

// leaving asks, and hangs up when the context ends.
func (g *gateway) leaving(ctx context.Context, d door) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, g.url+d.path, bytes.NewReader(d.body(false, user("Mail it"))))
	if err != nil {
		g.t.Error(err)
		return
	}
	r.Header.Set("Authorization", "Bearer sk-test")
	r.Header.Set("Content-Type", "application/json")
	if res, err := g.client.Do(r); err == nil {
		res.Body.Close()
		g.t.Error("it was answered")
	}
}

func (g *gateway) approvals(states ...approval.State) []approval.Approval {
	g.t.Helper()
	list, _, err := g.store.Approvals(g.t.Context(), approval.Filter{States: states, Now: time.Now(), Limit: 100})
	if err != nil {
		g.t.Fatal(err)
	}
	return list
}

var approvalID = regexp.MustCompile(`apr-[0-9a-f]{32}`)

// mails always calls send_email, with the id of the call counted.
func mails(args string) (fake.Script, *int) {
	n := 0
	return func(fake.Request) fake.Turn {
		n++
		return fake.Turn{Calls: []fake.Call{{ID: fmt.Sprintf("call_%d", n), Name: "send_email", Args: args}}}
	}, &n
}

const mailArgs = `{"to":"x@example.com", "account": 12345678901234567890}`

// A flagged call is answered by text that names its approval. Once that stands, the stored call comes without the model, once.
func TestReplayedApproval(t *testing.T) {
	eachWay(t, func(t *testing.T, d door, stream bool) {
		script, asked := mails(mailArgs)
		g, q := queued(t, options{script: script, doors: func(s *proxy.Settings) { s.Replay = true }})
		a := g.ask(d, stream, user("Mail it"))
		id := approvalID.FindString(a.body)
		if a.verdict(t).Autonomy != "enforced" || id == "" || !strings.Contains(a.body, "https://gate.example/v1/approvals/"+id) || strings.Contains(a.body, "call_1") {
			t.Fatalf("%s: %s", a.header.Get("X-Mnemom-Verdict"), a.body)
		}
		notice := "[The call to the tool send_email waits for a human's approval (tools named send_email need approval unless a rule allows them by name): " +
			id + ", https://gate.example/v1/approvals/" + id + ". The tool did not run.]"
		later := []object{user("Mail it"), assistant(notice), user("Go on")}
		session := a.header.Get("X-Mnemom-Session")

		if a = g.ask(d, stream, later...); approvalID.FindString(a.body) != id || *asked != 2 {
			t.Fatalf("while it waits: asked %d times: %s", *asked, a.body)
		}
		if got := g.approvals(); len(got) != 1 || got[0].Session != session || got[0].State != approval.Pending {
			t.Fatalf("%+v", got)
		}
		if _, err := q.Approve(t.Context(), id, approval.Decision{By: "mk-1", From: "192.0.2.1"}); err != nil {
			t.Fatal(err)
		}
		a = g.ask(d, stream, later...)
		if *asked != 2 || a.verdict(t).Autonomy != "observed" || !strings.Contains(a.body, "call_1") || !strings.Contains(a.body, "12345678901234567890") {
			t.Fatalf("asked %d times, %s: %s", *asked, a.header.Get("X-Mnemom-Verdict"), a.body)
		}
		if got := g.approvals(approval.Consumed); len(got) != 1 || got[0].ConsumedBy != a.header.Get("X-Mnemom-Request-Id") {
			t.Fatalf("%+v", got)
		}
		// Used up: the model is asked again, and its call needs another.
		if a = g.ask(d, stream, later...); *asked != 3 || approvalID.FindString(a.body) == id || strings.Contains(a.body, "call_3") {
			t.Errorf("asked %d times: %s", *asked, a.body)
		}
	})
}

// In match mode, and whenever the model makes the call again, the approval lets it pass; a call that differs by one digit it does not.
func TestMatchedApproval(t *testing.T) {
	eachWay(t, func(t *testing.T, d door, stream bool) {
		args := mailArgs
		n := 0
		g, q := queued(t, options{script: func(fake.Request) fake.Turn {
			n++
			return fake.Turn{Calls: []fake.Call{{ID: fmt.Sprintf("call_%d", n), Name: "send_email", Args: args}}}
		}})
		ask := func() answer {
			return g.send("POST", d.path, d.body(stream, user("Mail it")), "X-Mnemom-Session", "s")
		}
		id := approvalID.FindString(ask().body)
		if _, err := q.Approve(t.Context(), id, approval.Decision{By: "mk-1"}); err != nil {
			t.Fatal(err)
		}
		args = strings.Replace(mailArgs, "890}", "891}", 1)
		if a := ask(); strings.Contains(a.body, "call_2") || approvalID.FindString(a.body) == id {
			t.Errorf("another account: %s", a.body)
		}
		args = ` { "account" :12345678901234567890,"to":"x@example.com"}`
		if a := ask(); !strings.Contains(a.body, "call_3") || a.verdict(t).Autonomy != "observed" {
			t.Errorf("%s: %s", a.header.Get("X-Mnemom-Verdict"), a.body)
		}
		if a := ask(); strings.Contains(a.body, "call_4") {
			t.Errorf("released twice: %s", a.body)
		}
	})
}

// A human who answers in time is waited for; and the policy is asked again.
func TestHeldCall(t *testing.T) {
	for verb, want := range map[string]string{"approve": "observed", "deny": "enforced", "": "enforced", "approve but block": "enforced"} {
		t.Run(verb, func(t *testing.T) {
			script, _ := mails(mailArgs)
			wait := 10 * time.Second
			if verb == "" {
				wait = 200 * time.Millisecond
			}
			var settings checkpoint.Settings
			g, q := queued(t, options{script: script, settings: func(s *checkpoint.Settings) { s.ApprovalWait = wait; settings = *s }})
			done := make(chan answer, 1)
			go func() { done <- g.ask(doors[0], false, user("Mail it")) }()
			var list []approval.Approval
			for len(list) == 0 {
				list = g.approvals()
				time.Sleep(5 * time.Millisecond)
			}
			var err error
			switch verb {
			case "approve but block":
				changed := settings
				changed.ApprovalWait, changed.ApprovalAge = wait, time.Hour
				if changed.Policy, err = policy.Compile(policy.Tools{Rules: []policy.Rule{{Tool: "send_email", Verdict: gatehouse.Block}}}); err != nil {
					t.Fatal(err)
				}
				changed.Autonomy = gatehouse.Enforce
				g.engine.Use(&changed)
				_, err = q.Approve(t.Context(), list[0].ID, approval.Decision{})
			case "approve":
				_, err = q.Approve(t.Context(), list[0].ID, approval.Decision{})
			case "deny":
				_, err = q.Deny(t.Context(), list[0].ID, approval.Decision{})
			}
			if err != nil {
				t.Fatal(err)
			}
			a := <-done
			if string(a.verdict(t).Autonomy) != want || strings.Contains(a.body, "call_1") != (want == "observed") {
				t.Errorf("%s: %s", a.header.Get("X-Mnemom-Verdict"), a.body)
			}
			if verb == "deny" && !strings.Contains(a.body, "a human has denied") {
				t.Error(a.body)
			}
			if n := len(g.approvals(approval.Consumed)); (n == 1) != (verb == "approve") {
				t.Errorf("%d consumed", n)
			}
		})
	}
}

// A client that leaves while its call is held gets nothing, and nothing is used up for it.
func TestHeldCallOfAClientThatLeaves(t *testing.T) {
	script, _ := mails(mailArgs)
	g, q := queued(t, options{script: script, settings: func(s *checkpoint.Settings) { s.ApprovalWait = 10 * time.Second }})
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		g.leaving(ctx, doors[0])
	}()
	var list []approval.Approval
	for len(list) == 0 {
		list = g.approvals()
		time.Sleep(5 * time.Millisecond)
	}
	leave()
	<-gone
	time.Sleep(100 * time.Millisecond)
	if _, err := q.Approve(t.Context(), list[0].ID, approval.Decision{}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	if got := g.approvals(approval.Approved); len(got) != 1 {
		t.Errorf("%d stand", len(got))
	}
}

// Of three calls at once each has its own fate; identical ones need one approval each.
func TestMixedCalls(t *testing.T) {
	eachWay(t, func(t *testing.T, d door, stream bool) {
		turn := fake.Turn{Calls: append([]fake.Call{{ID: "call_d", Name: "send_email", Args: threeCalls.Calls[1].Args}}, threeCalls.Calls...)}
		g, q := queued(t, options{script: func(fake.Request) fake.Turn { return turn },
			tools: policy.Tools{Rules: []policy.Rule{{Tool: "rm", Verdict: gatehouse.Block}}}})
		ask := func() answer {
			return g.send("POST", d.path, d.body(stream, user("Do it")), "X-Mnemom-Session", "s")
		}
		ask()
		list := g.approvals(approval.Pending)
		if len(list) != 2 {
			t.Fatalf("%d approvals for two identical calls", len(list))
		}
		if ask(); len(g.approvals()) != 2 {
			t.Fatalf("%d approvals when the model asks again", len(g.approvals()))
		}
		for i, want := range []int{1, 2} {
			if _, err := q.Approve(t.Context(), list[i].ID, approval.Decision{}); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				a := ask()
				if n := strings.Count(a.body, "call_d") + strings.Count(a.body, "call_b"); n != 1 || !strings.Contains(a.body, "call_a") || strings.Contains(a.body, "call_c") {
					t.Fatalf("%d of the two: %s", n, a.body)
				}
			} else {
				ask()
			}
			if n := len(g.approvals(approval.Consumed)); n != want {
				t.Errorf("%d consumed, want %d", n, want)
			}
		}
	})
}

// Where nothing is enforced nobody is asked.
func TestNoApprovalsWithoutEnforcement(t *testing.T) {
	for _, mode := range []gatehouse.Mode{gatehouse.Observe, gatehouse.Nudge} {
		script, _ := mails(mailArgs)
		g, _ := queued(t, options{script: script, settings: func(s *checkpoint.Settings) { s.Autonomy = mode }})
		if a := g.ask(doors[0], false, user("Mail it")); !strings.Contains(a.body, "call_1") || len(g.approvals()) != 0 {
			t.Errorf("%s: %d approvals: %s", mode, len(g.approvals()), a.body)
		}
	}
}

// Another session, or another agent, cannot have a call delivered by naming its approval.
func TestReplayOfAnothersApproval(t *testing.T) {
	script, asked := mails(mailArgs)
	g, q := queued(t, options{script: script, doors: func(s *proxy.Settings) { s.Replay = true }})
	a := g.send("POST", doors[0].path, doors[0].body(false, user("Mail it")), "X-Mnemom-Session", "s")
	id := approvalID.FindString(a.body)
	if _, err := q.Approve(t.Context(), id, approval.Decision{}); err != nil {
		t.Fatal(err)
	}
	later := doors[0].body(false, user("Mail it"), assistant("It waits: "+id), user("Go on"))
	for _, headers := range [][]string{{"X-Mnemom-Session", "other"}, {"X-Mnemom-Session", "s", "Authorization", "Bearer sk-other"}} {
		before := *asked
		if a := g.send("POST", doors[0].path, later, headers...); *asked != before+1 || strings.Contains(a.body, `"call_1"`) {
			t.Errorf("%v: %s", headers, a.body)
		}
	}
	if got := g.approvals(approval.Approved); len(got) != 1 {
		t.Errorf("%d stand", len(got))
	}
}
