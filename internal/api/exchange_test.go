package api_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/gateway"
)

// FuzzExchange: whatever is said of an exchange, the answer is a decision or a refusal, and the gateway stands.
func FuzzExchange(f *testing.F) {
	const head = `{"checkpoint":"front","exchange":{"id":"7d2f1f0a-3c53-4f5e-9d3c-0a7f4f1a2b3c"`
	for _, body := range []string{
		head + `,"request":[{"id":0,"kind":"text","role":"user","text":"hello","latest":true}]}}`,
		head + `,"request":[{"id":0,"kind":"tool_result","role":"tool","tool":"t","text":"` + attack + `"}]}}`,
		strings.Replace(head, "front", "autonomy", 1) + `,"answered":true,"response":[{"id":0,"kind":"tool_call","role":"assistant","tool":"send_email","call_id":"c","text":"{}"}]}}`,
		strings.Replace(head, "front", "back", 1) + `,"answered":true,"response":[{"id":0,"kind":"text","role":"assistant","choice":127,"text":"4111 1111 1111 1111"}]}}`,
		strings.Replace(head, "front", "integrity", 1) + `,"answered":true,"cut":"stream_buffer","response":[{"id":0,"kind":"reasoning","role":"assistant","signed":true,"text":"` + attack + `"}]}}`,
		strings.Replace(head, "front", "finish", 1) + `,"status":503,"error":"checkpoint_unavailable"},"unreached":["front"]}`,
		head + `,"decisions":[{"at":"front","mode":"enforce","verdict":"allow","would":"allow","outcome":"pass","took_ns":1}]},"proof":"request.00"}`,
		head + `,"reminded":null,"event":null,"time":"2026-11-21T00:00:00Z"},"proof":""}`,
		`{"checkpoint":"front","exchange":null}`, `{}`, `[]`, `{"exchange":{"request":[null]}}`,
	} {
		f.Add(body)
	}
	gate := gateOf(f)
	f.Fuzz(func(t *testing.T, body string) {
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/v1/checkpoints", strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer sk-agent")
		w := httptest.NewRecorder()
		gate.ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
		if strings.Contains(w.Body.String(), `"failed":true`) && !strings.Contains(body, "stream_buffer") {
			t.Errorf("%s: a checkpoint failed: %s", body, w.Body)
		}
	})
}

// A call that was withheld is let through in another exchange, never in the one whose record says that it was withheld.
func TestFinishedExchangeAsksNoMore(t *testing.T) {
	h := build(t)
	_, agent := h.key("acme", nil, "gateway", "api:read")
	_, approver := h.key("acme", nil, "approve")
	begun := h.want(http.StatusOK, "", agent, "POST", "/v1/checkpoints",
		`{"checkpoint":"front","exchange":{"id":"7d2f1f0a-3c53-4f5e-9d3c-0a7f4f1a2b3c","session":"s"}}`).doc()
	x := begun["exchange"].(map[string]any)
	x["answered"] = true
	x["response"] = []any{map[string]any{"id": 0, "kind": "tool_call", "role": "assistant", "tool": "send_email", "call_id": "c", "text": "{}"}}
	asks := encode(map[string]any{"checkpoint": "autonomy", "exchange": x, "proof": begun["proof"]})
	judged := h.want(http.StatusOK, "", agent, "POST", "/v1/checkpoints", asks).doc()
	list, _ := h.ask(approver, "GET", "/v1/approvals?state=pending", "").doc()["approvals"].([]any)
	if len(list) != 1 {
		t.Fatalf("%d approvals", len(list))
	}
	path := "/v1/approvals/" + text(list[0].(map[string]any), "id")
	h.want(http.StatusOK, "", approver, "POST", path+"/approve", "")
	h.want(http.StatusOK, "", agent, "POST", "/v1/checkpoints",
		encode(map[string]any{"checkpoint": "finish", "exchange": judged["exchange"], "proof": judged["proof"]}))
	for _, body := range []string{asks, encode(map[string]any{"checkpoint": "autonomy", "exchange": judged["exchange"], "proof": judged["proof"]})} {
		h.want(http.StatusBadRequest, "exchange_proof", agent, "POST", "/v1/checkpoints", body)
	}
	if state := h.want(http.StatusOK, "", approver, "GET", path, "").text("state"); state != "approved" {
		t.Errorf("it is %s", state)
	}
}

// gateOf is a gateway with its defaults, which needs no key.
func gateOf(t testing.TB) http.Handler {
	cfg := config.Default()
	cfg.Store = "sqlite:" + filepath.Join(t.TempDir(), "gatehouse.db")
	set, err := detectors()
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.Open(t.Context(), cfg, gateway.Parts{Scanner: set})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}
