package approval

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	followWait = 50 * time.Millisecond // how often the store is asked, while anybody waits, what other processes have changed
	pageSize   = 100                   // changed approvals read at once
)

// lounge is where goroutines of this process wait for approvals to change. One goroutine follows the store for all of them,
// while there is any: a parked one costs a channel and its places in the map.
type lounge struct {
	mu       sync.Mutex
	parked   map[string][]chan struct{} // by id of the approval
	watching map[chan struct{}]struct{} // who hear of each change
	waiting  int                        // both together
	seen     int64                      // version up to which they were woken
	kick     chan struct{}              // has the follower look now; nil while there is none
}

// Await waits until none of the approvals is pending, or the context ends; then it returns the context's error. Of an id that is
// none of an approval the error is [ErrUnknown].
func (q *Queue) Await(ctx context.Context, ids []string) error {
	wake := make(chan struct{}, 1)
	// Before looking, so that no change falls between.
	if err := q.enter(ctx, wake, ids); err != nil {
		return err
	}
	defer q.leave(wake, ids)
	for {
		left, err := q.pending(ctx, ids)
		if err != nil || left == 0 {
			return err
		}
		if err := wait(ctx, wake, left); err != nil {
			return err
		}
	}
}

// wait waits to be woken, or for some time.
func wait(ctx context.Context, wake <-chan struct{}, most time.Duration) error {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-wake:
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// pending is how long it takes until one of the approvals runs out that are pending; 0 when none is.
func (q *Queue) pending(ctx context.Context, ids []string) (left time.Duration, err error) {
	for _, id := range ids {
		a, err := q.Get(ctx, id)
		if err != nil {
			return 0, err
		}
		if d := a.Expires.Sub(q.now()); a.State == Pending && (left == 0 || d < left) {
			left = max(d, 1)
		}
	}
	return left, nil
}

// Watch calls see with each approval that changes, those that other processes change too, from a version on, in order of
// version, until the context ends or see returns an error, and returns that. Of several changes of one approval that come
// close together it sees the last.
func (q *Queue) Watch(ctx context.Context, after int64, see func(Approval) error) error {
	wake := make(chan struct{}, 1)
	if err := q.enter(ctx, wake, nil); err != nil {
		return err
	}
	defer q.leave(wake, nil)
	for {
		list, err := q.Store.ChangedApprovals(ctx, after, pageSize)
		if err != nil {
			return err
		}
		for _, a := range list {
			if err := see(a); err != nil {
				return err
			}
			after = a.Version
		}
		if len(list) == pageSize && ctx.Err() == nil {
			continue
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Wake has those who wait look at what has changed. What the queue itself changes needs it only where that was part of a
// transaction of the caller: then it is called once that is committed.
func (q *Queue) Wake() {
	l := &q.lounge
	l.mu.Lock()
	defer l.mu.Unlock()
	signal(l.kick)
}

// signal wakes whoever reads from the channel, now or later. Nobody reads from a nil one.
func signal(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// enter has a channel signalled when one of the approvals has changed, or any when there are no ids.
func (q *Queue) enter(ctx context.Context, wake chan struct{}, ids []string) error {
	l := &q.lounge
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kick == nil {
		// Under the lock: whoever enters looks only after this version was read.
		var err error
		if l.seen, err = q.Store.ApprovalVersion(ctx); err != nil {
			return err
		}
		l.parked, l.watching, l.kick = map[string][]chan struct{}{}, map[chan struct{}]struct{}{}, make(chan struct{}, 1)
		go q.follow(l.kick)
	}
	l.waiting++
	if ids == nil {
		l.watching[wake] = struct{}{}
	}
	for _, id := range ids {
		l.parked[id] = append(l.parked[id], wake)
	}
	return nil
}

func (q *Queue) leave(wake chan struct{}, ids []string) {
	l := &q.lounge
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.watching, wake)
	for _, id := range ids {
		l.parked[id] = slices.DeleteFunc(l.parked[id], func(c chan struct{}) bool { return c == wake })
		if len(l.parked[id]) == 0 {
			delete(l.parked, id)
		}
	}
	if l.waiting--; l.waiting == 0 {
		close(l.kick) // ends the follower
		l.kick = nil
	}
}

// follow wakes those whose approvals have changed, until nobody is left.
func (q *Queue) follow(kick <-chan struct{}) {
	tick := time.NewTicker(followWait)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case _, open := <-kick:
			if !open {
				return
			}
		}
		if err := q.wakeChanged(); err != nil {
			q.Log.Error("changes of approvals cannot be read", "error", err)
			time.Sleep(time.Second) // who waits for a decision waits for the store too
		}
	}
}

func (q *Queue) wakeChanged() error {
	ctx, l := context.Background(), &q.lounge
	l.mu.Lock()
	seen := l.seen
	l.mu.Unlock()
	newest, err := q.Store.ApprovalVersion(ctx)
	for err == nil && seen < newest {
		var list []Approval
		if list, err = q.Store.ChangedApprovals(ctx, seen, pageSize); err != nil {
			break
		}
		if seen = newest; len(list) == pageSize {
			seen = list[pageSize-1].Version
		}
		l.wake(list, seen)
	}
	return err
}

// wake signals those who wait for one of the changed approvals.
func (l *lounge) wake(changed []Approval, upTo int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// A follower that is about to end may be behind the next one.
	l.seen = max(l.seen, upTo)
	for _, a := range changed {
		for _, c := range l.parked[a.ID] {
			signal(c)
		}
	}
	for c := range l.watching {
		signal(c)
	}
}
