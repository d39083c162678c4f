package api_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/fake"
	"github.com/gatehouse-gateway/gatehouse/internal/gateway"
)

// The ways in, as who shows a key sees them.
func (h *house) refused(what, token, code string) {
	h.t.Helper()
	h.want(http.StatusUnauthorized, code, token, "GET", "/v1/keys/whoami", "")
	if r := h.door(token, "hello"); r.status != http.StatusUnauthorized || r.doorError() != code {
		h.t.Errorf("%s at the door: %d %s", what, r.status, r.body)
	}
	r := h.ask(token, "POST", "/anthropic/v1/messages", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"hi"}]}`, "X-Api-Key", "sk-ant")
	if r.status != http.StatusUnauthorized {
		h.t.Errorf("%s at the other door: %d %s", what, r.status, r.body)
	}
}

func TestKeysThatAreNoneAnyMore(t *testing.T) {
	h := build(t)
	h.refused("an unknown key", "mnm_unknown", "invalid_credentials")
	h.refused("a provider's key", "sk-provider", "invalid_credentials")

	id, token := h.key("acme", nil, "gateway", "api:read")
	h.told(token, "hello")
	h.want(http.StatusOK, "", rootToken, "DELETE", "/v1/keys/"+id, "")
	h.refused("a revoked key", token, "invalid_credentials")
	h.want(http.StatusConflict, "key_not_active", rootToken, "POST", "/v1/keys/"+id+"/rotate", "")
	h.want(http.StatusOK, "", rootToken, "DELETE", "/v1/keys/"+id, "") // again: no harm

	id, token = h.key("acme", nil, "gateway", "api:read")
	fresh := h.want(http.StatusOK, "", rootToken, "POST", "/v1/keys/"+id+"/rotate", "").text("key")
	h.refused("a rotated key", token, "invalid_credentials")
	h.told(fresh, "hello")
	h.want(http.StatusOK, "", fresh, "GET", "/v1/keys/whoami", "")

	soon := time.Now().Add(300 * time.Millisecond)
	token = h.want(http.StatusCreated, "", rootToken, "POST", "/v1/keys", `{"expires_at":"`+soon.Format(time.RFC3339Nano)+`"}`).text("key")
	h.want(http.StatusOK, "", token, "GET", "/v1/keys/whoami", "")
	time.Sleep(time.Until(soon) + 10*time.Millisecond)
	h.refused("an expired key", token, "invalid_credentials")

	h.restart()
	h.refused("after a restart", token, "invalid_credentials")
	h.told(fresh, "hello")
}

func TestExpiryThatCannotBeKept(t *testing.T) {
	h := build(t)
	for _, at := range []string{"0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "2001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2300-01-01T00:00:00Z"} {
		h.want(http.StatusBadRequest, "invalid_request", rootToken, "POST", "/v1/keys", `{"expires_at":"`+at+`"}`)
	}
	token := h.want(http.StatusCreated, "", rootToken, "POST", "/v1/keys", `{"expires_at":"2261-12-31T23:59:59Z"}`).text("key")
	h.want(http.StatusOK, "", token, "GET", "/v1/keys/whoami", "")
}

// Each operation needs its scope, and no other one does.
func TestScopes(t *testing.T) {
	h := build(t)
	all := []string{"gateway", "api:read", "api:write", "approve", "admin"}
	agent := h.agent(rootToken, "an-agent")
	for _, c := range []struct{ scope, method, path, body string }{
		{"admin", "GET", "/v1/keys", ""},
		{"admin", "POST", "/v1/keys", `{}`},
		{"admin", "GET", "/v1/keys/mk-0", ""},
		{"admin", "DELETE", "/v1/keys/mk-0", ""},
		{"admin", "POST", "/v1/keys/mk-0/rotate", ""},
		{"admin", "POST", "/v1/agents/" + agent + "/pause", ""},
		{"admin", "POST", "/v1/agents/" + agent + "/resume", ""},
		{"admin", "POST", "/v1/agents/" + agent + "/kill", ""},
		{"admin", "POST", "/v1/agents/" + agent + "/reactivate", ""},
		{"api:read", "GET", "/v1/agents", ""},
		{"api:read", "HEAD", "/v1/agents", ""},
		{"api:read", "GET", "/v1/agents/" + agent, ""},
		{"api:read", "GET", "/v1/agents/" + agent + "/containment", ""},
		{"api:read", "GET", "/v1/agents/" + agent + "/advisories", ""},
		{"api:read", "POST", "/v1/agents/" + agent + "/verify-binding", `{}`},
		{"api:read", "GET", "/v1/audit", ""},
		{"api:read", "GET", "/v1/audit/export", ""},
		{"api:read", "GET", "/v1/requests/x", ""},
		{"api:write", "POST", "/v1/agents", `{}`},
		{"api:write", "PUT", "/v1/agents/" + agent, `{}`},
		{"api:write", "DELETE", "/v1/agents/mnm-0", ""},
		{"api:write", "POST", "/v1/agents/mnm-0/claim", `{}`},
		{"api:write", "POST", "/v1/agents/mnm-0/rekey", `{}`},
		{"gateway", "POST", "/v1/audit", `{}`},
	} {
		for _, scope := range all {
			_, token := h.key("default", nil, scope)
			r := h.ask(token, c.method, c.path, c.body)
			if refused := r.status == http.StatusForbidden && (c.method == "HEAD" || r.code() == "insufficient_scope"); refused == (scope == c.scope) {
				// A key may lack what the one it makes would have by default.
				if c.path == "/v1/keys" && c.method == "POST" && strings.Contains(r.body, "cannot give") {
					continue
				}
				t.Errorf("%s %s with %s: %d %s", c.method, c.path, scope, r.status, r.body)
			}
		}
	}
	for _, scope := range all {
		_, token := h.key("default", nil, scope)
		h.want(http.StatusOK, "", token, "GET", "/v1/keys/whoami", "")
		want := http.StatusForbidden
		if scope == "gateway" {
			want = http.StatusOK
		}
		if r := h.door(token, "hello"); r.status != want || want != 200 && r.doorError() != "insufficient_scope" {
			t.Errorf("door with %s: %d %s", scope, r.status, r.body)
		}
	}
}

// No key makes one that can do more than itself.
func TestKeysMakeNoStrongerOnes(t *testing.T) {
	h := build(t)
	_, admin := h.key("acme", nil, "admin", "api:read")
	strong, _ := h.key("acme", nil, "gateway", "api:read", "api:write", "approve", "admin")
	for _, body := range []string{`{}`, `{"scopes":["gateway"]}`, `{"scopes":["api:read","api:write"]}`, `{"scopes":["approve"]}`,
		`{"scopes":["api:read"],"account":"globex"}`, `{"scopes":["api:read"],"account":"default"}`} {
		h.want(http.StatusForbidden, "insufficient_scope", admin, "POST", "/v1/keys", body)
	}
	for _, body := range []string{`{"scopes":["root"]}`, `{"scopes":["admin","admin"]}`, `{"scopes":["ADMIN"]}`, `{"scopes":"admin"}`, `{"scopes":[null]}`,
		`{"account":"A"}`, `{"account":"a b"}`, `{"id":"admin"}`, `{"scopes":["admin"],"Scopes":["api:write"]}`, `{"agents":[""],"scopes":["admin"]}`} {
		if r := h.ask(admin, "POST", "/v1/keys", body); r.status != http.StatusBadRequest && r.status != http.StatusNotFound {
			t.Errorf("%s: %d %s", body, r.status, r.body)
		}
	}
	// To rotate a key is to have it.
	h.want(http.StatusForbidden, "insufficient_scope", admin, "POST", "/v1/keys/"+strong+"/rotate", "")
	h.want(http.StatusNotFound, "key_not_found", admin, "POST", "/v1/keys/admin/rotate", "")
	h.want(http.StatusNotFound, "key_not_found", rootToken, "DELETE", "/v1/keys/admin", "")
	// A key that ends makes none that goes on.
	end := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	brief := h.want(http.StatusCreated, "", rootToken, "POST", "/v1/keys", `{"account":"acme","scopes":["admin"],"expires_at":"`+end+`"}`).text("key")
	h.want(http.StatusForbidden, "insufficient_scope", brief, "POST", "/v1/keys", `{"scopes":["admin"]}`)
	h.want(http.StatusForbidden, "insufficient_scope", brief, "POST", "/v1/keys", `{"scopes":["admin"],"expires_at":"2200-01-01T00:00:00Z"}`)
	h.want(http.StatusCreated, "", brief, "POST", "/v1/keys", `{"scopes":["admin"],"expires_at":"`+end+`"}`)
	if who := h.want(http.StatusOK, "", admin, "GET", "/v1/keys/whoami", "").doc(); who["account"] != "acme" || len(who["scopes"].([]any)) != 2 {
		t.Errorf("%v", who)
	}
}

// While no key was ever made the doors are open; from the first one on they ask for one, also when it is gone again.
func TestKeylessLoopback(t *testing.T) {
	h := build(t)
	ask := func(method, path, body string, headers ...string) reply {
		return h.ask("", method, path, body, headers...)
	}
	if r := ask("POST", "/v1/chat/completions", chat("hello"), "Authorization", "Bearer sk-mine"); r.status != http.StatusOK {
		t.Fatalf("%d %s", r.status, r.body)
	}
	for _, path := range []string{"/v1/agents", "/v1/keys", "/v1/audit", "/v1/webhooks", "/v1/keys/whoami"} {
		if r := ask("GET", path, "", "Authorization", "Bearer sk-mine"); r.status != http.StatusUnauthorized {
			t.Errorf("GET %s: %d", path, r.status)
		}
	}
	told := ask("POST", "/v1/audit", `{"type":"note"}`, "Authorization", "Bearer sk-mine", "Idempotency-Key", "one")
	if told.status != http.StatusCreated || told.text("agent_id") == "" {
		t.Errorf("an agent's own event: %d %s", told.status, told.body)
	}
	if r := ask("POST", "/v1/audit", `{"type":"note"}`, "Authorization", "Bearer sk-mine", "Idempotency-Key", "one"); r.body != told.body {
		t.Errorf("told twice: %s", r.body)
	}
	// Another caller's key of that name is another one, and it names no other agent.
	if r := ask("POST", "/v1/audit", `{"type":"note"}`, "X-Api-Key", "sk-other", "Idempotency-Key", "one"); r.status != http.StatusCreated || r.text("agent_id") == told.text("agent_id") {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := ask("POST", "/v1/audit", `{"type":"note","agent":"`+told.text("agent_id")+`"}`, "Authorization", "Bearer sk-other"); r.status != http.StatusForbidden {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := ask("POST", "/v1/audit", `{"type":"note"}`); r.status != http.StatusUnauthorized {
		t.Errorf("without any credential: %d", r.status)
	}

	id, token := h.key("default", nil, "gateway")
	closed := func() {
		t.Helper()
		for _, path := range []string{"/v1/chat/completions", "/v1/audit", "/openai/v1/chat/completions"} {
			if r := ask("POST", path, chat("hello"), "Authorization", "Bearer sk-mine"); r.status != http.StatusUnauthorized {
				t.Errorf("POST %s: %d %s", path, r.status, r.body)
			}
		}
	}
	closed()
	h.told(token, "hello")
	h.want(http.StatusOK, "", rootToken, "DELETE", "/v1/keys/"+id, "")
	closed()
	h.restart()
	closed()
}

func TestModeKeys(t *testing.T) {
	h := build(t, func(c *config.Config) { c.Auth.Mode = "keys" })
	for _, path := range []string{"/v1/chat/completions", "/v1/audit"} {
		if r := h.ask("", "POST", path, chat("hello"), "Authorization", "Bearer sk-mine"); r.status != http.StatusUnauthorized {
			t.Errorf("POST %s: %d", path, r.status)
		}
	}
}

// A token that takes the administrator's place makes the old one unknown.
func TestAdministratorsToken(t *testing.T) {
	h := build(t)
	h.want(http.StatusOK, "", rootToken, "GET", "/v1/keys", "")
	h.cfg.Auth.AdminToken = "mnm_another-administrators-token"
	if err := h.gateway.Use(h.cfg); err != nil {
		t.Fatal(err)
	}
	h.want(http.StatusUnauthorized, "invalid_credentials", rootToken, "GET", "/v1/keys", "")
	h.want(http.StatusOK, "", h.cfg.Auth.AdminToken, "GET", "/v1/keys", "")

	h.cfg.Auth.AdminToken = ""
	h.restart()
	first, err := h.gateway.FirstToken(t.Context(), h.cfg)
	if err != nil {
		t.Fatal(err)
	}
	h.want(http.StatusOK, "", first, "GET", "/v1/keys", "")
	if again, err := h.gateway.FirstToken(t.Context(), h.cfg); err != nil || again != "" {
		t.Errorf("a second first token: %v", err)
	}
	if doc := h.want(http.StatusOK, "", first, "GET", "/v1/keys", "").doc(); doc["total"] != 0.0 {
		t.Errorf("the administrator's own is listed: %v", doc)
	}
}

// No key of the gateway's own reaches a provider, wherever a client puts it.
func TestOwnKeysStayHere(t *testing.T) {
	h := build(t, func(c *config.Config) {
		u := c.Upstreams["openai"]
		u.Key = "sk-of-the-gateway"
		c.Upstreams["openai"] = u
	})
	_, token := h.key("acme", nil, "gateway")
	claude := `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}`
	for _, c := range []struct {
		name, path, body string
		headers          []string
		status           int
		provider         string // what the provider sees
	}{
		{"bearer", "/openai/v1/chat/completions", chat("hi"), []string{"Authorization", "Bearer " + token}, 200, "sk-of-the-gateway"},
		{"lower-case scheme", "/openai/v1/chat/completions", chat("hi"), []string{"Authorization", "bearer   " + token}, 200, "sk-of-the-gateway"},
		{"a tab", "/openai/v1/chat/completions", chat("hi"), []string{"Authorization", "Bearer\t" + token}, 200, "sk-of-the-gateway"},
		{"no scheme", "/openai/v1/chat/completions", chat("hi"), []string{"Authorization", token}, 200, "sk-of-the-gateway"},
		{"another provider's slot", "/openai/v1/chat/completions", chat("hi"), []string{"X-Api-Key", token, "Authorization", "Bearer sk-mine"}, 200, "sk-of-the-gateway"},
		{"Google's slot", "/openai/v1/chat/completions", chat("hi"), []string{"X-Goog-Api-Key", token, "Authorization", "Bearer sk-mine"}, 200, "sk-of-the-gateway"},
		{"the query", "/openai/v1/chat/completions?a=1&key=" + token + "&b=%20", chat("hi"), []string{"Authorization", "Bearer sk-mine"}, 200, "sk-of-the-gateway"},
		{"twice in one header", "/openai/v1/chat/completions", chat("hi"), []string{"Authorization", "Bearer sk-mine", "Authorization", "Bearer " + token}, 200, "sk-of-the-gateway"},
		{"two of them", "/openai/v1/chat/completions", chat("hi"), []string{"Authorization", "Bearer mnm_other", "X-Api-Key", token}, 400, ""},
		{"beside the provider's", "/anthropic/v1/messages", claude, []string{"X-Mnemom-Api-Key", token, "X-Api-Key", "sk-ant-mine"}, 200, "sk-ant-mine"},
		{"bearer beside the provider's", "/anthropic/v1/messages", claude, []string{"Authorization", "Bearer " + token, "X-Api-Key", "sk-ant-mine"}, 200, "sk-ant-mine"},
		{"a key and nothing for the provider", "/anthropic/v1/messages", claude, []string{"X-Api-Key", token}, 401, ""},
		{"what is not inspected", "/openai/v1/models?key=" + token, "", []string{"Authorization", "Bearer " + token}, 200, "sk-of-the-gateway"},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen, seenToo := len(h.openai.Requests()), len(h.anthropic.Requests())
			method := "POST"
			if c.body == "" {
				method = "GET"
			}
			r := h.ask("", method, c.path, c.body, c.headers...)
			if r.status != c.status {
				t.Errorf("%d %s", r.status, r.body)
			}
			got := append(h.openai.Requests()[seen:], h.anthropic.Requests()[seenToo:]...)
			if reached := len(got) == 1; reached != (c.provider != "") {
				t.Fatalf("%d requests have reached the provider", len(got))
			}
			for _, r := range got {
				if all := encode(r); strings.Contains(all, "mnm_") || !strings.Contains(all, c.provider) || c.provider == "sk-of-the-gateway" && strings.Contains(all, "sk-mine") {
					t.Errorf("the provider was sent %s", all)
				}
				if strings.Contains(c.path, "a=1") && !strings.HasSuffix(r.URL, "?a=1&b=%20") {
					t.Errorf("the query was %s", r.URL)
				}
			}
		})
	}
}

// received are the requests that reached the models.
func (h *house) received() []fake.Recorded {
	return append(h.openai.Requests(), h.anthropic.Requests()...)
}

// A key that lists agents acts as these, by name or by id, and as no other.
func TestKeyActsAsItsAgents(t *testing.T) {
	h := build(t)
	one, two, three := h.agent(rootToken, "agent-one"), h.agent(rootToken, "agent-two"), h.agent(rootToken, "agent-three")
	_, single := h.key("default", []string{one}, "gateway")
	_, both := h.key("default", []string{one, two}, "gateway")
	for _, c := range []struct {
		name, token, as string
		status          int
		agent, code     string
	}{
		{"one, not named", single, "", 200, one, ""},
		{"one, by name", single, "agent-one", 200, one, ""},
		{"one, by id", single, one, 200, one, ""},
		{"one, another's name", single, "agent-two", 403, "", "agent_unknown"},
		{"one, another's id", single, three, 403, "", "agent_unknown"},
		{"several, not named", both, "", 400, "", "agent_required"},
		{"several, by name", both, "agent-two", 200, two, ""},
		{"several, by id", both, two, 200, two, ""},
		{"several, a foreign name", both, "agent-three", 403, "", "agent_unknown"},
		{"several, not a name", both, "../x", 400, "", "invalid_agent_name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var headers []string
			if c.as != "" {
				headers = []string{"X-Mnemom-Agent", c.as}
			}
			r := h.door(c.token, "hello", headers...)
			if r.status != c.status || r.doorError() != c.code || r.header.Get("X-Mnemom-Agent") != c.agent {
				t.Errorf("%d %q as %q, want %d %q as %q", r.status, r.doorError(), r.header.Get("X-Mnemom-Agent"), c.status, c.code, c.agent)
			}
		})
	}
	// Without a list the key itself is the credential, and each name an agent of its own.
	_, free := h.key("default", nil, "gateway")
	plain, named := h.door(free, "hello"), h.door(free, "hello", "X-Mnemom-Agent", "my-name")
	if a, b := plain.header.Get("X-Mnemom-Agent"), named.header.Get("X-Mnemom-Agent"); a == "" || a == b {
		t.Errorf("%q and %q", a, b)
	}
	h.soon("both are stored", func() bool { return h.ask(rootToken, "GET", "/v1/agents", "").doc()["total"] == 5.0 })
	if again := h.door(free, "hello"); again.status != http.StatusOK || again.header.Get("X-Mnemom-Agent") != plain.header.Get("X-Mnemom-Agent") {
		t.Errorf("the second time: %d %s", again.status, again.body)
	}
	if r := h.door(free, "hello", "X-Mnemom-Agent", "no/name"); r.status != http.StatusBadRequest {
		t.Errorf("%d", r.status)
	}
}

// Sessions of one name under two agents are two: what one has had decided is new to the other.
func TestSessionsOfTwoAgents(t *testing.T) {
	h := build(t)
	one, two := h.agent(rootToken, "agent-one"), h.agent(rootToken, "agent-two")
	_, first := h.key("default", []string{one}, "gateway")
	_, second := h.key("default", []string{two}, "gateway")
	body := encode(map[string]any{"model": "m", "messages": []any{
		map[string]any{"role": "user", "content": "What is on the page?"},
		map[string]any{"role": "assistant", "content": "Let me see."},
		map[string]any{"role": "user", "content": attack},
	}})
	verdicts := func(token string) string {
		r := h.ask(token, "POST", "/openai/v1/chat/completions", strings.Replace(body, attack, "and then?", 1), "Authorization", "Bearer sk", "X-Mnemom-Session", "same")
		var doc map[string]any
		h.soon("the record", func() bool {
			doc = h.ask(rootToken, "GET", "/v1/requests/"+r.request(), "").doc()
			return doc["session_id"] == "same"
		})
		return h.ask(rootToken, "GET", "/v1/audit?surface=proxy&limit=1", "").body
	}
	if log := verdicts(first); strings.Contains(log, `"replayed":true`) {
		t.Error("the first time is no replay")
	}
	if log := verdicts(first); !strings.Contains(log, `"replayed":true`) {
		t.Error("the second time is one", log)
	}
	if log := verdicts(second); strings.Contains(log, `"replayed":true`) {
		t.Error("another agent has read in this session")
	}
}

// An operator may spell the administrator's token as they like; it is known as a bearer too, and goes to no provider.
func TestAnAdminTokenOfAnySpelling(t *testing.T) {
	const token = "correct-horse-battery-staple"
	cfg := config.Default()
	cfg.Store, cfg.Auth.AdminToken = "sqlite:"+filepath.Join(t.TempDir(), "gatehouse.db"), token
	var seen atomic.Int32
	model := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { seen.Add(1) }))
	defer model.Close()
	cfg.Upstreams["openai"] = config.Upstream{Format: "openai", URL: model.URL}
	g, err := gateway.Open(t.Context(), cfg, gateway.Parts{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for path, want := range map[string]int{"/v1/keys": http.StatusOK, "/openai/v1/models": http.StatusUnauthorized} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+path, http.NoBody)
		r.Header.Set("Authorization", "Bearer "+token)
		if g.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%s: %d %s, want %d", path, w.Code, w.Body, want)
		}
	}
	if seen.Load() != 0 {
		t.Error("the token has reached a provider")
	}
}
