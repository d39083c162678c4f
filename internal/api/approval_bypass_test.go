package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// A key that has asked for a call decides nothing about it: under whatever name it asked, and although the agent is not stored yet.
func TestAskerDoesNotApprove(t *testing.T) {
	h := build(t)
	_, both := h.key("acme", nil, "gateway", "approve")
	_, other := h.key("acme", nil, "approve")
	turn := map[string]any{"id": uuid.NewString(), "request": []any{}, "response": []any{map[string]any{"id": 0, "kind": "tool_call",
		"role": "assistant", "tool": "send_email", "call_id": "c", "text": `{"to":"x@example.com"}`}}, "answered": true}
	exchange, proof := any(turn), ""
	for _, at := range []string{"front", "autonomy"} {
		body, err := json.Marshal(map[string]any{"exchange": exchange, "checkpoint": at, "proof": proof})
		if err != nil {
			t.Fatal(err)
		}
		doc := h.want(http.StatusOK, "", both, "POST", "/v1/checkpoints", string(body), "X-Mnemom-Agent", "bot").doc()
		exchange, proof = doc["exchange"], doc["proof"].(string)
	}
	list := h.want(http.StatusOK, "", other, "GET", "/v1/approvals", "").doc()["approvals"].([]any)
	if len(list) != 1 {
		t.Fatalf("%d approvals", len(list))
	}
	path := "/v1/approvals/" + text(list[0].(map[string]any), "id") + "/approve"
	for _, name := range []string{"", "bot", "another"} {
		var headers []string
		if name != "" {
			headers = []string{"X-Mnemom-Agent", name}
		}
		h.want(http.StatusForbidden, "own_approval", both, "POST", path, "", headers...)
	}
	h.want(http.StatusOK, "", other, "POST", path, "")
}

// Over HTTP the name of a tool is but a name: nobody has run it.
func TestHostedNamesAreJudged(t *testing.T) {
	h := build(t)
	_, key := h.key("acme", nil, "gateway")
	for _, tool := range []string{"hosted:send_email", "mcp:x/send_email", "mcp:x:send_email"} {
		got := h.want(http.StatusOK, "", key, "POST", "/v1/checkpoints/tool-call", `{"tool":"`+tool+`","arguments":{}}`)
		if got.doc()["rule"] == "" {
			t.Errorf("%s is not judged: %s", tool, got.body)
		}
	}
}

// What was kept for an agent is not told to it once it is stopped.
func TestKeptVerdictOfAKilledAgent(t *testing.T) {
	h := build(t)
	_, key := h.key("acme", nil, "gateway")
	_, admin := h.key("acme", nil, "admin")
	ask := func(status int, code string) reply {
		return h.want(status, code, key, "POST", "/v1/checkpoints/tool-call", `{"tool":"send_email","arguments":{}}`, "Idempotency-Key", "k") // flagged, so kept at once
	}
	agent := text(ask(http.StatusOK, "").doc(), "agent_id")
	h.want(http.StatusOK, "", admin, "POST", "/v1/agents/"+agent+"/kill", "")
	if got := ask(http.StatusForbidden, "agent_killed"); strings.Contains(got.body, "flag") {
		t.Error(got.body)
	}
}
