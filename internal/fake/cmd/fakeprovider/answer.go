package main

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/fake"
)

// model is the model of the conformance tests. It is [fake.Echo], and besides:
//   - a request with the header X-Fake-Status fails with that status. With X-Fake-Times: N and X-Fake-Case: C only the first
//     N requests of case C do, and with X-Fake-Retry-After: S the failure asks for S seconds of patience;
//   - X-Fake-Drop-After: N cuts the connection after N bytes of the answer, X-Fake-Delay: D waits a [time.Duration] before it;
//   - a user text of lines "call NAME ARGUMENTS" gets one call for each line;
//   - a user text "say TEXT" is answered by TEXT alone;
//   - what [ordered] finds within a longer text is done.
type model struct {
	mu     sync.Mutex
	failed map[string]int // requests failed, by case
}

func (m *model) answer(r fake.Request) fake.Turn {
	t := m.turn(r)
	t.DropAfter, _ = strconv.Atoi(r.Header.Get("X-Fake-Drop-After"))
	t.Delay, _ = time.ParseDuration(r.Header.Get("X-Fake-Delay"))
	return t
}

func (m *model) turn(r fake.Request) fake.Turn {
	if status, err := strconv.Atoi(r.Header.Get("X-Fake-Status")); err == nil && m.fails(r.Header) {
		t := fake.Turn{Status: status, Error: "the provider says " + strconv.Itoa(status)}
		if after := r.Header.Get("X-Fake-Retry-After"); after != "" {
			t.Header = http.Header{"Retry-After": {after}}
		}
		return t
	}
	if t, ok := ordered(r); ok {
		return t
	}
	if calls := called(r.Last()); len(calls) > 0 {
		return fake.Turn{Calls: calls}
	}
	if text, ok := strings.CutPrefix(r.LastUser(), "say "); ok {
		return fake.Turn{Text: text}
	}
	return fake.Echo(r)
}

// fails counts the failures of a case; without a number of times every request fails.
func (m *model) fails(h http.Header) bool {
	times, err := strconv.Atoi(h.Get("X-Fake-Times"))
	if err != nil {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failed == nil {
		m.failed = map[string]int{}
	}
	m.failed[h.Get("X-Fake-Case")]++
	return m.failed[h.Get("X-Fake-Case")] <= times
}

// called reads the calls that a user's message asks for; none unless every line is one.
func called(m fake.Message) []fake.Call {
	if m.Role != "user" {
		return nil
	}
	var calls []fake.Call
	for line := range strings.Lines(m.Text) {
		order, ok := strings.CutPrefix(strings.TrimSpace(line), "call ")
		name, args, both := strings.Cut(order, " ")
		if !ok || !both {
			return nil
		}
		calls = append(calls, fake.Call{Name: name, Args: args})
	}
	return calls
}
