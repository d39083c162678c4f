package storetest

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/session"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
)

func testSaid(t *testing.T, b Backend) {
	t.Run("told and read again", func(t *testing.T) { testTold(t, b) })
	t.Run("bounds", func(t *testing.T) { testSaidBounds(t, b) })
	t.Run("age", func(t *testing.T) { testSaidAge(t, b) })
	t.Run("renamed agent", func(t *testing.T) { testSaidRenamed(t, b) })
}

// user, page and bad are texts as a session is told them.
func user(text string) session.Said {
	return session.Said{Text: digest(text), Source: "user", Turn: 1, Trace: []byte("trace of " + text)}
}

func page(text string) session.Said {
	return session.Said{Text: digest(text), Source: "tool_result", Tool: "read_page", CallID: "c", Trace: []byte("trace of " + text)}
}

func bad(text string) session.Said {
	s := page(text)
	s.Tainted, s.Score, s.Excerpt = true, 0.9, []byte("sealed "+text)
	return s
}

// tell adds texts to a session, and waits until they are written if that is wanted.
func tell(t *testing.T, s *store.Store, id, agent, sessionID string, at time.Time, durable bool, said ...session.Said) {
	t.Helper()
	u := update(agent, sessionID, at, "hello "+id)
	u.Said, u.Heard = said, true
	if err := s.Append(t.Context(), Record(id), u, durable); err != nil {
		t.Fatal(err)
	}
}

func conversation(t *testing.T, s *store.Store, agent, sessionID string) session.Conversation {
	t.Helper()
	c, err := s.Conversation(t.Context(), agent, sessionID)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// texts are the traces of what is kept, as text.
func texts(c session.Conversation) (list []string) {
	for _, s := range c.Said {
		list = append(list, string(bytes.TrimPrefix(s.Trace, []byte("trace of "))))
	}
	return list
}

func testTold(t *testing.T, b Backend) {
	s, now := open(t, b.URL(t)), time.Now().UTC()
	if c := conversation(t, s, "mnm-a", "one"); c.Known {
		t.Errorf("nothing was told: %+v", c)
	}
	second := user("two")
	second.Turn = 2
	same := user("same turn")
	// None of them waits, so that the next look comes before the commit.
	tell(t, s, "1", "mnm-a", "one", now, false, user("one"), same, page("page"), second)
	tell(t, s, "2", "mnm-a", "one", now, false, user("one"), bad("bad"), page("page"))
	tell(t, s, "3", "mnm-b", "one", now, false, user("of another"))
	tell(t, s, "4", "mnm-a", "two", now, false)
	c := conversation(t, s, "mnm-a", "one")
	if want := []string{"one", "same turn", "page", "two", "bad"}; !slices.Equal(texts(c), want) {
		t.Fatalf("got %v, want %v", texts(c), want)
	}
	if c.Turns != 2 || c.Risk != 0.9 || !c.Tainted || c.Lost || c.LostTainted || !c.Known {
		t.Errorf("%+v", c)
	}
	for _, of := range [][2]string{{"mnm-a", "two"}, {"mnm-c", "one"}} {
		if c := conversation(t, s, of[0], of[1]); c.Known || len(c.Said) > 0 {
			t.Errorf("%v: %+v", of, c)
		}
	}
	last := c.Said[4]
	got, ok, err := s.Said(t.Context(), "mnm-a", "one", last.ID)
	want := bad("bad")
	want.ID, want.Trace = last.ID, nil
	if err != nil || !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, %v, want %+v", got, ok, err, want)
	}
	for _, of := range [][2]string{{"mnm-a", "two"}, {"mnm-b", "one"}} {
		if got, ok, err := s.Said(t.Context(), of[0], of[1], last.ID); ok || err != nil {
			t.Errorf("another's text: %+v, %v", got, err)
		}
	}
	worse := page("page")
	worse.Tainted, worse.Score = true, 0.95
	tell(t, s, "5", "mnm-a", "one", now, true, worse)
	if c := conversation(t, s, "mnm-a", "one"); !c.Said[2].Tainted || c.Said[2].Score != 0.95 || c.Risk != 0.95 || len(c.Said) != 5 {
		t.Errorf("a text that is worse than it was: %+v", c)
	}
	if err := s.DeleteAgent(t.Context(), "mnm-a", now); err != nil {
		t.Fatal(err)
	}
	if c := conversation(t, s, "mnm-a", "one"); c.Known || len(c.Said) > 0 {
		t.Errorf("of a deleted agent: %+v", c)
	}
}

func testSaidBounds(t *testing.T, b Backend) {
	s, now := open(t, b.URL(t)), time.Now().UTC()
	tell(t, s, "first", "mnm-a", "many", now, false, user("the user"), bad("bad"))
	for i := 0; i < session.MaxSaid+100; i += 100 {
		var list []session.Said
		for j := range 100 {
			list = append(list, page(fmt.Sprint("page ", i+j)))
		}
		tell(t, s, fmt.Sprint("m", i), "mnm-a", "many", now, false, list...)
	}
	c := conversation(t, s, "mnm-a", "many")
	have := texts(c)
	if n := len(have); n > session.MaxSaid || n < session.MaxSaid/2 || !c.Lost || c.LostTainted {
		t.Errorf("%d texts are kept, lost %v, tainted %v", n, c.Lost, c.LostTainted)
	}
	if have[0] != "the user" || have[1] != "bad" || have[len(have)-1] != fmt.Sprint("page ", session.MaxSaid+99) || slices.Contains(have, "page 0") {
		t.Errorf("kept: %v … %v", have[:3], have[len(have)-1])
	}
	large := func(s session.Said) session.Said {
		s.Trace = append(s.Trace, bytes.Repeat([]byte{1}, session.MaxSaidBytes/4)...)
		return s
	}
	for i := range 5 {
		tell(t, s, fmt.Sprint("l", i), "mnm-a", "large", now, false, large(bad(fmt.Sprint("bad ", i))), large(user(fmt.Sprint("user ", i))))
	}
	c = conversation(t, s, "mnm-a", "large")
	size, users := 0, 0
	for _, s := range c.Said {
		size += len(s.Trace)
		if s.Source == "user" {
			users++
		}
	}
	if size > session.MaxSaidBytes || users != len(c.Said) || users != 3 || !c.LostTainted || !c.Tainted || c.Turns != 5 {
		t.Errorf("%d bytes of %d texts, %d of the user, %d turns, tainted %v, lost %v", size, len(c.Said), users, c.Turns, c.Tainted, c.LostTainted)
	}
	long := user("too long")
	long.Trace = nil
	tell(t, s, "long", "mnm-a", "long", now, false, long)
	if c := conversation(t, s, "mnm-a", "long"); !c.Known || !c.Lost || c.LostTainted || c.Turns != 1 || len(c.Said) != 0 {
		t.Errorf("a text without a trace: %+v", c)
	}
}

func testSaidAge(t *testing.T, b Backend) {
	url, now := b.URL(t), time.Now().UTC()
	old := now.Add(-session.SaidAge - time.Hour)
	s, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	tell(t, s, "0", "mnm-a", "fresh", now, true, user("fresh"))
	tell(t, s, "1", "mnm-a", "idle", old, true, user("idle"), page("page"))
	tell(t, s, "2", "mnm-a", "bad", old, true, bad("bad"))
	tell(t, s, "3", "mnm-a", "used", old, true, user("used"))
	tell(t, s, "4", "mnm-a", "used", now, true)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, url) // the first transaction of a store looks for idle ones
	tell(t, s, "5", "mnm-a", "other", now, true)
	for _, want := range []struct {
		session string
		texts   int
		c       session.Conversation
	}{
		{"fresh", 1, session.Conversation{Known: true, Turns: 1}},
		{"used", 1, session.Conversation{Known: true, Turns: 1}},
		{"idle", 0, session.Conversation{Known: true, Turns: 1, Lost: true}},
		{"bad", 0, session.Conversation{Known: true, Risk: 0.9, Tainted: true, Lost: true, LostTainted: true}},
	} {
		c := conversation(t, s, "mnm-a", want.session)
		n := len(c.Said)
		if c.Said = nil; n != want.texts || !reflect.DeepEqual(c, want.c) {
			t.Errorf("%s: %d texts, %+v; want %d, %+v", want.session, n, c, want.texts, want.c)
		}
	}
}

// An exchange that made an agent which another had made already: its traces are under a key that nobody asks with.
func testSaidRenamed(t *testing.T, b Backend) {
	s, now := open(t, b.URL(t)), time.Now().UTC()
	tell(t, s, "1", "mnm-a", "s", now, true, user("one"))
	u := update("mnm-lost", "s", now, "hello")
	u.Agent.Hash, u.Said = "hash-mnm-a", []session.Said{page("page")}
	if err := s.Append(t.Context(), Record("2"), u, true); err != nil {
		t.Fatal(err)
	}
	if c := conversation(t, s, "mnm-a", "s"); !slices.Equal(texts(c), []string{"one"}) || !c.LostTainted {
		t.Errorf("%+v", c)
	}
}
