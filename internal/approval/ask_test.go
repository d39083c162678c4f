package approval_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/approval"
)

// TestAsk asks for call "c" after something has happened, and says what it meets: which approval of those that there were
// before, by its place, or a new one.
func TestAsk(t *testing.T) {
	const fresh = -1
	anew := func(d *approval.Demand) { d.Anew = true }
	for _, c := range []struct {
		name    string
		before  func(h *house) []string // the approvals that there are
		as      func(*approval.Demand)
		verdict gatehouse.Verdict
		state   approval.State
		at      int
		events  int // that asking adds
	}{
		{"the first time", func(*house) []string { return nil }, nil, gatehouse.Flag, approval.Pending, fresh, 1},
		{"asked for before", func(h *house) []string { return []string{h.pending("c")} }, nil, gatehouse.Flag, approval.Pending, 0, 0},
		{"approved", func(h *house) []string {
			id := h.pending("c")
			h.decide(h.Approve, id)
			return []string{id}
		}, nil, gatehouse.Allow, approval.Consumed, 0, 1},
		{"let through before", func(h *house) []string {
			id := h.pending("c")
			h.decide(h.Approve, id)
			h.ask(h.demand("c"))
			return []string{id}
		}, nil, gatehouse.Allow, approval.Consumed, 0, 0},
		{"denied", func(h *house) []string {
			id := h.pending("c")
			h.decide(h.Deny, id)
			return []string{id}
		}, nil, gatehouse.Block, approval.Denied, 0, 0},
		{"denied, and its time is up: by its id it stays denied", func(h *house) []string {
			id := h.pending("c")
			h.decide(h.Deny, id)
			h.pass(2 * time.Hour)
			return []string{id}
		}, nil, gatehouse.Block, approval.Denied, 0, 0},
		{"revoked", func(h *house) []string {
			id := h.pending("c")
			h.decide(h.Approve, id)
			h.decide(h.Revoke, id)
			return []string{id}
		}, nil, gatehouse.Block, approval.Revoked, 0, 0},
		{"run out while pending", func(h *house) []string {
			id := h.pending("c")
			h.pass(time.Hour)
			return []string{id}
		}, nil, gatehouse.Flag, approval.Pending, fresh, 1},
		{"run out after it was approved", func(h *house) []string {
			id := h.pending("c")
			h.decide(h.Approve, id)
			h.pass(time.Hour)
			return []string{id}
		}, nil, gatehouse.Flag, approval.Pending, fresh, 1},
		{"another call like it is pending", func(h *house) []string { return []string{h.pending("b")} }, nil, gatehouse.Flag, approval.Pending, fresh, 1},
		{"another call like it is pending, and ids mean nothing", func(h *house) []string { return []string{h.pending("b")} }, anew,
			gatehouse.Flag, approval.Pending, 0, 0},
		{"a call like it was approved", func(h *house) []string {
			a, b := h.pending("a"), h.pending("b")
			h.decide(h.Approve, b)
			h.decide(h.Approve, a)
			return []string{a, b}
		}, nil, gatehouse.Allow, approval.Consumed, 0, 1},
		{"a call like it was approved, but its own approval is pending", func(h *house) []string {
			own, b := h.pending("c"), h.pending("b")
			h.decide(h.Approve, b)
			return []string{own, b}
		}, nil, gatehouse.Flag, approval.Pending, 0, 0},
		{"a call like it was approved, and that is taken", func(h *house) []string {
			id := h.pending("b")
			h.decide(h.Approve, id)
			return []string{id}
		}, func(d *approval.Demand) { d.Taken = []string{"see below"} }, gatehouse.Flag, approval.Pending, fresh, 1},
		{"a call like it was approved, and run out", func(h *house) []string {
			id := h.pending("b")
			h.decide(h.Approve, id)
			h.pass(time.Hour)
			return []string{id}
		}, nil, gatehouse.Flag, approval.Pending, fresh, 1},
		{"a call like it was let through", func(h *house) []string {
			id := h.pending("b")
			h.decide(h.Approve, id)
			h.ask(h.demand("b"))
			return []string{id}
		}, nil, gatehouse.Flag, approval.Pending, fresh, 1},
		{"its approval let another call through", func(h *house) []string {
			id := h.pending("c")
			h.decide(h.Approve, id)
			h.ask(h.demand("b"))
			return []string{id}
		}, nil, gatehouse.Flag, approval.Pending, fresh, 1},
		{"it was let through by the approval of another call", func(h *house) []string {
			id := h.pending("b")
			h.decide(h.Approve, id)
			h.ask(h.demand("c"))
			return []string{id}
		}, nil, gatehouse.Allow, approval.Consumed, 0, 0},
		{"let through before, ids mean nothing, the same exchange", func(h *house) []string {
			id := h.pending("c")
			h.decide(h.Approve, id)
			h.ask(h.demand("c"))
			return []string{id}
		}, anew, gatehouse.Allow, approval.Consumed, 0, 0},
		{"let through before, ids mean nothing, another exchange", func(h *house) []string {
			id := h.pending("c")
			h.decide(h.Approve, id)
			h.ask(h.demand("c"))
			return []string{id}
		}, func(d *approval.Demand) { d.Anew, d.Request = true, "req-next" }, gatehouse.Flag, approval.Pending, fresh, 1},
		{"a call like it was denied", func(h *house) []string {
			id := h.pending("b")
			h.decide(h.Deny, id)
			return []string{id}
		}, nil, gatehouse.Block, approval.Denied, 0, 0},
		{"a call like it was denied, and that is past", func(h *house) []string {
			id := h.pending("b")
			h.decide(h.Deny, id)
			h.pass(time.Hour)
			return []string{id}
		}, nil, gatehouse.Flag, approval.Pending, fresh, 1},
		{"one like it was denied and one approved", func(h *house) []string {
			a, b := h.pending("a"), h.pending("b")
			h.decide(h.Approve, a)
			h.decide(h.Deny, b)
			return []string{a, b}
		}, nil, gatehouse.Allow, approval.Consumed, 0, 1},
		{"a call like it was revoked", func(h *house) []string {
			id := h.pending("b")
			h.decide(h.Approve, id)
			h.decide(h.Revoke, id)
			return []string{id}
		}, nil, gatehouse.Flag, approval.Pending, fresh, 1},
		{"without a call id, asked for before", func(h *house) []string { return []string{h.pending("")} },
			func(d *approval.Demand) { d.CallID = "" }, gatehouse.Flag, approval.Pending, 0, 0},
		{"without a call id, let through before", func(h *house) []string {
			id := h.pending("")
			h.decide(h.Approve, id)
			h.ask(h.demand(""))
			return []string{id}
		}, func(d *approval.Demand) { d.CallID = "" }, gatehouse.Flag, approval.Pending, fresh, 1},
		{"without a call id, one with an id is pending", func(h *house) []string { return []string{h.pending("b")} },
			func(d *approval.Demand) { d.CallID = "" }, gatehouse.Flag, approval.Pending, fresh, 1},
		{"approved for another agent", approved, func(d *approval.Demand) { d.Agent = "mnm-b" }, gatehouse.Flag, approval.Pending, fresh, 1},
		{"approved in another session", approved, func(d *approval.Demand) { d.Session = "t" }, gatehouse.Flag, approval.Pending, fresh, 1},
		{"approved for another tool", approved, func(d *approval.Demand) { d.Tool = "send_mail" }, gatehouse.Flag, approval.Pending, fresh, 1},
		{"approved with other arguments", approved, func(d *approval.Demand) { d.Digest[31]++ }, gatehouse.Flag, approval.Pending, fresh, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t, newURL(t))
			ids := c.before(h)
			d := h.demand("c")
			if c.as != nil {
				c.as(&d)
			}
			if d.Taken != nil {
				d.Taken = ids
			}
			before := len(h.events())
			got := h.ask(d)
			if got.Verdict != c.verdict || got.State != c.state || slices.Index(ids, got.Approval) != c.at || got.Approval == "" || got.Reason == "" ||
				got.Rule != "approval "+got.Approval || got.Expires.IsZero() != (c.state != approval.Pending) {
				t.Errorf("got %+v, approvals %v", got, ids)
			}
			if a := h.get(got.Approval); a.State != c.state {
				t.Errorf("the approval is %s", a.State)
			}
			if n := len(h.events()) - before; n != c.events {
				t.Errorf("%d events, want %d", n, c.events)
			}
		})
	}
}

func approved(h *house) []string {
	id := h.pending("c")
	h.decide(h.Approve, id)
	return []string{id}
}

func TestAskKeepsWhatAHumanHasToKnow(t *testing.T) {
	h := newHouse(t, newURL(t))
	d := h.demand("c")
	a := h.get(h.ask(d).Approval)
	a.Sealed, a.Version = nil, 0
	want := approval.Approval{ID: a.ID, State: approval.Pending, Account: d.Account, Agent: d.Agent, AgentName: d.AgentName, Session: d.Session,
		Surface: d.Surface, Request: d.Request, Tool: d.Tool, CallID: d.CallID, Digest: d.Digest, Rule: d.Rule, Reason: d.Reason, Risk: d.Risk,
		Tainted: d.Tainted, Created: d.Now, Expires: d.Expires}
	if fmt.Sprintf("%+v", a) != fmt.Sprintf("%+v", want) {
		t.Errorf("got  %+v\nwant %+v", a, want)
	}
	d.Digest, d.Expires = [32]byte{2}, time.Time{}
	if a := h.get(h.ask(d).Approval); !a.Expires.Equal(noon.Add(24 * time.Hour)) {
		t.Errorf("it runs out at %v", a.Expires)
	}
}

// Calls like each other need one approval each, also when all of one exchange.
func TestIdenticalCalls(t *testing.T) {
	h := newHouse(t, newURL(t))
	exchange := func(n int, calls ...string) (list []approval.Answer) {
		var taken []string
		for _, call := range calls {
			d := h.demand(call)
			d.Anew, d.Request, d.Taken = true, fmt.Sprint("req-", n), taken
			a := h.ask(d)
			list, taken = append(list, a), append(taken, a.Approval)
		}
		return list
	}
	first := exchange(1, "a", "b", "c")
	if first[0].Approval == first[1].Approval || first[1].Approval == first[2].Approval || first[0].Approval == first[2].Approval {
		t.Fatalf("%+v", first)
	}
	h.decide(h.Approve, first[1].Approval)
	h.decide(h.Deny, first[2].Approval)
	// The model makes the three calls again, under other ids.
	var got []gatehouse.Verdict
	for _, a := range exchange(2, "d", "e", "f") {
		got = append(got, a.Verdict)
	}
	if want := []gatehouse.Verdict{gatehouse.Allow, gatehouse.Block, gatehouse.Flag}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Two processes on one database: each approval lets one call through, however many ask at once.
func TestRace(t *testing.T) {
	url := newURL(t)
	houses := []*house{newHouse(t, url), newHouse(t, url)}
	const approvals, calls = 5, 40
	var ids []string
	for n := range approvals {
		ids = append(ids, houses[0].pending(fmt.Sprint("first-", n)))
	}
	for _, id := range ids {
		houses[0].decide(houses[0].Approve, id)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	used := map[string]string{}
	var flagged atomic.Int64
	for n := range calls {
		all.Go(func() {
			d := houses[0].demand(fmt.Sprint("call-", n))
			switch a, err := houses[n%2].Ask(context.Background(), d); {
			case err != nil:
				t.Error(err)
			case a.Verdict == gatehouse.Allow:
				mu.Lock()
				defer mu.Unlock()
				if other := used[a.Approval]; other != "" {
					t.Errorf("%s let %s and %s through", a.Approval, other, d.CallID)
				}
				used[a.Approval] = d.CallID
			default:
				flagged.Add(1)
			}
		})
	}
	all.Wait()
	if len(used) != approvals || flagged.Load() != calls-approvals {
		t.Errorf("%d let through, %d flagged", len(used), flagged.Load())
	}
}

// One call asked for by many at once has one approval.
func TestOneApprovalForOneCall(t *testing.T) {
	url := newURL(t)
	houses := []*house{newHouse(t, url), newHouse(t, url)}
	for _, call := range []string{"c", ""} {
		var all sync.WaitGroup
		ids := make([]string, 20)
		for n := range ids {
			all.Go(func() {
				a, err := houses[n%2].Ask(context.Background(), houses[0].demand(call))
				if err != nil {
					t.Error(err)
				}
				ids[n] = a.Approval
			})
		}
		all.Wait()
		if slices.Sort(ids); ids[0] == "" || ids[0] != ids[len(ids)-1] {
			t.Errorf("call %q: %v", call, slices.Compact(ids))
		}
	}
}

func TestGrants(t *testing.T) {
	everything := func(string) bool { return true }
	for _, c := range []struct {
		name  string
		grant func(*approval.Grant)
		as    func(*approval.Demand)
		want  gatehouse.Verdict
	}{
		{"within its scope", nil, nil, gatehouse.Allow},
		{"out of its scope", func(g *approval.Grant) { g.Scope = "false" }, nil, gatehouse.Flag},
		{"run out", func(g *approval.Grant) { g.Expires = noon }, nil, gatehouse.Flag},
		{"revoked", func(g *approval.Grant) { g.Revoked = noon }, nil, gatehouse.Flag},
		{"of another tool", func(g *approval.Grant) { g.Tool = "delete" }, nil, gatehouse.Flag},
		{"of another agent", func(g *approval.Grant) { g.Agent = "mnm-b" }, nil, gatehouse.Flag},
		{"for an argument out of an injection", nil, func(d *approval.Demand) { d.Rule, d.Within = "provenance", everything }, gatehouse.Flag},
		{"for a call that no grant answers for", nil, func(d *approval.Demand) { d.Within = nil }, gatehouse.Flag},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t, newURL(t))
			g := approval.Grant{ID: "gra-1", Account: "acme", Agent: "mnm-a", Tool: "send_email", Scope: "true", Created: noon, Expires: noon.Add(time.Minute)}
			if c.grant != nil {
				c.grant(&g)
			}
			if err := h.store.PutGrant(t.Context(), g); err != nil {
				t.Fatal(err)
			}
			d := h.demand("c")
			d.Within = func(scope string) bool { return scope == "true" }
			if c.as != nil {
				c.as(&d)
			}
			got := h.ask(d)
			kept, _, err := h.store.GrantByID(t.Context(), "gra-1")
			if err != nil {
				t.Fatal(err)
			}
			if got.Verdict != c.want {
				t.Fatalf("got %+v", got)
			}
			if c.want != gatehouse.Allow {
				if kept.Used != 0 {
					t.Error("it was used")
				}
				return
			}
			if got.Rule != "grant gra-1" || got.Approval != "" || kept.Used != 1 || !kept.LastUsed.Equal(noon) || !slices.Equal(h.events(), []string{"approval.granted"}) {
				t.Errorf("got %+v, %+v, %v", got, kept, h.events())
			}
		})
	}
}

// A denial is stronger than a grant.
func TestGrantDoesNotLiftADenial(t *testing.T) {
	h := newHouse(t, newURL(t))
	h.decide(h.Deny, h.pending("b"))
	if err := h.store.PutGrant(t.Context(), approval.Grant{ID: "gra-1", Agent: "mnm-a", Tool: "send_email", Scope: "true", Expires: noon.Add(time.Minute)}); err != nil {
		t.Fatal(err)
	}
	d := h.demand("c")
	d.Within = func(string) bool { return true }
	if got := h.ask(d); got.Verdict != gatehouse.Block {
		t.Errorf("got %+v", got)
	}
}
