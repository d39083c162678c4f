package store_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
)

// Of many that are committed together each stands or falls alone, whatever it did before it failed, and the chain has the
// records of those that stand.
func TestGroup(t *testing.T) {
	url := "sqlite:" + filepath.Join(t.TempDir(), "g.db")
	db, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	refused := errors.New("refused")
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			err := db.Group(t.Context(), func(ctx context.Context) error {
				r := audit.Record{ID: uuid.NewString(), Type: "event", Time: time.Now(), Agent: fmt.Sprint("agent-", i%4)}
				if err := db.Append(ctx, r, nil, true); err != nil {
					return err
				}
				switch i % 4 {
				case 1:
					return refused
				case 2:
					panic("marked value")
				case 3:
					return db.Group(ctx, func(ctx context.Context) error {
						return db.Append(ctx, audit.Record{ID: r.ID, Type: "event", Time: r.Time}, nil, true)
					})
				}
				return nil
			})
			switch i % 4 {
			case 0:
				if err != nil {
					t.Error(err)
				}
			case 1:
				if !errors.Is(err, refused) {
					t.Error(err)
				}
			case 2:
				if err == nil || strings.Contains(err.Error(), "marked value") {
					t.Error(err)
				}
			case 3:
				if err == nil {
					t.Error("one id was recorded twice")
				}
			}
		})
		all.Go(func() {
			if err := db.Append(t.Context(), audit.Record{ID: uuid.NewString(), Type: "exchange", Time: time.Now(), Agent: "beside"}, nil, i%2 == 0); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if err := db.Close(); err != nil { // what waits is written first
		t.Fatal(err)
	}
	if db, err = store.Open(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	head, err := db.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := audit.Verify(db.Entries(t.Context(), 1), head); err != nil {
		t.Error(err)
	}
	counts := map[string]int{}
	for e, err := range db.Entries(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		r, err := e.Decode()
		if err != nil {
			t.Fatal(err)
		}
		counts[r.Agent]++
	}
	if counts["agent-0"] != 50 || counts["beside"] != 200 || len(counts) != 2 {
		t.Errorf("%v", counts)
	}
}
