package api_test

import (
	"net/http"
	"strings"
	"testing"
)

// contained asks at the door and wants to be told why not.
func (h *house) contained(what, code, token string, headers ...string) {
	h.t.Helper()
	before := len(h.received())
	r := h.door(token, "hello", headers...)
	if r.status != http.StatusForbidden || r.doorError() != code || len(h.received()) != before {
		h.t.Errorf("%s: %d %s, want %s, and the model not called", what, r.status, r.body, code)
	}
	h.soon("its record", func() bool {
		doc := h.ask(rootToken, "GET", "/v1/requests/"+r.request(), "").doc()
		return doc["error"] == code && doc["status"] == 403.0
	})
}

func TestContainment(t *testing.T) {
	h := build(t)
	_, token := h.key("acme", nil, "gateway", "api:read", "api:write")
	_, admin := h.key("acme", nil, "admin", "api:read")
	agent := h.door(token, "hello", "X-Mnemom-Agent", "first-name").header.Get("X-Mnemom-Agent")
	path := "/v1/agents/" + agent
	h.soon("the agent", func() bool { return h.ask(admin, "GET", path, "").status == http.StatusOK })

	h.want(http.StatusOK, "", admin, "POST", path+"/pause", `{"reason":"odd"}`)
	names := [][]string{{"X-Mnemom-Agent", "first-name"}, {"X-Mnemom-Agent", "second-name"}, nil}
	all := func(code string) {
		t.Helper()
		for _, name := range names {
			h.contained("as "+strings.Join(name, " "), code, token, name...)
		}
		if r := h.ask(token, "POST", "/v1/audit", `{"type":"note"}`); r.status != http.StatusForbidden || r.code() != code {
			t.Errorf("its own events: %d %s", r.status, r.body)
		}
	}
	all("agent_paused")
	if c := h.want(http.StatusOK, "", token, "GET", path+"/containment", "").doc(); c["state"] != "paused" || c["reason"] != "odd" || c["since"] == nil {
		t.Errorf("%v", c)
	}
	h.restart()
	all("agent_paused")
	// What its own key can do about it: nothing.
	for _, verb := range []string{"resume", "reactivate"} {
		h.want(http.StatusForbidden, "insufficient_scope", token, "POST", path+"/"+verb, "")
	}
	h.want(http.StatusOK, "", token, "PUT", path, `{"name":"third-name"}`)
	h.want(http.StatusConflict, "containment_conflict", token, "POST", path+"/rekey", `{"new_key_hash":"0123456789abcdef"}`)
	names = append(names, []string{"X-Mnemom-Agent", "third-name"})
	all("agent_paused")

	h.want(http.StatusOK, "", admin, "POST", path+"/resume", "")
	h.told(token, "hello", "X-Mnemom-Agent", "first-name")
	h.told(token, "hello", "X-Mnemom-Agent", "second-name")

	h.want(http.StatusOK, "", admin, "POST", path+"/kill", "")
	all("agent_killed")
	h.want(http.StatusConflict, "containment_conflict", admin, "POST", path+"/resume", "")
	h.want(http.StatusConflict, "containment_conflict", admin, "POST", path+"/pause", "")
	h.want(http.StatusNoContent, "", token, "DELETE", path, "")
	if r := h.door(token, "hello", "X-Mnemom-Agent", "first-name"); r.status != http.StatusForbidden || r.doorError() != "agent_deleted" {
		t.Errorf("a deleted agent: %d %s", r.status, r.body)
	}
	h.contained("another name after it was deleted", "agent_killed", token, "X-Mnemom-Agent", "second-name")
	h.restart()
	h.contained("after a restart", "agent_killed", token, "X-Mnemom-Agent", "second-name")
	h.want(http.StatusNotFound, "agent_not_found", admin, "POST", path+"/reactivate", "")
}

// An agent that was made by hand, before anybody has used its credential.
func TestContainmentOfAnAgentMadeByHand(t *testing.T) {
	h := build(t)
	ask := func(name string) reply {
		var headers []string
		if name != "" {
			headers = []string{"X-Mnemom-Agent", name}
		}
		return h.ask("", "POST", "/openai/v1/chat/completions", chat("hi"), append(headers, "Authorization", "Bearer sk-hand")...)
	}
	byHand := func(name, preimage string) string {
		return h.want(http.StatusCreated, "", rootToken, "POST", "/v1/agents", encode(map[string]any{"name": name, "hash_proof": proof(preimage)})).text("id")
	}
	plain := byHand("plain", "sk-hand")
	h.want(http.StatusOK, "", rootToken, "POST", "/v1/agents/"+plain+"/pause", "")
	for _, name := range []string{"", "other-name"} {
		if r := ask(name); r.doorError() != "agent_paused" {
			t.Errorf("%q: %d %s", name, r.status, r.body)
		}
	}
	h.want(http.StatusOK, "", rootToken, "POST", "/v1/agents/"+plain+"/resume", "")

	// One with a name in its hash: the credential becomes known with its first exchange.
	named := byHand("by-name", "sk-hand|by-name")
	if r := ask("by-name"); r.status != http.StatusOK || r.header.Get("X-Mnemom-Agent") != named {
		t.Fatalf("%d %s", r.status, r.body)
	}
	seen := ask("by-name").request()
	h.soon("its record", func() bool { return h.ask(rootToken, "GET", "/v1/requests/"+seen, "").status == http.StatusOK })
	h.want(http.StatusOK, "", rootToken, "POST", "/v1/agents/"+named+"/kill", "")
	for _, name := range []string{"by-name", "other-name", ""} {
		if r := ask(name); r.doorError() != "agent_killed" {
			t.Errorf("%q: %d %s", name, r.status, r.body)
		}
	}
}

// Mutations leave a record in the transaction that they are made in, refusals one of their own, reads none.
func TestRecordsOfTheAPI(t *testing.T) {
	h := build(t)
	total := func() float64 {
		n, _ := h.want(http.StatusOK, "", rootToken, "GET", "/v1/audit?surface=api", "").doc()["total"].(float64)
		return n
	}
	agent := h.agent(rootToken, "an-agent")
	if n := total(); n != 1 {
		t.Fatalf("%v records", n)
	}
	for _, path := range []string{"/v1/agents", "/v1/agents/" + agent, "/v1/keys", "/v1/audit/export", "/v1/keys/whoami"} {
		h.want(http.StatusOK, "", rootToken, "GET", path, "")
	}
	if n := total(); n != 1 {
		t.Errorf("reads have left %v records", n-1)
	}
	r := h.want(http.StatusOK, "", rootToken, "POST", "/v1/agents/"+agent+"/pause", `{"reason":"why"}`)
	rec := h.want(http.StatusOK, "", rootToken, "GET", "/v1/requests/"+r.request(), "").doc() // at once
	event, _ := rec["event"].(map[string]any)
	if rec["type"] != "event" || text(event, "type") != "agent.paused" || text(event, "target") != agent || rec["surface"] != "api" {
		t.Errorf("%v", rec)
	}
	for _, c := range []struct {
		status              int
		token, method, path string
	}{
		{401, "", "GET", "/v1/keys"}, {404, rootToken, "GET", "/v1/agents/mnm-none"}, {405, rootToken, "PUT", "/v1/keys"},
		{400, rootToken, "GET", "/v1/agents?limit=0"}, {409, rootToken, "POST", "/v1/agents/" + agent + "/kill-not"},
	} {
		r := h.ask(c.token, c.method, c.path, "")
		h.soon("the record of "+c.path, func() bool {
			doc := h.ask(rootToken, "GET", "/v1/requests/"+r.request(), "").doc()
			return doc["status"] == float64(r.status) && doc["error"] != "" && doc["event"] == nil
		})
	}
}

// An upstream may read another slot than the one by which the agent is known.
func TestAContainedCredentialIsRefusedInEverySlot(t *testing.T) {
	h := build(t)
	agent := h.ask("", "POST", "/anthropic/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`,
		"Authorization", "Bearer sk-bad").header.Get("X-Mnemom-Agent")
	h.soon("the agent", func() bool { return h.ask(rootToken, "GET", "/v1/agents/"+agent, "").status == http.StatusOK })
	h.want(http.StatusOK, "", rootToken, "POST", "/v1/agents/"+agent+"/kill", "")
	r := h.ask("", "POST", "/anthropic/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`,
		"Authorization", "Bearer sk-bad", "X-Api-Key", "junk")
	if r.status != http.StatusForbidden {
		t.Errorf("with a second credential: %d %s", r.status, r.body)
	}
}
