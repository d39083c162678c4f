package detect

import (
	"fmt"
	"runtime/debug"
)

// Panic is what a scan panics with where a goroutine that helped it did: the stack of the scan would not say where.
type Panic struct {
	Value any
	Stack []byte // of the helper
}

// Panicked is the error of a recovered panic: the type of its value, whose text could quote content, and the stack of the goroutine that
// began it.
func Panicked(v any) error {
	stack := debug.Stack()
	if p, ok := v.(*Panic); ok {
		v, stack = p.Value, p.Stack
	}
	return fmt.Errorf("panic of type %T\n%s", v, stack)
}
