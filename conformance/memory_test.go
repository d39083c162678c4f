package conformance_test

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/detect"
	"github.com/gatehouse-gateway/gatehouse/internal/findings"
	"github.com/gatehouse-gateway/gatehouse/internal/keep"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
)

// known is a scanner that has read every text before, so that each answer comes from memory.
type known struct {
	touchy
	memory *findings.Memory
}

func (s known) Scan(ctx context.Context, text detect.Text) detect.Result {
	m := s.memory.For(keep.Owner{Party: "p", Member: "a"}, detect.Version, s.touchy)
	m.Scan(ctx, text)
	return m.Scan(ctx, text)
}

// What comes from memory decides as what was just found does: all cases again, at doors that differ.
func TestConformanceFromMemory(t *testing.T) {
	db, err := store.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "gatehouse.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) //nolint:errcheck // nothing waits to be written any more
	memory := findings.New(64 << 20)
	t.Run("cases", func(t *testing.T) {
		for _, c := range load(t, "cases") {
			for _, s := range []surface{door{openAI{}, false, "buffer"}, door{responses{}, true, "window"}} {
				if c.on(s.Name()) {
					t.Run(c.name+"/"+s.Name(), func(t *testing.T) { play(t, c, s, equipment{store: db, memory: memory}, rand.Uint64()) })
				}
			}
		}
	})
	if s := memory.Stats(); s.Hits == 0 || s.Evicted > 0 {
		t.Errorf("%+v", s)
	}
}
