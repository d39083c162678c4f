package storetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

func suspect(id uint64, sealed string) session.Evidence {
	return session.Evidence{Text: id, Source: "user", Score: 0.4, Open: true, Sealed: []byte(sealed)}
}

func testSuspicion(t *testing.T, b Backend) {
	url := b.URL(t)
	s, now := open(t, url), time.Now().UTC()
	look := func(agent, of string) session.Suspicion {
		t.Helper()
		sum, err := s.Suspicion(t.Context(), agent, of)
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	add := func(id, agent, of string, at time.Time, list ...session.Evidence) {
		u := update(agent, of, at, "hello "+id)
		u.Evidence = list
		if err := s.Append(t.Context(), Record(id), u, true); err != nil {
			t.Error(err)
		}
	}
	if sum := look("mnm-a", "one"); sum.Level != 0 || sum.Pieces != nil {
		t.Errorf("nothing was told: %+v", sum)
	}
	add("inert", "mnm-a", "quiet", now, session.Evidence{Text: 1, Source: "user", Score: 0.01})
	if sum := look("mnm-a", "quiet"); sum.Level != 0 {
		t.Errorf("a harmless text: %+v", sum)
	}
	// Exchanges of one session that end at once are all counted.
	var all sync.WaitGroup
	for i := range uint64(8) {
		all.Go(func() { add(fmt.Sprint(i), "mnm-a", "one", now, suspect(i, fmt.Sprint("piece ", i))) })
	}
	all.Wait()
	sum := look("mnm-a", "one")
	if len(sum.Counted) != 8 || len(sum.Pieces) != 8 || sum.Level < 4 {
		t.Errorf("%d counted, %d pieces, level %.2f", len(sum.Counted), len(sum.Pieces), sum.Level)
	}
	for _, of := range [][2]string{{"mnm-a", "two"}, {"mnm-b", "one"}} {
		if sum := look(of[0], of[1]); sum.Level != 0 {
			t.Errorf("%v: %+v", of, sum)
		}
	}
	if err := s.DeleteAgent(t.Context(), "mnm-a", now); err != nil {
		t.Fatal(err)
	}
	if sum := look("mnm-a", "one"); sum.Level != 0 || sum.Pieces != nil {
		t.Errorf("of a deleted agent: %+v", sum)
	}
	verified(t, s, 9)
}
