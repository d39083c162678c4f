package api_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/store"
)

// Events that agents tell of themselves, while the doors meet agents that nobody has seen. A record needs its agent's content key, and
// who makes one needs the store's one connection for writing: neither may wait for the other for ever.
func TestEventsBesideNewAgents(t *testing.T) {
	h := build(t)
	_, token := h.key("acme", nil, "gateway")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := range 25 {
				name := fmt.Sprintf("agent-%d-%d", worker, i)
				if worker%2 == 0 {
					h.post(ctx, token, name, "/openai/v1/chat/completions", chat("hello"), http.StatusOK)
				} else {
					h.post(ctx, token, name, "/v1/audit", `{"type":"note"}`, http.StatusCreated)
				}
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		h.server = nil // what hangs cannot be closed
	}
}

// post makes a request that must be answered before the context ends.
func (h *house) post(ctx context.Context, token, agent, path, body string, status int) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		r, err := h.try(token, "POST", path, body, "X-Mnemom-Agent", agent, "Authorization", "Bearer sk-provider")
		if err != nil || r.status != status {
			h.t.Errorf("%s as %s: %v %d %s", path, agent, err, r.status, r.body)
		}
	}()
	select {
	case <-done:
	case <-ctx.Done():
		h.t.Errorf("%s as %s: no answer", path, agent)
	}
}

// Everything at once, for a while: nothing waits for ever, nothing fails, and the chain is whole.
func TestEverythingAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("takes its time")
	}
	h := build(t)
	_, admin := h.key("acme", nil, "gateway", "api:read", "api:write", "admin")
	for range 3 {
		h.want(http.StatusCreated, "", admin, "POST", "/v1/webhooks", encode(map[string]any{"url": h.receiver.URL, "event_types": []string{"*"}}))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var n, slowest atomic.Int64
	ask := func(method, path, body string, headers ...string) reply {
		start := time.Now()
		r, err := h.try(admin, method, path, body, headers...)
		if took := int64(time.Since(start)); took > slowest.Load() {
			slowest.Store(took)
		}
		if err != nil || r.status >= 500 {
			t.Errorf("%s %s: %v %d %s", method, path, err, r.status, r.body)
		}
		n.Add(1)
		return r
	}
	var workers sync.WaitGroup
	work := func(do func(i int)) {
		workers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				do(i)
			}
		})
	}
	provider := []string{"Authorization", "Bearer sk-provider"}
	for w := range 3 {
		work(func(i int) {
			message := "hello"
			if i%5 == 0 {
				message = attack
			}
			ask("POST", "/openai/v1/chat/completions", chat(message), append([]string{"X-Mnemom-Agent", fmt.Sprintf("door-%d-%d", w, i%40)}, provider...)...)
		})
	}
	work(func(i int) {
		ask("POST", "/v1/audit", `{"type":"note","data":{"n":1}}`, "X-Mnemom-Agent", "told-"+strconv.Itoa(i%50))
	})
	work(func(i int) {
		made := ask("POST", "/v1/agents", encode(map[string]any{"name": "hand-made", "hash_proof": proof(strconv.Itoa(i))})).text("id")
		for _, verb := range []string{"pause", "resume", "kill"} {
			ask("POST", "/v1/agents/"+made+"/"+verb, "")
		}
		if r := ask("DELETE", "/v1/agents/"+made, ""); r.status != http.StatusNoContent {
			t.Errorf("delete: %d %s", r.status, r.body)
		}
	})
	work(func(int) { // the agents of the doors go while they are used
		list, _ := ask("GET", "/v1/agents?limit=1&offset=5", "").doc()["agents"].([]any)
		for _, a := range list {
			if agent := a.(map[string]any); strings.HasPrefix(text(agent, "name"), "door-") { // the others have who deletes them
				ask("DELETE", "/v1/agents/"+text(agent, "id"), "")
			}
		}
		time.Sleep(50 * time.Millisecond)
	})
	work(func(i int) {
		made := ask("POST", "/v1/keys", `{"scopes":["gateway"]}`, "Idempotency-Key", strconv.Itoa(i/2)).text("id")
		ask("POST", "/v1/keys/"+made+"/rotate", "")
		ask("DELETE", "/v1/keys/"+made, "")
	})
	work(func(int) {
		for _, path := range []string{"/v1/audit?limit=200", "/v1/agents", "/v1/keys", "/v1/audit/export?type=exchange", "/metrics"} {
			ask("GET", path, "")
		}
		time.Sleep(20 * time.Millisecond)
	})
	work(func(int) {
		h.try(rootToken, "GET", "/v1/audit/export", "") //nolint:errcheck // the whole log, while it grows
		time.Sleep(100 * time.Millisecond)
	})
	ended := make(chan struct{})
	go func() { workers.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(40 * time.Second):
		t.Fatal("some request is never answered")
	}
	t.Logf("%d requests, the slowest took %v", n.Load(), time.Duration(slowest.Load()))
	if r := h.ask("", "GET", "/health/ready", ""); r.status != http.StatusOK {
		t.Errorf("not ready: %s", r.body)
	}
	h.close()
	db, err := store.OpenReadOnly(t.Context(), "sqlite:"+h.path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}
