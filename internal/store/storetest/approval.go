package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/approval"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
)

func testApprovals(t *testing.T, b Backend) {
	t.Run("kept whole", func(t *testing.T) { testApprovalKept(t, b) })
	t.Run("changed once", func(t *testing.T) { testApprovalChanged(t, b) })
	t.Run("filters", func(t *testing.T) { testApprovalFilters(t, b) })
	t.Run("due", func(t *testing.T) { testApprovalsDue(t, b) })
	t.Run("results", func(t *testing.T) { testResults(t, b) })
	t.Run("transaction", func(t *testing.T) { testApprovalTransaction(t, b) })
	t.Run("grants", func(t *testing.T) { testGrants(t, b) })
	t.Run("kill", func(t *testing.T) { testApprovalKill(t, b) })
}

// pending is an approval that nobody has decided on.
func pending(id string) approval.Approval {
	return approval.Approval{ID: id, State: approval.Pending, Account: "acme", Agent: "mnm-a", AgentName: "bot", Session: "s", Surface: "proxy",
		Request: "req-1", Tool: "send_email", CallID: "call-" + id, Digest: [32]byte{1, 31: 255}, Rule: "flagged", Reason: "<a> & b", Risk: 0.25,
		Tainted: true, Sealed: []byte{0, 1, 255}, Created: noon, Expires: noon.Add(time.Hour)}
}

func putApproval(t *testing.T, s *store.Store, a approval.Approval) {
	t.Helper()
	if err := s.PutApproval(t.Context(), a); err != nil {
		t.Fatal(err)
	}
}

// names are the ids of approvals.
func names(list []approval.Approval) (ids []string) {
	for _, a := range list {
		ids = append(ids, a.ID)
	}
	return ids
}

func testApprovalKept(t *testing.T, b Backend) {
	s, ctx := open(t, b.URL(t)), t.Context()
	a := pending("apr-1")
	a.Decided, a.By, a.From, a.Note = noon.Add(1), "key-1", "192.0.2.1", "<note>"
	a.Consumed, a.ConsumedBy, a.ConsumedCall, a.Resulted, a.Again = noon.Add(2), "req-2", "call-2", noon.Add(3), "apr-2"
	putApproval(t, s, a)
	a.Version = 1
	if got, ok, err := s.ApprovalByID(ctx, "apr-1"); !ok || err != nil || !reflect.DeepEqual(got, a) {
		t.Errorf("got  %+v, %v, %v\nwant %+v", got, ok, err, a)
	}
	a.Version, a.State, a.Sealed, a.Expires = 2, approval.Denied, nil, noon.Add(2*time.Hour)
	a.Decided, a.By, a.From, a.Note = noon.Add(4), "key-2", "192.0.2.2", ""
	a.Consumed, a.ConsumedBy, a.ConsumedCall, a.Resulted, a.Again = time.Time{}, "", "", time.Time{}, ""
	if ok, err := s.ChangeApproval(ctx, a, approval.Pending); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if got, _, err := s.ApprovalByID(ctx, "apr-1"); err != nil || !reflect.DeepEqual(got, a) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, a)
	}
	if _, ok, err := s.ApprovalByID(ctx, "apr-0"); ok || err != nil {
		t.Errorf("one that there is none of: %v, %v", ok, err)
	}
	if err := s.PutApproval(ctx, pending("apr-1")); err == nil {
		t.Error("two have one id")
	}
	if n, err := s.ApprovalVersion(ctx); n != 2 || err != nil {
		t.Errorf("version %d, %v", n, err)
	}
}

// Of many who change an approval in a state one is right, in whichever process; those that were wrong change nothing.
func testApprovalChanged(t *testing.T, b Backend) {
	url := b.URL(t)
	stores := []*store.Store{open(t, url), open(t, url)}
	a := pending("apr-1")
	a.State = approval.Approved
	putApproval(t, stores[0], a)
	var all sync.WaitGroup
	var won atomic.Int64
	for n := range 20 {
		all.Go(func() {
			mine := a
			mine.State, mine.ConsumedCall = approval.Consumed, fmt.Sprint(n)
			ok, err := stores[n%2].ChangeApproval(context.Background(), mine, approval.Approved)
			if err != nil {
				t.Error(err)
			}
			if ok {
				won.Add(1)
			}
		})
	}
	all.Wait()
	if n, err := stores[0].ApprovalVersion(t.Context()); won.Load() != 1 || n != 2 || err != nil {
		t.Errorf("%d were right, version %d, %v", won.Load(), n, err)
	}
}

func testApprovalFilters(t *testing.T, b Backend) {
	s, ctx := open(t, b.URL(t)), t.Context()
	now := noon.Add(time.Hour)
	for n, change := range []func(*approval.Approval){
		func(a *approval.Approval) { a.Expires = now.Add(1) },
		func(a *approval.Approval) {}, // pending as far as is written down, run out
		func(a *approval.Approval) { a.State, a.Expires = approval.Approved, now.Add(1) },
		func(a *approval.Approval) { a.State = approval.Approved },
		func(a *approval.Approval) { a.State, a.Account = approval.Denied, "globex" },
		func(a *approval.Approval) { a.State, a.Agent = approval.Expired, "mnm-b" },
		func(a *approval.Approval) { a.State, a.Session = approval.Consumed, "t" },
		func(a *approval.Approval) { a.State, a.Resulted = approval.Consumed, noon },
		func(a *approval.Approval) { a.State, a.Again = approval.Consumed, "apr-x" },
		func(a *approval.Approval) { a.State, a.Tool = approval.Revoked, "delete" },
	} {
		a := pending(fmt.Sprint(n))
		change(&a)
		putApproval(t, s, a)
	}
	states := func(list ...approval.State) approval.Filter { return approval.Filter{States: list} }
	for _, c := range []struct {
		name string
		approval.Filter
		want []string
	}{
		{"all", approval.Filter{}, []string{"9", "8", "7", "6", "5", "4", "3", "2", "1", "0"}},
		{"account", approval.Filter{Account: "globex"}, []string{"4"}},
		{"agents", approval.Filter{Agents: []string{"mnm-b", "mnm-c"}}, []string{"5"}},
		{"session", approval.Filter{Session: "t"}, []string{"6"}},
		{"tool", approval.Filter{Tool: "delete"}, []string{"9"}},
		{"pending", states(approval.Pending), []string{"0"}},
		{"approved", states(approval.Approved), []string{"2"}},
		{"expired", states(approval.Expired), []string{"5", "3", "1"}},
		{"consumed", states(approval.Consumed), []string{"8", "7", "6"}},
		{"several states", states(approval.Pending, approval.Expired, approval.Revoked), []string{"9", "5", "3", "1", "0"}},
		{"several states of an account", approval.Filter{Account: "globex", States: []approval.State{approval.Expired, approval.Denied}}, []string{"4"}},
		{"undelivered", approval.Filter{Undelivered: true}, []string{"6"}},
		{"nothing", approval.Filter{Tool: "delete", Session: "t"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.Now, c.Limit = now, 20
			list, total, err := s.Approvals(ctx, c.Filter)
			if err != nil || total != len(c.want) || !slices.Equal(names(list), c.want) {
				t.Errorf("got %v of %d, %v, want %v", names(list), total, err, c.want)
			}
			c.Limit, c.Offset = 1, 1
			if list, total, err = s.Approvals(ctx, c.Filter); err != nil || total != len(c.want) || len(list) != min(1, max(0, total-1)) {
				t.Errorf("the second page: %v of %d, %v", names(list), total, err)
			}
		})
	}
	list, err := s.ApprovalsOf(ctx, "mnm-a", "s", "send_email", [32]byte{1, 31: 255})
	if want := []string{"0", "1", "2", "3", "4", "7", "8"}; err != nil || !slices.Equal(names(list), want) {
		t.Errorf("of one call: %v, %v, want %v", names(list), err, want)
	}
	if list, err := s.ApprovalsOf(ctx, "mnm-a", "s", "send_email", [32]byte{1}); err != nil || len(list) != 0 {
		t.Errorf("of another: %v, %v", names(list), err)
	}
	if list, err := s.ChangedApprovals(ctx, 7, 2); err != nil || !slices.Equal(names(list), []string{"7", "8"}) {
		t.Errorf("changed: %v, %v", names(list), err)
	}
}

func testApprovalsDue(t *testing.T, b Backend) {
	s, ctx := open(t, b.URL(t)), t.Context()
	for n, state := range approval.States() {
		a := pending(fmt.Sprint(n))
		a.State, a.Expires = state, noon.Add(-time.Duration(n))
		putApproval(t, s, a)
	}
	for _, c := range []struct {
		at    time.Time
		limit int
		want  []string
	}{{noon.Add(-2), 9, nil}, {noon.Add(-1), 9, []string{"1"}}, {noon, 9, []string{"1", "0"}}, {noon, 1, []string{"1"}}} {
		if list, err := s.DueApprovals(ctx, c.at, c.limit); err != nil || !slices.Equal(names(list), c.want) {
			t.Errorf("at %v: %v, %v, want %v", c.at, names(list), err, c.want)
		}
	}
}

// The result of a call is noted on the oldest approval that has let it through, once, and its arguments go.
func testResults(t *testing.T, b Backend) {
	s, ctx := open(t, b.URL(t)), t.Context()
	for n, change := range []func(*approval.Approval){
		func(a *approval.Approval) { a.Consumed, a.ConsumedCall = noon.Add(2), "c" },
		func(a *approval.Approval) { a.Consumed, a.ConsumedCall = noon.Add(1), "c" },
		func(a *approval.Approval) { a.Consumed, a.ConsumedCall, a.Tool = noon, "d", "delete" },
		func(a *approval.Approval) { a.State, a.ConsumedCall = approval.Approved, "c" },
		func(a *approval.Approval) { a.Consumed, a.ConsumedCall, a.Session = noon, "c", "t" },
		func(a *approval.Approval) { a.Consumed, a.ConsumedCall, a.Agent = noon, "c", "mnm-b" },
		func(a *approval.Approval) { a.Consumed, a.ConsumedCall, a.Again = noon, "c", "1" },
		func(a *approval.Approval) { a.Consumed = noon.Add(3) }, // without a call id
	} {
		a := pending(fmt.Sprint(n))
		a.State = approval.Consumed
		change(&a)
		putApproval(t, s, a)
	}
	for n, c := range []struct {
		told session.Result
		want string // empty: it is nobody's
	}{
		{session.Result{CallID: "c", Tool: "send_email"}, "1"},
		{session.Result{CallID: "c", Tool: "send_email"}, "0"},
		{session.Result{CallID: "c", Tool: "send_email"}, ""},
		{session.Result{CallID: "x", Tool: "delete"}, ""},
		{session.Result{Tool: "search"}, ""},
		{session.Result{Tool: "delete"}, "2"},
		{session.Result{Tool: "send_email"}, "7"},
	} {
		before, err := s.ApprovalVersion(ctx)
		if err != nil {
			t.Fatal(err)
		}
		u := update("mnm-a", "s", noon.Add(time.Hour), "t", "u")
		u.Results = []session.Result{c.told}
		if err := s.Append(ctx, Record(fmt.Sprint("result-", n)), u, true); err != nil {
			t.Fatal(err)
		}
		list, err := s.ChangedApprovals(ctx, before, 9)
		if c.want == "" {
			if err != nil || len(list) != 0 {
				t.Errorf("result %d changed %v, %v", n, names(list), err)
			}
			continue
		}
		if err != nil || len(list) != 1 || list[0].ID != c.want || list[0].Sealed != nil || !list[0].Resulted.Equal(u.Time) || list[0].Version != before+1 {
			t.Errorf("result %d changed %+v, %v, want %s", n, list, err, c.want)
		}
	}
}

// What a transaction has changed it sees, and when it comes to nothing, nobody has.
func testApprovalTransaction(t *testing.T, b Backend) {
	s := open(t, b.URL(t))
	a, stop := pending("apr-1"), errors.New("stop")
	err := s.Transact(t.Context(), func(ctx context.Context) error {
		if err := s.PutApproval(ctx, a); err != nil {
			return err
		}
		a.State = approval.Approved
		if ok, err := s.ChangeApproval(ctx, a, approval.Pending); !ok || err != nil {
			t.Error(ok, err)
		}
		if err := s.PutGrant(ctx, grant("gra-1")); err != nil {
			return err
		}
		list, err := s.ApprovalsOf(ctx, a.Agent, a.Session, a.Tool, a.Digest)
		if err != nil || len(list) != 1 || list[0].State != approval.Approved || list[0].Version != 2 {
			t.Errorf("within: %+v, %v", list, err)
		}
		return stop
	})
	_, there, find := s.ApprovalByID(t.Context(), "apr-1")
	_, granted, look := s.GrantByID(t.Context(), "gra-1")
	if n, version := s.ApprovalVersion(t.Context()); !errors.Is(err, stop) || there || granted || find != nil || look != nil || n != 0 || version != nil {
		t.Errorf("afterwards: %v, %v, %v, version %d", err, there, granted, n)
	}
}

func grant(id string) approval.Grant {
	return approval.Grant{ID: id, Account: "acme", Agent: "mnm-a", Tool: "send_email", Scope: `args.to == "<a>"`, Approval: "apr-1",
		Created: noon, Expires: noon.Add(time.Hour), By: "key-1", From: "192.0.2.1", Note: "for the week"}
}

func testGrants(t *testing.T, b Backend) {
	s, ctx := open(t, b.URL(t)), t.Context()
	a, c, d := grant("gra-a"), grant("gra-c"), grant("gra-d")
	c.Created, c.Expires, c.Account = noon.Add(1), noon.Add(2*time.Hour), "globex"
	d.Created, d.Agent, d.Revoked, d.Used, d.LastUsed = noon.Add(2), "mnm-b", noon, 3, noon
	for _, g := range []approval.Grant{a, c, d} {
		if err := s.PutGrant(ctx, g); err != nil {
			t.Fatal(err)
		}
	}
	a.Used, a.LastUsed = 7, noon.Add(3)
	if err := s.ChangeGrant(ctx, a); err != nil {
		t.Fatal(err)
	}
	for _, want := range []approval.Grant{a, c, d} {
		if got, ok, err := s.GrantByID(ctx, want.ID); !ok || err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v, %v, %v\nwant %+v", got, ok, err, want)
		}
	}
	standing := func(agent, tool string, at time.Time, want ...approval.Grant) {
		t.Helper()
		if list, err := s.GrantsOf(ctx, agent, tool, at); err != nil || !slices.Equal(list, want) {
			t.Errorf("of %s, %s: %+v, %v", agent, tool, list, err)
		}
	}
	standing("mnm-a", "send_email", noon, c, a)
	standing("mnm-a", "send_email", noon.Add(time.Hour), c)
	standing("mnm-a", "delete", noon)
	standing("mnm-b", "send_email", noon)
	for _, f := range []struct {
		account string
		agents  []string
		want    []approval.Grant
	}{{"", nil, []approval.Grant{d, c, a}}, {"acme", nil, []approval.Grant{d, a}}, {"", []string{"mnm-a"}, []approval.Grant{c, a}}, {"acme", []string{"mnm-x"}, nil}} {
		if list, total, err := s.Grants(ctx, f.account, f.agents, 9, 0); err != nil || total != len(f.want) || !slices.Equal(list, f.want) {
			t.Errorf("%q, %v: %+v of %d, %v", f.account, f.agents, list, total, err)
		}
	}
	if list, total, err := s.Grants(ctx, "", nil, 1, 1); err != nil || total != 3 || len(list) != 1 || list[0].ID != "gra-c" {
		t.Errorf("the second page: %+v of %d, %v", list, total, err)
	}
}
