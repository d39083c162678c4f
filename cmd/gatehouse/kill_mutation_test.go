package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestKilledMutationHappensOnce sends one mutation fifty times at once, kills the gateway in between, and sends it again to the next
// one, with the same idempotency key. It must have happened once, with one record, and every completed answer must be the same.
func TestKilledMutationHappensOnce(t *testing.T) {
	const rounds = 10
	url := newStoreURL(t)
	m := mutation{file: gatewayFile(t, url, "auth: {admin_token: "+killToken+"}\n")}
	for n := range rounds {
		m.round(t, n)
	}
	names := map[any]int{}
	ids := map[string]bool{}
	for _, k := range resources(t, url, "keys", "list") {
		names[k["name"]]++
		ids[k["id"].(string)] = true
	}
	created := map[string]int{}
	for _, r := range events(t, url) {
		if r.Event.Type == "key.created" {
			created[r.Event.Target]++
		}
	}
	for n := range rounds {
		if got := names[fmt.Sprintf("round-%d", n)]; got != 1 {
			t.Errorf("round %d: %d keys", n, got)
		}
	}
	for id := range ids {
		if created[id] != 1 {
			t.Errorf("%d records of the making of one key", created[id])
		}
	}
	if len(ids) != rounds || len(created) != rounds {
		t.Errorf("%d keys and %d records of their making, want %d of each", len(ids), len(created), rounds)
	}
	if v := onStore(t, url, "", "audit", "verify"); v.code != 0 {
		t.Errorf("verify: %+v", v)
	}
	t.Logf("%d rounds; %d with the key made before the kill, %d of these without any answer; %d answers, %d of them replayed, %d conflicts, %d without an answer",
		rounds, m.before, m.silent, m.answers, m.replays, m.conflicts, m.lost)
	if m.conflicts == 0 || m.replays == 0 || m.lost == 0 {
		t.Error("nothing was replayed, nothing was refused, or nothing was killed: the test shows too little")
	}
}

const killToken = "mnm_administrator-of-the-kill-test"

// mutation counts what came of many requests for the same.
type mutation struct {
	file string

	mu                          sync.Mutex
	first                       []byte // the first completed answer of the round
	done, afresh                int    // completed answers of the round, and those that were not replayed
	answers, replays, conflicts int
	lost, before, silent        int
}

// round makes one key, whatever happens.
func (m *mutation) round(t *testing.T, n int) {
	m.first, m.done, m.afresh = nil, 0, 0
	body := fmt.Sprintf(`{"name":"round-%d"}`, n)
	base, kill := startGateway(t, m.file)
	ended := m.rush(t, base, n, body)
	time.Sleep(time.Duration(rand.IntN(12_000)) * time.Microsecond)
	kill()
	ended()
	finished := m.done

	base, kill = startGateway(t, m.file)
	defer kill()
	m.rush(t, base, n, body)()
	last := m.send(t, base, n, body)
	if last.status != http.StatusCreated || last.header.Get("Idempotent-Replay") != "true" {
		t.Errorf("round %d: at the end %d, want a replay", n, last.status)
	}
	if m.afresh > 1 {
		t.Errorf("round %d: %d answers that were not replayed", n, m.afresh)
	}
	if finished > 0 || m.afresh == 0 {
		m.before++
	}
	if finished == 0 && m.afresh == 0 {
		m.silent++
	}
	for _, other := range []string{`{"name":"other"}`, strings.Replace(body, ":", ": ", 1)} {
		if got := m.send(t, base, n, other); got.status != http.StatusUnprocessableEntity || got.code() != "idempotency_key_reused" {
			t.Errorf("round %d: another body: %d %s", n, got.status, got.code())
		}
	}
}

// rush sends the mutation fifty times at once; ended waits for all answers, and takes them into account.
func (m *mutation) rush(t *testing.T, base string, n int, body string) (ended func()) {
	t.Helper()
	var clients sync.WaitGroup
	for range 50 {
		clients.Go(func() { m.note(t, n, m.send(t, base, n, body)) })
	}
	return clients.Wait
}

func (m *mutation) send(t *testing.T, base string, n int, body string) said {
	t.Helper()
	return ask(t, http.MethodPost, base+"/v1/keys", body, "X-Mnemom-Api-Key", killToken, "Idempotency-Key", fmt.Sprintf("key-of-round-%d", n))
}

// note checks one answer.
func (m *mutation) note(t *testing.T, n int, got said) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case got.status == 0:
		m.lost++
	case got.status == http.StatusConflict && got.code() == "idempotency_in_flight":
		m.conflicts++
	case got.status != http.StatusCreated:
		t.Errorf("round %d: %d %s", n, got.status, got.code())
	default:
		if m.first == nil {
			m.first = got.body
		}
		if string(got.body) != string(m.first) {
			t.Errorf("round %d: two answers differ", n)
		}
		m.done++
		m.answers++
		if got.header.Get("Idempotent-Replay") == "true" {
			m.replays++
		} else {
			m.afresh++
		}
	}
}
