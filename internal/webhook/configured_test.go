package webhook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/webhook"
)

const ownSecret = "own-secret-of-20-bytes-or-more"

func hook(url string, types ...string) webhook.Configured {
	return webhook.Configured{URL: url, Secret: ownSecret, EventTypes: types}
}

// configure makes the configured endpoints of an account, and returns all that it has then.
func (b *bench) configure(list ...webhook.Configured) []webhook.Endpoint {
	b.t.Helper()
	if err := b.Configure(b.t.Context(), "acme", list); err != nil {
		b.t.Fatal(err)
	}
	have, _, err := b.store.Webhooks(b.t.Context(), "acme", 100, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	return have
}

// What the configuration names is there, once, with the same id after every start, and goes when it is not named any more.
func TestConfiguredEndpoints(t *testing.T) {
	b := newBench(t)
	made, _ := b.endpoint("acme", "http://127.0.0.1:1/made", "*")
	first := b.configure(hook("http://127.0.0.1:1/a", "approval.*"), hook("http://127.0.0.1:1/b", "*"))
	if len(first) != 3 {
		t.Fatalf("%d endpoints, want 3", len(first))
	}
	i := slices.IndexFunc(first, func(e webhook.Endpoint) bool { return e.URL == "http://127.0.0.1:1/a" })
	a := first[i]
	if a.Description != "from the configuration" || !slices.Equal(a.EventTypes, []string{"approval.*"}) {
		t.Errorf("%+v", a)
	}
	if again := b.configure(hook("http://127.0.0.1:1/a", "approval.*"), hook("http://127.0.0.1:1/b", "*")); !slices.EqualFunc(first, again, func(x, y webhook.Endpoint) bool {
		return x.ID == y.ID && x.Updated.Equal(y.Updated) && string(x.Sealed) == string(y.Sealed)
	}) {
		t.Errorf("a second start has changed %+v to %+v", first, again)
	}
	changed := webhook.Configured{URL: "http://127.0.0.1:1/a", Secret: ownSecret + "2", EventTypes: []string{"agent.*"}}
	list := b.configure(changed)
	if len(list) != 2 || !slices.ContainsFunc(list, func(e webhook.Endpoint) bool { return e.ID == made.ID }) {
		t.Fatalf("%+v", list)
	}
	now, err := b.Find(t.Context(), "acme", a.ID)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := box(t).Open(now.Sealed, "webhook:"+a.ID)
	if err != nil || string(secret) != ownSecret+"2" || !slices.Equal(now.EventTypes, changed.EventTypes) {
		t.Errorf("%q, %v, %+v", secret, err, now)
	}
}

// A list with something wrong in it changes nothing.
func TestConfiguredListsAreTakenWhole(t *testing.T) {
	b := newBench(t)
	for name, wrong := range map[string]webhook.Configured{
		"a private address": hook("http://10.0.0.1/x", "*"),
		"no secret":         {URL: "http://127.0.0.1:1/x", EventTypes: []string{"*"}},
		"two lines":         {URL: "http://127.0.0.1:1/x", Secret: ownSecret + "\n", EventTypes: []string{"*"}},
		"a pattern":         hook("http://127.0.0.1:1/x", "a*b"),
	} {
		err := b.Configure(t.Context(), "acme", []webhook.Configured{hook("http://127.0.0.1:1/a", "*"), wrong})
		var invalid *webhook.Invalid
		if !errors.As(err, &invalid) || strings.Contains(err.Error(), ownSecret) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := b.Configure(t.Context(), "acme", make([]webhook.Configured, 21)); !errors.Is(err, webhook.ErrTooMany) {
		t.Error(err)
	}
	if list := b.configure(); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

// The API leaves what the configuration says to the configuration; to switch an endpoint off and on is the API's all the same.
func TestConfiguredEndpointsAreFixed(t *testing.T) {
	b := newBench(t)
	e := b.configure(hook("http://127.0.0.1:1/a", "*"))[0]
	url, yes, no := "http://127.0.0.1:1/b", true, false
	_, _, rotated := b.Rotate(t.Context(), "acme", e.ID)
	_, changed := b.Change(t.Context(), "acme", e.ID, webhook.Spec{URL: &url})
	for what, err := range map[string]error{"change": changed, "rotate": rotated, "delete": b.Delete(t.Context(), "acme", e.ID)} {
		var invalid *webhook.Invalid
		if !errors.As(err, &invalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, disabled := range []*bool{&yes, &no} {
		if got, err := b.Change(t.Context(), "acme", e.ID, webhook.Spec{Disabled: disabled}); err != nil || got.Disabled != *disabled {
			t.Errorf("%+v, %v", got, err)
		}
		if got := b.configure(hook("http://127.0.0.1:1/a", "*"))[0]; got.Disabled != *disabled {
			t.Error("a start has switched it on or off")
		}
	}
}

// What becomes of an approval is told to a configured endpoint, signed with its own secret, and names the approval.
func TestApprovalsAreTold(t *testing.T) {
	b, to := newBench(t), newReceiver(t)
	b.configure(hook(to.URL, "approval.*"))
	kinds := []string{"approval.requested", "approval.approved", "approval.denied", "approval.expired", "approval.consumed", "approval.revoked"}
	for _, kind := range append(kinds, "agent.paused") {
		r := audit.Record{ID: "request-" + kind, Type: "event", Time: began, Account: "acme", Agent: "mnm-1", Session: "s-1", Surface: "proxy",
			Event: &gatehouse.Event{Type: kind, Target: "apr-1", Data: json.RawMessage(`{"approval":"apr-1","rule":"rules[0]"}`)}}
		if err := b.store.Append(t.Context(), r, nil, true); err != nil {
			t.Fatal(err)
		}
	}
	round := b.round()
	for range kinds {
		b.step(round)
	}
	var told []string
	for _, a := range to.all() {
		var event struct {
			Type string       `json:"type"`
			Data webhook.Data `json:"data"`
		}
		if err := json.Unmarshal(a.body, &event); err != nil {
			t.Fatal(err)
		}
		told = append(told, event.Type)
		if event.Data.Target != "apr-1" || event.Data.AgentID != "mnm-1" || event.Data.SessionID != "s-1" {
			t.Errorf("%s: %s", event.Type, a.body)
		}
		mac := hmac.New(sha256.New, []byte(ownSecret))
		mac.Write([]byte(a.header.Get("X-Webhook-Timestamp") + "." + string(a.body)))
		if a.header.Get("X-Webhook-Signature") != "v1="+hex.EncodeToString(mac.Sum(nil)) {
			t.Errorf("%s is not signed with the configured secret", event.Type)
		}
	}
	slices.Sort(told)
	slices.Sort(kinds)
	if !slices.Equal(told, kinds) {
		t.Errorf("told %v, want %v", told, kinds)
	}
}
