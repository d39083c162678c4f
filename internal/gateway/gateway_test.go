package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
	"github.com/gatehouse-gateway/gatehouse/internal/gateway"
	"github.com/gatehouse-gateway/gatehouse/internal/identity"
)

// detectors compile once for all tests.
var detectors = sync.OnceValues(detect.Default)

func settings(t *testing.T) *config.Config {
	t.Helper()
	cfg := config.Default()
	cfg.Store = "sqlite:" + filepath.Join(t.TempDir(), "g.db")
	return cfg
}

func open(t *testing.T, cfg *config.Config) (*gateway.Gateway, error) {
	t.Helper()
	set, err := detectors()
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.Open(t.Context(), cfg, gateway.Parts{Scanner: set})
	if err == nil {
		t.Cleanup(func() {
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return g, err
}

func ask(g http.Handler, token, method, path, body string) *httptest.ResponseRecorder {
	w, r := httptest.NewRecorder(), httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "localhost"
	r.Header.Set("X-Mnemom-Api-Key", token)
	g.ServeHTTP(w, r)
	return w
}

// Where anybody could call, the gateway does not listen before there is a key that callers must show.
func TestOpenListening(t *testing.T) {
	cfg := settings(t)
	for _, listen := range []string{"0.0.0.0:8787", ":8787", "[::]:8787", "192.0.2.1:8787", "example.com:8787", "nonsense", "127.0.0.1.example.com:1"} {
		cfg.Listen = listen
		if _, err := open(t, cfg); err == nil || !strings.Contains(err.Error(), "gatehouse keys create") {
			t.Errorf("%s: %v", listen, err)
		}
	}
	for _, listen := range []string{"127.0.0.1:8787", "[::1]:8787", "localhost:8787", "127.3.4.5:1"} {
		cfg.Listen = listen
		if _, err := open(t, cfg); err != nil {
			t.Errorf("%s: %v", listen, err)
		}
	}
	cfg.Listen, cfg.Auth.AdminToken = "127.0.0.1:8787", "mnm_administrator-of-this-test"
	g, err := open(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if w := ask(g, cfg.Auth.AdminToken, "POST", "/v1/keys", `{}`); w.Code != http.StatusCreated {
		t.Fatal(w.Code, w.Body)
	}
	cfg.Listen = "0.0.0.0:8787"
	if _, err := open(t, cfg); err != nil {
		t.Error(err)
	}
}

// However many start at once, there is one administrator's token.
func TestFirstToken(t *testing.T) {
	cfg := settings(t)
	var mu sync.Mutex
	var tokens []string
	var gateways []*gateway.Gateway
	for range 3 {
		g, err := open(t, cfg)
		if err != nil {
			t.Fatal(err)
		}
		gateways = append(gateways, g)
	}
	var all sync.WaitGroup
	for _, g := range gateways {
		all.Go(func() {
			token, err := g.FirstToken(t.Context(), cfg)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if token != "" {
				tokens = append(tokens, token)
			}
		})
	}
	all.Wait()
	if len(tokens) != 1 || !identity.LooksLike(tokens[0]) {
		t.Fatalf("%d tokens", len(tokens))
	}
	for _, g := range gateways {
		if w := ask(g, tokens[0], "GET", "/v1/keys", ""); w.Code != http.StatusOK {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
}

// A configuration is taken over whole or not at all.
func TestUseAllOrNothing(t *testing.T) {
	cfg := settings(t)
	cfg.Auth.AdminToken = "mnm_administrator-of-this-test"
	g, err := open(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	bad := *cfg
	bad.Auth.AdminToken = "mnm_another-administrators-token"
	bad.Upstreams = map[string]config.Upstream{"openai": {Format: "openai", URL: "http://\x7f"}}
	if err := g.Use(&bad); err == nil || strings.Contains(err.Error(), "\x7f") {
		t.Fatal(err)
	}
	if w := ask(g, cfg.Auth.AdminToken, "GET", "/v1/keys", ""); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := ask(g, bad.Auth.AdminToken, "GET", "/v1/keys", ""); w.Code != http.StatusUnauthorized {
		t.Errorf("%d", w.Code)
	}
}

// With agents.auto_create off, a credential that was not seen is refused on every surface, and none lets it in at another.
func TestKnownAgentsOnly(t *testing.T) {
	cfg := settings(t)
	cfg.Agents.AutoCreate = false
	cfg.Auth.AdminToken = "mnm_administrator-of-this-test"
	g, err := open(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	stranger := func(method, path, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer sk-stranger")
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		return w
	}
	for _, q := range []struct{ path, body string }{
		{"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"hello"}]}`},
		{"/v1/checkpoints/input", `{"text":"hello"}`},
		{"/v1/checkpoints/tool-call", `{"tool":"search","arguments":{}}`},
		{"/v1/checkpoints/tool-result", `{"tool":"search","result":"x"}`},
		{"/v1/checkpoints/output", `{"text":"hello"}`},
		{"/v1/audit", `{"type":"note"}`},
		{"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"hello again"}]}`},
	} {
		w := stranger("POST", q.path, q.body)
		if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "agent_unknown") {
			t.Errorf("%s: %d %s", q.path, w.Code, w.Body)
		}
	}
	if w := stranger("GET", "/v1/approvals", ""); w.Code != http.StatusForbidden {
		t.Errorf("approvals: %d %s", w.Code, w.Body)
	}
	if w := ask(g, cfg.Auth.AdminToken, "GET", "/v1/agents", ""); !strings.Contains(w.Body.String(), `"total":0`) {
		t.Errorf("agents were made: %s", w.Body)
	}
}
