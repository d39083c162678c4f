package approval_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/approval"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

// An answer that stands for a call does not stand for the next one that bears its id: models number calls anew.
func TestACallIdIsAnsweredAgainUntilItsCallIsOver(t *testing.T) {
	for name, over := range map[string]func(h *house){
		"it has a result":      func(h *house) { h.told(session.Result{CallID: "c", Tool: "send_email"}) },
		"the time has run out": func(h *house) { h.pass(time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, newURL(t))
			id := h.in(approval.Consumed)
			if got := h.ask(h.demand("c")); got.Verdict != gatehouse.Allow || got.Approval != id {
				t.Fatalf("at once: %+v", got)
			}
			over(h)
			if got := h.ask(h.demand("c")); got.Verdict != gatehouse.Flag || got.Approval == id {
				t.Errorf("later: %+v", got)
			}
		})
	}
}

// What one agent has waiting is bounded: calls beyond that are refused, other agents' are not, and it ends when some are settled.
func TestTooManyPending(t *testing.T) {
	h := newHouse(t, newURL(t))
	h.MaxPending = 100
	if err := h.store.Transact(t.Context(), func(ctx context.Context) error {
		for n := range h.MaxPending {
			a := approval.Approval{ID: fmt.Sprint("apr-", n), State: approval.Pending, Agent: "mnm-a", Expires: noon.Add(time.Hour)}
			if n == 0 {
				a.Expires = noon.Add(time.Minute)
			}
			if err := h.store.PutApproval(ctx, a); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	got := h.ask(h.demand("c"))
	if got.Verdict != gatehouse.Block || got.Approval != "" || got.Reason == "" || len(h.events()) != 0 {
		t.Errorf("one too many: %+v", got)
	}
	other := h.demand("c")
	other.Agent = "mnm-b"
	if got := h.ask(other); got.Verdict != gatehouse.Flag {
		t.Errorf("another agent: %+v", got)
	}
	if err := h.store.PutGrant(t.Context(), approval.Grant{ID: "gra-1", Agent: "mnm-a", Tool: "send_email", Scope: "true", Expires: noon.Add(time.Second)}); err != nil {
		t.Fatal(err)
	}
	d := h.demand("c")
	d.Within = func(string) bool { return true }
	if got := h.ask(d); got.Verdict != gatehouse.Allow {
		t.Errorf("what is granted: %+v", got)
	}
	h.pass(time.Minute)
	if got := h.ask(h.demand("d")); got.Verdict != gatehouse.Flag {
		t.Errorf("when one has run out: %+v", got)
	}
}

// However long it takes to work a scope out, others go on; and a grant that is revoked meanwhile answers no more.
func TestScopesHoldUpNobody(t *testing.T) {
	h := newHouse(t, newURL(t))
	g := approval.Grant{ID: "gra-1", Agent: "mnm-a", Tool: "send_email", Scope: "true", Expires: noon.Add(time.Minute)}
	if err := h.store.PutGrant(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	d := h.demand("c")
	d.Within = func(string) bool {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		other := h.demand("other")
		other.Session = "another"
		if a, err := h.Ask(ctx, other); err != nil || a.Verdict != gatehouse.Flag {
			t.Errorf("another call: %+v, %v", a, err)
		}
		revoked := g
		revoked.Revoked = noon
		if err := h.store.ChangeGrant(ctx, revoked); err != nil {
			t.Error(err)
		}
		return true
	}
	if got := h.ask(d); got.Verdict != gatehouse.Flag {
		t.Errorf("got %+v", got)
	}
}

func TestArgumentsThatNobodyReads(t *testing.T) {
	h := newHouse(t, newURL(t))
	d := h.demand("c")
	d.Card = approval.Card{Arguments: strings.Repeat("x", approval.MaxCard)}
	if got := h.ask(d); got.Verdict != gatehouse.Flag {
		t.Errorf("got %+v", got)
	}
	d = h.demand("d")
	d.Digest, d.Card = [32]byte{2}, approval.Card{Arguments: strings.Repeat("x", approval.MaxCard+1)}
	if got := h.ask(d); got.Verdict != gatehouse.Block || got.Approval != "" {
		t.Errorf("got %+v", got)
	}
}

// A grant that is made while a call waits reaches it, and the approval says by which.
func TestAGrantReachesACallThatWaits(t *testing.T) {
	h := newHouse(t, newURL(t))
	d := h.demand("c")
	d.Within = func(string) bool { return true }
	waits := h.ask(d)
	if waits.Verdict != gatehouse.Flag {
		t.Fatalf("%+v", waits)
	}
	if err := h.store.PutGrant(t.Context(), approval.Grant{ID: "gra-1", Agent: "mnm-a", Tool: "send_email", Scope: "true", By: "mk-1", Expires: noon.Add(time.Minute)}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := h.ask(d); got.Verdict != gatehouse.Allow || got.Approval != waits.Approval {
			t.Fatalf("%+v", got)
		}
	}
	a, ok, err := h.store.ApprovalByID(t.Context(), waits.Approval)
	if err != nil || !ok || a.State != approval.Consumed || a.By != "mk-1" || a.Note != "grant gra-1" {
		t.Errorf("%+v, %v", a, err)
	}
	d.Rule, d.CallID = "provenance", "tainted"
	if got := h.ask(d); got.Verdict != gatehouse.Flag {
		t.Errorf("after an injection: %+v", got)
	}
}
