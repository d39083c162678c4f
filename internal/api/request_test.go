package api_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestRequestsAreRead(t *testing.T) {
	ask := asking(t)
	tests := []struct {
		desc, method, path, body string
		status                   int
		code                     string
	}{
		{"names match letter for letter", "POST", "/v1/keys", `{"Name":"a"}`, 400, "invalid_request"},
		{"one name in two spellings", "POST", "/v1/keys", `{"name":"a","NAME":"b"}`, 400, "invalid_request"},
		{"null counts as left out", "POST", "/v1/keys", `{"name":null,"scopes":null,"account":null}`, 201, ""},
		{"a wrong type is told in words of JSON", "POST", "/v1/keys", `{"scopes":5}`, 400, "invalid_request"},
		{"an empty number", "GET", "/v1/keys?limit=", "", 400, "invalid_request"},
		{"an empty filter", "GET", "/v1/audit?session=", "", 400, "invalid_request"},
		{"a parameter twice", "GET", "/v1/keys?limit=1&limit=2", "", 400, "invalid_request"},
		{"a query that cannot be read", "GET", "/v1/keys?limit=%zz", "", 400, "invalid_request"},
		{"an escaped slash belongs to its segment", "DELETE", "/v1/agents/a%2Fcontainment", "", 404, "agent_not_found"},
		{"an escaped letter is that letter", "GET", "/v1/agents/%61/containmen%74", "", 404, "agent_not_found"},
	}
	for _, c := range tests {
		t.Run(c.desc, func(t *testing.T) {
			w := ask(c.method, c.path, adminToken, c.body)
			if w.Code != c.status || !strings.Contains(w.Body.String(), `"code":"`+c.code) != (c.code == "") {
				t.Errorf("%d %s, want %d %s", w.Code, w.Body, c.status, c.code)
			}
			if strings.Contains(w.Body.String(), "identity.") {
				t.Errorf("the answer names a Go type: %s", w.Body)
			}
		})
	}
}

func TestReplayHasTheAgentOfTheFirst(t *testing.T) {
	ask := asking(t)
	tell := func() http.Header {
		return ask("POST", "/v1/audit", adminToken, `{"type":"step","session":"s-1"}`, "Idempotency-Key", "one").Header()
	}
	first, again := tell(), tell()
	if again.Get("Idempotent-Replay") != "true" {
		t.Fatal("it was done twice")
	}
	for _, name := range []string{"X-Mnemom-Agent", "X-Mnemom-Session"} {
		if first.Get(name) == "" || again.Get(name) != first.Get(name) {
			t.Errorf("%s: first %q, again %q", name, first.Get(name), again.Get(name))
		}
	}
}
