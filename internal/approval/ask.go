package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
)

// lasting is how long an approval stands whose demand does not say.
const lasting = 24 * time.Hour

// maxCard is how long a card may be in bytes: a human has to read it.
const maxCard = 256 << 10

// fromTaint is the rule of calls whose argument came out of an injection: no grant that was made before answers for such a call.
const fromTaint = "provenance"

// errOvertaken is the error of a change that somebody else has made first. Under the store's lock that cannot be.
var errOvertaken = errors.New("the approval was changed meanwhile")

// Ask answers for a flagged call, and changes what has to be changed: an approval is consumed, or a pending one is made. The
// answer to a call that was asked about before, by its call id, is the same again, also once it has been let through.
func (q *Queue) Ask(ctx context.Context, d Demand) (Answer, error) {
	if d.Now.IsZero() {
		d.Now = q.now()
	}
	answer, settled, err := q.look(ctx, d)
	if err != nil || settled && answer.State != Pending {
		return answer, err
	}
	// How much work a scope is depends on the arguments: nobody else's change waits for that.
	if d.grants, err = q.covering(ctx, d); err != nil {
		return Answer{}, fmt.Errorf("ask for approval: %w", err)
	}
	if settled && len(d.grants) == 0 {
		return answer, nil
	}
	// Whatever it may be that has to change, it is looked for again under the lock.
	err = q.Store.Group(ctx, func(ctx context.Context) (err error) {
		answer, err = q.change(ctx, d)
		return err
	})
	if err != nil {
		return Answer{}, fmt.Errorf("ask for approval: %w", err)
	}
	q.Wake()
	return answer, nil
}

// look answers if nothing has to be changed.
func (q *Queue) look(ctx context.Context, d Demand) (answer Answer, settled bool, err error) {
	list, err := q.Store.ApprovalsOf(ctx, d.Agent, d.Session, d.Tool, d.Digest)
	if err != nil {
		return Answer{}, false, err
	}
	a := d.meets(list)
	if a == nil || a.State == Approved {
		return Answer{}, false, nil
	}
	return a.answer(), true, nil
}

func (q *Queue) change(ctx context.Context, d Demand) (Answer, error) {
	list, err := q.Store.ApprovalsOf(ctx, d.Agent, d.Session, d.Tool, d.Digest)
	if err != nil {
		return Answer{}, err
	}
	switch a := d.meets(list); {
	case a == nil && d.Of != nil:
		return Answer{Verdict: gatehouse.Block, Rule: "approval", Reason: "the approved call was delivered already"}, nil
	case a == nil:
		g, ok, err := q.use(ctx, d)
		if err != nil {
			return Answer{}, err
		}
		if ok {
			return Answer{Verdict: gatehouse.Allow, Rule: "grant " + g.ID, Reason: "a human has granted calls like it"}, nil
		}
		return q.request(ctx, d)
	case a.State == Pending && len(d.grants) > 0:
		return q.grant(ctx, *a, d)
	case a.State == Approved:
		return q.consume(ctx, *a, d)
	default:
		return a.answer(), nil
	}
}

// meets finds the approval that answers a demand, of those of its call, oldest first; nil when none does. One that is approved
// has still to be consumed.
func (d Demand) meets(list []Approval) *Approval {
	var approved, denied, pending *Approval
	for i := len(list) - 1; i >= 0; i-- {
		a := &list[i]
		if slices.Contains(d.Taken, a.ID) || d.Of != nil && !slices.Contains(d.Of, a.ID) {
			continue
		}
		state := a.Standing(d.Now)
		if d.owns(a) && state != Expired {
			return a
		}
		switch {
		case state == Approved:
			approved = a // of several the oldest: it runs out first
		case state == Denied && denied == nil && d.Now.Before(a.Expires):
			denied = a
		case state == Pending && pending == nil && d.Anew:
			pending = a
		}
	}
	// The newest of the call's own would have been returned above. What a human said of the same call under another id counts too:
	// leave that nobody has used, and then a refusal.
	switch {
	case approved != nil:
		return approved
	case denied != nil:
		return denied
	}
	return pending
}

// owns reports whether an approval is of this very call rather than of one like it.
func (d Demand) owns(a *Approval) bool {
	if a.State != Consumed {
		return a.CallID == d.CallID
	}
	// It has let one call through. Where ids mean nothing the same id in another exchange is another call, and one that was
	// approved again is answered by the approval that came of it.
	// So is one that comes once the call has its result, or after the time of the approval: models number calls anew in each run.
	return d.CallID != "" && a.ConsumedCall == d.CallID && a.Again == "" && (!d.Anew || a.ConsumedBy == d.Request) &&
		a.Resulted.IsZero() && d.Now.Before(a.Expires)
}

// answer is what an approval says to the call that it is of. One that is approved says nothing before it is consumed.
func (a Approval) answer() Answer {
	out := Answer{Approval: a.ID, State: a.State, Rule: "approval " + a.ID, Verdict: gatehouse.Block}
	switch a.State {
	case Consumed:
		out.Verdict, out.Reason = gatehouse.Allow, "a human has approved the call"
	case Pending:
		out.Verdict, out.Reason, out.Expires = gatehouse.Flag, "the call waits for a human to approve it", a.Expires
	case Denied:
		out.Reason = "a human has denied the call"
	case Revoked:
		out.Reason = "a human has taken the approval of the call back"
	default:
		out.Reason = "the approval of the call does not stand"
	}
	return out
}

// consume uses an approval up.
func (q *Queue) consume(ctx context.Context, a Approval, d Demand) (Answer, error) {
	a.State, a.Consumed, a.ConsumedBy, a.ConsumedCall = Consumed, d.Now, d.Request, d.CallID
	ok, err := q.Store.ChangeApproval(ctx, a, Approved)
	if err != nil {
		return Answer{}, err
	}
	if !ok {
		return Answer{}, errOvertaken
	}
	return a.answer(), q.record(ctx, "approval.consumed", a, d.Request, d.Now)
}

// covering are the ids of the grants that a call is within.
func (q *Queue) covering(ctx context.Context, d Demand) (ids []string, err error) {
	if d.Within == nil || d.Rule == fromTaint {
		return nil, nil
	}
	list, err := q.Store.GrantsOf(ctx, d.Agent, d.Tool, d.Now)
	for _, g := range list {
		if d.Within(g.Scope) {
			ids = append(ids, g.ID)
		}
	}
	return ids, err
}

// use finds a grant that the call is within and that still stands, and notes its use. Nothing but that can change of a grant.
func (q *Queue) use(ctx context.Context, d Demand) (g Grant, ok bool, err error) {
	if len(d.grants) == 0 {
		return Grant{}, false, nil
	}
	list, err := q.Store.GrantsOf(ctx, d.Agent, d.Tool, d.Now)
	if err != nil {
		return Grant{}, false, err
	}
	for _, g := range list {
		if !g.Stands(d.Now) || !slices.Contains(d.grants, g.ID) {
			continue
		}
		g.Used, g.LastUsed = g.Used+1, d.Now
		if err := q.Store.ChangeGrant(ctx, g); err != nil {
			return Grant{}, false, err
		}
		return g, true, q.recordGranted(ctx, g, d)
	}
	return Grant{}, false, nil
}

// grant approves a call that waits because a grant was made meanwhile, and lets it through.
func (q *Queue) grant(ctx context.Context, a Approval, d Demand) (Answer, error) {
	g, ok, err := q.use(ctx, d)
	if !ok || err != nil {
		return a.answer(), err
	}
	a.decide(Decision{By: g.By, From: g.From, Note: "grant " + g.ID}, d.Now)
	if err := q.move(ctx, a, Pending, Approved); err != nil {
		return Answer{}, err
	}
	a.State = Approved
	if err := q.record(ctx, "approval.approved", a, d.Request, d.Now); err != nil {
		return Answer{}, err
	}
	return q.consume(ctx, a, d)
}

// request makes an approval that waits for a human, unless too much waits already.
func (q *Queue) request(ctx context.Context, d Demand) (Answer, error) {
	if d.Card.size() > maxCard {
		return tooMuch("its arguments are too long for a human to approve"), nil
	}
	full, err := q.full(ctx, d.Agent, d.Now)
	if err != nil {
		return Answer{}, err
	}
	if full {
		return tooMuch("too many calls of the agent wait for a human already"), nil
	}
	a := Approval{
		ID: NewID("apr"), State: Pending, Account: d.Account, Agent: d.Agent, AgentName: d.AgentName, Credential: d.Credential, Session: d.Session, Surface: d.Surface,
		Request: d.Request, Tool: d.Tool, CallID: d.CallID, Digest: d.Digest, Rule: d.Rule, Reason: d.Reason, Risk: d.Risk, Tainted: d.Tainted,
		Created: d.Now.UTC(), Expires: d.Expires.UTC(),
	}
	if a.Expires.IsZero() {
		a.Expires = a.Created.Add(lasting)
	}
	if a.Sealed, err = q.seal(d.Card, a.ID); err != nil {
		return Answer{}, err
	}
	if err := q.Store.PutApproval(ctx, a); err != nil {
		return Answer{}, err
	}
	return a.answer(), q.record(ctx, "approval.requested", a, d.Request, d.Now)
}

// tooMuch refuses a call that no human can be asked about.
func tooMuch(reason string) Answer {
	return Answer{Verdict: gatehouse.Block, Rule: "approvals", Reason: reason}
}
