package slack_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/approval"
	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/fake"
	"github.com/gatehouse-gateway/gatehouse/internal/seal"
	"github.com/gatehouse-gateway/gatehouse/internal/slack"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
	"github.com/gatehouse-gateway/gatehouse/internal/surface"
)

const (
	botToken      = "xoxb-marked-token"
	signingSecret = "marked-signing-secret"
	channel       = "C0APPROVALS"
	alice         = "U0ALICE"
)

// workspace is a Slack that outlives gateways, and their store.
type workspace struct {
	t     testing.TB
	slack *fake.Slack
	api   *httptest.Server
	store *store.Store
	asked int
}

func newWorkspace(t testing.TB) *workspace {
	t.Helper()
	w := &workspace{t: t, slack: &fake.Slack{Token: botToken, SigningSecret: signingSecret, Channel: channel}}
	w.api = httptest.NewServer(w.slack)
	t.Cleanup(w.api.Close)
	var err error
	if w.store, err = store.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "gatehouse.db")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.store.Close() })
	return w
}

func (w *workspace) settings() *slack.Settings {
	return &slack.Settings{Token: botToken, Channel: channel, SigningSecret: signingSecret, Approvers: []string{alice, "U0BOB"}, API: w.api.URL}
}

// queue is one of a process of its own.
func (w *workspace) queue() *approval.Queue {
	box, err := seal.New(make([]byte, seal.KeySize))
	if err != nil {
		w.t.Fatal(err)
	}
	return &approval.Queue{Store: w.store, Box: box, Log: slog.New(slog.DiscardHandler), Record: ledger{w.store}.Finish}
}

// ask makes a pending approval.
func (w *workspace) ask(change ...func(*approval.Demand)) string {
	w.t.Helper()
	w.asked++
	d := approval.Demand{Account: "default", Agent: "mnm-1", AgentName: "bot", Session: "s-1", Surface: "proxy", Request: "request-1", Tool: "send_email",
		Digest: [32]byte{byte(w.asked)}, Rule: "rules[0]", Reason: "it sends mail", Risk: 0.25, Now: time.Now(), Expires: time.Now().Add(time.Hour),
		Card: approval.Card{Arguments: `{"to":"marked-recipient@example.com"}`,
			Evidence: &approval.Evidence{Argument: "args.to", Tool: "read_page", Quote: "marked quote <!channel> \u202egnp.exe"}}}
	for _, c := range change {
		c(&d)
	}
	a, err := w.queue().Ask(w.t.Context(), d)
	if err != nil || a.Approval == "" {
		w.t.Fatalf("%+v, %v", a, err)
	}
	return a.Approval
}

func (w *workspace) state(id string) approval.State {
	w.t.Helper()
	a, err := w.queue().Get(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return a.State
}

// message waits until the message about an approval looks as it should, and returns it.
func (w *workspace) message(id string, ok func(fake.SlackMessage) bool) (m fake.SlackMessage) {
	w.t.Helper()
	eventually(w.t, func() bool {
		for _, m = range w.slack.Messages() {
			if strings.Contains(m.Blocks, id) && ok(m) {
				return true
			}
		}
		return false
	})
	return m
}

func waiting(m fake.SlackMessage) bool { return strings.Contains(m.Blocks, "gatehouse_approve") }

func says(text string) func(fake.SlackMessage) bool {
	return func(m fake.SlackMessage) bool { return strings.Contains(m.Blocks, text) && !waiting(m) }
}

// gateway is a process.
type gateway struct {
	*slack.Slack
	w      *workspace
	server *httptest.Server
	log    *buffer
	stop   func() // ends it, once
}

// start starts a process on the store.
func (w *workspace) start() *gateway {
	w.t.Helper()
	g := &gateway{w: w, log: &buffer{}}
	log := slog.New(slog.NewJSONHandler(g.log, nil))
	q := w.queue()
	g.Slack = &slack.Slack{Queue: q, Store: w.store, Transact: w.store.Transact, Checker: ledger{w.store}, Account: "default", Log: log}
	g.Use(w.settings())
	h := &surface.Handler{Checker: ledger{w.store}, Ready: w.store.Ready, Log: log, Surfaces: []surface.Surface{g.Slack}}
	h.Use(&surface.Settings{BodyTime: time.Second})
	g.server = httptest.NewServer(h)
	ctx, cancel := context.WithCancel(context.Background())
	var beside sync.WaitGroup
	beside.Go(func() { g.Run(ctx) })
	beside.Go(func() { q.Run(ctx) })
	g.stop = sync.OnceFunc(func() {
		g.server.Close()
		cancel()
		beside.Wait()
		for _, secret := range []string{botToken, signingSecret, "marked-recipient", "marked quote"} {
			if strings.Contains(g.log.String(), secret) {
				w.t.Errorf("%q is in the log", secret)
			}
		}
	})
	w.t.Cleanup(g.stop)
	return g
}

// press has a user press a button.
func (g *gateway) press(user, action, id string) int {
	g.w.t.Helper()
	status, _, err := g.w.slack.Send(g.w.t.Context(), g.server.URL+slack.Path, g.w.slack.Interaction(user, action, id), time.Now())
	if err != nil {
		g.w.t.Fatal(err)
	}
	return status
}

// ledger writes records into the chain, in the transaction of the context.
type ledger struct{ *store.Store }

func (l ledger) Check(context.Context, *gatehouse.Exchange, gatehouse.Checkpoint) gatehouse.Decision {
	return gatehouse.Decision{}
}

func (l ledger) Finish(ctx context.Context, x *gatehouse.Exchange) error {
	r := audit.Record{ID: x.ID, Type: "exchange", Time: x.Time, Agent: x.Agent, Account: x.Account, Session: x.Session, Surface: x.Surface,
		Event: x.Event, Status: x.Status, Error: x.Error}
	return l.Append(ctx, r, nil, true)
}

// records are those of the chain that are of a kind.
func (w *workspace) records(kind string) (list []audit.Record) {
	w.t.Helper()
	for e, err := range w.store.Entries(w.t.Context(), 1) {
		if err != nil {
			w.t.Fatal(err)
		}
		r, err := e.Decode()
		if err != nil {
			w.t.Fatal(err)
		}
		if r.Kind() == kind {
			list = append(list, r)
		}
	}
	return list
}

func eventually(t testing.TB, ok func() bool) {
	t.Helper()
	for range 1000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("it does not happen")
}

// buffer is a log that is read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
