package detect

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
)

// TestArranged: findings stand in order, and equal ones as they were found.
func TestArranged(t *testing.T) {
	r := rand.New(rand.NewSource(1)) //nolint:gosec // repeatable on purpose
	for n := range 200 {
		all := make([]gatehouse.Finding, n)
		for i := range all {
			all[i] = gatehouse.Finding{Start: r.Intn(20), End: i}
			if i > 0 && r.Intn(4) > 0 {
				all[i].Start = all[i-1].Start + r.Intn(3)
			}
		}
		want := slices.Clone(all)
		slices.SortStableFunc(want, func(a, b gatehouse.Finding) int { return a.Start - b.Start })
		if got := arranged(all, func(a, b *gatehouse.Finding) int { return a.Start - b.Start }); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}
