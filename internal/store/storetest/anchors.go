package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

func testAnchors(t *testing.T, b Backend) {
	s := open(t, b.URL(t))
	ctx, now := t.Context(), time.Now().UTC()
	bring := func(id, agent, sessionID string, at time.Time, anchors ...session.Digest) {
		t.Helper()
		u := update(agent, sessionID, at, "hello "+id)
		u.Anchors = anchors
		if err := s.Append(ctx, Record(id), u, true); err != nil {
			t.Fatal(err)
		}
	}
	count := func(agent, sessionID string, anchors []session.Digest) int {
		t.Helper()
		got, err := s.Anchors(ctx, agent, sessionID, anchors)
		if err != nil {
			t.Fatal(err)
		}
		for d := range got {
			if !got[d] {
				t.Errorf("%x is in the answer and false", d)
			}
		}
		return len(got)
	}
	many := make([]session.Digest, session.MaxAnchors+10)
	for i := range many {
		many[i] = digest(fmt.Sprint("anchor ", i))
	}
	old, fresh := many[:10], many[10:]
	bring("1", "mnm-a", "one", now, old...)
	bring("2", "mnm-a", "one", now.Add(time.Second), old[0])
	for _, c := range []struct {
		agent, session string
		want           int
	}{{"mnm-a", "one", len(old)}, {"mnm-a", "two", 0}, {"mnm-b", "one", 0}} {
		if got := count(c.agent, c.session, many); got != c.want {
			t.Errorf("%s/%s: %d anchors, want %d", c.agent, c.session, got, c.want)
		}
	}
	if got := count("mnm-a", "one", nil); got != 0 {
		t.Errorf("of none asked for: %d", got)
	}
	bring("3", "mnm-a", "one", now.Add(2*time.Second), fresh[1:]...)
	if got := count("mnm-a", "one", fresh); got != len(fresh)-1 {
		t.Errorf("%d of the newest are kept, want %d", got, len(fresh)-1)
	}
	if got := count("mnm-a", "one", old); got != 1 || count("mnm-a", "one", old[:1]) != 1 {
		t.Errorf("%d of the old are kept, want the one that came again", got)
	}
	verified(t, s, 3)
}
