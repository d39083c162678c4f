package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/approval"
	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/seal"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
)

const (
	childGate    = "STORETEST_APPROVE_IN" // set in the child: the database to ask and decide in
	roundsOfKill = "STORETEST_ROUNDS"     // how often two processes are killed; more than the test does by itself
	flaggedCalls = 1000
)

// gate is a queue whose calls are asked for, decided on and made, by several goroutines of a process that is killed. What it
// has done it says: "released <approval> <call id>" and "told <call id>".
type gate struct {
	*approval.Queue
	store *store.Store
}

func newGate(s *store.Store) (*gate, error) {
	box, err := seal.New(make([]byte, seal.KeySize))
	if err != nil {
		return nil, err
	}
	g := &gate{store: s}
	g.Queue = &approval.Queue{Store: s, Box: box, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), Record: func(ctx context.Context, x *gatehouse.Exchange) error {
		return s.Append(ctx, audit.Record{ID: x.ID, Type: "event", Time: x.Time, Agent: x.Agent, Session: x.Session, Surface: x.Surface, Event: x.Event}, nil, true)
	}}
	return g, nil
}

func approveForever(url string) error {
	ctx := context.Background()
	s, err := store.Open(ctx, url)
	if err != nil {
		return err
	}
	g, err := newGate(s)
	if err != nil {
		return err
	}
	go g.Run(ctx)
	failed := make(chan error)
	forever := func(do func(context.Context) error) {
		for {
			if err := do(ctx); err != nil {
				failed <- err
			}
		}
	}
	for range 8 {
		go forever(g.call)
	}
	for range 3 {
		go forever(g.human)
	}
	return <-failed
}

// call asks for a flagged call, and again while nobody has decided.
func (g *gate) call(ctx context.Context) error {
	n := rand.IntN(flaggedCalls)
	for range 8 {
		if waits, err := g.try(ctx, n); !waits || err != nil {
			return err
		}
		time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
	}
	return nil
}

// try asks for a call, makes it when it may, and mostly tells its result. Every other call is one of a surface that gives it
// another id each time.
func (g *gate) try(ctx context.Context, n int) (waits bool, err error) {
	d := approval.Demand{Agent: "mnm-a", Session: "s", Surface: "api", Request: uuid.NewString(), Tool: "send_email", CallID: fmt.Sprint("call-", n),
		Digest: [32]byte{byte(n >> 8), byte(n)}, Card: approval.Card{Arguments: fmt.Sprint(n)}, Now: time.Now()}
	if d.Anew = n%2 == 1; d.Anew {
		d.CallID += "-" + d.Request
	}
	d.Expires = d.Now.Add(time.Minute)
	if rand.IntN(4) == 0 {
		d.Expires = d.Now.Add(time.Duration(rand.IntN(200)) * time.Millisecond)
	}
	a, err := g.Ask(ctx, d)
	if err != nil || a.Verdict != gatehouse.Allow {
		return a.Verdict == gatehouse.Flag, err
	}
	os.Stdout.WriteString("released " + a.Approval + " " + d.CallID + "\n") // one write: no line is torn or held back
	if rand.IntN(3) == 0 {
		return false, nil
	}
	u := update(d.Agent, d.Session, time.Now(), d.Request)
	u.Results = []session.Result{{CallID: d.CallID, Tool: d.Tool}}
	if err := g.store.Append(ctx, Record(d.Request), u, true); err != nil {
		return false, err
	}
	os.Stdout.WriteString("told " + d.CallID + "\n")
	return false, nil
}

// human decides on something.
func (g *gate) human(ctx context.Context) error {
	f, kind, do := approval.Filter{States: []approval.State{approval.Pending}}, "approval.approved", g.Approve
	switch rand.IntN(8) {
	case 0, 1:
		kind, do = "approval.denied", g.Deny
	case 2:
		f.States = []approval.State{approval.Approved}
		kind, do = "approval.revoked", g.Revoke
	case 3:
		f = approval.Filter{Undelivered: true}
	}
	f.Now, f.Limit, f.Offset = time.Now(), 1, rand.IntN(20)
	list, _, err := g.store.Approvals(ctx, f)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		time.Sleep(time.Millisecond)
		return nil
	}
	err = g.store.Transact(ctx, func(ctx context.Context) error {
		a, err := do(ctx, list[0].ID, approval.Decision{By: "key-1"})
		if err != nil {
			return err
		}
		return g.Record(ctx, &gatehouse.Exchange{ID: uuid.NewString(), Time: time.Now(), Surface: "api", Event: &gatehouse.Event{Type: kind, Target: a.ID}})
	})
	if errors.Is(err, approval.ErrSettled) { // somebody was faster
		return nil
	}
	g.Wake()
	return err
}

func testApprovalKill(t *testing.T, b Backend) {
	url := b.URL(t)
	open(t, url).Close()
	rounds := 12
	if testing.Short() {
		rounds = 2
	}
	if n, err := strconv.Atoi(os.Getenv(roundsOfKill)); err == nil {
		rounds = n
	}
	var said []string
	for range rounds {
		var all sync.WaitGroup
		var mu sync.Mutex
		for range 2 {
			all.Go(func() {
				lines := runAndDie(t, childGate+"="+url)
				mu.Lock()
				defer mu.Unlock()
				said = append(said, lines...)
			})
		}
		all.Wait()
		story(t, open(t, url), said)
	}
}

// story compares what is in the table, what the audit log tells, and what the processes have said.
func story(t *testing.T, s *store.Store, said []string) {
	t.Helper()
	if _, err := s.Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	list, total, err := s.Approvals(t.Context(), approval.Filter{Limit: 1 << 30})
	if err != nil || total != len(list) {
		t.Fatal(total, err)
	}
	table := map[string]approval.Approval{}
	counts := map[approval.State]int{}
	var undelivered []string
	for _, a := range list {
		table[a.ID] = a
		counts[a.State]++
		if a.State == approval.Consumed && a.Resulted.IsZero() && a.Again == "" {
			undelivered = append(undelivered, a.ID)
		}
	}
	listed, _, err := s.Approvals(t.Context(), approval.Filter{Undelivered: true, Limit: 1 << 30})
	if err != nil || !slices.Equal(names(listed), undelivered) {
		t.Errorf("undelivered: %d listed, %d there, %v", len(listed), len(undelivered), err)
	}
	told := history(t, s, table)
	for id, a := range table {
		if told[id] != a.State {
			t.Errorf("%s is %s, the log says %q", id, a.State, told[id])
		}
	}
	if len(told) != len(table) {
		t.Errorf("the log tells of %d approvals, %d are there", len(told), len(table))
	}
	releases(t, list, table, said)
	t.Logf("%v, %d undelivered, %d lines", counts, len(undelivered), len(said))
}

// history replays the log: the state that it leaves each approval in.
func history(t *testing.T, s *store.Store, table map[string]approval.Approval) map[string]approval.State {
	t.Helper()
	steps := map[string][2][]approval.State{ // from which states, to which
		"approval.requested": {{""}, {approval.Pending}},
		"approval.approved":  {{approval.Pending, ""}, {approval.Approved}}, // from nothing: again
		"approval.denied":    {{approval.Pending}, {approval.Denied}},
		"approval.expired":   {{approval.Pending, approval.Approved}, {approval.Expired}},
		"approval.consumed":  {{approval.Approved}, {approval.Consumed}},
		"approval.revoked":   {{approval.Approved}, {approval.Revoked}},
	}
	told := map[string]approval.State{}
	for e, err := range s.Entries(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		r, err := e.Decode()
		if err != nil {
			t.Fatal(err)
		}
		step, ok := steps[r.Kind()]
		if !ok {
			continue
		}
		id := r.Event.Target
		if !slices.Contains(step[0], told[id]) {
			t.Errorf("%s: %s after %q", id, r.Kind(), told[id])
		}
		told[id] = step[1][0]
		if r.Kind() == "approval.consumed" {
			var data struct{ Request string }
			if json.Unmarshal(r.Event.Data, &data) != nil || data.Request != table[id].ConsumedBy || data.Request == "" {
				t.Errorf("%s was consumed by %s, the log says %s", id, table[id].ConsumedBy, data.Request)
			}
		}
	}
	return told
}

// releases checks the calls that were let through: each by an approval of its own that ended so. list has the newest first.
func releases(t *testing.T, list []approval.Approval, table map[string]approval.Approval, said []string) {
	t.Helper()
	consumed := map[string][]approval.Approval{} // by call id
	again := map[string]bool{}                   // made of one that a human approved again, which need not be the last of its call
	for _, a := range slices.Backward(list) {    // as they were made: a demand that had to wait brings an older time
		again[a.Again] = true
		if a.State == approval.Consumed {
			consumed[a.ConsumedCall] = append(consumed[a.ConsumedCall], a)
		}
	}
	for call, list := range consumed {
		for i := range len(list) - 1 {
			if a, next := list[i], list[i+1]; a.Again == "" && a.Resulted.IsZero() && next.Created.Before(a.Expires) && !again[next.ID] {
				t.Errorf("call %s was let through again, before it had a result or its time was up, and not approved again", call)
			}
		}
	}
	for _, line := range said {
		word := strings.Fields(line)
		switch word[0] {
		case "released":
			if a := table[word[1]]; a.State != approval.Consumed || a.ConsumedCall != word[2] {
				t.Errorf("%s let %s through: it is %q, for %q", word[1], word[2], a.State, a.ConsumedCall)
			}
		case "told":
			if list := consumed[word[1]]; len(list) == 1 && list[0].Again == "" && (list[0].Resulted.IsZero() || list[0].Sealed != nil) {
				t.Errorf("%s: the result of %s is not noted", list[0].ID, word[1])
			}
		}
	}
}
