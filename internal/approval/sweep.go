package approval

import (
	"context"
	"time"
)

const (
	sweepWait = time.Second // how often it is looked for approvals that have run out
	sweepSize = 32          // of them read at once
)

// Run writes down what has run out, each with its event, until the context ends. Several processes on one store may do it at
// once. Nothing depends on it but the record: what has run out answers for nothing, written down or not.
func (q *Queue) Run(ctx context.Context) {
	tick := time.NewTicker(sweepWait)
	defer tick.Stop()
	for {
		if err := q.sweep(ctx); err != nil && ctx.Err() == nil {
			q.Log.Error("approvals that have run out cannot be written down", "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (q *Queue) sweep(ctx context.Context) error {
	for {
		list, err := q.Store.DueApprovals(ctx, q.now(), sweepSize)
		if err != nil {
			return err
		}
		for _, a := range list {
			if err := q.expire(ctx, a); err != nil {
				return err
			}
		}
		if len(list) < sweepSize {
			return nil
		}
	}
}

// expire writes down that an approval has run out, unless somebody else was faster.
func (q *Queue) expire(ctx context.Context, a Approval) error {
	return q.transact(ctx, func(ctx context.Context) error {
		from := a.State
		a.State, a.Sealed = Expired, nil
		ok, err := q.Store.ChangeApproval(ctx, a, from)
		if err != nil || !ok {
			return err
		}
		return q.record(ctx, "approval.expired", a, a.Request, q.now())
	})
}
