package approval

import (
	"context"
	"sync"
	"time"
)

const (
	maxPending = 20_000      // approvals that one agent may have waiting: nobody reads more, and everybody's store would have to hold them
	countedFor = time.Second // how long a count stands, while one's own are added to it
	maxCounted = 1000        // agents whose count is remembered
)

// crowd is how many approvals of each agent wait, about: others may add to it.
type crowd struct {
	mu     sync.Mutex
	agents map[string]counted
}

type counted struct {
	waiting int
	at      time.Time
}

// full reports whether an agent has as many waiting as it may have; if not, there is one more.
func (q *Queue) full(ctx context.Context, agent string, now time.Time) (bool, error) {
	most := q.MaxPending
	if most == 0 {
		most = maxPending
	}
	q.crowd.mu.Lock()
	c, ok := q.crowd.agents[agent]
	q.crowd.mu.Unlock()
	if !ok || now.Sub(c.at).Abs() >= countedFor {
		n, err := q.Store.PendingApprovals(ctx, agent, now)
		if err != nil {
			return false, err
		}
		c = counted{n, now}
	}
	c.waiting++
	q.crowd.mu.Lock()
	defer q.crowd.mu.Unlock()
	if q.crowd.agents == nil || len(q.crowd.agents) >= maxCounted {
		q.crowd.agents = map[string]counted{}
	}
	q.crowd.agents[agent] = c
	return c.waiting > most, nil
}
