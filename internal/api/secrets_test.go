package api_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/config"
)

// Whatever keys, tokens and texts go in, none of them is in the store, in logs, in metrics or in errors afterwards.
func TestNothingSecretStays(t *testing.T) {
	const (
		provider = "sk-marked-provider-key-0123456789abcdef"
		upstream = "sk-marked-key-of-the-gateway-0123456789"
		prompt   = "marked-prompt-of-a-user"
		password = "marked-password-in-a-url"
		idem     = "marked-idempotency-key"
		secret   = "AKIAIOSFODNN7MARKEDX"
	)
	h := build(t, func(c *config.Config) {
		u := c.Upstreams["anthropic"]
		u.Key = upstream
		c.Upstreams["anthropic"] = u
	})
	marks := map[string]string{"the administrator's token": rootToken, "a provider's key": provider, "the gateway's own provider key": upstream,
		"a prompt": prompt, "a password": password, "an Idempotency-Key": idem, "a secret in an event": secret}
	var errors []string // bodies and headers of refusals
	note := func(r reply) reply {
		if r.status >= 400 {
			errors = append(errors, r.body, encode(r.header))
		}
		return r
	}
	ask := func(token, method, path, body string, headers ...string) reply {
		return note(h.ask(token, method, path, body, headers...))
	}
	// Before there are keys.
	for _, message := range []string{prompt, prompt + " " + attack} {
		ask("", "POST", "/v1/chat/completions", chat(message), "Authorization", "Bearer "+provider)
	}
	ask("", "POST", "/v1/chat/completions", `{"broken `+prompt, "Authorization", "Bearer "+provider)
	ask("", "POST", "/u/"+prompt+"/v1/x", chat(prompt), "Authorization", "Bearer "+provider)
	ask("", "GET", "/v1/agents", "", "Authorization", "Bearer "+provider)
	ask("", "POST", "/v1/audit", `{"type":"x","data":{"key":"`+secret+`"}}`, "Authorization", "Bearer "+provider)

	id, token := h.key("acme", nil, "gateway", "api:read", "api:write", "admin")
	marks["an API key"] = token
	second := ask(token, "POST", "/v1/keys", `{"name":"x"}`, "Idempotency-Key", idem)
	if second.status != http.StatusForbidden { // it lacks no scope of the default
		marks["a key that was made"] = second.text("key")
	}
	rotated := ask(rootToken, "POST", "/v1/keys/"+id+"/rotate", "", "Idempotency-Key", idem)
	marks["a rotated key"] = rotated.text("key")
	ask(token, "GET", "/v1/agents", "")
	token = rotated.text("key")
	for _, headers := range [][]string{{"Authorization", "Bearer " + provider}, {"Authorization", "Bearer " + token}, {"X-Api-Key", token}} {
		ask(token, "POST", "/v1/chat/completions?key="+provider, chat(prompt), headers...)
		ask("", "POST", "/v1/chat/completions?key="+token, chat(prompt), headers...)
		ask(token, "POST", "/v1/messages", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"`+prompt+`"}]}`, headers...)
	}
	ask("mnm_marked-unknown-key", "GET", "/v1/agents", "")
	marks["an unknown key"] = "mnm_marked-unknown-key"
	hook := ask(token, "POST", "/v1/webhooks", encode(map[string]any{"url": h.receiver.URL, "event_types": []string{"*"}}), "Idempotency-Key", idem+"2")
	marks["a webhook's secret"] = hook.text("signing_secret")
	again := ask(token, "POST", "/v1/webhooks/"+hook.text("id")+"/rotate", "")
	marks["a webhook's new secret"] = again.text("signing_secret")
	ask(token, "POST", "/v1/webhooks", `{"url":"https://user:`+password+`@example.com/"}`)
	ask(token, "POST", "/v1/webhooks", `{"url":"`+prompt+`"}`)
	ask(token, "POST", "/v1/webhooks/"+hook.text("id")+"/test", "")
	ask(token, "POST", "/v1/agents", `{"name":"`+provider+`!","hash_proof":"`+provider+`"}`)
	ask(token, "POST", "/v1/agents", encode(map[string]any{"name": "hand-made", "hash_proof": proof(provider + "|hand-made")}))
	marks["a proof"] = proof(provider + "|hand-made")
	ask(token, "POST", "/v1/audit", `{"type":"`+prompt+`"}`)
	ask(token, "POST", "/v1/audit", `{"`+prompt+`":1}`)
	ask(token, "GET", "/v1/audit?agent="+prompt+"&type="+prompt, "")
	ask(token, "GET", "/v1/requests/"+prompt, "")
	ask(token, "GET", "/v1/agents?limit="+prompt, "")
	ask(token, prompt, "/v1/agents/"+prompt, "")
	ask(token, "PUT", "/v1/keys/"+token, "")
	metrics := ask(rootToken, "GET", "/metrics", "")
	if metrics.status != http.StatusOK || !strings.Contains(metrics.body, "gatehouse_") {
		t.Fatalf("metrics: %d", metrics.status)
	}
	for what, mark := range marks {
		if len(mark) < 12 {
			t.Fatalf("%s is no mark: %q", what, mark)
		}
	}

	search := func(where string, all []byte) {
		t.Helper()
		if len(all) == 0 {
			t.Errorf("%s is empty", where)
		}
		for what, mark := range marks {
			if bytes.Contains(all, []byte(mark)) || bytes.Contains(all, []byte(strings.TrimPrefix(mark, "mnm_"))) {
				t.Errorf("%s is in %s", what, where)
			}
		}
	}
	search("the store", h.stored())
	h.close() // the log is folded into the database
	search("the store when it is closed", h.stored())
	search("the log", []byte(h.log.String()))
	search("the metrics", []byte(metrics.body))
	search("errors", []byte(strings.Join(errors, "\n")))
}
