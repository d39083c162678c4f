package policy

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"
)

// condition is one compiled when or unless.
type condition struct {
	free    cel.Program // counts nothing
	metered cel.Program // stops at maxCost
	effort  effort
}

const (
	// freeWork is the work of a condition that may go uncounted, and allFreeWork that of all conditions of a judgement. The
	// bounds are far above what is done in truth: a condition of freeWork takes some milliseconds at worst.
	freeWork    = 3e7
	allFreeWork = 1e9
	// maxCost bounds the counted work of a judgement, in units of CEL's cost model: about one for each operation, and for
	// every ten characters of a string that is read. It is some tens of milliseconds.
	maxCost = 500_000
	// maxTime ends what the cost model thinks too well of, such as comparing deep lists. Loops are looked at on every few
	// rounds, and a round reads the arguments a few times at most.
	maxTime = 200 * time.Millisecond
)

// compileCondition reads a condition that must be true or false. Its problems are those of the source, in its order.
func compileCondition(source string) (*condition, []*common.Error) {
	env, err := environment()
	if err != nil {
		return nil, wholly(err)
	}
	checked, issues := env.Compile(source)
	if issues.Err() != nil {
		return nil, issues.Errors()
	}
	if t := checked.OutputType(); !t.IsExactType(cel.BoolType) {
		hint := ""
		if t.IsExactType(cel.DynType) {
			hint = "; write … == true"
		}
		return nil, wholly(fmt.Errorf("must be true or false, and is of type %s%s", t, hint))
	}
	c := &condition{effort: measure(checked.NativeRep())}
	if c.free, err = env.Program(checked, cel.EvalOptions(cel.OptOptimize)); err != nil {
		return nil, wholly(err)
	}
	if c.metered, err = env.Program(checked, cel.EvalOptions(cel.OptOptimize), cel.CostLimit(maxCost), cel.InterruptCheckFrequency(16)); err != nil {
		return nil, wholly(err)
	}
	return c, nil
}

// wholly is a problem of a condition as a whole.
func wholly(err error) []*common.Error {
	return []*common.Error{{Location: common.NewLocation(1, 0), Message: err.Error()}}
}

// holds asks the condition about a call. When it fails, the reason says why without quoting the call.
func (c *condition) holds(s *scene) (yes bool, failure string) {
	v, err := c.eval(s)
	if err != nil {
		return false, failureOf(err)
	}
	yes, ok := v.Value().(bool)
	if !ok {
		return false, "it is neither true nor false"
	}
	return yes, ""
}

func (c *condition) eval(s *scene) (ref.Val, error) {
	if work := c.effort.of(s.size); work <= freeWork && s.free+work <= allFreeWork {
		s.free += work
		v, _, err := c.free.Eval(s)
		return v, err
	}
	if c.effort.leaps || s.spent > maxCost {
		return nil, errTooMuchWork
	}
	if s.deadline.IsZero() {
		s.deadline = time.Now().Add(maxTime)
	}
	ctx, cancel := context.WithDeadline(context.Background(), s.deadline)
	defer cancel()
	v, details, err := c.metered.ContextEval(ctx, s)
	if cost := details.ActualCost(); cost != nil {
		s.spent += *cost
	}
	return v, err
}

const tooMuchWork = "these arguments are too much work for it"

var errTooMuchWork = errors.New(tooMuchWork)

// failureOf puts an error into words of our own: CEL's quote arguments.
func failureOf(err error) string {
	var cancelled interpreter.EvalCancelledError
	if errors.As(err, &cancelled) || errors.Is(err, interpreter.InterruptError{}) {
		return tooMuchWork
	}
	text := err.Error()
	for _, known := range [...]struct{ begins, means string }{
		{"no such key", "it asks for something that is not there"},
		{"no such attribute", "it asks for something that is not known here"},
		{"index out of bounds", "it asks for something that is not there"},
		{"no such overload", "a value is of a kind that it cannot work with"},
		{"got '", "a value is of a kind that it cannot work with"},
		{"unsupported index type", "a value is of a kind that it cannot work with"},
		{"type conversion error", "a value is of a kind that it cannot work with"},
		{tooMuchWork, tooMuchWork},
		{unknownConversation, unknownConversation},
		{"found no matching overload", "a value is of a kind that it cannot work with"},
	} {
		if strings.HasPrefix(text, known.begins) {
			return known.means
		}
	}
	return "it cannot be worked out for these arguments"
}
