// Package storetest is what every kind of database must do, as a test suite: appends, group commit, sessions, keys, approvals,
// tampering and processes that are killed while they write.
package storetest

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
)

// Backend is one kind of database.
type Backend struct {
	// URL names a new and empty database for the test.
	URL func(t testing.TB) string
	// Exec runs SQL in a database behind the store's back.
	Exec func(t testing.TB, url, query string)
}

// Run runs the suite.
func Run(t *testing.T, b Backend) {
	t.Run("append", func(t *testing.T) { testAppend(t, b) })
	t.Run("session", func(t *testing.T) { testSession(t, b) })
	t.Run("anchors", func(t *testing.T) { testAnchors(t, b) })
	t.Run("said", func(t *testing.T) { testSaid(t, b) })
	t.Run("suspicion", func(t *testing.T) { testSuspicion(t, b) })
	t.Run("agent", func(t *testing.T) { testAgent(t, b) })
	t.Run("keys", func(t *testing.T) { testKeys(t, b) })
	t.Run("rejected", func(t *testing.T) { testRejected(t, b) })
	t.Run("read only", func(t *testing.T) { testReadOnly(t, b) })
	t.Run("two stores", func(t *testing.T) { testTwoStores(t, b) })
	t.Run("newer version", func(t *testing.T) { testNewerVersion(t, b) })
	t.Run("tamper", func(t *testing.T) { testTamper(t, b) })
	t.Run("webhooks", func(t *testing.T) { testWebhooks(t, b) })
	t.Run("approvals", func(t *testing.T) { testApprovals(t, b) })
	t.Run("kill", func(t *testing.T) { testKill(t, b) })
}

// Record is a record of an exchange.
func Record(id string) audit.Record {
	return audit.Record{
		ID: id, Type: "exchange", Time: time.Now().UTC(), Agent: "mnm-a", Session: "s", Surface: "proxy", Upstream: "openai",
		Verdicts: map[string]string{"front": "pass", "autonomy": "pass", "integrity": "pass", "back": "pass"},
		Decisions: []gatehouse.Decision{{
			At: gatehouse.Front, Mode: gatehouse.Enforce, Verdict: gatehouse.Allow, Would: gatehouse.Allow,
			Outcome: gatehouse.Pass, Reason: "an <html> & reason",
		}},
		Content: []audit.ContentHash{{Kind: gatehouse.Text, Bytes: 5, HMAC: hex.EncodeToString(audit.ContentHMAC([]byte("key"), id))}},
		Status:  200,
	}
}

// Fill appends n records, named r1 to rN.
func Fill(t testing.TB, s *store.Store, n int) {
	t.Helper()
	for i := range n {
		// The last one waits, and with it all before.
		if err := s.Append(t.Context(), Record(fmt.Sprintf("r%d", i+1)), nil, i == n-1); err != nil {
			t.Fatal(err)
		}
	}
}

// AppendUntilUnhealthy appends records that nobody waits for to a store that cannot write.
func AppendUntilUnhealthy(t testing.TB, s *store.Store) {
	t.Helper()
	for i := 0; s.Err() == nil; i++ {
		if i == 1000 {
			t.Fatal("the store is still healthy")
		}
		if err := s.Append(t.Context(), Record(fmt.Sprintf("unhealthy-%d", i)), nil, false); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if s.Ready(t.Context()) == nil || s.Ping(t.Context()) == nil {
		t.Error("an unhealthy store says that it is ready")
	}
}

// WaitHealthy waits until a store has recovered.
func WaitHealthy(t testing.TB, s *store.Store) {
	t.Helper()
	for range 300 {
		if s.Ready(t.Context()) == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("the store does not recover: %v", s.Err())
}

func open(t testing.TB, url string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// ids reads the chain.
func ids(t testing.TB, s *store.Store) (list []string) {
	t.Helper()
	for e, err := range s.Entries(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e.ID())
	}
	return list
}

func verified(t testing.TB, s *store.Store, want int64) {
	t.Helper()
	r, err := s.Verify(t.Context())
	if err != nil || r.Records != want {
		t.Fatalf("verified %d records, want %d: %v", r.Records, want, err)
	}
}

func testAppend(t *testing.T, b Backend) {
	t.Run("an empty chain verifies", func(t *testing.T) {
		verified(t, open(t, b.URL(t)), 0)
	})
	t.Run("a durable record is there when Append returns", func(t *testing.T) {
		s := open(t, b.URL(t))
		for i, id := range []string{"a", "b", "c"} {
			if err := s.Append(t.Context(), Record(id), nil, true); err != nil {
				t.Fatal(err)
			}
			if h, err := s.Head(t.Context()); err != nil || h.Count != int64(i+1) {
				t.Fatalf("head %+v, %v", h, err)
			}
		}
		verified(t, s, 3)
	})
	t.Run("any other is there soon", func(t *testing.T) {
		s := open(t, b.URL(t))
		began := time.Now()
		if err := s.Append(t.Context(), Record("a"), nil, false); err != nil {
			t.Fatal(err)
		}
		for len(ids(t, s)) == 0 {
			if time.Since(began) > time.Second { // 100 ms are promised; a busy machine is forgiven
				t.Fatal("not committed")
			}
			time.Sleep(5 * time.Millisecond)
		}
	})
	t.Run("Close writes what waits", func(t *testing.T) {
		url := b.URL(t)
		s := open(t, url)
		for i := range 700 {
			if err := s.Append(t.Context(), Record(fmt.Sprint(i)), nil, false); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := s.Append(t.Context(), Record("late"), nil, false); !errors.Is(err, store.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		verified(t, open(t, url), 700)
	})
	t.Run("many at once, closed meanwhile", func(t *testing.T) {
		url := b.URL(t)
		s := open(t, url)
		var accepted atomic.Int64
		var all sync.WaitGroup
		for g := range 16 {
			all.Go(func() {
				for i := range 200 {
					err := s.Append(context.Background(), Record(fmt.Sprintf("%d-%d", g, i)), nil, i%5 == 0)
					if errors.Is(err, store.ErrClosed) {
						return
					} else if err != nil {
						t.Error(err)
						return
					}
					accepted.Add(1)
				}
			})
		}
		time.Sleep(30 * time.Millisecond)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		all.Wait()
		verified(t, open(t, url), accepted.Load())
	})
	t.Run("the record's bytes survive store and export", func(t *testing.T) {
		s := open(t, b.URL(t))
		r := Record("a")
		if err := s.Append(t.Context(), r, nil, true); err != nil {
			t.Fatal(err)
		}
		want, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := s.Export(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), string(want)) {
			t.Errorf("export does not have %s:\n%s", want, out.String())
		}
		if report, err := audit.VerifyExport(&out); err != nil || report.Records != 1 {
			t.Errorf("%+v, %v", report, err)
		}
	})
	t.Run("Follow waits for more", func(t *testing.T) {
		s := open(t, b.URL(t))
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		Fill(t, s, 300) // more than one page
		seen := int64(0)
		for e, err := range s.Follow(ctx, 1) {
			if err != nil {
				t.Fatal(err)
			}
			if seen++; e.Seq != seen {
				t.Fatalf("record %d came as number %d", e.Seq, seen)
			}
			switch seen {
			case 300:
				if err := s.Append(ctx, Record("next"), nil, true); err != nil {
					t.Fatal(err)
				}
			case 301:
				stop()
			}
		}
		if seen != 301 {
			t.Errorf("saw %d", seen)
		}
	})
}

func digest(text string) (d session.Digest) {
	copy(d[:], text)
	return d
}

// update is what a turn adds to a session.
func update(agent, sessionID string, at time.Time, transcript string, texts ...string) *session.Update {
	u := &session.Update{
		Agent:   session.Agent{ID: agent, Hash: "hash-" + agent, Created: at, LastSeen: at},
		Session: sessionID, Transcripts: []session.Digest{digest(transcript)}, Time: at,
	}
	for _, text := range texts {
		u.Decided = append(u.Decided, session.Decided{
			Text: digest(text), Edits: []gatehouse.Edit{{Op: gatehouse.Replace, Start: 1, End: 2, Text: text}},
		})
	}
	return u
}

func testSession(t *testing.T, b Backend) {
	s := open(t, b.URL(t))
	ctx := t.Context()
	append1 := func(id string, u *session.Update) {
		t.Helper()
		// Not durable: the next turn finds it all the same.
		if err := s.Append(ctx, Record(id), u, false); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now().UTC()
	append1("1", update("mnm-a", "one", now, "hello", "x", "y"))
	find := func(agent, transcript, want string) {
		t.Helper()
		id, ok, err := s.SessionByTranscript(ctx, agent, digest(transcript))
		if err != nil || ok != (want != "") || id != want {
			t.Errorf("%s/%s: got %q, %v, %v, want %q", agent, transcript, id, ok, err, want)
		}
	}
	find("mnm-a", "hello", "one")
	find("mnm-a", "hell", "")
	find("mnm-b", "hello", "")

	append1("2", update("mnm-a", "two", now.Add(time.Second), "hello"))
	if err := s.Append(ctx, Record("3"), update("mnm-b", "one", now, "hello", "z"), true); err != nil {
		t.Fatal(err)
	}
	find("mnm-a", "hello", "two") // the newest
	find("mnm-b", "hello", "one")

	many := make([]session.Digest, 1200)
	for i := range many {
		many[i] = digest(fmt.Sprint("text ", i))
	}
	many[3], many[1100] = digest("x"), digest("z")
	got, err := s.DecidedTexts(ctx, "mnm-a", "one", many)
	if err != nil || len(got) != 1 || len(got[digest("x")]) != 1 || got[digest("x")][0].Text != "x" {
		t.Errorf("decided: %v, %v", got, err)
	}
	if got, err := s.DecidedTexts(ctx, "mnm-b", "one", many); err != nil || len(got) != 1 || got[digest("z")] == nil {
		t.Errorf("of another agent's session: %v, %v", got, err)
	}
	if got, err := s.DecidedTexts(ctx, "mnm-a", "two", nil); err != nil || len(got) != 0 {
		t.Errorf("of no texts: %v, %v", got, err)
	}
	append1("4", update("mnm-a", "one", now, "later", "fresh"))
	if got, err := s.DecidedTexts(ctx, "mnm-a", "one", []session.Digest{digest("x"), digest("fresh")}); err != nil || len(got) != 2 {
		t.Errorf("of a turn that is still queued: %v, %v", got, err)
	}
	verified(t, s, 4)
}

func testAgent(t *testing.T, b Backend) {
	s := open(t, b.URL(t))
	ctx := t.Context()
	now := time.Now().UTC()
	if _, ok, err := s.AgentByHash(ctx, "hash-mnm-a"); ok || err != nil {
		t.Fatalf("an agent before there is one: %v, %v", ok, err)
	}
	first := session.Agent{ID: "mnm-a", Hash: "h", Name: "bot", Created: now, LastSeen: now}
	if got, err := s.EnsureAgent(ctx, first); err != nil || got != first {
		t.Fatalf("got %+v, %v", got, err)
	}
	again := session.Agent{ID: "mnm-late", Hash: "h", Name: "bot", Created: now, LastSeen: now.Add(time.Minute)}
	want := first
	want.LastSeen = again.LastSeen
	if got, err := s.EnsureAgent(ctx, again); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	if got, ok, err := s.AgentByHash(ctx, "h"); !ok || err != nil || got != want {
		t.Errorf("got %+v, %v, %v", got, ok, err)
	}

	// An exchange that made the same agent under another id: its record goes to the one that is stored.
	lateKey, err := s.ContentKey(ctx, "mnm-late")
	if err != nil {
		t.Fatal(err)
	}
	r := Record("1")
	r.Agent = "mnm-late"
	u := update("mnm-late", "s", now, "hello", "x")
	u.Agent.Hash = "h"
	if err := s.Append(ctx, r, u, true); err != nil {
		t.Fatal(err)
	}
	for e, err := range s.Entries(ctx, 1) {
		if err != nil {
			t.Fatal(err)
		}
		if got, err := e.Decode(); err != nil || got.Agent != "mnm-a" {
			t.Errorf("the record's agent is %q, %v", got.Agent, err)
		}
	}
	if id, ok, err := s.SessionByTranscript(ctx, "mnm-a", digest("hello")); id != "s" || !ok || err != nil {
		t.Errorf("session %q, %v, %v", id, ok, err)
	}
	if err := s.EraseContentKey(ctx, "mnm-a"); err != nil {
		t.Fatal(err)
	}
	if key, err := s.ContentKey(ctx, "mnm-late"); err != nil || bytes.Equal(key, lateKey) {
		t.Errorf("the key of the id that lost is not erased with the agent (%v)", err)
	}
	verified(t, s, 1)
}

func testKeys(t *testing.T, b Backend) {
	url := b.URL(t)
	s, other := open(t, url), open(t, url)
	ctx := t.Context()
	get := func(key []byte, err error) string {
		t.Helper()
		if err != nil || len(key) != 32 {
			t.Fatalf("%d bytes, %v", len(key), err)
		}
		return string(key)
	}
	gateway := get(s.GatewayKey(ctx))
	a, c := get(s.ContentKey(ctx, "mnm-a")), get(s.ContentKey(ctx, "mnm-c"))
	if a == c || a == gateway {
		t.Error("keys are the same")
	}
	if get(s.GatewayKey(ctx)) != gateway || get(other.GatewayKey(ctx)) != gateway || get(other.ContentKey(ctx, "mnm-a")) != a {
		t.Error("a key is not the same twice")
	}
	if err := s.EraseContentKey(ctx, "mnm-a"); err != nil {
		t.Fatal(err)
	}
	if get(s.ContentKey(ctx, "mnm-a")) == a {
		t.Error("an erased key is back")
	}
	if get(s.ContentKey(ctx, "mnm-c")) != c {
		t.Error("another agent's key went too")
	}
}

// A record that the database refuses fails alone; when nobody waited for it the store says so from then on.
func testRejected(t *testing.T, b Backend) {
	s := open(t, b.URL(t))
	Fill(t, s, 1)
	var all sync.WaitGroup
	var failed atomic.Int64
	for i := range 40 {
		all.Go(func() {
			id := fmt.Sprintf("new-%d", i)
			if i == 17 {
				id = "r1" // is there already
			}
			if err := s.Append(context.Background(), Record(id), nil, true); err != nil {
				failed.Add(1)
			}
		})
	}
	all.Wait()
	if failed.Load() != 1 {
		t.Errorf("%d failed, want 1", failed.Load())
	}
	verified(t, s, 40)
	if err := s.Ready(t.Context()); err != nil {
		t.Errorf("who waited was told, the store is healthy: %v", err)
	}

	if err := s.Append(t.Context(), Record("r1"), nil, false); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), Record("good"), nil, true); err != nil {
		t.Errorf("the one behind it: %v", err)
	}
	if s.Ready(t.Context()) == nil {
		t.Error("an accepted record is missing, and the store says nothing")
	}
	verified(t, s, 41)
}

func testReadOnly(t *testing.T, b Backend) {
	url := b.URL(t)
	s := open(t, url)
	Fill(t, s, 3)
	ro, err := store.OpenReadOnly(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer ro.Close()
	verified(t, ro, 3)
	late := Record("while it is open")
	if err := s.Append(t.Context(), late, nil, true); err != nil {
		t.Fatal(err)
	}
	verified(t, ro, 4)
	if err := ro.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	_, agent := ro.EnsureAgent(t.Context(), session.Agent{ID: "x", Hash: "x"})
	_, key := ro.GatewayKey(t.Context())
	for name, err := range map[string]error{
		"Append": ro.Append(t.Context(), Record("x"), nil, true), "EnsureAgent": agent, "GatewayKey": key,
		"EraseContentKey": ro.EraseContentKey(t.Context(), "x"), "Ready": ro.Ready(t.Context()),
		"PutApproval": ro.PutApproval(t.Context(), pending("apr-x")), "PutGrant": ro.PutGrant(t.Context(), grant("gra-x")),
	} {
		if !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func testTwoStores(t *testing.T, b Backend) {
	url := b.URL(t)
	var all sync.WaitGroup
	for n := range 2 {
		s := open(t, url)
		for g := range 4 {
			all.Go(func() {
				for i := range 25 {
					if err := s.Append(context.Background(), Record(fmt.Sprintf("%d-%d-%d", n, g, i)), nil, i%2 == 0); err != nil {
						t.Error(err)
					}
				}
				if err := s.Append(context.Background(), Record(fmt.Sprintf("%d-%d-end", n, g)), nil, true); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	verified(t, open(t, url), 2*4*26)
}

func testNewerVersion(t *testing.T, b Backend) {
	url := b.URL(t)
	open(t, url)
	b.Exec(t, url, `INSERT INTO schema_version (version) VALUES (1000)`)
	for name, open := range map[string]func(context.Context, string) (*store.Store, error){"Open": store.Open, "OpenReadOnly": store.OpenReadOnly} {
		s, err := open(t.Context(), url)
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "version 1000") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
