package store_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/approval"
	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/identity"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
)

// TestMigration brings databases of every earlier version, with a conversation in them, to the newest: what was there is found
// by the ways that came later, and the chain verifies.
func TestMigration(t *testing.T) {
	scripts, err := filepath.Glob("sqlite/*.sql")
	if err != nil || len(scripts) < 2 {
		t.Fatalf("%d scripts, %v", len(scripts), err)
	}
	for version := 1; version < len(scripts); version++ {
		t.Run(fmt.Sprintf("from version %d", version), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "gatehouse.db")
			old(t, path, scripts[:version])
			s, err := store.Open(t.Context(), "sqlite:"+path)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if r, err := s.Verify(t.Context()); err != nil || r.Head.Count != 1 {
				t.Errorf("the chain: %+v, %v", r, err)
			}
			a, ok, err := s.AgentByHash(t.Context(), "0123456789abcdef")
			if err != nil || !ok || a.Account != identity.DefaultAccount || !a.Deleted.IsZero() {
				t.Errorf("the agent: %+v, %v, %v", a, ok, err)
			}
			list, total, err := s.Records(t.Context(), audit.Filter{Account: identity.DefaultAccount, Agents: []string{"mnm-1"},
				Session: "s", Surface: "proxy", Notable: true, Until: time.Now(), Limit: 10})
			if err != nil || total != 1 || len(list) != 1 || list[0].ID() != "r-1" {
				t.Errorf("records: %v, %d, %v", list, total, err)
			}
			if _, ok, err := s.Record(t.Context(), "r-1", audit.Filter{Account: "other"}); ok || err != nil {
				t.Errorf("another account found the record: %v", err)
			}
			approvals(t, s)
		})
	}
}

// approvals puts an approval and a grant into a store and finds them again.
func approvals(t *testing.T, s *store.Store) {
	t.Helper()
	if err := s.PutApproval(t.Context(), approval.Approval{ID: "apr-1", State: approval.Pending, Agent: "mnm-1"}); err != nil {
		t.Fatal(err)
	}
	if list, err := s.ChangedApprovals(t.Context(), 0, 10); err != nil || len(list) != 1 || list[0].ID != "apr-1" || list[0].Version != 1 {
		t.Errorf("approvals: %+v, %v", list, err)
	}
	if err := s.PutGrant(t.Context(), approval.Grant{ID: "gra-1"}); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := s.GrantByID(t.Context(), "gra-1"); !ok || err != nil {
		t.Errorf("the grant: %v, %v", ok, err)
	}
}

// old makes a database of an earlier version, with one agent and one record.
func old(t *testing.T, path string, scripts []string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	do := func(query string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
			t.Fatal(err)
		}
	}
	do(`CREATE TABLE schema_version (version INTEGER NOT NULL)`)
	for i, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		do(string(text))
		do(`INSERT INTO schema_version (version) VALUES (?)`, i+1)
	}
	do(`INSERT INTO agents (id, hash, name, created, last_seen) VALUES ('mnm-1', '0123456789abcdef', '', 1, 1)`)
	raw := []byte(`{"id":"r-1","type":"exchange","time":"2026-11-01T10:00:00Z","agent":"mnm-1","session":"s","surface":"proxy",` +
		`"verdicts":{"front":"observed"},"decisions":[{"at":"front","advisories":[{"source":"safe_house","text":"x"}]}],"usage":{},"took_ns":1}`)
	e := audit.Seal(1, [32]byte{}, raw)
	if len(scripts) < 3 {
		do(`INSERT INTO records (seq, id, record, prev, hash, leaf) VALUES (1, 'r-1', ?, ?, ?, ?)`, string(raw), e.Prev[:], e.Hash[:], e.Leaf[:])
	} else {
		do(`INSERT INTO records (seq, id, record, prev, hash, leaf, agent, session, surface, time, notable) VALUES (1, 'r-1', ?, ?, ?, ?, 'mnm-1', 's', 'proxy', 1, 1)`,
			string(raw), e.Prev[:], e.Hash[:], e.Leaf[:])
	}
	do(`UPDATE head SET seq = 1, hash = ?, count = 1`, e.Hash[:])
}
