package api

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/approval"
)

// lot is where requests wait for a decision on their approvals. One goroutine follows the changes for all of them while there are
// any: a parked request has a timer and a place in the map, and no goroutine.
type lot struct {
	mu       sync.Mutex
	waiters  map[string]map[*waiter]bool // by the id of the approval
	count    int
	follower *follower // nil while there is nobody
	closed   bool

	answering sync.WaitGroup
}

type follower struct{ stop context.CancelFunc }

// waiter is one that waits, or that looks whether it has to.
type waiter struct {
	id    string
	told  *approval.Approval       // what it became while the waiter still looked
	then  func(*approval.Approval) // what to do with it; nil while the waiter looks. A nil approval says that the time is up
	timer *time.Timer
}

var errClosed = errors.New("the gateway is ending")

// enter makes a waiter, which from now on misses no change. life ends with the gateway.
func (l *lot) enter(ctx, life context.Context, q *approval.Queue, id string) (*waiter, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || life.Err() != nil {
		return nil, errClosed
	}
	if l.follower == nil {
		after, err := q.Store.ApprovalVersion(ctx)
		if err != nil {
			return nil, err
		}
		following, stop := context.WithCancel(life)
		f := &follower{stop}
		l.follower, l.waiters = f, map[string]map[*waiter]bool{}
		go func() {
			err := q.Watch(following, after, func(p approval.Approval) error { l.settle(p); return nil })
			if err != nil && following.Err() == nil {
				q.Log.Error("approvals cannot be followed", "error", err)
			}
			l.end(f)
		}()
	}
	w := &waiter{id: id}
	if l.waiters[id] == nil {
		l.waiters[id] = map[*waiter]bool{}
	}
	l.waiters[id][w] = true
	l.count++
	return w, nil
}

// leave takes a waiter out, and reports whether it was still in.
func (l *lot) leave(w *waiter) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.remove(w)
}

func (l *lot) remove(w *waiter) bool {
	if !l.waiters[w.id][w] {
		return false
	}
	if w.timer != nil {
		w.timer.Stop()
	}
	if delete(l.waiters[w.id], w); len(l.waiters[w.id]) == 0 {
		delete(l.waiters, w.id)
	}
	if l.count--; l.count == 0 {
		l.follower.stop()
		l.follower = nil
	}
	return true
}

// wait has then called once, on a goroutine of its own: with the approval when it is not pending any more, or after d without.
func (l *lot) wait(w *waiter, d time.Duration, then func(*approval.Approval)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w.then = then
	if !l.waiters[w.id][w] { // it was settled, or everything ended, while the waiter looked
		l.answering.Go(func() { then(w.told) })
		return
	}
	w.timer = time.AfterFunc(d, func() { l.wake(w, nil) })
}

// wake tells a waiter, unless it was told before.
func (l *lot) wake(w *waiter, p *approval.Approval) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.remove(w) {
		return
	}
	if w.told = p; w.then != nil {
		l.answering.Go(func() { w.then(p) })
	}
}

// settle tells those who wait for an approval that it has changed.
func (l *lot) settle(p approval.Approval) {
	if p.State == approval.Pending {
		return
	}
	l.mu.Lock()
	var told []*waiter
	for w := range l.waiters[p.ID] {
		told = append(told, w)
	}
	l.mu.Unlock()
	for _, w := range told {
		l.wake(w, &p)
	}
}

// end tells all waiters of a follower that the time is up.
func (l *lot) end(f *follower) {
	l.mu.Lock()
	var all []*waiter
	if l.follower == f {
		for _, some := range l.waiters {
			for w := range some {
				all = append(all, w)
			}
		}
	}
	l.mu.Unlock()
	for _, w := range all {
		l.wake(w, nil)
	}
}

// close tells all waiters that the time is up, lets no more in, and returns when they have been answered.
func (l *lot) close() {
	l.mu.Lock()
	l.closed = true
	f := l.follower
	l.mu.Unlock()
	if f != nil {
		l.end(f)
	}
	l.answering.Wait()
}
