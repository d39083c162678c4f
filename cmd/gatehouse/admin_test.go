package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/fake"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
)

// onStore runs a command on a store.
func onStore(t *testing.T, url, stdin string, args ...string) ran {
	t.Helper()
	return command(t, stdin, append(args, "--store", url)...)
}

// resource runs a command that must answer with one JSON object.
func resource(t *testing.T, url, stdin string, args ...string) map[string]any {
	t.Helper()
	got := onStore(t, url, stdin, append(args, "--json")...)
	var doc map[string]any
	if err := json.Unmarshal([]byte(got.stdout), &doc); err != nil || got.code != 0 {
		t.Fatalf("%v: got %+v, want one JSON object", args, got)
	}
	return doc
}

// resources runs a command that must answer with a JSON list of objects.
func resources(t *testing.T, url string, args ...string) (list []map[string]any) {
	t.Helper()
	got := onStore(t, url, "", append(args, "--json")...)
	if err := json.Unmarshal([]byte(got.stdout), &list); err != nil || got.code != 0 || list == nil {
		t.Fatalf("%v: got %+v, want a JSON list", args, got)
	}
	return list
}

func newStoreURL(t *testing.T) string {
	return "sqlite:" + filepath.Join(t.TempDir(), "gatehouse.db")
}

// makeKey makes a key and returns its id and itself.
func makeKey(t *testing.T, url string, args ...string) (id, key string) {
	t.Helper()
	made := resource(t, url, "", append([]string{"keys", "create"}, args...)...)
	return made["id"].(string), made["key"].(string)
}

// events are the events in the audit chain of a store, in order.
func events(t *testing.T, url string) (list []audit.Record) {
	t.Helper()
	s, err := store.OpenReadOnly(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for e, err := range s.Entries(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		r, err := e.Decode()
		if err != nil {
			t.Fatal(err)
		}
		if r.Event != nil {
			list = append(list, r)
		}
	}
	return list
}

func wantEvents(t *testing.T, url string, want ...string) {
	t.Helper()
	var got []string
	for _, r := range events(t, url) {
		got = append(got, r.Event.Type)
		if r.Key != "admin" || r.Surface != "api" {
			t.Errorf("%s: recorded as of key %q by %q", r.Event.Type, r.Key, r.Surface)
		}
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("recorded: %v, want %v", got, want)
	}
	if v := onStore(t, url, "", "audit", "verify"); v.code != 0 {
		t.Errorf("verify: %+v", v)
	}
}

func TestAKeyIsPrintedOnce(t *testing.T) {
	url := newStoreURL(t)
	made := onStore(t, url, "", "keys", "create", "--name", "ci", "--account", "acme", "--scope", "gateway,admin", "--expires", "90d")
	key := strings.TrimSpace(made.stdout)
	if made.code != 0 || !strings.HasPrefix(key, "mnm_") || strings.ContainsAny(key, " \n") {
		t.Fatalf("got %+v, want the key alone on standard output", made)
	}
	if strings.Contains(made.stderr, key) || !strings.Contains(made.stderr, "this once") {
		t.Errorf("standard error: %q", made.stderr)
	}
	list := resources(t, url, "keys", "list")
	if len(list) != 1 || list[0]["name"] != "ci" || list[0]["account"] != "acme" || len(list[0]["scopes"].([]any)) != 2 {
		t.Fatalf("got %v", list)
	}
	expires, err := time.Parse(time.RFC3339, list[0]["expires_at"].(string))
	if left := time.Until(expires); err != nil || left < 89*24*time.Hour || left > 91*24*time.Hour {
		t.Errorf("it expires in %v, %v", left, err)
	}
	id := list[0]["id"].(string)
	rotated := onStore(t, url, "", "keys", "rotate", id)
	if next := strings.TrimSpace(rotated.stdout); rotated.code != 0 || next == key || !strings.HasPrefix(next, "mnm_") {
		t.Errorf("got %+v, want another key", rotated)
	}
	if got := onStore(t, url, "", "keys", "revoke", id); got.code != 0 || !strings.Contains(got.stdout, id) {
		t.Errorf("got %+v", got)
	}
	if got := onStore(t, url, "", "keys", "rotate", id); got.code != 1 || got.stdout != "" {
		t.Errorf("a revoked key was rotated: %+v", got)
	}
	table := onStore(t, url, "", "keys", "list").stdout
	if !strings.HasPrefix(table, "ID ") || !strings.Contains(table, id) || strings.Contains(table, key) {
		t.Errorf("got %s", table)
	}
	wantEvents(t, url, "key.created", "key.rotated", "key.revoked")
}

func TestAdministrationRefuses(t *testing.T) {
	url := newStoreURL(t)
	if got := onStore(t, url, "", "keys", "list"); got.code != 2 || !strings.Contains(got.stderr, "no database") {
		t.Errorf("a store that is not there: %+v", got)
	}
	if _, err := os.Stat(strings.TrimPrefix(url, "sqlite:")); !os.IsNotExist(err) {
		t.Errorf("listing made a database: %v", err)
	}
	makeKey(t, url)
	for _, c := range []struct {
		code  int
		stdin string
		args  string
	}{
		{1, "", "keys revoke mk-0000000000000000"},
		{1, "", "keys rotate admin"},
		{2, "", "keys revoke ../agents"},
		{2, "", "keys revoke mk-1/rotate"},
		{2, "", "keys revoke"},
		{2, "", "keys create nope"},
		{2, "", "keys create --scope nope"},
		{2, "", "keys create --account No"},
		{1, "", "keys create --agent mnm-nobody"},
		{2, "", "keys create --expires yesterday"},
		{2, "", "keys create --expires 0d"},
		{2, "", "keys create --expires 2001-01-01T00:00:00Z"},
		{1, "", "agents show mnm-nobody"},
		{1, "", "agents kill mnm-nobody"},
		{1, "", "agents delete mnm-nobody"},
		{1, "key\n", "agents claim mnm-nobody"},
		{2, "\n", "agents claim mnm-nobody"},
		{2, "", "agents rekey mnm-nobody"},
		{2, "", "agents create x --hash-proof nope"},
		{2, "", "webhooks create https://example.com/hook"},
		{2, "", "webhooks create http://127.0.0.1/ --event *"},
		{1, "", "webhooks show whe-nobody"},
		{1, "", "webhooks test whe-nobody"},
		{1, "", "webhooks redeliver whe-nobody whd-nobody"},
	} {
		got := onStore(t, url, c.stdin, strings.Fields(c.args)...)
		if got.code != c.code || got.stdout != "" || got.stderr == "" {
			t.Errorf("%s: got %+v, want %d and words on standard error alone", c.args, got, c.code)
		}
	}
	wantEvents(t, url, "key.created")
}

func TestAgentCommands(t *testing.T) {
	url := newStoreURL(t)
	made := resource(t, url, "provider-key\r\n", "agents", "create", "researcher")
	id := made["id"].(string)
	if made["agent_hash"] != hashOf("provider-key|researcher")[:16] {
		t.Errorf("made of another credential: %v", made)
	}
	if got := onStore(t, url, "provider-key\n", "agents", "create", "researcher"); got.code != 1 {
		t.Errorf("made twice: %+v", got)
	}
	if got := resource(t, url, "", "agents", "rename", id, "reader"); got["name"] != "reader" {
		t.Errorf("got %v", got)
	}
	if got := resource(t, url, "other-key\n", "agents", "rekey", id); got["agent_hash"] != hashOf("other-key|reader")[:16] {
		t.Errorf("bound to another credential: %v", got)
	}
	if got := onStore(t, url, "provider-key\n", "agents", "claim", id); got.code != 1 {
		t.Errorf("claimed with the old credential: %+v", got)
	}
	if got := resource(t, url, "other-key\n", "agents", "claim", id); got["claimed"] != true {
		t.Errorf("got %v", got)
	}
	if got := resource(t, url, "bare-key\n", "agents", "rekey", id, "--bare"); got["agent_hash"] != hashOf("bare-key")[:16] {
		t.Errorf("bound to another credential: %v", got)
	}
	if got := resource(t, url, "bare-key\n", "agents", "claim", id); got["claimed"] != true {
		t.Errorf("got %v", got)
	}
	for _, step := range []struct{ verb, state string }{{"pause", "paused"}, {"resume", "active"}, {"kill", "killed"}, {"reactivate", "active"}} {
		if got := resource(t, url, "", "agents", step.verb, id, "--reason", "a reason"); got["state"] != step.state {
			t.Errorf("%s: got %v", step.verb, got)
		}
	}
	resource(t, url, "", "agents", "kill", id)
	if got := onStore(t, url, "", "agents", "resume", id); got.code != 1 {
		t.Errorf("a killed agent was resumed: %+v", got)
	}
	if sheet := onStore(t, url, "", "agents", "show", id).stdout; !strings.Contains(sheet, "killed") || !strings.Contains(sheet, "reader") {
		t.Errorf("got %s", sheet)
	}
	if got := onStore(t, url, "", "agents", "delete", id); got.code != 0 {
		t.Errorf("got %+v", got)
	}
	if left := resources(t, url, "agents", "list"); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	wantEvents(t, url, "agent.created", "agent.renamed", "agent.rekeyed", "agent.claimed", "agent.rekeyed", "agent.claimed",
		"agent.paused", "agent.resumed", "agent.killed", "agent.reactivated", "agent.killed", "agent.deleted")
}

func TestWebhookCommands(t *testing.T) {
	url := newStoreURL(t)
	first := onStore(t, url, "", "webhooks", "create", "https://gatehouse.invalid/hook", "--event", "sh.*,key.created")
	if first.code != 0 || !strings.HasPrefix(first.stdout, "whsec_") || !strings.Contains(first.stderr, "this once") {
		t.Fatalf("got %+v", first)
	}
	list := resources(t, url, "webhooks", "list")
	if len(list) != 1 || list[0]["account"] != "default" || len(list[0]["event_types"].([]any)) != 2 || list[0]["signing_secret"] != nil {
		t.Fatalf("got %v", list)
	}
	id := list[0]["id"].(string)
	if got := resource(t, url, "", "webhooks", "rotate", id)["signing_secret"]; got == nil || got == strings.TrimSpace(first.stdout) {
		t.Error("the secret is not another one")
	}
	if got := resource(t, url, "", "webhooks", "test", id); got["event_type"] != "webhook.test" {
		t.Errorf("got %v", got)
	}
	startServe(t, gatewayFile(t, url, ""), "")
	var sent []map[string]any
	for range 500 {
		if sent = resources(t, url, "webhooks", "deliveries", id, "--limit", "1"); len(sent) > 0 && sent[0]["attempts"] != 0.0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if len(sent) != 1 || sent[0]["event_type"] != "webhook.test" || sent[0]["last_error"] != "dns" {
		t.Fatalf("got %v, want one attempt at a name that does not exist", sent)
	}
	again := resource(t, url, "", "webhooks", "redeliver", id, sent[0]["id"].(string))
	if again["state"] != "pending" {
		t.Errorf("got %v", again)
	}
	if got := resources(t, url, "webhooks", "deliveries", id, "--state", "dead"); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	if got := resource(t, url, "", "webhooks", "show", id); got["id"] != id {
		t.Errorf("got %v", got)
	}
	if got := resource(t, url, "", "webhooks", "delete", id); got["deleted"] != true {
		t.Errorf("got %v", got)
	}
	wantEvents(t, url, "webhook.created", "webhook.rotated", "webhook.test", "webhook.redelivered", "webhook.deleted")
}

// TestACommandStartsNothing keeps a command going for longer than commands take.
func TestACommandStartsNothing(t *testing.T) {
	a := admin{store: newStoreURL(t)}
	err := a.run(t.Context(), true, func() error {
		raw, err := a.ask(t.Context(), http.MethodPost, "/v1/webhooks", map[string]any{"url": "https://gatehouse.invalid/", "event_types": []string{"*"}})
		if err != nil {
			return err
		}
		made, err := fields(raw)
		if err != nil {
			return err
		}
		path := "/v1/webhooks/" + made["id"].(string)
		if _, err := a.ask(t.Context(), http.MethodPost, path+"/test", nil); err != nil {
			return err
		}
		time.Sleep(600 * time.Millisecond) // a dispatcher would look twice
		sent, err := a.all(t.Context(), path+"/deliveries", "deliveries")
		if len(sent) != 0 {
			t.Errorf("it delivers: %s", sent)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// gatewayFile writes the configuration of a gateway on a free port of loopback.
func gatewayFile(t *testing.T, url, more string) string {
	t.Helper()
	return file(t, "listen: 127.0.0.1:0\nstore: "+url+"\n"+more)
}

// TestAServingGatewayNotices changes the store of a gateway that is another process.
func TestAServingGatewayNotices(t *testing.T) {
	model := httptest.NewServer(&fake.OpenAI{})
	defer model.Close()
	url := newStoreURL(t)
	gateway, _ := startGateway(t, gatewayFile(t, url, "upstreams: {openai: {format: openai, url: "+model.URL+"}}\n"))
	call := func(headers ...string) func() said {
		return func() said {
			return ask(t, http.MethodPost, gateway+"/openai/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"hello"}]}`,
				append([]string{"Authorization", "Bearer sk-provider"}, headers...)...)
		}
	}
	if got := call()(); got.status != http.StatusOK {
		t.Fatalf("without keys: %d %s", got.status, got.body)
	}
	id, key := makeKey(t, url)
	slowest := await(t, http.StatusUnauthorized, call())
	withKey := call("X-Mnemom-Api-Key", key)
	if got := withKey(); got.status != http.StatusOK {
		t.Fatalf("with the key: %d %s", got.status, got.body)
	}
	again := withKey()
	agent := again.header.Get("X-Mnemom-Agent")
	if again.status != http.StatusOK || agent == "" {
		t.Fatalf("with the key once more: %d %s", again.status, again.body)
	}
	for _, step := range []struct {
		verb   string
		status int
	}{{"pause", 403}, {"resume", 200}, {"kill", 403}, {"reactivate", 200}} {
		if got := onStore(t, url, "", "agents", step.verb, agent); got.code != 0 {
			t.Fatalf("%s: %+v", step.verb, got)
		}
		slowest = max(slowest, await(t, step.status, withKey))
		if got := call("X-Mnemom-Api-Key", key, "X-Mnemom-Agent", "another-name")(); got.status != step.status {
			t.Errorf("%s: under another name %d %s", step.verb, got.status, got.body)
		}
	}
	if got := onStore(t, url, "", "keys", "revoke", id); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	slowest = max(slowest, await(t, http.StatusUnauthorized, withKey))
	if got := call()(); got.status != http.StatusUnauthorized {
		t.Errorf("with its last key revoked it lets anybody in: %d", got.status)
	}
	t.Logf("noticed after %v at most", slowest)
	if slowest > time.Second { // 250 ms, and time for a busy machine
		t.Errorf("noticed after %v, want 250 ms", slowest)
	}
}

func TestCell(t *testing.T) {
	raw := []byte(`{"name":"a\u001b[31m\nb","none":null,"list":["x","y"],"nothing":[],"inner":{"n":20},"at":"2026-01-02T03:04:05.678+01:00","no":false}`)
	resource, err := fields(raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ field, empty, want string }{
		{"name", "", "a\uFFFD[31m\uFFFDb"}, {"none", "", "-"}, {"none", "never", "never"}, {"missing.inner", "", "-"}, {"list", "", "x,y"},
		{"nothing", "all", "all"}, {"inner.n", "", "20"}, {"at", "", "2026-01-02T02:04:05Z"}, {"no", "", "false"},
	} {
		if got := (column{"", c.field, c.empty}).cell(resource); got != c.want {
			t.Errorf("%s: got %q, want %q", c.field, got, c.want)
		}
	}
}
