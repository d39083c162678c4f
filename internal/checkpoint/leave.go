package checkpoint

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/approval"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
)

// Approvals answer for flagged calls; *approval.Queue is one.
type Approvals interface {
	// Ask answers for a call, and makes an approval that waits for a human where there is none.
	Ask(ctx context.Context, d approval.Demand) (approval.Answer, error)
	// Await waits until none of the approvals is pending, or the context ends.
	Await(ctx context.Context, ids []string) error
}

// judged is a call and what the gate says of it.
type judged struct {
	part *gatehouse.Part
	call policy.Call
	policy.Judgement
	digest string // of a flagged call, in hex
	answer approval.Answer
}

// leave asks whether the flagged calls may run all the same. It is asked under the mode enforce only: in the others nobody is
// to be bothered with calls that run anyway. Identical calls need one approval each.
func (l look) leave(ctx context.Context, list []judged) error {
	if l.approvals == nil {
		return nil
	}
	var taken []string
	var around *policy.Call
	for i := range list {
		c := &list[i]
		if c.Verdict != gatehouse.Flag {
			continue
		}
		sum, ok := c.call.Digest()
		if !ok {
			c.Verdict, c.Rule, c.Reason = gatehouse.Block, "arguments", "the arguments hold a number that cannot be read exactly"
			continue
		}
		c.digest = hex.EncodeToString(sum[:])
		if c.call.Session == nil { // the policy did not ask, and the human will
			if around == nil {
				known, err := l.around(ctx)
				if err != nil {
					return fmt.Errorf("what is known around a call: %w", err)
				}
				around = &known
			}
			c.call.Now, c.call.Agent, c.call.Session, c.call.Origin, c.call.Words = around.Now, around.Agent, around.Session, around.Origin, around.Words
		}
		d := l.demand(ctx, c, sum)
		d.Of, d.Taken = l.x.Released, taken
		var err error
		if c.answer, err = l.approvals.Ask(ctx, d); err != nil {
			return fmt.Errorf("ask for approval: %w", err)
		}
		if c.Verdict = c.answer.Verdict; c.Verdict != gatehouse.Flag {
			c.Rule, c.Reason = c.answer.Rule, c.answer.Reason
		}
		if c.answer.Approval != "" {
			taken = append(taken, c.answer.Approval)
		}
	}
	return nil
}

// demand is a flagged call as a human is to see it.
func (l look) demand(ctx context.Context, c *judged, digest [32]byte) approval.Demand {
	x := l.x
	if c.Value == "" {
		c.Blame = policy.Suspect(c.call)
	}
	d := approval.Demand{Account: x.Account, Agent: x.Agent, AgentName: x.AgentName, Credential: x.AgentCredential, Session: x.Session, Surface: x.Surface,
		Request: x.ID, Tool: c.part.Tool, CallID: c.part.CallID, Digest: digest, Rule: c.Rule, Reason: c.Reason,
		Card: approval.Card{Arguments: c.call.Args, Freeform: c.call.Freeform, Evidence: l.evidence(ctx, c.Judgement)},
		Now:  time.Now(), Anew: x.Surface == "proxy",
		Within: func(scope string) bool { return within(scope, c.call) }}
	d.Expires = d.Now.Add(l.s.ApprovalAge)
	if c.Origin.Tainted {
		d.Within = nil // whoever made a grant has not seen the injection that the argument came from
	}
	if c.call.Session != nil {
		d.Risk, d.Tainted = c.call.Session.Risk, c.call.Session.Tainted
	}
	return d
}

// within reports whether a call is within the scope of a grant. A scope that cannot be read, or fails, covers nothing.
func within(scope string, c policy.Call) bool {
	s, err := policy.CompileScope(scope)
	if err != nil {
		return false
	}
	ok, err := s.Holds(c)
	return ok && err == nil
}

// await holds the exchange until a human has decided on the calls that wait, for as long as the operator lets it, and reports
// whether it is worth asking again. A client that leaves is not waited for: what nobody receives must not be let through.
func (e *Engine) await(ctx context.Context, x *gatehouse.Exchange, o opinion, s *Settings) bool {
	if s.ApprovalWait <= 0 || x.Surface != "proxy" || e.Approvals == nil || o.verdict == "" {
		return false
	}
	var ids []string
	for _, c := range o.calls {
		if c.Verdict == gatehouse.Flag && c.Approval != "" {
			ids = append(ids, c.Approval)
		}
	}
	if len(ids) == 0 {
		return false
	}
	waiting, cancel := context.WithTimeout(ctx, s.ApprovalWait)
	defer cancel()
	e.Approvals.Await(waiting, ids) //nolint:errcheck // when time is up, what was decided until then counts
	return ctx.Err() == nil
}
