package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// work runs the handlers of the calls that are ready, several at a time, in the order of the calls. over says that the tool
// budget did not reach for all of them. After an error none is begun any more, and those that were are waited for.
func (l *loop) work(ctx context.Context) (over bool, err error) {
	var all sync.WaitGroup
	slots := make(chan struct{}, l.cfg.Parallel)
	failed := func(e error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		err = errors.Join(err, e)
	}
	for i := range l.s.Steps {
		slots <- struct{}{}
		begun, spent, lost := l.begin(ctx, i)
		if over = over || spent; lost != nil {
			failed(lost)
		}
		if !begun {
			<-slots
			continue
		}
		all.Go(func() {
			defer func() { <-slots }()
			if lost := l.perform(ctx, i); lost != nil {
				failed(lost)
			}
		})
	}
	all.Wait()
	return over, err
}

// begin marks a call as begun before its handler can do anything.
func (l *loop) begin(ctx context.Context, i int) (begun, over bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := &l.s.Steps[i]
	if p.State != Ready {
		return false, false, nil
	}
	if err := context.Cause(ctx); err != nil {
		return false, false, err
	}
	if l.s.ToolCalls >= l.cfg.MaxToolCalls {
		p.settle("The tool did not run: the tool budget of this run is spent.", true)
		return false, true, nil
	}
	p.State = Begun
	l.s.ToolCalls++
	if err := l.save(); err != nil {
		p.State = Ready
		l.s.ToolCalls--
		return false, false, err
	}
	l.tell(Event{Kind: CallBegun, Step: *p})
	return true, false, nil
}

// perform runs one handler and keeps its result.
func (l *loop) perform(ctx context.Context, i int) error {
	l.mu.Lock()
	c := l.s.Steps[i].Call
	l.mu.Unlock()
	text, cause := l.handle(ctx, c)
	l.mu.Lock()
	defer l.mu.Unlock()
	p := &l.s.Steps[i]
	p.settle(strings.ToValidUTF8(text, "\uFFFD"), cause != nil)
	err := l.save()
	l.tell(Event{Kind: CallSettled, Step: *p, Err: cause})
	return err
}

// handle calls the handler; a panic is an error, and what it said is not told.
func (l *loop) handle(ctx context.Context, c Call) (text string, err error) {
	t := l.cfg.Tools[c.Tool]
	ctx = context.WithValue(ctx, callKey{}, l.s.running(c))
	if t.Timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, t.Timeout)
		defer stop()
	}
	defer func() {
		if v := recover(); v != nil {
			text, err = "error: the tool failed unexpectedly", fmt.Errorf("tool %s: panic of type %T", c.Tool, v)
		}
	}()
	if text, err = t.Handler(ctx, object(c.Arguments)); err != nil {
		return "error: " + err.Error(), err
	}
	return text, nil
}
