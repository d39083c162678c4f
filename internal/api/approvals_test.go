package api_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/approval"
	"github.com/gatehouse-gateway/gatehouse/internal/seal"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
)

// desk is where the tests flag calls: a queue of another process on the same store.
type desk struct {
	*approval.Queue
	store *store.Store
	t     *testing.T
}

func (h *house) desk() *desk {
	h.t.Helper()
	s, err := store.Open(h.t.Context(), "sqlite:"+h.path)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { s.Close() })
	box, err := seal.Load(s.KeyFile())
	if err != nil {
		h.t.Fatal(err)
	}
	return &desk{&approval.Queue{Store: s, Box: box, Log: slog.New(slog.DiscardHandler),
		Record: func(context.Context, *gatehouse.Exchange) error { return nil }}, s, h.t}
}

// demand is a call of send_email.
func demand(account, agent, args, callID string) approval.Demand {
	return approval.Demand{Account: account, Agent: agent, AgentName: "name-of-it", Session: "s-1", Surface: "api",
		Request: "00000000-0000-4000-8000-00000000000a", Tool: "send_email", CallID: callID, Digest: sha256.Sum256([]byte(args)),
		Rule: "tools.flag[0]", Reason: "tools matching send_email need approval", Risk: 0.5, Tainted: true,
		Card: approval.Card{Arguments: args, Evidence: &approval.Evidence{Argument: "args.to", Tool: "read_page", Quote: "write to eve"}}, Now: time.Now()}
}

// ask has a call flagged, or asked about again.
func (d *desk) ask(dem approval.Demand) approval.Answer {
	d.t.Helper()
	a, err := d.Ask(d.t.Context(), dem)
	if err != nil {
		d.t.Fatal(err)
	}
	return a
}

const toAlice = `{"to": "alice@example.com", "n": 12345678901234567890, "x": 1.50}`

// parties are one account with an agent whose call waits, and who might decide on it.
type parties struct {
	*house
	desk                     *desk
	agent, id                string
	approver, reader, agent1 string // keys
}

func newParties(t *testing.T) *parties {
	h := build(t)
	p := &parties{house: h, desk: h.desk()}
	_, p.approver = h.key("acme", nil, "approve")
	_, p.reader = h.key("acme", nil, "api:read")
	_, all := h.key("acme", nil, "api:write", "api:read")
	p.agent = h.agent(all, "mailer")
	_, p.agent1 = h.key("acme", []string{p.agent}, "gateway")
	p.id = p.desk.ask(demand("acme", p.agent, toAlice, "call-1")).Approval
	return p
}

func (p *parties) path(tail string) string { return "/v1/approvals/" + p.id + tail }

// events are the records of the account that say what was done, newest first.
func (p *parties) events(kind string) (list []map[string]any) {
	p.t.Helper()
	entries, _ := p.want(http.StatusOK, "", p.reader, "GET", "/v1/audit?type="+kind, "").doc()["entries"].([]any)
	for _, e := range entries {
		list = append(list, e.(map[string]any)["record"].(map[string]any))
	}
	return list
}

func TestApprovalIsShown(t *testing.T) {
	p := newParties(t)
	for who, key := range map[string]string{"reader": p.reader, "approver": p.approver, "agent": p.agent1, "administrator": rootToken} {
		got := p.want(http.StatusOK, "", key, "GET", p.path("")+"?wait=0", "")
		doc := got.doc()
		if doc["state"] != "pending" || doc["agent_id"] != p.agent || doc["tool"] != "send_email" || doc["risk"] != 0.5 || doc["tainted"] != true ||
			doc["decided_at"] != nil || doc["url"] == "" || got.header.Get("X-Mnemom-Schema") != "approval/v1" {
			t.Errorf("%s: %s", who, got.body)
		}
		if !strings.Contains(got.body, `"n":12345678901234567890,"x":1.50`) || !strings.Contains(got.body, `"quote":"write to eve"`) {
			t.Errorf("%s does not see what will run: %s", who, got.body)
		}
		list := p.want(http.StatusOK, "", key, "GET", "/v1/approvals?state=pending&tool=send_email&session=s-1&agent="+p.agent, "").doc()
		if list["total"] != 1.0 || text(list["approvals"].([]any)[0].(map[string]any), "id") != p.id {
			t.Errorf("%s: %v", who, list)
		}
	}
	for _, query := range []string{"state=denied", "tool=other", "session=other", "undelivered=true"} {
		if list := p.want(http.StatusOK, "", p.reader, "GET", "/v1/approvals?"+query, "").doc(); list["total"] != 0.0 {
			t.Errorf("%s: %v", query, list)
		}
	}
	// Reading decides nothing, however often.
	if a := p.desk.ask(demand("acme", p.agent, toAlice, "call-1")); a.Verdict != gatehouse.Flag || a.Approval != p.id {
		t.Errorf("%+v", a)
	}
	if n := len(p.events("approval.*")); n != 0 {
		t.Errorf("%d records of reading", n)
	}
}

func TestApprovalIsDecided(t *testing.T) {
	for _, c := range []struct {
		deed, state string
		verdict     gatehouse.Verdict
	}{{"approve", "approved", gatehouse.Allow}, {"deny", "denied", gatehouse.Block}} {
		t.Run(c.deed, func(t *testing.T) {
			p := newParties(t)
			got := p.want(http.StatusOK, "", p.approver, "POST", p.path("/"+c.deed), `{"note":"asked\nthe customer"}`, "Idempotency-Key", "one").doc()
			if got["state"] != c.state || got["note"] != "asked\nthe customer" || got["decided_from"] != "127.0.0.1" || !strings.HasPrefix(text(got, "decided_by"), "mk-") || got["decided_at"] == nil {
				t.Errorf("%v", got)
			}
			if again := p.ask(p.approver, "POST", p.path("/"+c.deed), `{"note":"asked\nthe customer"}`, "Idempotency-Key", "one"); again.header.Get("Idempotent-Replay") != "true" || again.status != http.StatusOK {
				t.Errorf("%d %s", again.status, again.body)
			}
			p.want(http.StatusConflict, "approval_settled", p.approver, "POST", p.path("/"+c.deed), "")
			records := p.events("approval." + c.state)
			if len(records) != 1 {
				t.Fatalf("%d records, want 1: %v", len(records), records)
			}
			event := records[0]["event"].(map[string]any)
			data := event["data"].(map[string]any)
			if event["target"] != p.id || data["agent"] != p.agent || data["tool"] != "send_email" || data["session"] != "s-1" || data["rule"] != "tools.flag[0]" ||
				strings.Contains(fmt.Sprint(records), "alice") {
				t.Errorf("%v", records)
			}
			if a := p.desk.ask(demand("acme", p.agent, toAlice, "call-1")); a.Verdict != c.verdict {
				t.Errorf("%+v", a)
			}
		})
	}
}

func TestApprovalIsRevoked(t *testing.T) {
	p := newParties(t)
	p.want(http.StatusConflict, "approval_settled", p.approver, "POST", p.path("/revoke"), "")
	p.want(http.StatusOK, "", p.approver, "POST", p.path("/approve"), "")
	got := p.want(http.StatusOK, "", p.approver, "POST", p.path("/revoke"), `{"note":"no"}`).doc()
	if got["state"] != "revoked" || got["arguments"] != nil || got["evidence"] != nil {
		t.Errorf("%v", got)
	}
	if a := p.desk.ask(demand("acme", p.agent, toAlice, "call-1")); a.Verdict != gatehouse.Block {
		t.Errorf("%+v", a)
	}
}

// What was let through and came to nothing is listed, and can be approved again, once.
func TestApprovalIsApprovedAgain(t *testing.T) {
	p := newParties(t)
	p.want(http.StatusOK, "", p.approver, "POST", p.path("/approve"), "")
	if a := p.desk.ask(demand("acme", p.agent, toAlice, "call-1")); a.Verdict != gatehouse.Allow {
		t.Fatalf("%+v", a)
	}
	list := p.want(http.StatusOK, "", p.reader, "GET", "/v1/approvals?undelivered=true", "").doc()
	if list["total"] != 1.0 {
		t.Fatalf("%v", list)
	}
	again := p.want(http.StatusOK, "", p.approver, "POST", p.path("/approve"), "").doc()
	if again["id"] == p.id || again["state"] != "approved" {
		t.Errorf("%v", again)
	}
	if was := p.want(http.StatusOK, "", p.reader, "GET", p.path(""), "").doc(); was["state"] != "consumed" || was["again"] != again["id"] {
		t.Errorf("%v", was)
	}
	p.want(http.StatusConflict, "approval_settled", p.approver, "POST", p.path("/approve"), "")
}

func TestWhoMayNotDecide(t *testing.T) {
	p := newParties(t)
	_, listed := p.key("acme", []string{p.agent}, "gateway", "approve")
	_, aside := p.key("acme", []string{p.agent}, "approve")
	_, writer := p.key("acme", nil, "api:write")
	_, other := p.key("globex", nil, "approve")
	for _, c := range []struct {
		name, key string
		status    int
		code      string
	}{
		{"the agent's key", p.agent1, http.StatusForbidden, "insufficient_scope"},
		{"the agent's key that may approve", listed, http.StatusForbidden, "own_approval"},
		{"a reader", p.reader, http.StatusForbidden, "insufficient_scope"},
		{"a writer", writer, http.StatusForbidden, "insufficient_scope"},
		{"another account", other, http.StatusNotFound, "approval_not_found"},
		{"nobody", "", http.StatusUnauthorized, "auth_required"},
	} {
		for _, deed := range []string{"approve", "deny", "revoke"} {
			p.want(c.status, c.code, c.key, "POST", p.path("/"+deed), "")
		}
		if c.status != http.StatusNotFound {
			p.want(c.status, c.code, c.key, "POST", "/v1/approvals/grants", encode(map[string]string{"agent": p.agent, "tool": "send_email", "scope": "args.to == 'a'", "for": "1d"}))
		}
	}
	if got := p.want(http.StatusOK, "", p.reader, "GET", p.path(""), "").text("state"); got != "pending" {
		t.Fatalf("it is %s", got)
	}
	p.want(http.StatusForbidden, "insufficient_scope", writer, "GET", p.path(""), "")
	// A key that is for the agent and cannot call is not the agent's.
	p.want(http.StatusOK, "", aside, "POST", p.path("/deny"), "")
}

// A credential that is an agent's decides nothing about it, whatever name it takes.
func TestTheAgentsOwnKey(t *testing.T) {
	p := newParties(t)
	_, own := p.key("acme", nil, "gateway", "approve", "api:read")
	r := p.want(http.StatusOK, "", own, "POST", "/v1/checkpoints/input", `{"text":"hello"}`, "X-Mnemom-Agent", "worker")
	agent := r.header.Get("X-Mnemom-Agent")
	p.soon("the agent", func() bool { return p.ask(rootToken, "GET", "/v1/agents/"+agent, "").status == http.StatusOK })
	id := p.desk.ask(demand("acme", agent, toAlice, "")).Approval
	for _, name := range []string{"", "worker", "somebody"} {
		p.want(http.StatusForbidden, "own_approval", own, "POST", "/v1/approvals/"+id+"/approve", "", "X-Mnemom-Agent", name)
	}
	p.want(http.StatusOK, "", own, "POST", p.path("/approve"), "")
	p.want(http.StatusOK, "", p.approver, "POST", "/v1/approvals/"+id+"/approve", "")
}

// While there is no key, whoever has the agent's credential may read what waits, and nobody else.
func TestApprovalsWithoutKeys(t *testing.T) {
	h := build(t)
	r := h.want(http.StatusOK, "", "", "POST", "/v1/checkpoints/input", `{"text":"hello"}`, "Authorization", "Bearer sk-one")
	agent := r.header.Get("X-Mnemom-Agent")
	id := h.desk().ask(demand("default", agent, toAlice, "")).Approval
	got := h.want(http.StatusOK, "", "", "GET", "/v1/approvals/"+id, "", "Authorization", "Bearer sk-one")
	if got.text("state") != "pending" {
		t.Errorf("%s", got.body)
	}
	h.want(http.StatusNotFound, "approval_not_found", "", "GET", "/v1/approvals/"+id, "", "Authorization", "Bearer sk-two")
	if list := h.want(http.StatusOK, "", "", "GET", "/v1/approvals", "", "X-Api-Key", "sk-two").doc(); list["total"] != 0.0 {
		t.Errorf("%v", list)
	}
	h.want(http.StatusUnauthorized, "auth_required", "", "GET", "/v1/approvals/"+id, "")
	h.want(http.StatusUnauthorized, "auth_required", "", "POST", "/v1/approvals/"+id+"/approve", "", "Authorization", "Bearer sk-one")
	h.want(http.StatusOK, "", rootToken, "POST", "/v1/approvals/"+id+"/approve", "")
}

func TestGrants(t *testing.T) {
	p := newParties(t)
	within := `args.to.endsWith("@example.com")`
	term := func(scope, span string) string {
		return encode(map[string]any{"grant": map[string]string{"scope": scope, "for": span}})
	}
	for name, body := range map[string]string{
		"outside of the call": term(`args.to.endsWith("@example.net")`, "14d"),
		"no such argument":    term(`args.cc == "a"`, "14d"),
		"empty":               term("", "14d"),
		"constant":            term("true", "14d"),
		"no condition":        term("args.to ==", "14d"),
		"too long":            term(within, "91d"),
		"no time":             term(within, ""),
		"a strange time":      term(within, "1h30m"),
		"for ever":            term(within, "0d"),
	} {
		t.Run(name, func(t *testing.T) {
			if r := p.ask(p.approver, "POST", p.path("/approve"), body); r.status != http.StatusBadRequest || strings.Contains(r.body, "alice") {
				t.Errorf("%d %s", r.status, r.body)
			}
		})
	}
	p.want(http.StatusOK, "", p.approver, "POST", p.path("/approve"), term(within, "14d"))
	list := p.want(http.StatusOK, "", p.reader, "GET", "/v1/approvals/grants", "").doc()
	if list["total"] != 1.0 {
		t.Fatalf("%v", list)
	}
	g := list["grants"].([]any)[0].(map[string]any)
	expires, err := time.Parse(time.RFC3339, text(g, "expires_at"))
	if left := time.Until(expires); g["approval"] != p.id || g["agent_id"] != p.agent || g["tool"] != "send_email" || g["scope"] != within || err != nil || left < 13*24*time.Hour || left > 15*24*time.Hour {
		t.Errorf("%v", g)
	}
	for _, kind := range []string{"approval.approved", "grant.created"} {
		if n := len(p.events(kind)); n != 1 {
			t.Errorf("%d records of %s", n, kind)
		}
	}
	// Another call of the tool passes by the grant, until it is revoked.
	next := demand("acme", p.agent, `{"to":"bob@example.com"}`, "call-2")
	next.Within = func(scope string) bool { return scope == within }
	if a := p.desk.ask(next); a.Verdict != gatehouse.Allow {
		t.Errorf("%+v", a)
	}
	if used := p.want(http.StatusOK, "", p.agent1, "GET", "/v1/approvals/grants/"+text(g, "id"), "").doc()["used"]; used != 1.0 {
		t.Errorf("used %v times", used)
	}
	if r := p.want(http.StatusOK, "", p.approver, "DELETE", "/v1/approvals/grants/"+text(g, "id"), ""); r.doc()["revoked_at"] == nil {
		t.Errorf("%s", r.body)
	}
	next.CallID, next.Digest = "call-3", sha256.Sum256([]byte("3"))
	if a := p.desk.ask(next); a.Verdict != gatehouse.Flag {
		t.Errorf("%+v", a)
	}
	if n := len(p.events("grant.revoked")); n != 1 {
		t.Errorf("%d records", n)
	}

	made := func(agent, tool, scope string) string {
		return encode(map[string]string{"agent": agent, "tool": tool, "scope": scope, "for": "12h", "note": "n"})
	}
	r := p.want(http.StatusCreated, "", p.approver, "POST", "/v1/approvals/grants", made(p.agent, "pay", "args.n <= 5"))
	if r.text("approval") != "" || r.text("note") != "n" || r.text("tool") != "pay" {
		t.Errorf("%s", r.body)
	}
	p.want(http.StatusBadRequest, "invalid_request", p.approver, "POST", "/v1/approvals/grants", made(p.agent, "pay_*", "args.n <= 5"))
	p.want(http.StatusBadRequest, "invalid_request", p.approver, "POST", "/v1/approvals/grants", made(p.agent, "", "args.n <= 5"))
	p.want(http.StatusBadRequest, "invalid_request", p.approver, "POST", "/v1/approvals/grants", made(p.agent, "pay", "true"))
	p.want(http.StatusNotFound, "agent_not_found", p.approver, "POST", "/v1/approvals/grants", made(nothing.agent, "pay", "args.n <= 5"))
}

func TestApprovalQuestionsThatAreRefused(t *testing.T) {
	p := newParties(t)
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		code                     string
	}{
		{"unknown", "GET", "/v1/approvals/apr-0", "", 404, "approval_not_found"},
		{"unknown, waiting", "GET", "/v1/approvals/apr-0?wait=60", "", 404, "approval_not_found"},
		{"a long wait", "GET", p.path("?wait=61"), "", 400, "invalid_wait_parameter"},
		{"no number", "GET", p.path("?wait=1s"), "", 400, "invalid_wait_parameter"},
		{"a state that is none", "GET", "/v1/approvals?state=open", "", 400, "invalid_state_parameter"},
		{"neither true nor false", "GET", "/v1/approvals?undelivered=1", "", 400, "invalid_request"},
		{"an agent that is none", "GET", "/v1/approvals?agent=" + nothing.agent, "", 404, "agent_not_found"},
		{"an unknown grant", "GET", "/v1/approvals/grants/gra-0", "", 404, "grant_not_found"},
		{"an unknown grant to revoke", "DELETE", "/v1/approvals/grants/gra-0", "", 404, "grant_not_found"},
		{"a long note", "POST", p.path("/deny"), encode(map[string]string{"note": strings.Repeat("ä", 1001)}), 400, "invalid_request"},
		{"a note that commands terminals", "POST", p.path("/deny"), `{"note":"\u001b[2J"}`, 400, "invalid_request"},
		{"a field that is none", "POST", p.path("/deny"), `{"grant":{}}`, 400, "invalid_request"},
		{"another method", "PUT", p.path(""), "{}", 405, "method_not_allowed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			key := p.approver
			if r := p.ask(key, c.method, c.path, c.body); r.status != c.status || r.code() != c.code {
				t.Errorf("%d %s, want %d %s", r.status, r.body, c.status, c.code)
			}
		})
	}
	p.want(http.StatusBadRequest, "invalid_last_event_id", p.reader, "GET", "/v1/approvals/events", "", "Last-Event-ID", "x")
	if got := p.want(http.StatusOK, "", p.reader, "GET", p.path(""), "").text("state"); got != "pending" {
		t.Errorf("it is %s", got)
	}
}
