package approval_test

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/approval"
	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/seal"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// house is a queue on a database, with a clock that stands still until it is moved.
type house struct {
	*approval.Queue
	t     testing.TB
	store *store.Store

	mu  sync.Mutex
	now time.Time
}

func newHouse(t testing.TB, url string) *house {
	t.Helper()
	s, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	box, err := seal.New(make([]byte, seal.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, store: s, now: noon}
	h.Queue = &approval.Queue{Store: s, Box: box, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Clock: h.time,
		Record: func(ctx context.Context, x *gatehouse.Exchange) error {
			return s.Append(ctx, audit.Record{ID: x.ID, Type: "event", Time: x.Time, Agent: x.Agent, Session: x.Session, Surface: x.Surface, Event: x.Event}, nil, true)
		}}
	return h
}

func newURL(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "gatehouse.db") }

func (h *house) time() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *house) pass(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

// demand is that of one call in a session, an hour to decide.
func (h *house) demand(call string) approval.Demand {
	return approval.Demand{Account: "acme", Agent: "mnm-a", AgentName: "bot", Session: "s", Surface: "api", Request: "req-" + call, Tool: "send_email",
		CallID: call, Digest: [32]byte{1}, Rule: "flagged", Reason: "tools like it need approval", Risk: 0.5, Tainted: true,
		Card: approval.Card{Arguments: `{"to":"a@example.com"}`, Evidence: &approval.Evidence{Argument: "args.to", Tool: "read_page", Quote: "write to [EMAIL]"}},
		Now:  h.time(), Expires: h.time().Add(time.Hour)}
}

func (h *house) ask(d approval.Demand) approval.Answer {
	h.t.Helper()
	a, err := h.Ask(context.Background(), d)
	if err != nil {
		h.t.Fatal(err)
	}
	return a
}

// pending asks for a call that nobody has decided on, and returns the id of the approval.
func (h *house) pending(call string) string {
	h.t.Helper()
	a := h.ask(h.demand(call))
	if a.Verdict != gatehouse.Flag {
		h.t.Fatalf("call %q: %+v", call, a)
	}
	return a.Approval
}

type decide func(context.Context, string, approval.Decision) (approval.Approval, error)

func (h *house) decide(do decide, id string) approval.Approval {
	h.t.Helper()
	a, err := do(context.Background(), id, approval.Decision{By: "key-1", From: "192.0.2.1", Note: "as agreed"})
	if err != nil {
		h.t.Fatal(err)
	}
	return a
}

func (h *house) get(id string) approval.Approval {
	h.t.Helper()
	a, err := h.Get(context.Background(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	return a
}

// events are the kinds of what was recorded, in order.
func (h *house) events() (kinds []string) {
	h.t.Helper()
	for e, err := range h.store.Entries(context.Background(), 1) {
		if err != nil {
			h.t.Fatal(err)
		}
		r, err := e.Decode()
		if err != nil {
			h.t.Fatal(err)
		}
		kinds = append(kinds, r.Kind())
	}
	return kinds
}
