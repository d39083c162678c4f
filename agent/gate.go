package agent

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/gatehouse-gateway/gatehouse"
)

// step is a call with the gate's answer to it. Whatever the gate has not clearly let through does not run.
func (l *loop) step(x *gatehouse.Exchange, c Call) Step {
	s := Step{Call: c, State: Ready}
	if _, ok := l.cfg.Tools[c.Tool]; !ok {
		s.settle("There is no tool of this name.", true)
		return s
	}
	p := call(x, c)
	if p == nil {
		s.refuse("The call was refused: the gateway has not judged it. The tool did not run.")
		return s
	}
	if ambiguous(c.Arguments) {
		s.refuse("The call was refused: its arguments have names that differ in case alone. The tool did not run.")
		return s
	}
	v, judged := verdict(x, p.ID)
	s.Rule, s.Reason, s.Approval = v.Rule, v.Reason, v.Approval
	switch {
	case p.Removed && v.Verdict == gatehouse.Flag && v.Approval != "":
		s.State, s.Expires = Held, v.Expires
	case p.Removed && p.Notice != "":
		s.refuse(p.Notice)
	case p.Removed:
		s.refuse("The call was refused by the gateway. The tool did not run.")
	case l.uses(ToolCall) && !judged && enforced(x):
		s.refuse("The call was refused: the gateway has not judged it. The tool did not run.")
	}
	return s
}

// call finds the part of a call, as it was judged. One whose arguments are not those that the model wrote is none.
func call(x *gatehouse.Exchange, c Call) *gatehouse.Part {
	for i := range x.Response {
		if p := &x.Response[i]; p.Kind == gatehouse.ToolCall && p.CallID == c.ID && p.Tool == c.Tool && p.Text == c.Arguments {
			return p
		}
	}
	return nil
}

func verdict(x *gatehouse.Exchange, part int) (v gatehouse.CallVerdict, judged bool) {
	for _, d := range x.Decisions {
		for _, c := range d.Calls {
			if c.Part == part {
				v, judged = c, true
			}
		}
	}
	return v, judged
}

// enforced reports whether the gate's verdicts happen in an exchange. A gate that failed and lets pass has none.
func enforced(x *gatehouse.Exchange) bool {
	for _, d := range x.Decisions {
		if d.At == gatehouse.Autonomy && d.Mode == gatehouse.Enforce && !d.Failed {
			return true
		}
	}
	return false
}

// recheck asks the gate again about the calls that have not run, under the ids that they had: an approved one is let through.
// It asks about no more than the tool budget lets run, so that no approval is used up in vain, and goes on while that leaves some:
// what runs afterwards was let through now, whatever the run says of it.
func (l *loop) recheck(ctx context.Context) error {
	for calls, budget := l.s.open(), l.cfg.MaxToolCalls-l.s.ToolCalls; len(calls) > 0 && budget > 0; {
		some := calls[:min(len(calls), budget)]
		if err := l.recheckThese(ctx, some); err != nil {
			return err
		}
		for _, p := range l.s.Steps {
			if p.State == Ready && slices.Contains(some, p.Call) {
				budget--
			}
		}
		calls = calls[len(some):]
	}
	return nil
}

func (l *loop) recheckThese(ctx context.Context, calls []Call) error {
	w := l.write()
	err := gatehouse.Guard(ctx, l.checker(), w.x, func(_ context.Context, f *gatehouse.Flow) error {
		l.take(w)
		w.x.Status = http.StatusOK
		for _, c := range calls {
			if _, ok := l.cfg.Tools[c.Tool]; ok {
				f.Open(l.asked(c))
			}
		}
		return nil
	})
	l.tell(Event{Kind: CallsChecked, RequestID: w.x.ID, Decisions: w.x.Decisions})
	if err = decided(w.x, err); err != nil {
		return fmt.Errorf("check calls again: %w", err)
	}
	stopped := w.x.Stopped()
	for i := range l.s.Steps {
		p := &l.s.Steps[i]
		switch {
		case !slices.Contains(calls, p.Call):
		case stopped != nil:
			p.refuse("The call was refused by the gateway. The tool did not run.")
		default:
			*p = l.step(w.x, p.Call)
		}
	}
	if err := l.save(); err != nil {
		return err
	}
	l.announce(calls)
	return nil
}

// announce tells which of these calls do not run now.
func (l *loop) announce(calls []Call) {
	for _, p := range l.s.Steps {
		switch {
		case !slices.Contains(calls, p.Call):
		case p.State == Held:
			l.tell(Event{Kind: CallHeld, Step: p})
		case p.Refused:
			l.tell(Event{Kind: CallRefused, Step: p})
		}
	}
}
