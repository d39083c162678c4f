package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/store"
	"github.com/gatehouse-gateway/gatehouse/internal/webhook"
)

func testWebhooks(t *testing.T, b Backend) {
	t.Run("endpoints", func(t *testing.T) { testEndpoints(t, b) })
	t.Run("outbox", func(t *testing.T) { testOutbox(t, b) })
	t.Run("claims", func(t *testing.T) { testClaims(t, b) })
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func endpoint(id, account string) webhook.Endpoint {
	return webhook.Endpoint{ID: id, Account: account, URL: "https://example.com/" + id, Description: "<of> " + account,
		EventTypes: []string{"agent.*", "*"}, Sealed: []byte{0, 1, 255}, Created: noon, Updated: noon}
}

func addWebhook(t *testing.T, s *store.Store, id, account string) webhook.Endpoint {
	t.Helper()
	e, err := s.AddWebhook(t.Context(), endpoint(id, account))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func testEndpoints(t *testing.T, b Backend) {
	s, ctx := open(t, b.URL(t)), t.Context()
	Fill(t, s, 3)
	a, g := addWebhook(t, s, "whe-a", "acme"), addWebhook(t, s, "whe-g", "globex")
	if a.After != 3 {
		t.Errorf("it hears what comes after %d, want 3", a.After)
	}
	if got, ok, err := s.Webhook(ctx, "acme", "whe-a"); !ok || err != nil || !reflect.DeepEqual(got, a) {
		t.Errorf("got %+v, %v, %v, want %+v", got, ok, err, a)
	}
	a.URL, a.EventTypes, a.Sealed, a.Disabled, a.Why, a.Failures, a.Updated = "https://b.example/", nil, []byte{7}, true, webhook.Gone, 5, noon.Add(time.Hour)
	if err := s.PutWebhook(ctx, a); err != nil {
		t.Fatal(err)
	}
	a.EventTypes = []string{}
	for account, want := range map[string][]webhook.Endpoint{"acme": {a}, "globex": {g}, "other": nil, "": {a, g}} {
		list, total, err := s.Webhooks(ctx, account, 10, 0)
		if err != nil || total != len(want) || !reflect.DeepEqual(list, want) {
			t.Errorf("%q: %d, %+v, %v, want %+v", account, total, list, err, want)
		}
	}
	if list, total, err := s.Webhooks(ctx, "", 1, 1); err != nil || total != 2 || len(list) != 1 || list[0].ID != "whe-g" {
		t.Errorf("the second page: %d, %+v, %v", total, list, err)
	}
	for _, c := range []struct {
		account string
		want    bool
	}{{"globex", false}, {"acme", true}, {"acme", false}} {
		if ok, err := s.DeleteWebhook(ctx, c.account, "whe-a"); ok != c.want || err != nil {
			t.Errorf("deleted by %s: %v, %v", c.account, ok, err)
		}
	}
	if _, ok, err := s.Webhook(ctx, "", "whe-a"); ok || err != nil {
		t.Errorf("after it was deleted: %v, %v", ok, err)
	}
}

func event(n int) webhook.Event {
	return webhook.Event{ID: fmt.Sprintf("evt-%d", n), Type: "agent.paused", CreatedAt: noon, Account: "acme", Data: []byte(`{"request_id":"<r>"}`)}
}

func delivery(n int, endpoint string) webhook.Delivery {
	return webhook.Delivery{ID: fmt.Sprintf("whd-%s-%02d", endpoint, n), Webhook: endpoint, Event: fmt.Sprintf("evt-%d", n), Type: "agent.paused",
		State: webhook.Pending, NextAt: noon.Add(time.Duration(n)), Created: noon, Updated: noon}
}

func testOutbox(t *testing.T, b Backend) {
	url := b.URL(t)
	s, other, ctx := open(t, url), open(t, url), t.Context()
	addWebhook(t, s, "whe-a", "acme")
	events, deliveries := []webhook.Event{event(1)}, []webhook.Delivery{delivery(1, "whe-a"), delivery(1, "whe-gone")}
	for _, c := range []struct {
		s        *store.Store
		from, to int64
		want     bool
	}{{s, 5, 9, false}, {s, 0, 4, true}, {other, 0, 4, false}, {other, 4, 6, true}} {
		if ok, err := c.s.Advance(ctx, c.from, c.to, events, deliveries); ok != c.want || err != nil {
			t.Errorf("from %d to %d: %v, %v", c.from, c.to, ok, err)
		}
		events, deliveries = nil, nil
		if c.to == 9 {
			events, deliveries = []webhook.Event{event(1)}, []webhook.Delivery{delivery(1, "whe-a"), delivery(1, "whe-gone")}
		}
	}
	if seq, err := s.Cursor(ctx); seq != 6 || err != nil {
		t.Errorf("cursor %d, %v", seq, err)
	}
	if e, ok, err := s.WebhookEvent(ctx, "acme", "evt-1"); !ok || err != nil || !reflect.DeepEqual(e, event(1)) {
		t.Errorf("%+v, %v, %v", e, ok, err)
	}
	if _, ok, err := s.WebhookEvent(ctx, "globex", "evt-1"); ok || err != nil {
		t.Errorf("another account's event: %v, %v", ok, err)
	}
	list, total, err := s.WebhookDeliveries(ctx, "whe-a", "", 10, 0)
	if err != nil || total != 1 || !reflect.DeepEqual(list, []webhook.Delivery{delivery(1, "whe-a")}) {
		t.Errorf("%d, %+v, %v", total, list, err)
	}
	if _, total, err := s.WebhookDeliveries(ctx, "whe-a", webhook.Dead, 10, 0); total != 0 || err != nil {
		t.Errorf("%d dead, %v", total, err)
	}
	if n, err := s.Prune(ctx, noon.Add(time.Second), 10); n != 1 || err != nil {
		t.Errorf("%d pruned, %v", n, err)
	}
	if _, ok, err := s.WebhookDelivery(ctx, "whe-a", "whd-whe-a-01"); ok || err != nil {
		t.Errorf("the delivery of a pruned event: %v, %v", ok, err)
	}
}

func testClaims(t *testing.T, b Backend) {
	url := b.URL(t)
	s, other, ctx := open(t, url), open(t, url), t.Context()
	const each = 20
	var events []webhook.Event
	var deliveries []webhook.Delivery
	for n := range each {
		events = append(events, event(n))
		for _, id := range []string{"whe-a", "whe-b", "whe-off"} {
			deliveries = append(deliveries, delivery(n, id))
		}
	}
	for _, id := range []string{"whe-a", "whe-b", "whe-off"} {
		e := addWebhook(t, s, id, "acme")
		e.Disabled = id == "whe-off"
		if err := s.PutWebhook(ctx, e); err != nil {
			t.Fatal(err)
		}
	}
	if ok, err := s.Advance(ctx, 0, 1, events, deliveries); !ok || err != nil {
		t.Fatal(ok, err)
	}
	claim := func(s *store.Store, holder string, now time.Time, most, each int, busy ...string) (list []webhook.Attempt) {
		list, err := s.Claim(ctx, webhook.Claim{Holder: holder, Now: now, Until: now.Add(time.Minute), Most: most, Each: each, Busy: busy})
		if err != nil {
			t.Error(err)
		}
		return list
	}
	if n := len(claim(s, "early", noon.Add(-1), 10, 10)); n != 0 {
		t.Errorf("%d claimed before they are due", n)
	}
	now := noon.Add(time.Second)
	first := claim(s, "one", now, 10, 1, "whe-b")
	if len(first) != 1 || first[0].Delivery.ID != "whd-whe-a-00" || first[0].Endpoint.URL != "https://example.com/whe-a" || first[0].Holder != "one" ||
		!reflect.DeepEqual(first[0].Event, event(0)) {
		t.Fatalf("%+v", first)
	}
	// Both at once, until nothing is left: no delivery is claimed twice, none of a disabled endpoint.
	var all sync.WaitGroup
	var mu sync.Mutex
	got := map[string]int{}
	for n, s := range []*store.Store{s, other} {
		all.Go(func() {
			for i := 0; ; i++ {
				list := claim(s, fmt.Sprintf("many-%d-%d", n, i), now, 5, 3)
				if len(list) == 0 || len(list) > 5 {
					return
				}
				mu.Lock()
				for _, a := range list {
					got[a.Delivery.ID]++
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	for id, n := range got {
		if n != 1 {
			t.Errorf("%s was claimed %d times", id, n)
		}
	}
	if len(got) != 2*each-1 {
		t.Errorf("%d were claimed", len(got))
	}

	// A result counts while the claim stands, and once.
	r := webhook.Result{Attempt: first[0], End: webhook.Failed}
	r.Delivery.Attempts, r.Delivery.LastStatus, r.Delivery.NextAt = 1, 500, now.Add(10*time.Second)
	for range 2 {
		if _, err := s.Settle(ctx, []webhook.Result{r}); err != nil {
			t.Fatal(err)
		}
	}
	if e, _, err := s.Webhook(ctx, "acme", "whe-a"); err != nil || e.Failures != 1 {
		t.Errorf("%+v, %v", e, err)
	}
	if d, _, err := s.WebhookDelivery(ctx, "whe-a", first[0].Delivery.ID); err != nil || !reflect.DeepEqual(d, r.Delivery) {
		t.Errorf("%+v, %v, want %+v", d, err, r.Delivery)
	}
	if n := len(claim(s, "later", now.Add(10*time.Second), 100, 100)); n != 1 {
		t.Errorf("%d claimed after ten seconds", n)
	}
	if n := len(claim(s, "last", now.Add(2*time.Minute), 100, 100)); n != 2*each {
		t.Errorf("%d claimed once all claims have run out", n)
	}
	testReadOnlyWebhooks(t, url)
}

func testReadOnlyWebhooks(t *testing.T, url string) {
	ro, err := store.OpenReadOnly(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer ro.Close()
	_, add := ro.AddWebhook(t.Context(), endpoint("whe-x", "acme"))
	_, drop := ro.DeleteWebhook(t.Context(), "", "whe-a")
	_, advance := ro.Advance(t.Context(), 1, 2, nil, nil)
	_, settle := ro.Settle(t.Context(), nil)
	_, prune := ro.Prune(t.Context(), noon, 1)
	for name, err := range map[string]error{"AddWebhook": add, "DeleteWebhook": drop, "Advance": advance, "Settle": settle, "Prune": prune,
		"PutWebhook": ro.PutWebhook(t.Context(), endpoint("whe-a", "acme")), "AddDelivery": ro.AddDelivery(t.Context(), delivery(1, "whe-a"))} {
		if !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
