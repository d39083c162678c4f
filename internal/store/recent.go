package store

import (
	"sync"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

const (
	// recentTime is how long an agent is taken for what it was when it was read: as long as another process's change of a key
	// may go unseen.
	recentTime = 250 * time.Millisecond
	// recentMax bounds the agents that are kept, each of a few hundred bytes.
	recentMax = 4096
)

// recent keeps agents that were read just now, by hash: an agent that is at work asks many times a second. What this process
// changes counts at once.
type recent struct {
	mu        sync.Mutex
	agents    map[string]met
	forgotten time.Time // the last time that agents have changed
}

type met struct {
	session.Agent
	at time.Time
}

func (r *recent) get(hash string) (session.Agent, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m, ok := r.agents[hash]
	return m.Agent, ok && time.Since(m.at) < recentTime
}

// put keeps an agent that was read from the time at on.
func (r *recent) put(hash string, a session.Agent, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !at.After(r.forgotten) {
		return // it may have been read before the change
	}
	if r.agents == nil || len(r.agents) >= recentMax {
		r.agents = map[string]met{}
	}
	r.agents[hash] = met{a, at}
}

// forget is called when agents have changed.
func (r *recent) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.agents, r.forgotten = nil, time.Now()
}
