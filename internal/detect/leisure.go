package detect

import "context"

type leisureKey struct{}

// WhileModel bounds the time of the transformer in scans of the returned context: it reads as long as while lasts. The other detectors have
// the time of ctx, and so the rest of it is theirs.
func WhileModel(ctx, while context.Context) context.Context {
	return context.WithValue(ctx, leisureKey{}, while)
}

// leisure ends when the transformer is to stop. why says what has ended: "deadline" or "cancelled".
func leisure(ctx context.Context) (bounded context.Context, cancel func(), why func() string) {
	while, ok := ctx.Value(leisureKey{}).(context.Context)
	if !ok {
		while = ctx
	}
	bounded, end := context.WithCancel(ctx)
	if while.Err() != nil {
		end() // at once, and not when a goroutine gets to it
	}
	stop := context.AfterFunc(while, end)
	return bounded, func() { stop(); end() }, func() string {
		for _, c := range []context.Context{while, ctx} {
			if err := c.Err(); err != nil && err != context.Canceled { //nolint:errorlint // a context's own
				return skipDeadline
			}
		}
		return skipCancelled
	}
}
