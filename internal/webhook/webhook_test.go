package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/seal"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
	"github.com/gatehouse-gateway/gatehouse/internal/webhook"
)

func TestMain(m *testing.M) {
	if child() {
		return
	}
	os.Exit(m.Run())
}

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// clock is a clock that stands still.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// bench is a store with all that works on it.
type bench struct {
	*webhook.Registry
	t     testing.TB
	path  string
	store *store.Store
	clock *clock
	log   *bytes.Buffer
}

func loopback() webhook.Targets {
	return webhook.Targets{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}}
}

func box(t testing.TB) *seal.Box {
	t.Helper()
	b, err := seal.New(bytes.Repeat([]byte{9}, seal.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func newBench(t testing.TB) *bench {
	b := &bench{t: t, path: filepath.Join(t.TempDir(), "gatehouse.db"), clock: &clock{at: began}, log: &bytes.Buffer{}}
	b.open()
	t.Cleanup(func() { b.store.Close() })
	return b
}

// open opens the store, again if it was open: what an end of the process leaves of it.
func (b *bench) open() {
	b.t.Helper()
	if b.store != nil {
		if err := b.store.Close(); err != nil {
			b.t.Fatal(err)
		}
	}
	var err error
	if b.store, err = store.Open(b.t.Context(), "sqlite:"+b.path); err != nil {
		b.t.Fatal(err)
	}
	b.Registry = &webhook.Registry{Endpoints: b.store, Deliveries: b.store, Transact: b.store.Transact, Box: box(b.t), Targets: loopback(), Now: b.clock.now}
}

func (b *bench) dispatcher() *webhook.Dispatcher {
	return &webhook.Dispatcher{Chain: b.store, Outbox: b.store, Queue: b.store, Box: box(b.t), Targets: loopback(),
		Log: slog.New(slog.NewTextHandler(b.log, nil)), Now: b.clock.now}
}

func (b *bench) round() webhook.Round { return b.dispatcher().Begin(5 * time.Second) }

func (b *bench) step(r webhook.Round) {
	b.t.Helper()
	if err := r.Step(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}

// endpoint makes an endpoint of an account and returns its secret.
func (b *bench) endpoint(account, url string, types ...string) (webhook.Endpoint, string) {
	b.t.Helper()
	e, secret, err := b.Create(b.t.Context(), account, webhook.Spec{URL: &url, EventTypes: &types})
	if err != nil {
		b.t.Fatal(err)
	}
	return e, secret
}

// happen appends records of deeds to the chain, one of each type.
func (b *bench) happen(account string, kinds ...string) {
	b.t.Helper()
	for _, kind := range kinds {
		r := audit.Record{ID: fmt.Sprintf("%s-%s-%d", account, kind, time.Now().UnixNano()), Type: "event", Time: b.clock.now(), Account: account,
			Surface: "api", Event: &gatehouse.Event{Type: kind, Target: "thing-1"}}
		if err := b.store.Append(b.t.Context(), r, nil, true); err != nil {
			b.t.Fatal(err)
		}
	}
}

// deliveries lists those of an endpoint, newest first.
func (b *bench) deliveries(e webhook.Endpoint) []webhook.Delivery {
	b.t.Helper()
	list, total, err := b.store.WebhookDeliveries(b.t.Context(), e.ID, "", 1000, 0)
	if err != nil || total != len(list) {
		b.t.Fatalf("%d of %d, %v", len(list), total, err)
	}
	return list
}

func (b *bench) get(e webhook.Endpoint) webhook.Endpoint {
	b.t.Helper()
	e, ok, err := b.store.Webhook(b.t.Context(), e.Account, e.ID)
	if err != nil || !ok {
		b.t.Fatalf("%v, %v", ok, err)
	}
	return e
}

// received is one request as a receiver has seen it.
type received struct {
	header http.Header
	body   []byte
}

func (r received) id() string { return r.header.Get("X-Webhook-Id") }

// receiver is a server that answers as it is told, 200 at first.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	got    []received
	answer http.HandlerFunc
}

func newReceiver(t testing.TB) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		r.mu.Lock()
		r.got = append(r.got, received{req.Header.Clone(), body})
		answer := r.answer
		r.mu.Unlock()
		if answer != nil {
			answer(w, req)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) answers(do http.HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = do
}

func (r *receiver) status(code int) {
	r.answers(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
}

func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]received(nil), r.got...)
}

// events are the ids that have come, and how often.
func (r *receiver) events() map[string]int {
	ids := map[string]int{}
	for _, got := range r.all() {
		ids[got.id()]++
	}
	return ids
}

// eventually waits for something that another goroutine does.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for range 1000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("never: " + what)
}

func run(t testing.TB, d *webhook.Dispatcher) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { d.Run(ctx); close(done) }()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

func TestWhatIsSent(t *testing.T) {
	b, to := newBench(t), newReceiver(t)
	b.endpoint("acme", to.URL+"/hook?token=1", "agent.*")
	b.happen("acme", "agent.paused")
	b.step(b.round())
	all := to.all()
	if len(all) != 1 {
		t.Fatalf("%d requests", len(all))
	}
	h := all[0].header
	for name, want := range map[string]string{
		"Content-Type": "application/json", "User-Agent": "Gatehouse-Webhook/1", "X-Webhook-Timestamp": fmt.Sprint(began.Unix()),
	} {
		if h.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, h.Get(name), want)
		}
	}
	var body map[string]any
	if err := json.Unmarshal(all[0].body, &body); err != nil {
		t.Fatal(err)
	}
	data, _ := body["data"].(map[string]any)
	if len(body) != 5 || body["id"] != all[0].id() || !strings.HasPrefix(all[0].id(), "evt-") || body["type"] != "agent.paused" ||
		body["account_id"] != "acme" || body["created_at"] != "2026-03-01T12:00:00Z" || data["target"] != "thing-1" {
		t.Errorf("%s", all[0].body)
	}
}

func TestWhoHearsWhat(t *testing.T) {
	b := newBench(t)
	b.happen("acme", "agent.before") // before there is anybody to hear it
	got := map[string]*receiver{}
	add := func(name, account string, types ...string) webhook.Endpoint {
		got[name] = newReceiver(t)
		e, _ := b.endpoint(account, got[name].URL, types...)
		return e
	}
	add("all", "acme", "*")
	add("agents", "acme", "agent.*")
	add("exact", "acme", "key.created", "agent.paused")
	add("none", "acme")
	add("other", "globex", "*")
	off := add("off", "acme", "*")
	disabled := true
	if _, err := b.Change(t.Context(), "acme", off.ID, webhook.Spec{Disabled: &disabled}); err != nil {
		t.Fatal(err)
	}
	b.happen("acme", "agent.paused", "agents.x", "key.created", "agent.x.y")
	b.happen("globex", "agent.paused")
	b.step(b.round())
	for name, want := range map[string]int{"all": 4, "agents": 2, "exact": 2, "none": 0, "other": 1, "off": 0} {
		if n := len(got[name].all()); n != want {
			t.Errorf("%s heard of %d, want %d", name, n, want)
		}
	}

	// The event of a test goes where it points to, and nowhere else.
	e := b.get(off)
	other := b.get(webhook.Endpoint{ID: add("tested", "acme").ID, Account: "acme"})
	for _, to := range []webhook.Endpoint{e, other} {
		r := audit.Record{ID: "test-" + to.ID, Time: b.clock.now(), Account: "acme", Event: &gatehouse.Event{Type: webhook.TypeTest, Target: to.ID}}
		if err := b.store.Append(t.Context(), r, nil, true); err != nil {
			t.Fatal(err)
		}
	}
	b.step(b.round())
	if len(got["tested"].all()) != 1 || len(got["all"].all()) != 4 || len(got["off"].all()) != 0 {
		t.Errorf("tested %d, all %d, off %d", len(got["tested"].all()), len(got["all"].all()), len(got["off"].all()))
	}

	// What came while it was disabled can be replayed; nothing of another account.
	var missed string
	for id := range got["all"].events() {
		missed = id
	}
	if list, err := b.Replay(t.Context(), "globex", missed); err != webhook.ErrUnknown {
		t.Errorf("%v, %v", list, err)
	}
	enabled := false
	if _, err := b.Change(t.Context(), "acme", off.ID, webhook.Spec{Disabled: &enabled}); err != nil {
		t.Fatal(err)
	}
	if list, err := b.Replay(t.Context(), "acme", missed); err != nil || len(list) < 2 {
		t.Errorf("%v, %v", list, err)
	}
	b.step(b.round())
	if got["off"].events()[missed] != 1 || got["all"].events()[missed] != 2 {
		t.Error("the replayed event did not come")
	}
}
