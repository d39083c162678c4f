package identity_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/identity"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
)

func open(t *testing.T, path string) *store.Store {
	t.Helper()
	db, err := store.Open(t.Context(), "sqlite:"+path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func start(t *testing.T, s identity.Store) *identity.Authority {
	t.Helper()
	a := &identity.Authority{Store: s, Log: slog.New(slog.DiscardHandler)}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return a
}

func put(t *testing.T, db *store.Store, k identity.Key) (token string) {
	t.Helper()
	k.ID, token = identity.NewKey()
	k.Hash, k.Account, k.Created = identity.HashToken(token), "acme", time.Now()
	if err := db.PutKey(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	return token
}

func soon(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 300 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("never: " + what)
}

func knows(a *identity.Authority, token string) bool {
	_, err := a.Caller(token)
	return err == nil
}

func TestCaller(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "g.db"))
	now := time.Now()
	good := put(t, db, identity.Key{Scopes: []identity.Scope{identity.Read}, Agents: []string{"mnm-1"}, Expires: now.Add(time.Hour)})
	revoked := put(t, db, identity.Key{Revoked: now})
	expired := put(t, db, identity.Key{Expires: now.Add(-time.Second)})
	a := start(t, db)
	a.SetAdmin("mnm_root")
	c, err := a.Caller(good)
	if err != nil || c.Root || c.Account != "acme" || !c.Can(identity.Read) || c.Can(identity.Write) || len(c.Agents) != 1 || c.Expires.IsZero() {
		t.Errorf("%+v, %v", c, err)
	}
	for name, token := range map[string]string{"revoked": revoked, "expired": expired, "none": "", "unknown": "mnm_x", "a prefix": good[:20],
		"longer": good + "x", "other letters": "MNM_" + good[4:], "the id of the administrator": identity.AdminID} {
		if _, err := a.Caller(token); !errors.Is(err, identity.ErrUnknown) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if c, err := a.Caller("mnm_root"); err != nil || !c.Root || c.Key != identity.AdminID || len(c.Scopes) != len(identity.Scopes()) {
		t.Errorf("%+v, %v", c, err)
	}
	a.SetAdmin("")
	if knows(a, "mnm_root") {
		t.Error("a token that the configuration no longer has is the administrator's")
	}
}

// A key that another process revokes is refused here as well, and the doors close for the first key that another makes.
func TestAnotherProcessChangesKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.db")
	here, there := open(t, path), open(t, path)
	a := start(t, here)
	if !a.Keyless() {
		t.Fatal("there is no key yet")
	}
	id, token := identity.NewKey()
	k := identity.Key{ID: id, Account: "acme", Hash: identity.HashToken(token), Created: time.Now()}
	for _, step := range []struct {
		revoked time.Time
		known   bool
	}{{time.Time{}, true}, {time.Now(), false}} {
		k.Revoked = step.revoked
		if err := there.PutKey(t.Context(), k); err != nil {
			t.Fatal(err)
		}
		soon(t, "the change is seen", func() bool { return knows(a, token) == step.known })
	}
	if a.Keyless() {
		t.Error("it opens again")
	}
	c := identity.Containment{Agent: "mnm-1", Credential: "c1", State: identity.Paused, Time: time.Now()}
	if err := there.Contain(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	soon(t, "the containment is seen", func() bool { _, ok := a.Contained("mnm-1", ""); return ok })
}

// The strictest of what is against a credential counts, and lifting it from one agent leaves what is against another.
func TestContained(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "g.db"))
	a := start(t, db)
	contain := func(agent, credential string, s identity.State) {
		t.Helper()
		if err := db.Contain(t.Context(), identity.Containment{Agent: agent, Credential: credential, State: s, Time: time.Now()}); err != nil {
			t.Fatal(err)
		}
		if err := a.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	want := func(agent, credential string, state identity.State) {
		t.Helper()
		c, ok := a.Contained(agent, credential)
		if ok != (state != "") || c.State != state {
			t.Errorf("%s with %s: %q, want %q", agent, credential, c.State, state)
		}
	}
	contain("one", "c", identity.Paused)
	contain("two", "c", identity.Killed)
	contain("three", "", identity.Paused)
	want("one", "", identity.Paused)
	want("other", "c", identity.Killed)
	want("other", "", "")
	want("other", "d", "")
	want("three", "d", identity.Paused)
	contain("two", "c", identity.Active)
	want("other", "c", identity.Paused)
	contain("one", "c", identity.Active)
	want("other", "c", "")
	want("one", "c", "")
}

// failing is a store that answers until it breaks.
type failing struct {
	identity.Store
	broken chan struct{}
}

func (f failing) IdentityChanges(ctx context.Context) (int64, error) {
	select {
	case <-f.broken:
		return 0, errors.New("no disk")
	default:
		return f.Store.IdentityChanges(ctx)
	}
}

// While the store cannot be read, what was last known stays in force: a key that was revoked before stays revoked.
func TestStoreThatBreaks(t *testing.T) {
	f := failing{open(t, filepath.Join(t.TempDir(), "g.db")), make(chan struct{})}
	db := f.Store.(*store.Store)
	good, revoked := put(t, db, identity.Key{}), put(t, db, identity.Key{Revoked: time.Now()})
	a := start(t, f)
	close(f.broken)
	time.Sleep(600 * time.Millisecond) // two looks
	if !knows(a, good) || knows(a, revoked) || a.Keyless() {
		t.Error("what was known is forgotten")
	}
}

func TestValidAccount(t *testing.T) {
	for name, ok := range map[string]bool{"a": true, "default": true, "a-b-1": true, "12345678901234567890123456789012": true,
		"": false, "-a": false, "a-": false, "A": false, "a b": false, "ä": false, "a\n": false, "123456789012345678901234567890123": false} {
		if identity.ValidAccount(name) != ok {
			t.Errorf("%q: %v", name, !ok)
		}
	}
}

func TestSees(t *testing.T) {
	for _, c := range []struct {
		caller identity.Caller
		want   bool
	}{
		{identity.Caller{Account: "acme"}, true},
		{identity.Caller{Account: "globex"}, false},
		{identity.Caller{Account: ""}, false},
		{identity.Caller{Account: "acme", Agents: []string{"mnm-1"}}, true},
		{identity.Caller{Account: "acme", Agents: []string{"mnm-2"}}, false},
		{identity.Caller{Account: "globex", Agents: []string{"mnm-1"}}, false},
		{identity.Caller{Root: true}, true},
	} {
		if got := c.caller.Sees("acme", "mnm-1"); got != c.want {
			t.Errorf("%+v: %v", c.caller, got)
		}
	}
}

// Keys differ, have the prefix that secret scanners look for, and 256 bits behind it.
func TestNewKey(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		id, token := identity.NewKey()
		if seen[id] || seen[token] || !identity.LooksLike(token) || len(token) != len(identity.Prefix)+43 || len(id) != len("mk-")+16 {
			t.Fatalf("%s and a token of %d bytes", id, len(token))
		}
		seen[id], seen[token] = true, true
	}
}
