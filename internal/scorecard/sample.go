package scorecard

import (
	"math/rand/v2"
	"slices"
)

// Sample keeps at most Limit rows of those it is given, each with the same chance, the same ones for the same Seed. With a Limit of
// 0 it keeps all.
type Sample struct {
	Limit int
	Seed  uint64

	chance *rand.Rand
	seen   int
	kept   []numbered
}

// numbered is a row and its place among all rows.
type numbered struct {
	Row
	at int
}

// Add offers a row.
func (s *Sample) Add(r Row) {
	n := numbered{r, s.seen}
	s.seen++
	if s.Limit <= 0 || len(s.kept) < s.Limit {
		s.kept = append(s.kept, n)
		return
	}
	if s.chance == nil {
		s.chance = rand.New(rand.NewPCG(s.Seed, 0)) //nolint:gosec // a sample that can be drawn again is no secret
	}
	if i := s.chance.IntN(s.seen); i < s.Limit {
		s.kept[i] = n
	}
}

// Rows are the rows that were kept, in the order in which they came.
func (s *Sample) Rows() []Row {
	slices.SortFunc(s.kept, func(a, b numbered) int { return a.at - b.at })
	rows := make([]Row, len(s.kept))
	for i, n := range s.kept {
		rows[i] = n.Row
	}
	return rows
}
