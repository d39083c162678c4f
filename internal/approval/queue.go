package approval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
)

// The errors that callers can tell apart.
var (
	ErrUnknown = errors.New("no such approval")
	ErrSettled = errors.New("the approval is not in a state that could be changed so")
)

// Queue is where flagged calls wait. Its fields are set before its first use; it may be used by many goroutines.
type Queue struct {
	Store Store
	Box   Box
	Log   *slog.Logger
	// Record writes an event to the audit chain, in the transaction of its context: an exchange with an Event.
	Record func(ctx context.Context, x *gatehouse.Exchange) error
	Clock  func() time.Time // nil: time.Now

	// MaxPending is how many approvals one agent may have waiting; 0: 20,000. Further calls are refused.
	MaxPending int

	lounge lounge
	crowd  crowd
}

// Get finds an approval as it stands now. The error is [ErrUnknown].
func (q *Queue) Get(ctx context.Context, id string) (Approval, error) {
	a, ok, err := q.Store.ApprovalByID(ctx, id)
	if err != nil {
		return Approval{}, err
	}
	if !ok {
		return Approval{}, ErrUnknown
	}
	if a.State = a.Standing(q.now()); a.State == Expired {
		a.Sealed = nil
	}
	return a, nil
}

// Card opens what a human sees of an approval; nil once that is not kept any more.
func (q *Queue) Card(a Approval) (*Card, error) {
	if a.Sealed == nil {
		return nil, nil
	}
	text, err := q.Box.Open(a.Sealed, owner(a.ID))
	if err != nil {
		return nil, fmt.Errorf("open the card of an approval: %w", err)
	}
	c := new(Card)
	if json.Unmarshal(text, c) != nil {
		return nil, errors.New("open the card of an approval: it cannot be read")
	}
	return c, nil
}

// seal encrypts a card for the approval that has the id, so that it cannot be shown for another.
func (q *Queue) seal(c Card, id string) ([]byte, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	return q.Box.Seal(text, owner(id)), nil
}

func owner(id string) string { return "approval " + id }

func (q *Queue) now() time.Time {
	if q.Clock != nil {
		return q.Clock()
	}
	return time.Now()
}

// transact changes approvals, and has those who wait look at once. Within a transaction of the caller they see nothing new
// yet: see [Queue.Wake].
func (q *Queue) transact(ctx context.Context, do func(context.Context) error) error {
	err := q.Store.Transact(ctx, do)
	if err == nil {
		q.Wake()
	}
	return err
}
