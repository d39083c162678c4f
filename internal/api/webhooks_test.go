package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/gateway"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
	"github.com/gatehouse-gateway/gatehouse/internal/webhook"
)

const adminToken = "mnm_administrator-of-the-webhook-tests"

// hooked is a gateway and a receiver that its webhooks may reach.
type hooked struct {
	t        *testing.T
	path     string
	server   *httptest.Server
	receiver *httptest.Server

	mu     sync.Mutex
	status int
	got    []string // types of the events that have come
}

func newHooked(t *testing.T) *hooked {
	h := &hooked{t: t, path: filepath.Join(t.TempDir(), "gatehouse.db"), status: http.StatusOK}
	cfg := config.Default()
	cfg.Store, cfg.Auth.AdminToken = "sqlite:"+h.path, adminToken
	g, err := gateway.Open(t.Context(), cfg, gateway.Parts{Targets: webhook.Targets{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}})
	if err != nil {
		t.Fatal(err)
	}
	h.server = httptest.NewServer(g)
	h.receiver = httptest.NewServer(http.HandlerFunc(h.receive))
	t.Cleanup(func() {
		h.server.Close()
		h.receiver.Close()
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func (h *hooked) receive(w http.ResponseWriter, r *http.Request) {
	var event struct {
		Type string `json:"type"`
	}
	if err := json.NewDecoder(r.Body).Decode(&event); err != nil {
		h.t.Error(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.got = append(h.got, event.Type)
	w.WriteHeader(h.status)
}

func (h *hooked) answer(status int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.status = status
}

func (h *hooked) received(kind string) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, got := range h.got {
		if got == kind {
			n++
		}
	}
	return n
}

// ask makes a request. The answer's body is nil when it has none.
func (h *hooked) ask(token, method, path, body string, headers ...string) (*http.Response, map[string]any) {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), method, h.server.URL+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("X-Mnemom-Api-Key", token)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := h.server.Client().Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	var doc map[string]any
	if len(raw) > 0 && json.Unmarshal(raw, &doc) != nil {
		h.t.Fatalf("%s %s: %s", method, path, raw)
	}
	if resp.Header.Get("X-Mnemom-Request-Id") == "" || resp.Header.Get("X-Mnemom-Verdict") == "" {
		h.t.Errorf("%s %s: without the headers of every answer", method, path)
	}
	return resp, doc
}

// want makes a request that must be answered by a status.
func (h *hooked) want(status int, token, method, path, body string) map[string]any {
	h.t.Helper()
	resp, doc := h.ask(token, method, path, body)
	if resp.StatusCode != status {
		h.t.Fatalf("%s %s: %d %v, want %d", method, path, resp.StatusCode, doc, status)
	}
	return doc
}

// key makes an API key of an account.
func (h *hooked) key(account string, scopes ...string) string {
	h.t.Helper()
	raw, err := json.Marshal(map[string]any{"account": account, "scopes": scopes})
	if err != nil {
		h.t.Fatal(err)
	}
	return text(h.want(http.StatusCreated, adminToken, "POST", "/v1/keys", string(raw)), "key")
}

func text(doc map[string]any, name string) string {
	s, _ := doc[name].(string)
	return s
}

func (h *hooked) soon(what string, ok func() bool) {
	h.t.Helper()
	for range 500 {
		if ok() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	h.t.Fatal("never: " + what)
}

func (h *hooked) hook(token, types string) (id, secret string) {
	h.t.Helper()
	doc := h.want(http.StatusCreated, token, "POST", "/v1/webhooks", fmt.Sprintf(`{"url":%q,"event_types":%s}`, h.receiver.URL, types))
	return text(doc, "id"), text(doc, "signing_secret")
}

func TestWebhookLifecycle(t *testing.T) {
	h := newHooked(t)
	token := h.key("acme", "api:read", "api:write")
	id, secret := h.hook(token, `["key.*"]`)
	if !strings.HasPrefix(id, "whe-") || !strings.HasPrefix(secret, "whsec_") {
		t.Fatalf("id %q, secret of %d bytes", id, len(secret))
	}
	got := h.want(200, token, "GET", "/v1/webhooks/"+id, "")
	if got["signing_secret"] != nil || got["url"] != h.receiver.URL || got["disabled"] != false || got["account"] != "acme" {
		t.Errorf("%v", got)
	}
	changed := h.want(200, token, "PATCH", "/v1/webhooks/"+id, `{"description":"ours","event_types":["agent.*","webhook.test"]}`)
	if changed["description"] != "ours" || changed["url"] != h.receiver.URL || len(changed["event_types"].([]any)) != 2 {
		t.Errorf("%v", changed)
	}
	rotated := h.want(200, token, "POST", "/v1/webhooks/"+id+"/rotate", "")
	if s := text(rotated, "signing_secret"); !strings.HasPrefix(s, "whsec_") || s == secret {
		t.Error("rotation gives no new secret")
	}
	list := h.want(200, token, "GET", "/v1/webhooks?limit=1", "")
	if list["total"] != 1.0 || len(list["webhooks"].([]any)) != 1 {
		t.Errorf("%v", list)
	}

	test := h.want(202, token, "POST", "/v1/webhooks/"+id+"/test", "")
	h.soon("the test event", func() bool { return h.received("webhook.test") == 1 })
	var delivery map[string]any
	h.soon("its delivery", func() bool {
		doc := h.want(200, token, "GET", "/v1/webhooks/"+id+"/deliveries?state=delivered", "")
		if doc["total"] == 1.0 {
			delivery = doc["deliveries"].([]any)[0].(map[string]any)
		}
		return delivery != nil
	})
	if delivery["event_id"] != test["event_id"] || delivery["attempts"] != 1.0 || delivery["last_status"] != 200.0 || delivery["last_error"] != nil {
		t.Errorf("%v, want the event %v", delivery, test["event_id"])
	}

	h.answer(http.StatusBadRequest)
	again := h.want(202, token, "POST", "/v1/webhooks/"+id+"/deliveries/"+text(delivery, "id")+"/redeliver", "")
	h.soon("a dead letter", func() bool {
		doc := h.want(200, token, "GET", "/v1/webhooks/"+id+"/deliveries?state=dead", "")
		return doc["total"] == 1.0 && doc["deliveries"].([]any)[0].(map[string]any)["id"] == again["id"]
	})
	h.answer(http.StatusOK)
	if doc := h.want(202, token, "POST", "/v1/webhooks/events/"+text(test, "event_id")+"/replay", ""); len(doc["deliveries"].([]any)) != 1 {
		t.Errorf("%v", doc)
	}
	h.soon("the replayed event", func() bool { return h.received("webhook.test") == 3 })

	h.want(200, token, "PATCH", "/v1/webhooks/"+id, `{"disabled":true}`)
	if doc := h.want(409, token, "POST", "/v1/webhooks/"+id+"/test", ""); code(doc) != "webhook_disabled" {
		t.Errorf("%v", doc)
	}
	h.want(204, token, "DELETE", "/v1/webhooks/"+id, "")
	h.want(404, token, "GET", "/v1/webhooks/"+id, "")
	h.want(404, token, "DELETE", "/v1/webhooks/"+id, "")

	// No secret is anywhere on disk: neither of the webhook, nor in the log of what was done.
	for _, suffix := range []string{"", "-wal"} {
		raw, err := os.ReadFile(h.path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(raw, []byte("whsec_")) || bytes.Contains(raw, []byte(secret[6:])) {
			t.Errorf("a secret is in the database%s", suffix)
		}
	}
}

func code(doc map[string]any) string {
	e, _ := doc["error"].(map[string]any)
	return text(e, "code")
}

func TestWebhookRefusals(t *testing.T) {
	h := newHooked(t)
	token := h.key("acme", "api:read", "api:write")
	id, _ := h.hook(token, `[]`)
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		code                     string
	}{
		{"without a URL", "POST", "/v1/webhooks", `{}`, 400, "invalid_request"},
		{"a metadata service", "POST", "/v1/webhooks", `{"url":"http://169.254.169.254/"}`, 400, "invalid_request"},
		{"a private network", "PATCH", "/v1/webhooks/" + id, `{"url":"http://10.0.0.1/"}`, 400, "invalid_request"},
		{"another scheme", "POST", "/v1/webhooks", `{"url":"gopher://example.com/"}`, 400, "invalid_request"},
		{"credentials in the URL", "POST", "/v1/webhooks", `{"url":"https://a:hunter2@example.com/"}`, 400, "invalid_request"},
		{"a type that is none", "POST", "/v1/webhooks", `{"url":"https://example.com/","event_types":["Agent!"]}`, 400, "invalid_request"},
		{"a long description", "PATCH", "/v1/webhooks/" + id, `{"description":"` + strings.Repeat("ä", 257) + `"}`, 400, "invalid_request"},
		{"a description of several lines", "PATCH", "/v1/webhooks/" + id, `{"description":"a\u0000b"}`, 400, "invalid_request"},
		{"a field that is none", "POST", "/v1/webhooks", `{"url":"https://example.com/","secret":"mine"}`, 400, "invalid_request"},
		{"another account", "POST", "/v1/webhooks", `{"url":"https://example.com/","account":"globex"}`, 403, "insufficient_scope"},
		{"a state that is none", "GET", "/v1/webhooks/" + id + "/deliveries?state=lost", "", 400, "invalid_state_parameter"},
		{"an unknown delivery", "POST", "/v1/webhooks/" + id + "/deliveries/whd-0/redeliver", "", 404, "delivery_not_found"},
		{"an unknown event", "POST", "/v1/webhooks/events/evt-0/replay", "", 404, "event_not_found"},
		{"an unknown webhook", "POST", "/v1/webhooks/whe-0/test", "", 404, "webhook_not_found"},
		{"another method", "PUT", "/v1/webhooks/" + id, `{}`, 405, "method_not_allowed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp, doc := h.ask(token, c.method, c.path, c.body)
			if resp.StatusCode != c.status || code(doc) != c.code {
				t.Errorf("%d %v, want %d %s", resp.StatusCode, doc, c.status, c.code)
			}
			if strings.Contains(fmt.Sprint(doc), "hunter2") {
				t.Error("the answer quotes the password")
			}
		})
	}
	for range 19 {
		h.hook(token, `[]`)
	}
	if doc := h.want(409, token, "POST", "/v1/webhooks", fmt.Sprintf(`{"url":%q}`, h.receiver.URL)); code(doc) != "webhook_limit" {
		t.Errorf("%v", doc)
	}
}

// Scopes, and keys that see some agents only.
func TestWebhookScopes(t *testing.T) {
	h := newHooked(t)
	full, read, write := h.key("acme", "api:read", "api:write"), h.key("acme", "api:read"), h.key("acme", "api:write")
	id, _ := h.hook(full, `["*"]`)
	for _, path := range []string{"/v1/webhooks", "/v1/webhooks/" + id, "/v1/webhooks/" + id + "/deliveries"} {
		h.want(200, read, "GET", path, "")
		h.want(403, write, "GET", path, "")
	}
	for _, path := range []string{"", "/" + id + "/rotate", "/" + id + "/test", "/" + id + "/deliveries/whd-0/redeliver", "/events/evt-0/replay"} {
		h.want(403, read, "POST", "/v1/webhooks"+path, `{}`)
	}
	h.want(403, read, "PATCH", "/v1/webhooks/"+id, `{}`)
	h.want(403, read, "DELETE", "/v1/webhooks/"+id, "")
	h.want(401, "mnm_unknown", "GET", "/v1/webhooks", "")

	s, err := store.Open(t.Context(), "sqlite:"+h.path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	agent := session.Agent{ID: "mnm-1", Hash: "0123456789abcdef", Account: "acme", Created: time.Now(), LastSeen: time.Now()}
	if _, err := s.EnsureAgent(t.Context(), agent); err != nil {
		t.Fatal(err)
	}
	some := text(h.want(201, adminToken, "POST", "/v1/keys", `{"account":"acme","agents":["mnm-1"]}`), "key")
	h.want(403, some, "GET", "/v1/webhooks", "")
	h.want(403, some, "GET", "/v1/webhooks/"+id, "")
	h.want(403, some, "POST", "/v1/webhooks", fmt.Sprintf(`{"url":%q,"event_types":["*"]}`, h.receiver.URL))
}

// What another account has is, for a key, as if it were not there: status, shape and words.
func TestWebhooksOfAnotherAccount(t *testing.T) {
	h := newHooked(t)
	acme, globex := h.key("acme", "api:read", "api:write"), h.key("globex", "api:read", "api:write")
	id, _ := h.hook(acme, `["webhook.*"]`)
	event := text(h.want(202, acme, "POST", "/v1/webhooks/"+id+"/test", ""), "event_id")
	h.soon("the event", func() bool { return h.received("webhook.test") == 1 })
	delivery := text(h.want(200, acme, "GET", "/v1/webhooks/"+id+"/deliveries", "")["deliveries"].([]any)[0].(map[string]any), "id")
	own, _ := h.hook(globex, `["*"]`)

	for _, c := range []struct{ method, path, body, theirs, none string }{
		{"GET", "/v1/webhooks/%s", "", id, "whe-0"},
		{"PATCH", "/v1/webhooks/%s", `{"disabled":true}`, id, "whe-0"},
		{"DELETE", "/v1/webhooks/%s", "", id, "whe-0"},
		{"POST", "/v1/webhooks/%s/rotate", "", id, "whe-0"},
		{"POST", "/v1/webhooks/%s/test", "", id, "whe-0"},
		{"GET", "/v1/webhooks/%s/deliveries", "", id, "whe-0"},
		{"POST", "/v1/webhooks/%s/deliveries/" + delivery + "/redeliver", "", id, "whe-0"},
		{"POST", "/v1/webhooks/" + own + "/deliveries/%s/redeliver", "", delivery, "whd-0"},
		{"POST", "/v1/webhooks/events/%s/replay", "", event, "evt-0"},
	} {
		resp, doc := h.ask(globex, c.method, fmt.Sprintf(c.path, c.theirs), c.body)
		other, unknown := h.ask(globex, c.method, fmt.Sprintf(c.path, c.none), c.body)
		if resp.StatusCode != 404 || other.StatusCode != 404 || fmt.Sprint(doc) != fmt.Sprint(unknown) {
			t.Errorf("%s %s: %d %v, of what is not there %d %v", c.method, c.path, resp.StatusCode, doc, other.StatusCode, unknown)
		}
	}
	if doc := h.want(200, globex, "GET", "/v1/webhooks", ""); doc["total"] != 1.0 {
		t.Errorf("%v", doc)
	}
	if doc := h.want(200, adminToken, "GET", "/v1/webhooks", ""); doc["total"] != 2.0 {
		t.Errorf("the administrator: %v", doc)
	}
	if got := h.want(200, acme, "GET", "/v1/webhooks/"+id, ""); got["disabled"] != false {
		t.Errorf("%v", got)
	}
}

func TestWebhookIsMadeOnce(t *testing.T) {
	h := newHooked(t)
	token := h.key("acme", "api:read", "api:write")
	body := fmt.Sprintf(`{"url":%q}`, h.receiver.URL)
	_, first := h.ask(token, "POST", "/v1/webhooks", body, "Idempotency-Key", "one")
	resp, second := h.ask(token, "POST", "/v1/webhooks", body, "Idempotency-Key", "one")
	if first["id"] != second["id"] || first["signing_secret"] != second["signing_secret"] || resp.Header.Get("Idempotent-Replay") != "true" {
		t.Errorf("%v, then %v", first, second)
	}
	if doc := h.want(200, token, "GET", "/v1/webhooks", ""); doc["total"] != 1.0 {
		t.Errorf("%v", doc)
	}
}
