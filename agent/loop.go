package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
)

var errTime = errors.New("the time of the run is up")

// loop is one attempt at a run.
type loop struct {
	cfg   Config
	began time.Time
	spent time.Duration // before this attempt

	mu   sync.Mutex // held where handlers run beside each other
	s    *State
	lost error // of Save: from then on the run may be another's
}

// run goes on until there is nothing left to do, and keeps how it ended.
func (l *loop) run(ctx context.Context) (Result, error) {
	status, reason, err := l.attempt(ctx)
	if err != nil && l.lost == nil && errors.Is(context.Cause(ctx), errTime) {
		status, reason, err = Limit, errTime.Error(), nil
	}
	if err == nil {
		l.s.Status, l.s.Reason = status, reason
	}
	if lost := l.save(); err == nil {
		err = lost
	}
	l.tell(Event{Kind: RunEnded, Status: l.s.Status})
	return l.s.result(), err
}

func (l *loop) attempt(ctx context.Context) (Status, string, error) {
	l.s.Status, l.s.Reason = Running, ""
	// Saved before anything is done: of two that go on with one run, the second is turned away here.
	if err := l.save(); err != nil {
		return "", "", err
	}
	l.recover()
	if len(l.s.open()) > 0 {
		if l.s.ToolCalls >= l.cfg.MaxToolCalls { // asked about now, an approval would be used up for nothing
			return Limit, l.budget(), nil
		}
		if err := l.recheck(ctx); err != nil {
			return "", "", err
		}
	}
	for {
		if len(l.s.Steps) > 0 {
			over, err := l.work(ctx)
			if err != nil {
				return "", "", err
			}
			if held := l.s.Waiting(); len(held) > 0 {
				return Paused, waits(held), nil
			}
			if l.collect(); over {
				return Limit, l.budget(), nil
			}
		}
		if l.s.Turns >= l.cfg.MaxTurns {
			return Limit, fmt.Sprintf("the model was asked %d times", l.s.Turns), nil
		}
		if err := context.Cause(ctx); err != nil {
			return "", "", err
		}
		status, reason, err := l.turn(ctx)
		if err != nil || status != Running {
			return status, reason, err
		}
	}
}

func (l *loop) budget() string {
	return fmt.Sprintf("the tool budget of %d calls is spent", max(0, l.cfg.MaxToolCalls))
}

// waits says what a paused run waits for.
func waits(held []Step) string {
	var list []string
	for _, p := range held {
		list = append(list, p.Approval)
	}
	return "approval needed: " + strings.Join(list, ", ")
}

// recover settles calls that a process which ended meanwhile had begun.
func (l *loop) recover() {
	for i := range l.s.Steps {
		p := &l.s.Steps[i]
		if p.State != Begun {
			continue
		}
		if l.cfg.Tools[p.Tool].Idempotent {
			p.State = Ready
			continue
		}
		p.settle("The program was interrupted while this tool ran: it is not known whether the tool has done its work. It was not run again.", true)
		p.Lost = true
	}
}

// collect makes results of the steps, in the order of the calls.
func (l *loop) collect() {
	for _, p := range l.s.Steps {
		if p.State != Settled { // its handler has ended the goroutine
			p.settle("error: the tool failed unexpectedly", true)
		}
		l.s.Entries = append(l.s.Entries, Entry{Message: Message{Role: gatehouse.Tool, Text: p.Result, CallID: p.ID, Tool: p.Tool, Failed: p.Failed}, Lost: p.Lost})
	}
	l.s.Steps = nil
}

// save keeps the run as it stands. After a failure nothing is saved any more: another process may have the run.
func (l *loop) save() error {
	if l.lost != nil {
		return l.lost
	}
	l.s.Spent = l.spent + time.Since(l.began)
	l.s.Revision++
	if l.cfg.Save == nil {
		return nil
	}
	if err := l.cfg.Save(l.s); err != nil {
		l.s.Revision--
		l.lost = fmt.Errorf("save run: %w", err)
	}
	return l.lost
}

func (l *loop) tell(e Event) {
	if l.cfg.Events == nil {
		return
	}
	e.Run = l.s.ID
	if e.Turn == 0 {
		e.Turn = l.s.Turns
	}
	l.cfg.Events(e)
}
