package webhook

import (
	"context"
	"time"
)

// Round is a run that goes step by step.
type Round struct{ *round }

// Begin begins a run whose attempts take no longer than a limit.
func (d *Dispatcher) Begin(limit time.Duration) Round {
	r := d.begin()
	r.sender.limit = limit
	return Round{r}
}

// Tell reads the chain and sends nothing.
func (r Round) Tell(ctx context.Context) error { return r.look(ctx) }

// Step does all that can be done now: it reads the chain, makes the attempts that are due, and waits for them.
func (r Round) Step(ctx context.Context) error {
	if err := r.look(ctx); err != nil {
		return err
	}
	for {
		if err := r.claim(ctx); err != nil || r.running == 0 {
			return err
		}
		for r.running > 0 {
			if err := r.gather(ctx, <-r.done); err != nil {
				return err
			}
		}
	}
}
