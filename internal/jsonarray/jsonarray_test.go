package jsonarray

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// readAll reads to the end: the data of each event, all raw bytes, and why it ended.
func readAll(r *Reader) (data []string, raw string, err error) {
	for {
		e, err := r.Next()
		if err != nil {
			return data, raw, err
		}
		raw += string(e.Raw)
		data = append(data, e.Data)
	}
}

func TestNext(t *testing.T) {
	cases := []struct {
		desc, in string
		data     []string
		err      error
	}{
		{"elements", "[{\"a\":1}\n,\r\n{\"b\":[{}]}\n]\n", []string{`{"a":1}`, `{"b":[{}]}`, ""}, io.EOF},
		{"one element", `[{}]`, []string{"{}", ""}, io.EOF},
		{"none", " [ ] ", []string{""}, io.EOF},
		{"brackets and quotes in strings", `[{"a":"]}\"[{\\"},{}]`, []string{`{"a":"]}\"[{\\"}`, "{}", ""}, io.EOF},
		{"white space everywhere", "\n [ \t{} , {} ] \r\n", []string{"{}", "{}", ""}, io.EOF},
		{"nothing", "", nil, ErrCut},
		{"cut before the first", "[", nil, ErrCut},
		{"cut in an element", `[{"a":`, nil, ErrCut},
		{"cut in a string", `[{"a":"}`, nil, ErrCut},
		{"cut behind an element", `[{}`, []string{"{}"}, ErrCut},
		{"cut behind a comma", `[{},`, []string{"{}"}, ErrCut},
		{"no array", `{}`, nil, ErrSyntax},
		{"a number", `[1]`, nil, ErrSyntax},
		{"a string", `["a"]`, nil, ErrSyntax},
		{"an array", `[[]]`, nil, ErrSyntax},
		{"no comma", `[{}{}]`, []string{"{}"}, ErrSyntax},
		{"a comma before the end", `[{},]`, []string{"{}"}, ErrSyntax},
		{"a comma before the first", `[,{}]`, nil, ErrSyntax},
		{"something behind the end", `[{}] {}`, []string{"{}"}, ErrSyntax},
		{"another array behind the end", `[{}][]`, []string{"{}"}, ErrSyntax},
	}
	for _, c := range cases {
		t.Run(c.desc, func(t *testing.T) {
			for name, src := range map[string]io.Reader{"whole": strings.NewReader(c.in), "by bytes": iotest.OneByteReader(strings.NewReader(c.in))} {
				r := NewReader(src, 0)
				data, raw, err := readAll(r)
				if !slices.Equal(data, c.data) || !errors.Is(err, c.err) {
					t.Errorf("%s: %q and %v, want %q and %v", name, data, err, c.data, c.err)
				}
				if !strings.HasPrefix(c.in, raw) || c.err == io.EOF && raw != c.in {
					t.Errorf("%s: the raw bytes are %q", name, raw)
				}
				if _, again := r.Next(); !errors.Is(again, c.err) {
					t.Errorf("%s: asked again: %v", name, again)
				}
			}
		})
	}
}

func TestLargeElements(t *testing.T) {
	element := `{"a":"` + strings.Repeat("x", 100<<10) + `"}`
	in := "[" + element + "," + element + "]"
	if data, raw, err := readAll(NewReader(strings.NewReader(in), 200<<10)); err != io.EOF || len(data) != 3 || raw != in {
		t.Errorf("within the limit: %d events, %v", len(data), err)
	}
	if data, _, err := readAll(NewReader(strings.NewReader(in), 50<<10)); !errors.Is(err, ErrTooLarge) || len(data) != 0 {
		t.Errorf("over the limit: %d events, %v", len(data), err)
	}
}

func TestSourceFails(t *testing.T) {
	broken := errors.New("broken")
	data, _, err := readAll(NewReader(io.MultiReader(strings.NewReader(`[{},{"a"`), iotest.ErrReader(broken)), 0))
	if !slices.Equal(data, []string{"{}"}) || !errors.Is(err, broken) {
		t.Errorf("%q, %v", data, err)
	}
	if _, _, err := readAll(NewReader(silent{}, 0)); !errors.Is(err, io.ErrNoProgress) {
		t.Error(err)
	}
}

// silent is a source that never has anything.
type silent struct{}

func (silent) Read([]byte) (int, error) { return 0, nil }

func TestReturnedEventsStay(t *testing.T) {
	r := NewReader(iotest.OneByteReader(strings.NewReader(`[{"a":1},{"b":2}]`)), 0)
	first, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := readAll(r); err != io.EOF {
		t.Fatal(err)
	}
	if string(first.Raw) != `[{"a":1}` {
		t.Errorf("the first event became %q", first.Raw)
	}
}

func TestBegins(t *testing.T) {
	for in, want := range map[string]bool{"[": true, "\r\n [{}]": true, "{}": false, "": false, " ": false, strings.Repeat(" ", 100) + "[": false} {
		r := bufio.NewReader(strings.NewReader(in))
		if got := Begins(r); got != want {
			t.Errorf("%q: %v", in, got)
		}
		if rest, _ := io.ReadAll(r); string(rest) != in {
			t.Errorf("%q: %q is left", in, rest)
		}
	}
}

func FuzzNext(f *testing.F) {
	f.Add("[{\"a\":\"]\"},\n{}]", 3)
	f.Add(" [ ] ", 0)
	f.Fuzz(func(t *testing.T, in string, limit int) {
		_, whole, err := readAll(NewReader(strings.NewReader(in), max(limit, 0)))
		if !strings.HasPrefix(in, whole) || err == io.EOF && whole != in {
			t.Fatalf("raw bytes %q of %q, %v", whole, in, err)
		}
		if limit > 0 {
			return
		}
		_, bytes, again := readAll(NewReader(iotest.OneByteReader(strings.NewReader(in)), 0))
		if bytes != whole || !errors.Is(again, err) {
			t.Fatalf("by bytes %q and %v, whole %q and %v", bytes, again, whole, err)
		}
	})
}
