package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/fake"
)

// An agent belongs to whom made it: nobody else's, whatever proof they show.
func TestClaim(t *testing.T) {
	h := build(t)
	// Before there is any key, somebody calls.
	r := h.ask("", "POST", "/openai/v1/chat/completions", chat("a first question"), "Authorization", "Bearer sk-loose")
	agent := r.header.Get("X-Mnemom-Agent")
	path := "/v1/agents/" + agent
	h.soon("the agent", func() bool { return h.ask(rootToken, "GET", path, "").status == http.StatusOK })
	_, acme := h.key("acme", nil, "api:read", "api:write")
	_, globex := h.key("globex", nil, "api:read", "api:write", "admin")
	claim := func(proof string) string { return encode(map[string]any{"hash_proof": proof}) }

	h.want(http.StatusNotFound, "agent_not_found", acme, "GET", path, "")
	for _, wrong := range []string{proof("sk-other"), strings.Repeat("0", 64), proof("sk-loose|name"),
		proof("sk-loose")[:16] + strings.Repeat("f", 48)} {
		h.want(http.StatusNotFound, "agent_not_found", acme, "POST", path+"/claim", claim(wrong))
	}
	for _, malformed := range []string{"", "x", proof("sk-loose")[:16], strings.ToUpper(proof("sk-loose")), proof("sk-loose") + "\n", "sk-loose"} {
		h.want(http.StatusBadRequest, "invalid_key_hash_format", acme, "POST", path+"/claim", claim(malformed))
	}
	h.want(http.StatusConflict, "agent_exists", acme, "POST", "/v1/agents", `{"name":"mine","hash_proof":"`+proof("sk-loose")+`"}`)

	got := h.want(http.StatusOK, "", acme, "POST", path+"/claim", claim(proof("sk-loose"))).doc()
	if got["claimed"] != true || got["agent_id"] != agent || got["account"] != "acme" {
		t.Errorf("%v", got)
	}
	h.want(http.StatusOK, "", acme, "POST", path+"/claim", claim(proof("sk-loose"))) // again: the same
	h.want(http.StatusForbidden, "agent_cross_tenant", globex, "POST", path+"/claim", claim(proof("sk-loose")))
	h.want(http.StatusNotFound, "agent_not_found", globex, "POST", path+"/kill", "")
	if log := h.want(http.StatusOK, "", acme, "GET", "/v1/audit?agent="+agent, "").body; strings.Contains(log, "first question") {
		t.Error("the history quotes what was said")
	}

	// What a key's own calls have made belongs to the key's account, though nobody has claimed it.
	_, caller := h.key("acme", nil, "gateway")
	made := h.door(caller, "hello").header.Get("X-Mnemom-Agent")
	h.soon("the agent", func() bool { return h.ask(acme, "GET", "/v1/agents/"+made, "").status == http.StatusOK })
	hash := h.want(http.StatusOK, "", acme, "GET", "/v1/agents/"+made, "").text("agent_hash")
	h.want(http.StatusNotFound, "agent_not_found", globex, "POST", "/v1/agents/"+made+"/claim", claim(hash+strings.Repeat("0", 48)))
	h.want(http.StatusForbidden, "agent_cross_tenant", globex, "POST", "/v1/agents/"+made+"/claim", claim(proof(caller)))
	if a := h.want(http.StatusOK, "", rootToken, "POST", "/v1/agents/"+made+"/claim", claim(proof(caller))).doc(); a["account"] != "acme" {
		t.Errorf("the administrator took it: %v", a)
	}
	h.told(caller, "still mine")
}

// What an operator has against an agent is not shed by taking the agent over.
func TestClaimDoesNotLiftContainment(t *testing.T) {
	h := build(t)
	agent := h.ask("", "POST", "/openai/v1/chat/completions", chat("hi"), "Authorization", "Bearer sk-loose").header.Get("X-Mnemom-Agent")
	h.soon("the agent", func() bool { return h.ask(rootToken, "GET", "/v1/agents/"+agent, "").status == http.StatusOK })
	h.want(http.StatusOK, "", rootToken, "POST", "/v1/agents/"+agent+"/pause", "")
	_, acme := h.key("acme", nil, "api:read", "api:write", "admin")
	h.want(http.StatusConflict, "containment_conflict", acme, "POST", "/v1/agents/"+agent+"/claim", `{"hash_proof":"`+proof("sk-loose")+`"}`)
	h.want(http.StatusOK, "", rootToken, "POST", "/v1/agents/"+agent+"/resume", "")
	h.want(http.StatusOK, "", acme, "POST", "/v1/agents/"+agent+"/claim", `{"hash_proof":"`+proof("sk-loose")+`"}`)
}

func TestRekey(t *testing.T) {
	h := build(t)
	ask := func(credential string) reply {
		return h.ask("", "POST", "/openai/v1/chat/completions", chat("hi"), "Authorization", "Bearer "+credential)
	}
	one := ask("sk-old").header.Get("X-Mnemom-Agent")
	two := ask("sk-two").header.Get("X-Mnemom-Agent")
	for _, id := range []string{one, two} {
		h.soon("the agent", func() bool { return h.ask(rootToken, "GET", "/v1/agents/"+id, "").status == http.StatusOK })
	}
	rekey := func(id, hash string) reply {
		return h.ask(rootToken, "POST", "/v1/agents/"+id+"/rekey", `{"new_key_hash":"`+hash+`"}`)
	}
	if r := rekey(one, proof("sk-two")[:16]); r.status != http.StatusConflict || r.code() != "key_hash_in_use" {
		t.Errorf("%d %s", r.status, r.body)
	}
	for _, malformed := range []string{"", proof("x"), "0123456789ABCDEF", "0123456789abcde"} {
		if r := rekey(one, malformed); r.code() != "invalid_key_hash_format" {
			t.Errorf("%d %s", r.status, r.body)
		}
	}
	if r := rekey(one, proof("sk-new")[:16]); r.status != http.StatusOK {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if got := ask("sk-new").header.Get("X-Mnemom-Agent"); got != one {
		t.Errorf("the new credential is %s", got)
	}
	if got := ask("sk-old").header.Get("X-Mnemom-Agent"); got == one {
		t.Error("the old credential is still the agent's")
	}
	for hash, bound := range map[string]bool{proof("sk-new")[:16]: true, proof("sk-old")[:16]: false} {
		if doc := h.want(http.StatusOK, "", rootToken, "POST", "/v1/agents/"+one+"/verify-binding", `{"key_hash":"`+hash+`"}`).doc(); doc["bound"] != bound {
			t.Errorf("%v, want %v", doc, bound)
		}
	}
	h.want(http.StatusOK, "", rootToken, "POST", "/v1/agents/"+one+"/kill", "")
	for _, name := range []string{"", "other-name"} {
		headers := []string{"Authorization", "Bearer sk-new"}
		if name != "" {
			headers = append(headers, "X-Mnemom-Agent", name)
		}
		if r := h.ask("", "POST", "/openai/v1/chat/completions", chat("hi"), headers...); r.doorError() != "agent_killed" {
			t.Errorf("the new credential as %q: %d %s", name, r.status, r.body)
		}
	}
}

// A credential is bound anew while its agent speaks: what it says is recorded, and the store stays well.
func TestRekeyWhileItSpeaks(t *testing.T) {
	h := build(t)
	h.openai.Script = func(fake.Request) fake.Turn { return fake.Turn{Text: "yes", Delay: 300 * time.Millisecond} }
	_, token := h.key("acme", nil, "gateway", "api:read", "api:write")
	agent := h.door(token, "hello").header.Get("X-Mnemom-Agent")
	h.soon("the agent", func() bool { return h.ask(token, "GET", "/v1/agents/"+agent, "").status == http.StatusOK })
	said := make(chan reply, 1)
	go func() {
		r, err := h.try(token, "POST", "/openai/v1/chat/completions", chat("hello"), "Authorization", "Bearer sk")
		if err != nil {
			t.Error(err)
		}
		said <- r
	}()
	h.soon("the model is asked", func() bool { return len(h.openai.Requests()) == 2 })
	h.want(http.StatusOK, "", token, "POST", "/v1/agents/"+agent+"/rekey", `{"new_key_hash":"0123456789abcdef"}`)
	r := <-said
	if r.status != http.StatusOK {
		t.Errorf("%d %s", r.status, r.body)
	}
	h.soon("its record", func() bool { return h.ask(token, "GET", "/v1/requests/"+r.request(), "").text("agent_id") == agent })
	if r := h.ask("", "GET", "/health/ready", ""); r.status != http.StatusOK {
		t.Errorf("%d %s", r.status, r.body)
	}
	if doc := h.want(http.StatusOK, "", token, "GET", "/v1/agents/"+agent, "").doc(); doc["agent_hash"] != "0123456789abcdef" {
		t.Errorf("%v", doc)
	}
}

// Whoever shows a key finds the record of what they sent, though it was refused and their agent had never been seen.
func TestFirstWordsAreOnRecord(t *testing.T) {
	h := build(t)
	_, token := h.key("acme", nil, "gateway", "api:read")
	for name, r := range map[string]reply{
		"an attack":        h.door(token, attack, "X-Mnemom-Agent", "agent-one"),
		"a broken body":    h.ask(token, "POST", "/openai/v1/chat/completions", "{", "Authorization", "Bearer sk", "X-Mnemom-Agent", "agent-two"),
		"an event":         h.ask(token, "POST", "/v1/audit", `{"type":"note"}`, "X-Mnemom-Agent", "agent-three"),
		"a wrong argument": h.ask(token, "GET", "/v1/agents?limit=x", ""),
	} {
		h.soon("the record of "+name, func() bool { return h.ask(token, "GET", "/v1/requests/"+r.request(), "").status == http.StatusOK })
	}
}

// An agent that was made before its credential's first use is found by it.
func TestCreateBeforeFirstUse(t *testing.T) {
	h := build(t)
	_, acme := h.key("acme", nil, "api:read", "api:write", "admin")
	made := h.want(http.StatusCreated, "", acme, "POST", "/v1/agents", `{"name":"first","hash_proof":"`+proof("mnm_later")+`"}`).doc()
	if made["agent_hash"] != proof("mnm_later")[:16] || made["account"] != "acme" || made["claimed_at"] == nil {
		t.Errorf("%v", made)
	}
	for range 2 {
		h.want(http.StatusConflict, "agent_exists", acme, "POST", "/v1/agents", `{"name":"again","hash_proof":"`+proof("mnm_later")+`"}`)
	}
	for body, code := range map[string]string{`{"hash_proof":"x"}`: "name_required", `{"name":"ok"}`: "hash_proof_required", `{"name":"a/b","hash_proof":"x"}`: "invalid_request",
		`{"name":"ok","hash_proof":"zz"}`: "invalid_key_hash_format"} {
		h.want(http.StatusBadRequest, code, acme, "POST", "/v1/agents", body)
	}
	// Whose hash another account holds is refused at the door; it neither acts as that agent nor learns its id.
	_, globex := h.key("globex", nil, "gateway")
	h.want(http.StatusCreated, "", acme, "POST", "/v1/agents", `{"name":"squat","hash_proof":"`+proof(globex)+`"}`)
	if r := h.door(globex, "hello"); r.status != http.StatusForbidden || r.doorError() != "agent_unknown" || r.header.Get("X-Mnemom-Agent") != "" {
		t.Errorf("%d %s %v", r.status, r.body, r.header)
	}
}
