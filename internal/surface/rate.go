package surface

import (
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Admit counts a request of an agent. Of more than perMinute in a minute, in bursts or evenly, it refuses the rest with 429 and
// Retry-After; 0 is no limit. All surfaces count together.
func (d *Desk) Admit(c *Call, agent string, perMinute int) error {
	delay := d.limiter.wait(agent, perMinute)
	if delay <= 0 {
		return nil
	}
	c.W.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(delay.Seconds()))))
	return Failure(http.StatusTooManyRequests, "rate_limit_exceeded", "this agent has sent more than limits.rate requests in a minute")
}

// limiter gives each agent so many requests a minute, as bursts or evenly. The zero value is ready.
type limiter struct {
	mu     sync.Mutex
	agents map[string]*bucket
}

type bucket struct {
	tokens *rate.Limiter
	used   time.Time
}

// maxBuckets bounds the memory that invented agents can take: past it, those unused for a minute, whose buckets are full
// again, go.
const maxBuckets = 10_000

// wait is how long the agent has to wait before its next request; zero: it may go on.
func (l *limiter) wait(agent string, perMinute int) time.Duration {
	if perMinute <= 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b, now := l.agents[agent], time.Now()
	if b == nil || b.tokens.Burst() != perMinute {
		l.sweep(now)
		b = &bucket{tokens: rate.NewLimiter(rate.Limit(float64(perMinute)/60), perMinute)}
		if l.agents == nil {
			l.agents = map[string]*bucket{}
		}
		l.agents[agent] = b
	}
	b.used = now
	r := b.tokens.ReserveN(now, 1)
	delay := r.DelayFrom(now)
	if delay > 0 {
		r.CancelAt(now)
	}
	return delay
}

func (l *limiter) sweep(now time.Time) {
	if len(l.agents) < maxBuckets {
		return
	}
	for id, b := range l.agents {
		if now.Sub(b.used) > time.Minute {
			delete(l.agents, id)
		}
	}
}
