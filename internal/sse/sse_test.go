package sse

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReader(t *testing.T) {
	type event struct{ raw, name, data string }
	cases := []struct {
		name   string
		stream string
		want   []event
		err    error
	}{
		{"nothing", "", nil, io.EOF},
		{"line feeds", "data: a\n\ndata: b\n\n", []event{{"data: a\n\n", "", "a"}, {"data: b\n\n", "", "b"}}, io.EOF},
		{"CRLF", "event: x\r\ndata: a\r\n\r\n", []event{{"event: x\r\ndata: a\r\n\r\n", "x", "a"}}, io.EOF},
		{"CR", "data: a\r\rdata: b\r\r", []event{{"data: a\r\r", "", "a"}, {"data: b\r\r", "", "b"}}, io.EOF},
		{"mixed line ends", "data: a\r\n\ndata: b\n\r\n", []event{{"data: a\r\n\n", "", "a"}, {"data: b\n\r\n", "", "b"}}, io.EOF},
		{"no space behind the colon", "data:a\n\n", []event{{"data:a\n\n", "", "a"}}, io.EOF},
		{"one space only is dropped", "data:  a\n\n", []event{{"data:  a\n\n", "", " a"}}, io.EOF},
		{"field without colon", "data\ndata\n\n", []event{{"data\ndata\n\n", "", "\n"}}, io.EOF},
		{"lines of data", "data: a\ndata:\ndata: b\n\n", []event{{"data: a\ndata:\ndata: b\n\n", "", "a\n\nb"}}, io.EOF},
		{"comment", ": ping\n\ndata: a\n\n", []event{{": ping\n\n", "", ""}, {"data: a\n\n", "", "a"}}, io.EOF},
		{"unknown fields", "id: 7\nretry: 1\nDATA: no\ndata: a\n\n", []event{{"id: 7\nretry: 1\nDATA: no\ndata: a\n\n", "", "a"}}, io.EOF},
		{"byte order mark", "\uFEFFdata: a\n\n", []event{{"\uFEFFdata: a\n\n", "", "a"}}, io.EOF},
		{"byte order mark alone on its line", "\uFEFF\ndata: a\n\n", []event{{"\uFEFF\n", "", ""}, {"data: a\n\n", "", "a"}}, io.EOF},
		{"second byte order mark", "data: a\n\n\uFEFFdata: b\n\n", []event{{"data: a\n\n", "", "a"}, {"\uFEFFdata: b\n\n", "", ""}}, io.EOF},
		{"more blank lines", "data: a\n\n\n", []event{{"data: a\n\n", "", "a"}, {"\n", "", ""}}, io.EOF},
		{"cut behind a line", "data: a\n", []event{{"data: a\n", "", "a"}}, io.ErrUnexpectedEOF},
		{"cut in a line", "data: a\n\nda", []event{{"data: a\n\n", "", "a"}, {"da", "", ""}}, io.ErrUnexpectedEOF},
	}
	sources := map[string]func(io.Reader) io.Reader{
		"whole":          func(r io.Reader) io.Reader { return r },
		"bytes":          iotest.OneByteReader,
		"data and error": iotest.DataErrReader,
	}
	for _, c := range cases {
		for how, source := range sources {
			t.Run(c.name+"/"+how, func(t *testing.T) {
				r := NewReader(source(strings.NewReader(c.stream)), 0)
				var got []event
				for {
					e, err := r.Next()
					if err == nil || len(e.Raw) > 0 {
						got = append(got, event{string(e.Raw), e.Name, e.Data})
					}
					if err != nil {
						if err != c.err {
							t.Errorf("ended with %v, want %v", err, c.err)
						}
						break
					}
				}
				if len(got) != len(c.want) {
					t.Fatalf("got %q, want %q", got, c.want)
				}
				for i := range got {
					if got[i] != c.want[i] {
						t.Errorf("event %d: got %q, want %q", i, got[i], c.want[i])
					}
				}
				if _, err := r.Next(); err != io.EOF {
					t.Errorf("after the end: %v", err)
				}
			})
		}
	}
}

func TestReaderLimit(t *testing.T) {
	const event = "data: 12\n\n"
	for _, source := range []io.Reader{strings.NewReader(event + event), iotest.OneByteReader(strings.NewReader(event + event))} {
		r := NewReader(source, len(event))
		for range 2 {
			if _, err := r.Next(); err != nil {
				t.Fatalf("an event of exactly the limit: %v", err)
			}
		}
	}
	for _, stream := range []string{event + "data: 123\n\n", event + "data: 123456", event + "data: 1\ndata: 2"} {
		r := NewReader(strings.NewReader(stream), len(event))
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if e, err := r.Next(); err != ErrTooLarge || e.Raw != nil {
				t.Errorf("%q: got %q, %v", stream, e.Raw, err)
			}
		}
	}
}

func TestReaderSourceError(t *testing.T) {
	broken := errors.New("connection reset")
	r := NewReader(io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(broken)), 0)
	if e, err := r.Next(); err != nil || e.Data != "a" {
		t.Fatalf("got %q, %v", e.Data, err)
	}
	if e, err := r.Next(); err != broken || e.Data != "b" {
		t.Errorf("got %q, %v", e.Data, err)
	}
	if e, err := r.Next(); err != broken || e.Raw != nil {
		t.Errorf("got %q, %v", e.Raw, err)
	}
}

func TestAppend(t *testing.T) {
	cases := []struct{ name, event, data, want string }{
		{"data alone", "", "a", "data: a\n\n"},
		{"named", "message_stop", "{}", "event: message_stop\ndata: {}\n\n"},
		{"empty", "", "", "data: \n\n"},
		{"line ends", "", "a\nb\r\nc\rd\n", "data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := Append([]byte("x"), c.event, c.data)
			if string(got) != "x"+c.want {
				t.Errorf("got %q, want %q", got, "x"+c.want)
			}
		})
	}
}

// chunked returns as many bytes at a time as its sizes say, over and over.
type chunked struct {
	rest  []byte
	sizes []byte
	turn  int
}

func (c *chunked) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := len(c.rest)
	if len(c.sizes) > 0 {
		n = int(c.sizes[c.turn%len(c.sizes)])%16 + 1
		c.turn++
	}
	n = copy(p[:min(n, len(p))], c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// FuzzReader: the raw bytes of the events are the stream, and how it was cut into reads changes nothing.
func FuzzReader(f *testing.F) {
	f.Add([]byte("\uFEFFevent: a\r\ndata: 1\r\n\r\n: x\n\ndata: 2\r\rda"), []byte{0, 3, 1})
	f.Add([]byte("\n\r\n\r"), []byte{})
	f.Fuzz(func(t *testing.T, stream, sizes []byte) {
		events := readAll(t, &chunked{rest: stream, sizes: sizes})
		var raw []byte
		for _, e := range events {
			raw = append(raw, e.Raw...)
		}
		if !bytes.Equal(raw, stream) {
			t.Fatalf("raw bytes are %q, the stream is %q", raw, stream)
		}
		again := readAll(t, bytes.NewReader(stream))
		if len(again) != len(events) {
			t.Fatalf("%d events in chunks, %d at once", len(events), len(again))
		}
		for i := range events {
			if events[i].Name != again[i].Name || events[i].Data != again[i].Data {
				t.Fatalf("event %d depends on the chunks", i)
			}
			if written := Append(nil, events[i].Name, events[i].Data); events[i].Data != "" {
				if back, err := NewReader(bytes.NewReader(written), 0).Next(); err != nil || back.Data != events[i].Data || back.Name != events[i].Name {
					t.Fatalf("event %q is written as %q", events[i].Data, written)
				}
			}
		}
	})
}

func readAll(t *testing.T, src io.Reader) []Event {
	t.Helper()
	var events []Event
	for r := NewReader(src, 0); ; {
		e, err := r.Next()
		if err == nil || len(e.Raw) > 0 {
			events = append(events, e)
		}
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			return events
		default:
			t.Fatal(err)
		}
	}
}
