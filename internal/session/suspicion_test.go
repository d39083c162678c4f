package session

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

func evidence(id uint64, score float64) Evidence {
	return Evidence{Text: id, Source: "user", Score: score, Open: true, Sealed: []byte{byte(id)}}
}

func sumOf(list ...Evidence) (s Suspicion) {
	for _, e := range list {
		s.Add(e)
	}
	return s
}

func TestEachTextCountsOnce(t *testing.T) {
	once := sumOf(evidence(1, 0.4), evidence(2, 0.4))
	again := sumOf(evidence(1, 0.4), evidence(2, 0.4), evidence(1, 0.4), evidence(2, 0.4))
	if !reflect.DeepEqual(once, again) {
		t.Errorf("%+v, after the same texts again %+v", once, again)
	}
}

// A score that is higher, or a word that presses, never makes a session less suspicious.
func TestSuspicionIsMonotone(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		list := make([]Evidence, 1+dice.IntN(8))
		for i := range list {
			list[i] = evidence(uint64(i), dice.Float64()*0.6)
			list[i].Pressing = dice.IntN(3) == 0
		}
		worse := slices.Clone(list)
		w := &worse[dice.IntN(len(worse))]
		if w.Score += dice.Float64() * 0.3; dice.IntN(2) == 0 {
			w.Pressing = true
		}
		a, b := sumOf(list...), sumOf(worse...)
		if b.Level < a.Level || b.Pressed < a.Pressed || b.Tightness() > a.Tightness() {
			t.Fatalf("%+v of %v, but %+v of %v", a, list, b, worse)
		}
	}
}

func TestSuspicionIsBounded(t *testing.T) {
	var s Suspicion
	for i := range uint64(5000) {
		e := evidence(i, float64(i%7)/10)
		if i%2 == 0 {
			e.Source = "tool_result"
		}
		s.Add(e)
	}
	if len(s.Counted) != MaxCounted || len(s.Pieces) > 4*MaxPieces || s.Level > 20 {
		t.Errorf("%d counted, %d pieces, level %.1f", len(s.Counted), len(s.Pieces), s.Level)
	}
}

func TestSuspicionFades(t *testing.T) {
	s := sumOf()
	if s.Tightness() != 1 || s.Open("user", 9) != nil {
		t.Errorf("a session that was told nothing: %+v", s)
	}
	for i := range uint64(4) {
		e := evidence(i, 0.4)
		e.Pressing = true
		s.Add(e)
	}
	if s.Tightness() != tighter {
		t.Errorf("not suspicious: %+v", s)
	}
	for i := range uint64(8) {
		s.Add(evidence(100+i, 0.01))
	}
	if s.Tightness() != 1 {
		t.Errorf("still suspicious: %+v", s)
	}
}

// A suspicious text is still there when harmless ones have come between; and what was caught is not, since no model has read it.
func TestPiecesAreKept(t *testing.T) {
	caught := evidence(2, 0.9)
	caught.Caught = true
	list := []Evidence{evidence(1, 0.3), caught}
	for i := range uint64(20) {
		list = append(list, evidence(10+i, 0.02))
	}
	s := sumOf(list...)
	if got := s.Suspicious(9); len(got) != 1 || got[0].Sealed[0] != 1 {
		t.Errorf("suspicious: %v", got)
	}
	if got := s.Open("user", 3); len(got) != 3 || got[2].Sealed[0] != 29 {
		t.Errorf("newest: %v", got)
	}
	if got := s.Open("tool_result", 3); got != nil {
		t.Errorf("of tools: %v", got)
	}
	if !Inert([]Evidence{{Score: 0.01}, {Score: 0.01, Sealed: []byte("x")}}) || Inert([]Evidence{evidence(1, 0.01)}) {
		t.Error("what need not be remembered")
	}
}
