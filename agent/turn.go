package agent

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
)

// turn asks the model once, behind the checkpoints, and takes its answer into the run. Running is the status while there are
// calls to work on.
func (l *loop) turn(ctx context.Context) (Status, string, error) {
	w := l.write()
	l.tell(Event{Kind: TurnBegun, Turn: l.s.Turns + 1})
	var said Answer
	err := gatehouse.Guard(ctx, l.checker(), w.x, func(ctx context.Context, f *gatehouse.Flow) (err error) {
		l.take(w)
		if said, err = l.cfg.Model.Answer(ctx, l.request(w)); err != nil {
			return &gatehouse.Failure{Status: http.StatusBadGateway, Code: "upstream_error", Err: err}
		}
		l.name(&said)
		w.x.Model, w.x.Usage, w.x.Status = said.Model, said.Usage, http.StatusOK
		l.feed(f, said)
		return nil
	})
	l.tell(Event{Kind: TurnDecided, Turn: l.s.Turns + 1, RequestID: w.x.ID, Decisions: w.x.Decisions})
	if err := decided(w.x, err); err != nil {
		return "", "", fmt.Errorf("turn %d: %w", l.s.Turns+1, err)
	}
	if d := w.x.Stopped(); d != nil {
		return l.stopped(w.x, d)
	}
	l.s.Turns++
	l.s.Usage.Input += said.Usage.Input
	l.s.Usage.Output += said.Usage.Output
	return l.hear(w.x, said)
}

func (l *loop) checker() gatehouse.Checker { return chosen{l.cfg.Checker, l.uses(ToolCall)} }

// decided is the failure of an exchange, nil when the checkpoints have decided.
func decided(x *gatehouse.Exchange, err error) error {
	if err != nil {
		return err
	}
	if d := x.Stopped(); d != nil && d.Failed {
		return &gatehouse.Failure{Status: http.StatusServiceUnavailable, Code: "checkpoint_unavailable",
			Message: "the " + string(d.At) + " checkpoint could not decide (request id " + x.ID + ")"}
	}
	return nil
}

// stopped ends the run. What the user said goes, so that the conversation can be continued with something else.
func (l *loop) stopped(x *gatehouse.Exchange, d *gatehouse.Decision) (Status, string, error) {
	if n := len(l.s.Entries) - 1; d.At == gatehouse.Front && n >= 0 && l.s.Entries[n].Role == gatehouse.User {
		l.s.Entries = l.s.Entries[:n]
	}
	l.s.Text = x.Notice()
	return Stopped, string(d.At) + ": " + d.Reason, nil
}

// name gives ids to calls that have none, or one that this run has seen: an approval is for one call, and not for a later one
// that bears its id.
func (l *loop) name(said *Answer) {
	seen := map[string]bool{}
	for i := range said.Calls {
		c := &said.Calls[i]
		if c.ID == "" || len(c.ID) > 128 || seen[c.ID] || l.s.known(c.ID) {
			c.ID = "call_" + strings.ReplaceAll(newID(), "-", "")
		}
		seen[c.ID] = true
	}
}

// feed tells the checkpoints what the model has said. A call of a tool that does not exist is no call.
func (l *loop) feed(f *gatehouse.Flow, said Answer) {
	for _, t := range said.Thoughts {
		f.Open(gatehouse.Part{Kind: gatehouse.Reasoning, Role: gatehouse.Assistant, Path: "thoughts", Text: t.Text, Signed: t.kept()})
	}
	if said.Text != "" {
		f.Open(gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.Assistant, Path: "text", Text: said.Text})
	}
	if said.Cut != "" {
		return
	}
	for _, c := range said.Calls {
		if _, ok := l.cfg.Tools[c.Tool]; ok {
			f.Open(l.asked(c))
		}
	}
}

// asked is a call for the gate to judge.
func (l *loop) asked(c Call) gatehouse.Part {
	return gatehouse.Part{Kind: gatehouse.ToolCall, Role: gatehouse.Assistant, Path: "calls." + c.ID, Tool: c.Tool, CallID: c.ID, Text: c.Arguments,
		Skip: !l.uses(ToolCall)}
}

// hear takes the answer into the run, as the checkpoints left it.
func (l *loop) hear(x *gatehouse.Exchange, said Answer) (Status, string, error) {
	e := Entry{Message: Message{Role: gatehouse.Assistant}}
	var texts []string
	thought := 0
	for _, p := range x.Response {
		switch p.Kind {
		case gatehouse.Reasoning:
			if t := said.Thoughts[thought]; t.kept() && !p.Removed {
				e.Thoughts = append(e.Thoughts, t)
			}
			thought++
		case gatehouse.Text:
			if p.Removed {
				p.Text = p.Notice
			}
			if p.Text != "" {
				texts = append(texts, p.Text)
			}
		}
	}
	e.Text = strings.Join(texts, "\n\n")
	l.s.Text = e.Text
	if d := violation(x); d != nil {
		e.Thoughts = nil
		l.s.Entries = append(l.s.Entries, e)
		return Stopped, string(d.At) + ": " + d.Reason, nil
	}
	if said.Cut != "" {
		l.s.Entries = append(l.s.Entries, e)
		return Limit, "the model's answer is not whole: " + said.Cut, nil
	}
	e.Calls = said.Calls
	l.s.Entries = append(l.s.Entries, e)
	if len(said.Calls) == 0 {
		return Done, "", nil
	}
	for _, c := range said.Calls {
		l.s.Steps = append(l.s.Steps, l.step(x, c))
	}
	if err := l.save(); err != nil {
		return "", "", err
	}
	l.announce(said.Calls)
	return Running, "", nil
}

// violation is the decision that has replaced the whole answer.
func violation(x *gatehouse.Exchange) *gatehouse.Decision {
	for i, d := range x.Decisions {
		if d.At == gatehouse.Integrity && d.Outcome == gatehouse.Enforced && d.Verdict == gatehouse.Block {
			return &x.Decisions[i]
		}
	}
	return nil
}
