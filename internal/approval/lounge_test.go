package approval_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/approval"
)

// counting counts how often somebody looks at an approval.
type counting struct {
	approval.Store
	looks atomic.Int64
}

func (c *counting) ApprovalByID(ctx context.Context, id string) (approval.Approval, bool, error) {
	defer c.looks.Add(1)
	return c.Store.ApprovalByID(ctx, id)
}

// One decision wakes who waits for it within 100 ms, and nobody else, with 10,000 parked; each of them costs little.
func TestAwaitWakesItsOwn(t *testing.T) {
	const approvals = 100
	url := newURL(t)
	h, other := newHouse(t, url), newHouse(t, url)
	var ids []string
	for n := range approvals {
		ids = append(ids, h.pending(fmt.Sprint(n)))
	}
	store := &counting{Store: h.store}
	h.Store = store
	woken := make(chan int, parked)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for n := range parked {
		all.Go(func() {
			switch err := h.Await(ctx, ids[n%approvals:n%approvals+1]); {
			case err == nil:
				woken <- n % approvals
			case !errors.Is(err, context.Canceled):
				t.Error(err)
			}
		})
	}
	defer all.Wait()
	defer cancel()
	for end := time.Now().Add(30 * time.Second); store.looks.Load() < parked && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(100 * time.Millisecond) // until the last of them waits
	for range 4 {                      // each halves the stacks that looking has grown
		runtime.GC()
	}
	runtime.ReadMemStats(&after)
	if each := (after.HeapInuse + after.StackInuse - before.HeapInuse - before.StackInuse) / parked; each > mostBytes {
		t.Errorf("%d bytes for each that waits", each)
	} else {
		t.Logf("%d bytes for each that waits", each)
	}
	for n, by := range []*house{h, other, h} {
		start := time.Now()
		by.decide([]decide{h.Approve, other.Deny, h.Approve}[n], ids[n])
		decided := time.Since(start)
		for range parked / approvals {
			select {
			case got := <-woken:
				if got != n {
					t.Fatalf("who waited for %d was woken by %d", got, n)
				}
			case <-time.After(5 * time.Second):
				t.Fatal("somebody was not woken")
			}
		}
		if took := time.Since(start) - decided; took > mostTime {
			t.Errorf("decision %d: %v until all were awake", n, took)
		} else {
			t.Logf("decision %d: %v until all were awake", n, took)
		}
	}
	time.Sleep(200 * time.Millisecond)
	if n := h.Waiting(); n != parked-3*parked/approvals || len(woken) > 0 {
		t.Errorf("%d still wait", n)
	}
	// Each looks once and once more when it is woken, and h twice when it decides.
	if n := store.looks.Load(); n != parked+3*parked/approvals+2*2 {
		t.Errorf("%d looks: others were woken too", n)
	}
}

func TestAwait(t *testing.T) {
	url := newURL(t)
	h, other := newHouse(t, url), newHouse(t, url)
	a, b := h.pending("a"), h.pending("b")
	other.decide(other.Deny, b)
	if err := h.Await(t.Context(), []string{b}); err != nil {
		t.Errorf("what is decided is not waited for: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 120*time.Millisecond)
	defer cancel()
	if err := h.Await(ctx, []string{b, a}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one of two is pending: %v", err)
	}
	// What runs out is waited for no longer, also where nobody writes it down.
	d := h.demand("c")
	d.Expires = d.Now.Add(60 * time.Millisecond)
	id := h.ask(d).Approval
	time.AfterFunc(50*time.Millisecond, func() { h.pass(time.Minute) })
	start := time.Now()
	if err := h.Await(t.Context(), []string{id}); err != nil || time.Since(start) > time.Second {
		t.Errorf("after %v: %v", time.Since(start), err)
	}
}

// Decisions in a transaction of the caller are heard of once it is committed.
func TestWake(t *testing.T) {
	h := newHouse(t, newURL(t))
	id := h.pending("c")
	done := make(chan error, 1)
	go func() { done <- h.Await(t.Context(), []string{id}) }()
	for h.Waiting() == 0 {
		time.Sleep(time.Millisecond)
	}
	err := h.store.Transact(t.Context(), func(ctx context.Context) error {
		_, err := h.Approve(ctx, id, approval.Decision{})
		select {
		case <-done:
			t.Error("it was heard of before it was committed")
		case <-time.After(100 * time.Millisecond):
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	h.Wake()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Second):
		t.Error("not woken")
	}
}

func TestWatch(t *testing.T) {
	url := newURL(t)
	h, other := newHouse(t, url), newHouse(t, url)
	var ids []string
	for n := range 120 { // more than are read at once
		ids = append(ids, h.pending(fmt.Sprint(n)))
	}
	seen := make(chan approval.Approval)
	stop := errors.New("seen enough")
	done := make(chan error, 1)
	go func() {
		n := 0
		done <- h.Watch(t.Context(), 10, func(a approval.Approval) error {
			seen <- a
			if n++; n == 112 {
				return stop
			}
			return nil
		})
	}()
	for _, id := range ids[10:] {
		if a := <-seen; a.ID != id || a.State != approval.Pending {
			t.Fatalf("got %+v, want %s", a, id)
		}
	}
	for n, by := range []decide{other.Deny, h.Approve} {
		h.decide(by, ids[n])
		select {
		case a := <-seen:
			if a.ID != ids[n] || a.Version != int64(121+n) {
				t.Errorf("got %+v", a)
			}
		case <-time.After(time.Second):
			t.Fatal("nothing was seen")
		}
	}
	if err := <-done; !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	if h.Waiting() != 0 {
		t.Error("somebody is still waited for")
	}
}
