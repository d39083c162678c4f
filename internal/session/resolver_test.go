package session_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/session"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
)

func resolver(t *testing.T) (*session.Resolver, *store.Store) {
	t.Helper()
	db, err := store.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "g.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return &session.Resolver{Store: db, Key: []byte("a key of this gateway")}, db
}

func find(t *testing.T, r *session.Resolver, credential, name string) (session.Agent, bool) {
	t.Helper()
	a, known, err := r.Agent(t.Context(), "acme", credential, name)
	if err != nil {
		t.Fatal(err)
	}
	return a, known
}

func TestAgentOfACredential(t *testing.T) {
	r, db := resolver(t)
	a, known := find(t, r, "sk-1", "bot")
	if known || a.Hash != session.CredentialHash("sk-1", "bot") || a.Credential != session.CredentialHash("sk-1", "") || a.Account != "acme" {
		t.Errorf("%+v", a)
	}
	if b, _ := find(t, r, "sk-1", "bot"); b.ID != a.ID {
		t.Error("the id of an unknown agent changes")
	}
	for _, other := range [][2]string{{"sk-1", ""}, {"sk-1", "cat"}, {"sk-2", "bot"}} {
		if b, _ := find(t, r, other[0], other[1]); b.ID == a.ID {
			t.Errorf("%v is the same agent", other)
		}
	}
	a.Account, a.Created = "globex", time.Now()
	if _, err := db.EnsureAgent(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if b, known := find(t, r, "sk-1", "bot"); !known || b.ID != a.ID || b.Account != "globex" {
		t.Errorf("%+v", b)
	}
}

// An agent that is bound to another credential keeps its id; whoever comes with the old one is a new agent, each time the same.
func TestOldCredentialOfAnAgent(t *testing.T) {
	r, db := resolver(t)
	ids := map[string]bool{}
	for round := range 3 {
		a, known := find(t, r, "sk-1", "")
		if again, _ := find(t, r, "sk-1", ""); known || ids[a.ID] || again.ID != a.ID {
			t.Fatalf("round %d: %+v, then %+v", round, a, again)
		}
		ids[a.ID] = true
		a.Created = time.Now()
		kept, err := db.EnsureAgent(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		kept.Hash = session.CredentialHash("sk-new", string(rune('a'+round)))
		if err := db.ChangeAgent(t.Context(), kept); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNames(t *testing.T) {
	for name, ok := range map[string]bool{"ab": true, "a-b": true, "A1": true, "a": false, "": false, "-a": false, "a-": false, "a_b": false, "a b": false,
		"ab\n": false, "12345678901234567890123456789012": true, "123456789012345678901234567890123": false} {
		if session.ValidName(name) != ok {
			t.Errorf("name %q: %v", name, !ok)
		}
	}
	for id, ok := range map[string]bool{"a": true, "A.b_c:d-e": true, "": false, "a b": false, "a/b": false, "ä": false, "a\n": false} {
		if session.ValidID(id) != ok {
			t.Errorf("session %q: %v", id, !ok)
		}
	}
}
