package approval_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/approval"
	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/seal"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

// told appends an exchange that tells results of calls.
func (h *house) told(results ...session.Result) {
	h.t.Helper()
	u := &session.Update{Agent: session.Agent{ID: "mnm-a", Hash: "0123456789abcdef", Created: noon, LastSeen: noon}, Session: "s", Time: h.time(), Results: results}
	r := audit.Record{ID: approval.NewID("req"), Type: "exchange", Time: noon, Agent: "mnm-a", Session: "s", Surface: "api"}
	if err := h.store.Append(context.Background(), r, u, true); err != nil {
		h.t.Fatal(err)
	}
}

// in brings an approval into a state.
func (h *house) in(state approval.State) string {
	h.t.Helper()
	id := h.pending("c")
	switch state {
	case approval.Approved, approval.Consumed, approval.Revoked:
		h.decide(h.Approve, id)
	case approval.Denied:
		h.decide(h.Deny, id)
	case approval.Expired:
		h.pass(time.Hour)
	}
	switch state {
	case approval.Consumed:
		h.ask(h.demand("c"))
	case approval.Revoked:
		h.decide(h.Revoke, id)
	}
	if a := h.get(id); a.State != state {
		h.t.Fatalf("it is %s, want %s", a.State, state)
	}
	return id
}

// Which decisions each state takes, and to what they lead.
func TestTransitions(t *testing.T) {
	to := map[approval.State]map[string]approval.State{
		approval.Pending:  {"approve": approval.Approved, "deny": approval.Denied},
		approval.Approved: {"revoke": approval.Revoked},
		approval.Consumed: {"approve": approval.Approved}, // again
	}
	for _, state := range approval.States() {
		for _, name := range []string{"approve", "deny", "revoke"} {
			t.Run(name+" what is "+string(state), func(t *testing.T) {
				h := newHouse(t, newURL(t))
				id := h.in(state)
				do := map[string]decide{"approve": h.Approve, "deny": h.Deny, "revoke": h.Revoke}[name]
				h.pass(time.Second)
				got, err := do(t.Context(), id, approval.Decision{By: "key-2", From: "192.0.2.2", Note: "so be it"})
				want, takes := to[state][name]
				if !takes {
					if !errors.Is(err, approval.ErrSettled) || got.State != state || h.get(id).State != state {
						t.Errorf("got %+v, %v", got, err)
					}
					return
				}
				if err != nil || got.State != want || got.By != "key-2" || got.From != "192.0.2.2" || got.Note != "so be it" || !got.Decided.Equal(h.time()) {
					t.Errorf("got %+v, %v", got, err)
				}
			})
		}
	}
}

func TestUnknown(t *testing.T) {
	h := newHouse(t, newURL(t))
	_, get := h.Get(t.Context(), "apr-0")
	_, deny := h.Deny(t.Context(), "apr-0", approval.Decision{})
	for name, err := range map[string]error{"Get": get, "Deny": deny, "Await": h.Await(t.Context(), []string{"apr-0"})} {
		if !errors.Is(err, approval.ErrUnknown) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A call that was let through and came to nothing is approved again, once, and runs once more.
func TestAgain(t *testing.T) {
	h := newHouse(t, newURL(t))
	id := h.in(approval.Consumed)
	h.pass(30 * time.Minute)
	again := h.decide(h.Approve, id)
	if again.ID == id || again.State != approval.Approved || again.CallID != "c" || !again.Expires.Equal(h.time().Add(time.Hour)) || !again.Consumed.IsZero() {
		t.Fatalf("got %+v", again)
	}
	if old := h.get(id); old.Again != again.ID || old.State != approval.Consumed || old.Sealed != nil {
		t.Errorf("the old one: %+v", old)
	}
	if card, err := h.Card(again); err != nil || card == nil || *card.Evidence != *h.demand("c").Card.Evidence {
		t.Errorf("its card: %+v, %v", card, err)
	}
	if _, err := h.Approve(t.Context(), id, approval.Decision{}); !errors.Is(err, approval.ErrSettled) {
		t.Errorf("a second time: %v", err)
	}
	for _, call := range []string{"c", "c"} {
		if got := h.ask(h.demand(call)); got.Verdict != gatehouse.Allow || got.Approval != again.ID {
			t.Errorf("got %+v", got)
		}
	}
	if got := h.ask(h.demand("d")); got.Verdict != gatehouse.Flag {
		t.Errorf("another call: %+v", got)
	}
	h.told(session.Result{CallID: "c", Tool: "send_email"})
	if a := h.get(again.ID); a.Resulted.IsZero() {
		t.Error("the result went to the one that was approved again")
	}
}

func TestWhatHadAResultIsNotApprovedAgain(t *testing.T) {
	h := newHouse(t, newURL(t))
	id := h.in(approval.Consumed)
	h.told(session.Result{CallID: "c", Tool: "send_email"})
	if _, err := h.Approve(t.Context(), id, approval.Decision{}); !errors.Is(err, approval.ErrSettled) {
		t.Errorf("got %v", err)
	}
}

// The arguments are kept for as long as somebody may need them.
func TestCard(t *testing.T) {
	for state, kept := range map[approval.State]bool{
		approval.Pending: true, approval.Approved: true, approval.Consumed: true,
		approval.Denied: false, approval.Expired: false, approval.Revoked: false,
	} {
		t.Run(string(state), func(t *testing.T) {
			h := newHouse(t, newURL(t))
			a := h.get(h.in(state))
			card, err := h.Card(a)
			if err != nil || (card != nil) != kept || (a.Sealed != nil) != kept || kept && card.Arguments != h.demand("c").Card.Arguments {
				t.Errorf("got %+v, %v", card, err)
			}
			if state == approval.Consumed {
				h.told(session.Result{CallID: "c", Tool: "send_email"})
				if h.get(a.ID).Sealed != nil {
					t.Error("it is kept after the result")
				}
			}
		})
	}
}

func TestCardCannotBeOpenedElsewhere(t *testing.T) {
	h := newHouse(t, newURL(t))
	a, b := h.get(h.pending("a")), h.get(h.pending("b"))
	a.Sealed = b.Sealed
	if card, err := h.Card(a); err == nil || card != nil {
		t.Error("it shows the card of another")
	}
	id := h.in(approval.Consumed)
	var err error
	if h.Box, err = seal.New([]byte("another key of thirty-two bytes!")); err != nil {
		t.Fatal(err)
	}
	if card, err := h.Card(b); err == nil || card != nil {
		t.Error("it opens under another key")
	}
	if _, err := h.Approve(t.Context(), id, approval.Decision{}); err == nil || h.get(id).Again != "" {
		t.Errorf("it is approved again with a card that nobody can read: %v", err)
	}
}

// What has run out is written down once, however many look, and as nothing else.
func TestExpiry(t *testing.T) {
	url := newURL(t)
	a, b := newHouse(t, url), newHouse(t, url)
	var ids []string
	for _, call := range []string{"1", "2", "3", "4", "5"} {
		ids = append(ids, a.pending(call))
	}
	a.decide(a.Approve, ids[0])
	a.decide(a.Deny, ids[1])
	late := a.demand("late")
	late.Expires, late.Digest = noon.Add(2*time.Hour), [32]byte{2}
	open := a.ask(late).Approval
	a.pass(time.Hour)
	b.pass(time.Hour)
	for _, id := range ids[2:] {
		if got := a.get(id); got.State != approval.Expired || !got.Decided.IsZero() {
			t.Errorf("before it is written down: %+v", got)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go a.Run(ctx)
	go b.Run(ctx)
	due := func() int {
		list, err := a.store.DueApprovals(t.Context(), a.time(), 10)
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	for end := time.Now().Add(5 * time.Second); due() > 0 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(50 * time.Millisecond) // for a second event, if there were one
	want := map[string]approval.State{ids[0]: approval.Expired, ids[1]: approval.Denied, ids[2]: approval.Expired, open: approval.Pending}
	for id, state := range want {
		if got, _, err := a.store.ApprovalByID(t.Context(), id); err != nil || got.State != state || (got.Sealed == nil) == (state == approval.Pending) {
			t.Errorf("got %+v, %v, want it %s", got, err, state)
		}
	}
	if n := len(slices.DeleteFunc(a.events(), func(kind string) bool { return kind != "approval.expired" })); n != 4 {
		t.Errorf("%d events, want 4", n)
	}
}

// A change whose event cannot be recorded is not made.
func TestNoChangeWithoutItsEvent(t *testing.T) {
	h := newHouse(t, newURL(t))
	id := h.pending("c")
	h.decide(h.Approve, id)
	h.Record = func(context.Context, *gatehouse.Exchange) error { return errors.New("the disk is full") }
	if a, err := h.Ask(t.Context(), h.demand("c")); err == nil || a.Verdict == gatehouse.Allow {
		t.Errorf("got %+v, %v", a, err)
	}
	if a := h.get(id); a.State != approval.Approved {
		t.Errorf("it is %s", a.State)
	}
}
