package slack

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/approval"
	"github.com/gatehouse-gateway/gatehouse/internal/surface"
)

// errUnposted is the error of a button that is pressed before its message is noted: it was posted a moment ago, or elsewhere.
var errUnposted = errors.New("the message of the approval is not known")

// postTime is how long the note of a message may take, once it can be seen.
const postTime = time.Second

// byUser begins what a decision says of who made it.
const byUser = "slack:"

// decide changes an approval that is pending, with its record, in one transaction; x is what the record is of. A button that
// is pressed again, or a request that is sent again, meets an approval that is not pending any more, and changes nothing: not
// even one that was used and could be approved again. The error is a [*gatehouse.Failure] where the user is told its message.
func (s *Slack) decide(ctx context.Context, x *gatehouse.Exchange, settings *Settings, p press, from string) error {
	if !settings.mayDecide(p.user) {
		return surface.Failure(http.StatusForbidden, "not_an_approver", "You are not among those who may decide here.")
	}
	err := s.change(ctx, x, p, from)
	for began := time.Now(); errors.Is(err, errUnposted) && time.Since(began) < postTime && ctx.Err() == nil; {
		time.Sleep(postTime / 20)
		err = s.change(ctx, x, p, from)
	}
	var told *gatehouse.Failure
	switch {
	case err == nil:
		s.Queue.Wake()
		return nil
	case errors.As(err, &told):
		return err
	case errors.Is(err, approval.ErrUnknown), errors.Is(err, errUnposted):
		return notHere()
	case errors.Is(err, approval.ErrSettled):
		return settled("This was decided meanwhile.")
	}
	return &gatehouse.Failure{Status: http.StatusServiceUnavailable, Code: "checkpoint_unavailable",
		Message: "The gateway could not keep your answer, and nothing has changed. Please press again.", Err: err}
}

// change is the transaction of a decision.
func (s *Slack) change(ctx context.Context, x *gatehouse.Exchange, p press, from string) error {
	return s.Transact(ctx, func(ctx context.Context) error {
		a, err := s.pending(ctx, p)
		if err != nil {
			return err
		}
		change, kind := s.Queue.Approve, "approval.approved"
		if p.deny {
			change, kind = s.Queue.Deny, "approval.denied"
		}
		if a, err = change(ctx, a.ID, approval.Decision{By: byUser + p.user, From: from}); err != nil {
			return err
		}
		if err := tell(x, a, kind); err != nil {
			return err
		}
		return s.Checker.Finish(ctx, x)
	})
}

// pending is the approval of a button, if it is still to be decided and the button is in the channel where it was posted.
func (s *Slack) pending(ctx context.Context, p press) (approval.Approval, error) {
	a, err := s.Queue.Get(ctx, p.approval)
	if err != nil {
		return a, err
	}
	m, shown, err := s.Store.SlackMessage(ctx, p.approval)
	switch {
	case err != nil:
		return a, err
	case a.Account != s.Account || shown && m.Channel != p.channel:
		return a, notHere()
	case !shown:
		return a, errUnposted
	case a.State != approval.Pending:
		return a, settled("This is decided already: " + string(a.State) + ".")
	}
	return a, nil
}

func notHere() error {
	return surface.Failure(http.StatusNotFound, "not_found", "There is no such approval here.")
}

func settled(message string) error {
	return surface.Failure(http.StatusConflict, "approval_settled", message)
}

// tell writes the deed into the exchange that its record is made of.
func tell(x *gatehouse.Exchange, a approval.Approval, kind string) error {
	data, err := json.Marshal(map[string]string{"approval": a.ID, "tool": a.Tool, "digest": hex.EncodeToString(a.Digest[:]), "request": a.Request,
		"session": a.Session, "agent": a.Agent, "rule": a.Rule, "by": a.By, "from": a.From})
	if err != nil {
		return err
	}
	x.Account, x.Agent, x.Session, x.Status = a.Account, a.Agent, a.Session, http.StatusOK
	x.Event = &gatehouse.Event{Type: kind, Target: a.ID, Data: data}
	return nil
}
