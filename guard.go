package gatehouse

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
)

// Guard puts the checkpoints around one call to a model: front and autonomy before it, integrity, back and autonomy behind
// it, and the record at the end, whatever happens in between. The order exists here and nowhere else.
//
// do sends the request as x.Request now stands and feeds the response to the flow. Guard does not call it when a
// checkpoint stops the exchange: x.Stopped then says which. The error is nil, or a [*Failure]: do failed, do panicked, or
// the record could not be written.
func Guard(ctx context.Context, c Checker, x *Exchange, do func(context.Context, *Flow) error) (err error) {
	defer func() { err = finish(ctx, c, x, err) }()
	defer func() {
		if p := recover(); p != nil {
			err = &Failure{Status: http.StatusInternalServerError, Code: "internal_error", Err: fmt.Errorf("panic of type %T\n%s", p, debug.Stack())}
		}
	}()
	x.Decisions = slices.Grow(x.Decisions, 5) // one for each check below
	for _, at := range []Checkpoint{Front, Autonomy} {
		if c.Check(ctx, x, at); x.Stopped() != nil {
			return nil
		}
	}
	f := &Flow{x: x, c: c, ctx: ctx}
	err = do(ctx, f)
	if f.settle(); err != nil && x.Cut == "" {
		return err
	}
	// Nothing rewrites a call's arguments after the gate saw them: autonomy is last.
	x.Answered = true
	status := x.Status
	for _, at := range []Checkpoint{Integrity, Back, Autonomy} {
		if c.Check(f.ctx, x, at); x.Stopped() == nil {
			continue
		}
		if f.began() {
			x.Status = status // the client has it
		}
		return err
	}
	if f.last != nil {
		if bad := f.last(); bad != nil {
			x.Cut = ""
			return bad
		}
	}
	return err
}

func finish(ctx context.Context, c Checker, x *Exchange, err error) error {
	if f := AsFailure(err); f != nil && x.Stopped() == nil {
		x.Error = f.Code
		if x.Cut == "" || x.Status == 0 {
			x.Status = f.Status
		}
	}
	// The record is written even when the client has left.
	if lost := c.Finish(context.WithoutCancel(ctx), x); lost != nil {
		return &Failure{Status: http.StatusServiceUnavailable, Code: "checkpoint_unavailable",
			Message: "the audit record could not be written", Err: errors.Join(lost, err)}
	}
	return err
}

// Failure is an exchange that went wrong: the status and code that the client gets, and the cause for the log.
type Failure struct {
	Status  int    // HTTP status
	Code    string // snake_case
	Message string // for the client; empty: a text by status
	Err     error  // for the log, may be nil
}

func (f *Failure) Error() string {
	if f.Err != nil {
		return f.Code + ": " + f.Err.Error()
	}
	return f.Code + ": " + f.Message
}

func (f *Failure) Unwrap() error { return f.Err }

// AsFailure finds the failure in an error; an error that holds none becomes an internal error. It is nil for nil.
func AsFailure(err error) *Failure {
	if err == nil {
		return nil
	}
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	return &Failure{Status: http.StatusInternalServerError, Code: "internal_error", Err: err}
}
