package detect

import (
	"context"
	"errors"
	"sync/atomic"
)

// errBusy is that of a text which finds too many others waiting.
var errBusy = errors.New("too many texts wait")

// turns lets a bounded number of texts use CPUs at once, those that wait in the order in which they came.
type turns struct {
	slots   chan struct{} // room in it is a CPU that is free
	waiting atomic.Int64
	most    int64 // texts that may wait
}

// waitingMost is how many texts may wait for each CPU. Each takes some ten milliseconds, so that the last waits a third of a second.
const waitingMost = 32

// newTurns leaves one of so many CPUs to everybody else.
func newTurns(cpus int) *turns {
	n := max(1, cpus-1)
	return &turns{slots: make(chan struct{}, n), most: int64(n * waitingMost)}
}

// take waits for a CPU. Whoever gets one gives it back.
func (t *turns) take(ctx context.Context) error {
	select {
	case t.slots <- struct{}{}:
		return nil
	default:
	}
	if t.waiting.Add(1) > t.most {
		t.waiting.Add(-1)
		return errBusy
	}
	defer t.waiting.Add(-1)
	select {
	case t.slots <- struct{}{}: // a channel lets those that wait in by their order
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *turns) give() { <-t.slots }
