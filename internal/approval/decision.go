package approval

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Decision is a human's answer: the id of the key that gave it or slack:<user>, the address that it came from, and a note.
type Decision struct {
	By, From, Note string
}

// Approve lets the call of a pending approval through, once, when it is asked for again. One that was consumed and whose
// result was never seen is approved again: that makes a new approval, which is returned. The error is [ErrUnknown], or
// [ErrSettled] with the approval as it stands. The event is the caller's to record, in the same transaction.
func (q *Queue) Approve(ctx context.Context, id string, d Decision) (Approval, error) {
	return q.decide(ctx, id, func(ctx context.Context, a Approval, now time.Time) (string, error) {
		if a.State == Consumed && a.Resulted.IsZero() && a.Again == "" {
			return q.again(ctx, a, d, now)
		}
		a.decide(d, now)
		return id, q.move(ctx, a, Pending, Approved)
	})
}

// Deny refuses the call of a pending approval. Its errors are those of [Queue.Approve].
func (q *Queue) Deny(ctx context.Context, id string, d Decision) (Approval, error) {
	return q.decide(ctx, id, func(ctx context.Context, a Approval, now time.Time) (string, error) {
		a.decide(d, now)
		a.Sealed = nil
		return id, q.move(ctx, a, Pending, Denied)
	})
}

// Revoke takes an approval back that was not used yet. From then on it says who did that, the audit log who had approved it.
// Its errors are those of [Queue.Approve].
func (q *Queue) Revoke(ctx context.Context, id string, d Decision) (Approval, error) {
	return q.decide(ctx, id, func(ctx context.Context, a Approval, now time.Time) (string, error) {
		a.decide(d, now)
		a.Sealed = nil
		return id, q.move(ctx, a, Approved, Revoked)
	})
}

// decide changes an approval under the lock and returns the one that the change leads to.
func (q *Queue) decide(ctx context.Context, id string, change func(context.Context, Approval, time.Time) (string, error)) (a Approval, err error) {
	err = q.transact(ctx, func(ctx context.Context) error {
		if a, err = q.Get(ctx, id); err != nil {
			return err
		}
		now, err := change(ctx, a, q.now())
		if err != nil {
			return err
		}
		a, err = q.Get(ctx, now)
		return err
	})
	switch {
	case errors.Is(err, ErrSettled):
		return a, err
	case err != nil:
		return Approval{}, fmt.Errorf("decide on an approval: %w", err)
	}
	return a, nil
}

func (a *Approval) decide(d Decision, now time.Time) {
	a.Decided, a.By, a.From, a.Note = now, d.By, d.From, d.Note
}

// move changes the state of an approval that stands in a state.
func (q *Queue) move(ctx context.Context, a Approval, from, to State) error {
	if a.State != from {
		return ErrSettled
	}
	a.State = to
	ok, err := q.Store.ChangeApproval(ctx, a, from)
	if err == nil && !ok {
		err = ErrSettled
	}
	return err
}

// again approves a call that was let through and came to nothing: by a new approval, because the old one is used up.
func (q *Queue) again(ctx context.Context, old Approval, d Decision, now time.Time) (id string, err error) {
	card, err := q.Card(old)
	if err != nil {
		return "", err
	}
	a := old
	a.ID, a.State, a.Created, a.Expires = NewID("apr"), Approved, now, now.Add(old.Expires.Sub(old.Created))
	if old.ConsumedCall != "" {
		a.CallID = old.ConsumedCall
	}
	a.Consumed, a.ConsumedBy, a.ConsumedCall = time.Time{}, "", ""
	a.decide(d, now)
	if card != nil {
		if a.Sealed, err = q.seal(*card, a.ID); err != nil {
			return "", err
		}
	}
	if err := q.Store.PutApproval(ctx, a); err != nil {
		return "", err
	}
	old.Again, old.Sealed = a.ID, nil // the new one has the card now
	return a.ID, q.move(ctx, old, Consumed, Consumed)
}
