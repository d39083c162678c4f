package api_test

import (
	"net/http"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/config"
)

func TestVersions(t *testing.T) {
	const first, latest = "2026-04-13", "2026-11-01"
	h := build(t)
	agent := h.agent(rootToken, "an-agent")
	h.want(http.StatusOK, "", rootToken, "POST", "/v1/agents/"+agent+"/pause", "")
	for _, c := range []struct{ name, asked, applied string }{
		{"absent", "", latest},
		{"the first", first, first},
		{"the latest", latest, latest},
		{"between", "2026-07-01", first},
		{"the day before the latest", "2026-10-31", first},
		{"the day after", "2026-11-02", latest},
		{"older than the first", "2020-01-01", first},
		{"year zero", "0000-00-00", first},
		{"the future", "9999-12-31", latest},
		{"no date", "latest", latest},
		{"a time", "2026-04-13T00:00:00Z", latest},
		{"other digits", "２０２６-04-13", latest},
		{"long", "2026-04-130", latest},
	} {
		t.Run(c.name, func(t *testing.T) {
			var headers []string
			if c.asked != "" {
				headers = []string{"X-Mnemom-Version", c.asked}
			}
			one := h.want(http.StatusOK, "", rootToken, "GET", "/v1/agents/"+agent, "", headers...)
			list, _ := h.want(http.StatusOK, "", rootToken, "GET", "/v1/agents", "", headers...).doc()["agents"].([]any)
			for _, doc := range []map[string]any{one.doc(), list[0].(map[string]any)} {
				word, hasWord := doc["status"]
				since, hasSince := doc["containment"].(map[string]any)
				if old := c.applied == first; old != hasWord || old == hasSince || old && word != "paused" || !old && since["state"] != "paused" {
					t.Errorf("%v", doc)
				}
			}
			if got := one.header.Get("X-Mnemom-Version"); got != c.applied {
				t.Errorf("%s, want %s", got, c.applied)
			}
			// Refusals say it too.
			if r := h.ask("", "GET", "/v1/agents", "", headers...); r.status != http.StatusUnauthorized || r.header.Get("X-Mnemom-Version") != c.applied {
				t.Errorf("%d, version %s", r.status, r.header.Get("X-Mnemom-Version"))
			}
		})
	}
	// A mutation is answered in the version of its request, also when it is answered again.
	for range 2 {
		r := h.want(http.StatusOK, "", rootToken, "PUT", "/v1/agents/"+agent, `{"name":"other"}`, "X-Mnemom-Version", first, "Idempotency-Key", "one")
		if doc := r.doc(); doc["status"] != "paused" || doc["containment"] != nil {
			t.Errorf("%v", doc)
		}
	}
}

// Every answer has the header surface (build's client looks), and those of the API say version and schema.
func TestEveryStatusHasTheHeaders(t *testing.T) {
	const page = "https://console.example"
	h := build(t, func(c *config.Config) { c.CORS.Origins = []string{page} })
	_, read := h.key("acme", nil, "api:read")
	agent := h.agent(rootToken, "an-agent")
	big := make([]byte, 1<<20+1)
	for _, c := range []struct {
		status                    int
		token, method, path, body string
		headers                   []string
	}{
		{200, rootToken, "GET", "/v1/agents", "", nil},
		{200, rootToken, "HEAD", "/v1/agents", "", nil},
		{200, rootToken, "HEAD", "/v1/audit/export", "", nil},
		{201, rootToken, "POST", "/v1/keys", `{}`, nil},
		{204, rootToken, "DELETE", "/v1/agents/" + agent, "", nil},
		{400, rootToken, "GET", "/v1/agents?limit=x", "", nil},
		{400, rootToken, "GET", "/v1/agents", "", []string{"X-Mnemom-Api-Key", "mnm_another"}},
		{401, "", "GET", "/v1/agents", "", nil},
		{401, "mnm_x", "HEAD", "/v1/agents", "", nil},
		{403, read, "GET", "/v1/keys", "", nil},
		{404, read, "GET", "/v1/agents/" + agent, "", nil},
		{404, read, "GET", "/v1/nothing", "", nil},
		{404, read, "GET", "/v1/keys/", "", nil},
		{405, read, "PUT", "/v1/keys", "", nil},
		{405, read, "HEAD", "/v1/agents/" + agent + "/pause", "", nil},
		{405, read, "OPTIONS", "/v1/keys", "", nil},
		{409, rootToken, "POST", "/v1/keys/" + revoked(h) + "/rotate", "", nil},
		{413, rootToken, "POST", "/v1/keys", string(big), nil},
		{415, rootToken, "POST", "/v1/keys", `{}`, []string{"Content-Encoding", "x"}},
		{422, rootToken, "POST", "/v1/keys", `{"name":"b"}`, []string{"Idempotency-Key", reused(h)}},
	} {
		r := h.ask(c.token, c.method, c.path, c.body, append([]string{"Origin", page}, c.headers...)...)
		if r.status != c.status {
			t.Errorf("%s %s: %d %s, want %d", c.method, c.path, r.status, r.body, c.status)
		}
		if c.method == "HEAD" && r.body != "" || c.status == 204 && r.header.Get("Content-Type") != "" {
			t.Errorf("%s %s: body %q, %v", c.method, c.path, r.body, r.header)
		}
		if c.status >= 400 && c.method != "HEAD" && (r.code() == "" || r.header.Get("Content-Type") != "application/json") {
			t.Errorf("%s %s: %s", c.method, c.path, r.body)
		}
		if c.status == 401 && r.header.Get("WWW-Authenticate") == "" || c.status == 405 && r.header.Get("Allow") == "" {
			t.Errorf("%s %s: %v", c.method, c.path, r.header)
		}
		if c.path != "/v1/nothing" && c.path != "/v1/keys/" && r.header.Get("X-Mnemom-Version") == "" || c.status < 300 && c.status != 204 && r.header.Get("X-Mnemom-Schema") == "" {
			t.Errorf("%s %s: %v", c.method, c.path, r.header)
		}
		if r.header.Get("Access-Control-Allow-Origin") != page || r.header.Get("Access-Control-Expose-Headers") == "" {
			t.Errorf("%s %s: a page may not read it: %v", c.method, c.path, r.header)
		}
	}
	pre := h.want(http.StatusNoContent, "", "", "OPTIONS", "/v1/keys", "", "Origin", page, "Access-Control-Request-Method", "PATCH")
	if pre.header.Get("Access-Control-Allow-Methods") == "" {
		t.Errorf("%v", pre.header)
	}
	if r := h.ask(rootToken, "GET", "/v1/keys", "", "Origin", "https://evil.example"); r.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%v", r.header)
	}
}

func revoked(h *house) string {
	id, _ := h.key("acme", nil, "api:read")
	h.want(http.StatusOK, "", rootToken, "DELETE", "/v1/keys/"+id, "")
	return id
}

func reused(h *house) string {
	h.want(http.StatusCreated, "", rootToken, "POST", "/v1/keys", `{"name":"a"}`, "Idempotency-Key", "reused")
	return "reused"
}
