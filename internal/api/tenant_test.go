package api_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/api"
)

// proof is what shows that one has a credential.
func proof(credential string) string {
	sum := sha256.Sum256([]byte(credential))
	return hex.EncodeToString(sum[:])
}

func diskOf(t *testing.T, path string) (all []byte) {
	t.Helper()
	for _, suffix := range []string{"", "-wal"} {
		raw, err := os.ReadFile(path + suffix)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		all = append(all, raw...)
	}
	return all
}

// things are the ids of one party's resources.
type things struct {
	account, agent, name, key, request, session, hook, delivery, event, approval, grant string
}

// nothing has ids of the right form that nobody has.
var nothing = things{"nobody", "mnm-00000000-0000-4000-8000-000000000000", "no-name", "mk-0000000000000000",
	"00000000-0000-4000-8000-000000000000", "no-session", "whe-00000000000000000000000000000000",
	"whd-00000000000000000000000000000000", "evt-00000000000000000000000000000000", "apr-00000000000000000000000000000000",
	"gra-00000000000000000000000000000000"}

// marks are what must not be seen of them.
func (x things) marks() []string {
	return []string{x.agent, x.name, x.key, x.request, x.session, x.hook, x.delivery, x.event, x.approval, x.grant}
}

// tenant is an account with one of everything.
type tenant struct {
	things
	keys  map[string]string // by what they are for
	other things            // of an agent of the same account that the restricted key is not for
}

func newTenant(h *house, account string) tenant {
	h.t.Helper()
	x := tenant{keys: map[string]string{}}
	x.account, x.name, x.other.name = account, account+"-one", account+"-two"
	x.key, x.keys["admin"] = h.key(account, nil, "gateway", "api:read", "api:write", "approve", "admin")
	_, x.keys["read"] = h.key(account, nil, "api:read")
	_, x.keys["write"] = h.key(account, nil, "api:write")
	_, x.keys["gateway"] = h.key(account, nil, "gateway")
	all := x.keys["admin"]
	x.agent, x.other.agent = h.agent(all, x.name), h.agent(all, x.other.name)
	_, x.keys["restricted"] = h.key(account, []string{x.agent}, "gateway", "api:read", "api:write", "approve", "admin")
	var others string
	x.other.key, others = h.key(account, []string{x.other.agent}, "gateway", "api:read", "api:write", "admin")

	x.session, x.other.session = account+"-session-one", account+"-session-two"
	x.request = h.told(x.keys["restricted"], attack, "X-Mnemom-Session", x.session)
	x.other.request = h.told(others, attack, "X-Mnemom-Session", x.other.session)
	h.told(x.keys["gateway"], "a quiet question of "+account)
	h.want(http.StatusCreated, "", x.keys["restricted"], "POST", "/v1/audit", encode(map[string]any{"type": "note", "session": x.session,
		"data": map[string]any{"said": account + "-told"}}))
	h.want(http.StatusCreated, "", others, "POST", "/v1/audit", encode(map[string]any{"type": "note", "session": x.other.session}))

	desk := h.desk()
	for _, y := range []*things{&x.things, &x.other} {
		y.approval = desk.ask(demand(account, y.agent, toAlice, "")).Approval
		y.grant = h.want(http.StatusCreated, "", all, "POST", "/v1/approvals/grants", encode(map[string]string{"agent": y.agent,
			"tool": y.name, "scope": "args.n == 1", "for": "1d"})).text("id")
	}

	x.hook = h.want(http.StatusCreated, "", all, "POST", "/v1/webhooks",
		encode(map[string]any{"url": h.receiver.URL, "description": account + "-hook", "event_types": []string{"*"}})).text("id")
	x.event = h.want(http.StatusAccepted, "", all, "POST", "/v1/webhooks/"+x.hook+"/test", "").text("event_id")
	h.soon("both deliveries", func() bool { // of webhook.created and webhook.test
		list, _ := h.ask(all, "GET", "/v1/webhooks/"+x.hook+"/deliveries?state=delivered", "").doc()["deliveries"].([]any)
		for _, d := range list {
			x.delivery = text(d.(map[string]any), "id")
		}
		return len(list) == 2
	})
	x.other.account, x.other.hook, x.other.delivery, x.other.event = account, x.hook, x.delivery, x.event
	return x
}

// told sends a message through the door and returns the request id once its record can be read.
func (h *house) told(token, message string, headers ...string) string {
	h.t.Helper()
	r := h.door(token, message, headers...)
	if r.status != http.StatusOK {
		h.t.Fatalf("door: %d %s", r.status, r.body)
	}
	h.soon("the record", func() bool { return h.ask(rootToken, "GET", "/v1/requests/"+r.request(), "").status == http.StatusOK })
	return r.request()
}

// views are the lists that a tenant has.
func (x tenant) views(h *house) map[string]string {
	h.t.Helper()
	seen := map[string]string{}
	for _, path := range []string{"/v1/keys", "/v1/keys?limit=2&offset=1", "/v1/keys/whoami", "/v1/agents", "/v1/agents?limit=1", "/v1/audit", "/v1/audit?limit=1",
		"/v1/audit?type=agent.*", "/v1/audit?type=exchange", "/v1/audit?order=asc&surface=proxy", "/v1/audit/export", "/v1/audit/export?type=key.*",
		"/v1/agents/" + x.agent, "/v1/agents/" + x.agent + "/advisories", "/v1/agents/" + x.agent + "/containment", "/v1/requests/" + x.request,
		"/v1/webhooks", "/v1/webhooks/" + x.hook, "/v1/webhooks/" + x.hook + "/deliveries", "/v1/keys/" + x.key,
		"/v1/approvals", "/v1/approvals/" + x.approval, "/v1/approvals/grants", "/v1/approvals/grants/" + x.grant} {
		seen[path] = h.want(http.StatusOK, "", x.keys["admin"], "GET", path, "").body
	}
	return seen
}

// probes are, for each operation that takes no id in its path, the requests that name somebody else's things all the same; for
// one that does, the body that it needs.
var probes = map[string]func(things) []string{
	"POST /v1/keys": func(x things) []string {
		return []string{` {"agents":["` + x.agent + `"],"scopes":["api:read"]}`, ` {"account":"` + x.account + `x","scopes":["api:read"]}`}
	},
	"GET /v1/keys":                            nil, // what lists have is compared in TestTenantsAreApart
	"GET /v1/keys/whoami":                     nil,
	"GET /v1/keys/{id}":                       none,
	"DELETE /v1/keys/{id}":                    none,
	"POST /v1/keys/{id}/rotate":               none,
	"POST /v1/agents":                         nil, // names no id
	"GET /v1/agents":                          nil,
	"GET /v1/agents/{id}":                     none,
	"PUT /v1/agents/{id}":                     constant(`{"name":"taken-over"}`),
	"DELETE /v1/agents/{id}":                  none,
	"POST /v1/agents/{id}/claim":              constant(`{"hash_proof":"` + strings.Repeat("0", 64) + `"}`),
	"POST /v1/agents/{id}/rekey":              constant(`{"new_key_hash":"0123456789abcdef"}`),
	"POST /v1/agents/{id}/verify-binding":     constant(`{"key_hash":"0123456789abcdef"}`),
	"GET /v1/agents/{id}/containment":         none,
	"POST /v1/agents/{id}/pause":              none,
	"POST /v1/agents/{id}/resume":             none,
	"POST /v1/agents/{id}/kill":               none,
	"POST /v1/agents/{id}/reactivate":         none,
	"GET /v1/agents/{id}/advisories":          none,
	"GET /v1/agents/{id}/sideband-advisories": none,
	"POST /v1/checkpoints":                    exchanges,
	"POST /v1/checkpoints/input":              nil, // names a session, which is the caller's own whoever else has one of that name
	"POST /v1/checkpoints/tool-call":          nil,
	"POST /v1/checkpoints/tool-result":        nil,
	"POST /v1/checkpoints/output":             nil,
	"GET /v1/approvals":                       filters,
	"GET /v1/approvals/events":                nil, // held apart in TestStreamIsOfTheCaller
	"GET /v1/approvals/{id}":                  none,
	"POST /v1/approvals/{id}/approve":         none,
	"POST /v1/approvals/{id}/deny":            none,
	"POST /v1/approvals/{id}/revoke":          none,
	"GET /v1/approvals/grants":                nil,
	"POST /v1/approvals/grants": func(x things) []string {
		return []string{` {"agent":"` + x.agent + `","tool":"pay","scope":"args.n == 1","for":"1d"}`}
	},
	"GET /v1/approvals/grants/{id}":    none,
	"DELETE /v1/approvals/grants/{id}": none,
	"GET /v1/requests/{id}":            none,
	"GET /v1/audit":                    filters,
	"GET /v1/audit/export":             filters,
	"POST /v1/audit":                   func(x things) []string { return []string{` {"type":"x","agent":"` + x.agent + `"}`} },
	"POST /v1/webhooks": func(x things) []string {
		return []string{` {"url":"https://example.com/","account":"` + x.account + `x"}`}
	},
	"GET /v1/webhooks":                                       nil,
	"GET /v1/webhooks/{id}":                                  none,
	"PATCH /v1/webhooks/{id}":                                constant(`{"disabled":true}`),
	"DELETE /v1/webhooks/{id}":                               none,
	"POST /v1/webhooks/{id}/rotate":                          none,
	"POST /v1/webhooks/{id}/test":                            none,
	"GET /v1/webhooks/{id}/deliveries":                       none,
	"POST /v1/webhooks/{id}/deliveries/{delivery}/redeliver": none,
	"POST /v1/webhooks/events/{event}/replay":                none,
}

func none(things) []string { return []string{""} }

func constant(body string) func(things) []string {
	return func(things) []string { return []string{body} }
}

func exchanges(x things) []string {
	return []string{` {"checkpoint":"front","agent":"` + x.agent + `","exchange":{"id":"7d2f1f0a-3c53-4f5e-9d3c-0a7f4f1a2b3c"}}`}
}

func filters(x things) []string {
	return []string{"?agent=" + x.agent, "?session=" + x.session}
}

// requests are the requests of an operation that name these things: path and body.
func requests(operation string, x things) (method string, list [][2]string) {
	method, pattern, _ := strings.Cut(operation, " ")
	id := x.agent
	switch {
	case strings.HasPrefix(pattern, "/v1/keys"):
		id = x.key
	case strings.HasPrefix(pattern, "/v1/requests"):
		id = x.request
	case strings.HasPrefix(pattern, "/v1/approvals/grants"):
		id = x.grant
	case strings.HasPrefix(pattern, "/v1/approvals"):
		id = x.approval
	case strings.HasPrefix(pattern, "/v1/webhooks"):
		id = x.hook
	}
	path := strings.NewReplacer("{id}", id, "{delivery}", x.delivery, "{event}", x.event).Replace(pattern)
	for _, tail := range probes[operation](x) {
		if query, isQuery := strings.CutPrefix(tail, "?"); isQuery {
			list = append(list, [2]string{path + "?" + query, ""})
		} else {
			list = append(list, [2]string{path, tail})
		}
	}
	return method, list
}

// walk tries every operation on what is somebody else's. It is to be answered like what is not there, to the byte.
func walk(t *testing.T, h *house, keys map[string]string, theirs things) {
	t.Helper()
	for _, operation := range (&api.API{}).Operations() {
		probe, known := probes[operation]
		if !known {
			t.Errorf("%s: say in probes how it could name what is another's", operation)
			continue
		}
		if probe == nil {
			continue
		}
		method, requestsOfTheirs := requests(operation, theirs)
		_, ofNothing := requests(operation, nothing)
		for who, token := range keys {
			for i, r := range requestsOfTheirs {
				got := h.ask(token, method, r[0], r[1])
				want := h.ask(token, method, ofNothing[i][0], ofNothing[i][1])
				same(t, fmt.Sprintf("%s with %q by the %s key", operation, r, who), got, want)
				if got.status < 400 && !strings.Contains(r[0], "?session=") {
					t.Errorf("%s by the %s key: %d %s", operation, who, got.status, got.body)
				}
				for _, mark := range theirs.marks() {
					if mark != "" && strings.Contains(got.body, mark) {
						t.Errorf("%s by the %s key: the answer has %s", operation, who, mark)
					}
				}
			}
		}
	}
	for operation := range probes {
		if !slices.Contains((&api.API{}).Operations(), operation) {
			t.Errorf("%s is no operation any more", operation)
		}
	}
}

// same holds two answers against each other, what no two answers share apart.
func same(t *testing.T, what string, got, want reply) {
	t.Helper()
	for _, r := range []reply{got, want} {
		r.header.Del("X-Mnemom-Request-Id")
		r.header.Del("Date")
	}
	if got.status != want.status || got.body != want.body || fmt.Sprint(got.header) != fmt.Sprint(want.header) {
		t.Errorf("%s can be told from what is not there:\n%d %s %v\n%d %s %v", what, got.status, got.body, got.header, want.status, want.body, want.header)
	}
}

// What one account has is neither read, changed nor learnt of by another.
func TestTenantsAreApart(t *testing.T) {
	h := build(t)
	acme := newTenant(h, "acme")
	before := acme.views(h)
	globex := newTenant(h, "globex")
	for path, body := range acme.views(h) {
		if body != before[path] {
			t.Errorf("GET %s has changed by what another account did:\n%s\n%s", path, before[path], body)
		}
		for _, mark := range append(globex.marks(), "globex") {
			if strings.Contains(body, mark) {
				t.Errorf("GET %s shows %s", path, mark)
			}
		}
	}

	theirs := globex.views(h)
	walk(t, h, acme.keys, globex.things)
	walk(t, h, acme.keys, globex.other)
	// Another's delivery at one's own webhook.
	for _, id := range []string{globex.delivery, nothing.delivery} {
		h.want(http.StatusNotFound, "delivery_not_found", acme.keys["admin"], "POST", "/v1/webhooks/"+acme.hook+"/deliveries/"+id+"/redeliver", "")
	}
	for path, body := range globex.views(h) {
		if body != theirs[path] {
			t.Errorf("GET %s: another account has changed it:\n%s\n%s", path, theirs[path], body)
		}
	}
	h.told(globex.keys["restricted"], "still here")
}

// A key for one agent against another agent of its account.
func TestKeyForSomeAgents(t *testing.T) {
	h := build(t)
	acme := newTenant(h, "acme")
	before := acme.views(h)
	restricted := acme.keys["restricted"]
	walk(t, h, map[string]string{"restricted": restricted}, acme.other)
	after := acme.views(h)
	for _, path := range []string{"/v1/keys", "/v1/agents", "/v1/webhooks", "/v1/agents/" + acme.agent} {
		if before[path] != after[path] {
			t.Errorf("GET %s has changed:\n%s\n%s", path, before[path], after[path])
		}
	}
	for _, path := range []string{"/v1/keys", "/v1/agents", "/v1/audit", "/v1/audit/export", "/v1/audit?session=" + acme.other.session, "/v1/agents/" + acme.agent + "/advisories",
		"/v1/approvals", "/v1/approvals/grants"} {
		r := h.want(http.StatusOK, "", restricted, "GET", path, "")
		for _, mark := range []string{acme.other.agent, acme.other.name, acme.other.key, acme.other.request, acme.other.session, acme.other.approval, acme.other.grant} {
			if strings.Contains(r.body, mark) {
				t.Errorf("GET %s shows %s", path, mark)
			}
		}
	}
	if list := h.want(http.StatusOK, "", restricted, "GET", "/v1/keys", "").doc(); list["total"] != 1.0 {
		t.Errorf("%v", list)
	}
	h.want(http.StatusForbidden, "insufficient_scope", restricted, "GET", "/v1/webhooks", "")
	h.want(http.StatusForbidden, "insufficient_scope", restricted, "POST", "/v1/agents", encode(map[string]any{"name": "new", "hash_proof": proof("new")}))
	h.want(http.StatusForbidden, "insufficient_scope", restricted, "POST", "/v1/agents/"+acme.other.agent+"/claim", encode(map[string]any{"hash_proof": proof(acme.other.name)}))
	h.want(http.StatusForbidden, "insufficient_scope", restricted, "POST", "/v1/keys", `{"scopes":["api:read"]}`)
	made := h.want(http.StatusCreated, "", restricted, "POST", "/v1/keys", `{"agents":["`+acme.agent+`"],"scopes":["api:read"]}`).text("id")
	h.want(http.StatusOK, "", restricted, "GET", "/v1/keys/"+made, "")
	// It may not act as another agent either, whatever it calls itself.
	for _, name := range []string{acme.other.name, acme.other.agent, "somebody"} {
		if r := h.door(restricted, "hello", "X-Mnemom-Agent", name); r.status != http.StatusForbidden {
			t.Errorf("as %s: %d", name, r.status)
		}
	}
}

// What the administrator does to an account's things is in that account's log, and in no other's.
func TestAdministratorsDeedsBelongToTheAccount(t *testing.T) {
	h := build(t)
	_, plain := h.key("default", nil, "api:read")
	acme := newTenant(h, "acme")
	h.want(http.StatusOK, "", rootToken, "POST", "/v1/agents/"+acme.agent+"/pause", `{"reason":"reason-of-acme"}`)
	h.want(http.StatusOK, "", rootToken, "POST", "/v1/webhooks/"+acme.hook+"/rotate", "")
	h.want(http.StatusAccepted, "", rootToken, "POST", "/v1/webhooks/"+acme.hook+"/deliveries/"+acme.delivery+"/redeliver", "")
	h.want(http.StatusAccepted, "", rootToken, "POST", "/v1/webhooks/events/"+acme.event+"/replay", "")
	h.want(http.StatusOK, "", rootToken, "PATCH", "/v1/webhooks/"+acme.hook, `{"description":"x"}`)
	h.want(http.StatusOK, "", rootToken, "DELETE", "/v1/keys/"+acme.other.key, "")
	h.want(http.StatusNoContent, "", rootToken, "DELETE", "/v1/webhooks/"+acme.hook, "")
	log := h.want(http.StatusOK, "", plain, "GET", "/v1/audit?limit=200", "").body
	for _, mark := range append(acme.marks(), "acme", acme.other.key) {
		if strings.Contains(log, mark) {
			t.Errorf("the default account's log shows %s", mark)
		}
	}
	own := h.want(http.StatusOK, "", acme.keys["admin"], "GET", "/v1/audit?limit=200", "").body
	for _, kind := range []string{"key.created", "key.revoked", "agent.paused", "webhook.rotated", "webhook.redelivered", "webhook.replayed", "webhook.updated", "webhook.deleted"} {
		if !strings.Contains(own, `"type":"`+kind+`"`) {
			t.Errorf("the account's own log lacks %s", kind)
		}
	}
}

// Both accounts use one Idempotency-Key for the same words.
func TestIdempotencyKeysOfTwoTenants(t *testing.T) {
	h := build(t)
	_, acme := h.key("acme", nil, "admin", "api:read")
	_, globex := h.key("globex", nil, "admin", "api:read")
	first := h.want(http.StatusCreated, "", acme, "POST", "/v1/keys", `{"scopes":["api:read"]}`, "Idempotency-Key", "one")
	second := h.want(http.StatusCreated, "", globex, "POST", "/v1/keys", `{"scopes":["api:read"]}`, "Idempotency-Key", "one")
	if second.header.Get("Idempotent-Replay") != "" || first.text("id") == second.text("id") || second.text("account") != "globex" {
		t.Errorf("%s\n%s", first.body, second.body)
	}
	// Another body is no 422 for who has not used the key.
	_, third := h.key("third", nil, "admin", "api:read")
	h.want(http.StatusCreated, "", third, "POST", "/v1/keys", `{"scopes":["admin"]}`, "Idempotency-Key", "one")
}

// How long it takes to say no must not tell what is there. The bound is a wide one: a lookup that reads more for what exists, as a
// list would, is past it.
func TestTimeTellsNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("measures")
	}
	h := build(t)
	_, acme := h.key("acme", nil, "admin", "api:read")
	globex := newTenant(h, "globex")
	median := func(path string) time.Duration {
		var took []time.Duration
		for range 200 {
			start := time.Now()
			h.want(http.StatusNotFound, "", acme, "GET", path, "")
			took = append(took, time.Since(start))
		}
		slices.Sort(took)
		return took[len(took)/2]
	}
	for _, c := range [][2]string{{"/v1/agents/" + globex.agent, "/v1/agents/" + nothing.agent}, {"/v1/keys/" + globex.key, "/v1/keys/" + nothing.key},
		{"/v1/requests/" + globex.request, "/v1/requests/" + nothing.request}} {
		there, not := median(c[0]), median(c[1])
		t.Logf("%s: %v, what is not there %v", c[0][:12], there, not)
		if there > 3*not+2*time.Millisecond || not > 3*there+2*time.Millisecond {
			t.Errorf("%s: %v, what is not there %v", c[0], there, not)
		}
	}
}
