package api_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/api"
	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/identity"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
	"github.com/gatehouse-gateway/gatehouse/internal/surface"
)

// One mutation, fifty times at once: it happens once, one caller is told so, the others that it runs or what was answered.
func TestFiftyAtOnce(t *testing.T) {
	h := build(t)
	_, admin := h.key("acme", nil, "admin", "api:read")
	replies := make([]reply, 50)
	var all sync.WaitGroup
	for i := range replies {
		all.Go(func() {
			var err error
			if replies[i], err = h.try(admin, "POST", "/v1/keys", `{"scopes":["api:read"],"name":"once"}`, "Idempotency-Key", "fifty"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	body, first, ids := "", 0, map[string]bool{}
	for _, r := range replies {
		ids[r.request()] = true
		switch {
		case r.status == http.StatusConflict && r.code() == "idempotency_in_flight":
			continue
		case r.status != http.StatusCreated:
			t.Fatalf("%d %s", r.status, r.body)
		case r.header.Get("Idempotent-Replay") == "":
			first++
		case r.header.Get("Idempotent-Replay") != "true":
			t.Errorf("%v", r.header)
		}
		if body == "" {
			body = r.body
		}
		if r.body != body {
			t.Errorf("%s and %s", r.body, body)
		}
	}
	if first != 1 || len(ids) != 50 {
		t.Errorf("%d first answers, %d request ids", first, len(ids))
	}
	if doc := h.want(http.StatusOK, "", admin, "GET", "/v1/keys", "").doc(); doc["total"] != 2.0 {
		t.Errorf("%v", doc)
	}
}

// While a mutation runs, the same one is told so; one with another key, or of another caller, is not.
func TestInFlight(t *testing.T) {
	db, err := store.Open(t.Context(), "sqlite:"+t.TempDir()+"/g.db")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	entered, release := make(chan bool, 3), make(chan bool)
	handler := bare(t, db, broken{}, func(ctx context.Context, do func(context.Context) error) error {
		entered <- true
		<-release
		return db.Transact(ctx, do)
	})
	ask := func(key string) *httptest.ResponseRecorder {
		w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/v1/keys", strings.NewReader(`{}`))
		r.Header.Set("X-Mnemom-Api-Key", rootToken)
		r.Header.Set("Idempotency-Key", key)
		handler.ServeHTTP(w, r)
		return w
	}
	var all sync.WaitGroup
	for _, key := range []string{"one", "two"} {
		all.Go(func() {
			if w := ask(key); w.Code != http.StatusCreated {
				t.Errorf("%s: %d %s", key, w.Code, w.Body)
			}
		})
		<-entered
	}
	for range 2 { // a refusal does not end the flight
		if w := ask("one"); w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "idempotency_in_flight") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	close(release)
	all.Wait()
	if w := ask("one"); w.Code != http.StatusCreated || w.Header().Get("Idempotent-Replay") != "true" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

// Two gateways on one store: the same mutation at both happens once.
func TestTwoGatewaysOneMutation(t *testing.T) {
	one := build(t)
	two := build(t, func(c *config.Config) { c.Store = one.cfg.Store })
	_, admin := one.key("acme", nil, "admin", "api:read")
	two.soon("the key is known there", func() bool { return two.ask(admin, "GET", "/v1/keys/whoami", "").status == http.StatusOK })
	var mu sync.Mutex
	ids, first := map[string]bool{}, 0
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			r, err := []*house{one, two}[i%2].try(admin, "POST", "/v1/keys", `{"scopes":["api:read"]}`, "Idempotency-Key", "one")
			if err != nil || r.status != http.StatusCreated && r.status != http.StatusConflict {
				t.Errorf("%v %d %s", err, r.status, r.body)
			}
			mu.Lock()
			defer mu.Unlock()
			if r.status == http.StatusCreated {
				ids[r.text("id")] = true
				if r.header.Get("Idempotent-Replay") == "" {
					first++
				}
			}
		})
	}
	all.Wait()
	if len(ids) != 1 || first != 1 {
		t.Errorf("%d keys, %d first answers", len(ids), first)
	}
}

func TestIdempotency(t *testing.T) {
	h := build(t)
	id, admin := h.key("acme", nil, "admin", "api:read", "api:write", "gateway")
	const body = `{"scopes":["api:read"]}`
	first := h.want(http.StatusCreated, "", admin, "POST", "/v1/keys", body, "Idempotency-Key", "one")
	h.restart()
	again := h.want(http.StatusCreated, "", admin, "POST", "/v1/keys", body, "Idempotency-Key", "one")
	if again.body != first.body || again.header.Get("Idempotent-Replay") != "true" || again.header.Get("X-Mnemom-Schema") != first.header.Get("X-Mnemom-Schema") ||
		again.header.Get("Content-Type") != first.header.Get("Content-Type") || again.request() == first.request() {
		t.Errorf("%s %v\n%s %v", first.body, first.header, again.body, again.header)
	}
	if bytes.Contains(h.stored(), []byte(first.text("key"))) || bytes.Contains(h.stored(), []byte(first.text("key")[4:])) {
		t.Error("the key that is shown once can be read from the database")
	}
	for _, other := range [][3]string{{"POST", "/v1/keys", `{"scopes":["api:write"]}`}, {"POST", "/v1/keys?x=1", body}, {"POST", "/v1/agents", body}, {"DELETE", "/v1/keys/" + id, body}} {
		h.want(http.StatusUnprocessableEntity, "idempotency_key_reused", admin, other[0], other[1], other[2], "Idempotency-Key", "one")
	}
	h.want(http.StatusUnprocessableEntity, "idempotency_key_reused", admin, "POST", "/v1/keys", body, "Idempotency-Key", "one", "X-Mnemom-Agent", "somebody")

	// What has failed is not kept: corrected, it goes through.
	h.want(http.StatusBadRequest, "", admin, "POST", "/v1/keys", `{"scopes":["none"]}`, "Idempotency-Key", "two")
	h.want(http.StatusCreated, "", admin, "POST", "/v1/keys", body, "Idempotency-Key", "two")

	for _, key := range []string{strings.Repeat("x", 256)} {
		h.want(http.StatusBadRequest, "invalid_idempotency_key", admin, "POST", "/v1/keys", body, "Idempotency-Key", key)
	}
	h.want(http.StatusBadRequest, "invalid_idempotency_key", admin, "POST", "/v1/keys", body, "Idempotency-Key", "a", "Idempotency-Key", "b")
	h.want(http.StatusCreated, "", admin, "POST", "/v1/keys", body, "Idempotency-Key", strings.Repeat("x", 255))

	// An empty answer is replayed as one.
	agent := h.agent(admin, "to-be-deleted")
	for _, replay := range []string{"", "true"} {
		r := h.want(http.StatusNoContent, "", admin, "DELETE", "/v1/agents/"+agent, "", "Idempotency-Key", "three")
		if r.body != "" || r.header.Get("Idempotent-Replay") != replay {
			t.Errorf("%q %v", r.body, r.header)
		}
	}
	h.want(http.StatusNotFound, "", admin, "DELETE", "/v1/agents/"+agent, "", "Idempotency-Key", "four")

	// Reads know no replay, and a key that was rotated cannot open what was kept for the old one.
	if r := h.want(http.StatusOK, "", admin, "GET", "/v1/keys", "", "Idempotency-Key", "one"); r.header.Get("Idempotent-Replay") != "" {
		t.Error("a read was replayed")
	}
	fresh := h.want(http.StatusOK, "", rootToken, "POST", "/v1/keys/"+id+"/rotate", "").text("key")
	h.want(http.StatusConflict, "idempotency_answer_sealed", fresh, "POST", "/v1/keys", body, "Idempotency-Key", "one")
	h.want(http.StatusUnauthorized, "", admin, "POST", "/v1/keys", body, "Idempotency-Key", "one")
}

// Bodies that are not what they should be.
func TestHostileBodies(t *testing.T) {
	h := build(t)
	_, admin := h.key("acme", nil, "admin", "api:read", "api:write", "gateway")
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	z.Write(bytes.Repeat([]byte(" "), 8<<20)) //nolint:errcheck // into memory
	z.Close()                                 //nolint:errcheck // as above
	for _, c := range []struct {
		name, path, body string
		status           int
		code             string
		headers          []string
	}{
		{"too large", "/v1/keys", `{"name":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "request_too_large", nil},
		{"a bomb", "/v1/keys", bomb.String(), 413, "request_too_large", []string{"Content-Encoding", "gzip"}},
		{"an encoding that is none", "/v1/keys", `{}`, 415, "unsupported_encoding", []string{"Content-Encoding", "rot13"}},
		{"not gzip", "/v1/keys", `{}`, 400, "invalid_body", []string{"Content-Encoding", "gzip"}},
		{"a form", "/v1/keys", `a=b`, 415, "unsupported_media_type", []string{"Content-Type", "", "Content-Type", "application/x-www-form-urlencoded"}},
		{"text", "/v1/keys", `{}`, 415, "unsupported_media_type", []string{"Content-Type", "", "Content-Type", "text/plain"}},
		{"not JSON", "/v1/keys", `{`, 400, "invalid_json_body", nil},
		{"a list", "/v1/keys", `[]`, 400, "invalid_json_body", nil},
		{"null", "/v1/keys", `null`, 400, "invalid_json_body", nil},
		{"two documents", "/v1/keys", `{}{}`, 400, "invalid_json_body", nil},
		{"trailing data", "/v1/keys", `{} x`, 400, "invalid_json_body", nil},
		{"a key twice", "/v1/keys", `{"name":"a","name":"b"}`, 400, "invalid_json_body", nil},
		{"a key twice, escaped", "/v1/keys", `{"name":"a","n\u0061me":"b"}`, 400, "invalid_json_body", nil},
		{"a key twice, in data", "/v1/audit", `{"type":"x","data":{"a":1,"a":2}}`, 400, "invalid_json_body", nil},
		{"a key in other letters", "/v1/keys", `{"NAME":"a"}`, 400, "invalid_request", nil},
		{"invalid UTF-8", "/v1/keys", "{\"name\":\"\xff\"}", 400, "invalid_json_body", nil},
		{"half a surrogate", "/v1/keys", `{"name":"\ud800"}`, 0, "", nil},
		{"deep", "/v1/audit", `{"type":"x","data":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`, 400, "invalid_json_body", nil},
		{"an unknown field", "/v1/keys", `{"root":true}`, 400, "invalid_request", nil},
		{"a number for a name", "/v1/keys", `{"name":1e999}`, 400, "", nil},
		{"huge numbers", "/v1/audit", `{"type":"x","data":{"n":123456789012345678901234567890,"e":1e400}}`, 201, "", nil},
		{"too much data", "/v1/audit", `{"type":"x","data":"` + strings.Repeat("x", 17<<10) + `"}`, 400, "invalid_request", nil},
		{"a long name", "/v1/keys", `{"name":"` + strings.Repeat("ä", 101) + `"}`, 400, "invalid_request", nil},
		{"a type that is none", "/v1/audit", `{"type":"agent.killed; drop"}`, 400, "invalid_request", nil},
		{"a session that is none", "/v1/audit", `{"type":"x","session":"a b"}`, 400, "invalid_request", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := h.ask(admin, "POST", c.path, c.body, c.headers...)
			if c.status != 0 && r.status != c.status || c.code != "" && r.code() != c.code || r.status >= 500 {
				t.Errorf("%d %s, want %d %s", r.status, r.body, c.status, c.code)
			}
		})
	}
	// An event of one's own cannot pass for one of the gateway's.
	if doc := h.want(http.StatusCreated, "", admin, "POST", "/v1/audit", `{"type":"agent.killed"}`).doc(); doc["type"] != "audit.agent.killed" {
		t.Errorf("%v", doc)
	}
}

func TestHostileQueries(t *testing.T) {
	h := build(t)
	for _, path := range []string{"/v1/agents?limit=1&limit=2", "/v1/agents?limit=0", "/v1/agents?limit=201", "/v1/agents?limit=-1", "/v1/agents?limit=1e3",
		"/v1/agents?offset=99999999999999999999", "/v1/agents?offset=-1", "/v1/audit?after=-1", "/v1/audit?order=up", "/v1/audit?since=yesterday",
		"/v1/audit?since=9999-12-31T23:59:59Z", "/v1/audit?until=0001-01-01T00:00:00Z", "/v1/audit?since=2026-01-01T00:00:00Z&since=2026-01-01T00:00:00Z"} {
		if r := h.ask(rootToken, "GET", path, ""); r.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
	for _, path := range []string{"/v1/audit?type=%25", "/v1/audit?type='%20OR%201=1--", "/v1/audit?session=%00", "/v1/audit?type=%ff*", "/v1/audit?type=*&session=x"} {
		if r := h.ask(rootToken, "GET", path, ""); r.status != http.StatusOK || r.doc()["total"] != 0.0 {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
}

// bare is the API alone, with what a test puts in place of its parts.
func bare(t *testing.T, db *store.Store, checker gatehouse.Checker, transact func(context.Context, func(context.Context) error) error) http.Handler {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	authority := &identity.Authority{Store: db, Log: log}
	if err := authority.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	authority.SetAdmin(rootToken)
	a := &api.API{Checker: checker, Desk: &surface.Desk{Authority: authority, Sessions: &session.Resolver{Store: db}}, Authority: authority, Log: log,
		Transact: transact, Answers: db, Keys: db, Agents: db, Records: db}
	handler := &surface.Handler{Checker: checker, Ready: db.Ready, Log: log, Surfaces: []surface.Surface{a}}
	handler.Use(&surface.Settings{})
	return handler
}

// broken is a checker that cannot write its record.
type broken struct{ err error }

func (broken) Check(context.Context, *gatehouse.Exchange, gatehouse.Checkpoint) gatehouse.Decision {
	return gatehouse.Decision{}
}
func (b broken) Finish(context.Context, *gatehouse.Exchange) error { return b.err }

// panicking is one that loses its head.
type panicking struct{ broken }

func (panicking) Finish(_ context.Context, x *gatehouse.Exchange) error {
	if x.Event != nil {
		panic("lost")
	}
	return nil
}

// A mutation whose record cannot be written has not happened.
func TestMutationWithoutRecord(t *testing.T) {
	for name, checker := range map[string]gatehouse.Checker{"an error": broken{errors.New("disk full")}, "a panic": panicking{}} {
		t.Run(name, func(t *testing.T) {
			db, err := store.Open(t.Context(), "sqlite:"+t.TempDir()+"/g.db")
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			handler := bare(t, db, checker, db.Transact)
			for range 2 {
				w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/v1/keys", strings.NewReader(`{"name":"never"}`))
				r.Header.Set("X-Mnemom-Api-Key", rootToken)
				r.Header.Set("Idempotency-Key", "one")
				handler.ServeHTTP(w, r)
				if w.Code < 500 || strings.Contains(w.Body.String(), "mnm_") || strings.Contains(w.Body.String(), "disk") || w.Header().Get("X-Mnemom-Request-Id") == "" {
					t.Errorf("%d %s %v", w.Code, w.Body, w.Header())
				}
			}
			if _, total, err := db.Keys(t.Context(), "", 10, 0); err != nil || total != 0 {
				t.Errorf("%d keys, %v", total, err)
			}
		})
	}
}

// While on_error lets exchanges pass without a record, a change of the gateway itself still needs one.
func TestOnErrorOpenChangesNothingWithoutRecord(t *testing.T) {
	h := build(t, func(c *config.Config) {
		for at := range c.OnError {
			c.OnError[at] = "open"
		}
	})
	h.want(http.StatusCreated, "", rootToken, "POST", "/v1/keys", `{}`)
	raw, err := sql.Open("sqlite", "file:"+h.path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	// The record can be written and the end of the chain cannot be moved: the worst place to stop.
	if _, err := raw.ExecContext(t.Context(), `CREATE TRIGGER stuck BEFORE UPDATE ON head BEGIN SELECT RAISE(ABORT, 'stuck'); END`); err != nil {
		t.Fatal(err)
	}
	r := h.ask(rootToken, "POST", "/v1/keys", `{"name":"never"}`, "Idempotency-Key", "one")
	if r.status != http.StatusServiceUnavailable || r.code() != "checkpoint_unavailable" {
		t.Errorf("%d %s", r.status, r.body)
	}
	if _, err := raw.ExecContext(t.Context(), `DROP TRIGGER stuck`); err != nil {
		t.Fatal(err)
	}
	h.soon("the store is well again", func() bool { return h.ask("", "GET", "/health/ready", "").status == http.StatusOK })
	if doc := h.want(http.StatusOK, "", rootToken, "GET", "/v1/keys", "").doc(); doc["total"] != 1.0 {
		t.Errorf("%v", doc)
	}
	h.want(http.StatusCreated, "", rootToken, "POST", "/v1/keys", `{"name":"now"}`, "Idempotency-Key", "one")
	db, err := store.OpenReadOnly(t.Context(), "sqlite:"+h.path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}
