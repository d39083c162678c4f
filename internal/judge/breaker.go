package judge

import (
	"sync"
	"time"
)

const (
	// failuresMost is how many failures in a row open the breaker, and restFor how long it stays open.
	failuresMost = 5
	restFor      = 30 * time.Second
)

// breaker leaves a model alone that fails: after a while it lets one question through, and all when that was answered.
type breaker struct {
	now func() time.Time

	mu       sync.Mutex
	failures int
	until    time.Time // of the rest; zero: none
	trying   bool      // the one question is under way
}

// enter reports whether a question may be asked. What enters must leave.
func (b *breaker) enter() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.until.IsZero():
		return true
	case b.trying || b.now().Before(b.until):
		return false
	}
	b.trying = true
	return true
}

// leave says how it went. An answer that is no label is an answer: else a text could close the judge to others.
func (b *breaker) leave(answered bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	tried := b.trying
	b.trying = false
	if answered {
		b.failures, b.until = 0, time.Time{}
		return
	}
	if b.failures++; tried || b.failures >= failuresMost {
		b.until = b.now().Add(restFor)
	}
}
