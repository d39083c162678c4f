package upstream

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/sse"
)

func TestEventStream(t *testing.T) {
	for _, c := range []struct {
		desc, in string
		none     bool
	}{
		{"events", "data: a\n\ndata: b\n\n", false},
		{"every field", "id: 1\nretry: 5\nevent: e\ndata\ndata: a\n\n", false},
		{"comments first", ": wait\n\n:\n\ndata: a\n\n", false},
		{"a byte order mark", "\ufeffdata: a\n\n", false},
		{"cut in the name of a field", "dat", false},
		{"cut behind a carriage return", "event: a\r", false},
		{"nothing", "", false},
		{"HTML", "<html><body>Sign in</body></html>", true},
		{"HTML in lines", "<html>\n\n<body>\n", true},
		{"JSON", `{"id":"x"}`, true},
		{"a field that nobody knows", "date: a\n\n", true},
		{"something unknown behind an event", "data: a\n\nnonsense\n\n", false},
	} {
		t.Run(c.desc, func(t *testing.T) {
			if raw, err := drain(c.in); errors.Is(err, errNoEvent) != c.none || !c.none && raw != c.in {
				t.Errorf("%q, %v", raw, err)
			}
		})
	}
}

func drain(in string) (raw string, err error) {
	s := &eventStream{Reader: sse.NewReader(strings.NewReader(in), 0)}
	for {
		e, err := s.Next()
		if raw += string(e.Raw); err != nil {
			return raw, err
		}
	}
}

// What is an event stream to the reader comes through byte by byte, and is refused only before its first event.
func FuzzEventStream(f *testing.F) {
	f.Add("data: a\n\ndata: b")
	f.Add(": c\r\n\r\nnonsense\n\n")
	f.Fuzz(func(t *testing.T, in string) {
		raw, err := drain(in)
		switch {
		case errors.Is(err, errNoEvent):
			if !strings.HasPrefix(in, raw) {
				t.Fatalf("%q came as %q", in, raw)
			}
			r := sse.NewReader(strings.NewReader(raw), 0)
			for e, err := r.Next(); err == nil; e, err = r.Next() {
				if e.Data != "" {
					t.Fatalf("%q was refused behind an event", in)
				}
			}
		case !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			t.Fatalf("%q: %v", in, err)
		case raw != in:
			t.Fatalf("%q came as %q", in, raw)
		}
	})
}
