package gemini

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/jsonarray"
	"github.com/gatehouse-gateway/gatehouse/internal/sse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// recorder is a sink that keeps what it is given.
type recorder struct {
	parts  []gatehouse.Part
	closed map[int]bool
	unread []string
}

func (r *recorder) Open(p gatehouse.Part) int {
	p.ID = len(r.parts)
	r.parts = append(r.parts, p)
	return p.ID
}

func (r *recorder) Text(id int, delta string) { r.parts[id].Text += delta }

func (r *recorder) Close(id int) {
	if r.closed == nil {
		r.closed = map[int]bool{}
	}
	r.closed[id] = true
}

func (r *recorder) Unread(path string) { r.unread = append(r.unread, path) }

// show writes a part in one line.
func show(p gatehouse.Part) string {
	s := fmt.Sprintf("%s %s %s %q", p.Role, p.Kind, p.Path, p.Text)
	for _, extra := range []struct{ name, value string }{{"tool", p.Tool}, {"id", p.CallID}, {"media", p.Media}} {
		if extra.value != "" {
			s += " " + extra.name + "=" + extra.value
		}
	}
	if p.Choice != 0 {
		s += fmt.Sprint(" choice=", p.Choice)
	}
	for word, is := range map[string]bool{" latest": p.Latest, " signed": p.Signed} {
		if is {
			s += word
		}
	}
	return s
}

func checkParts(t *testing.T, parts []gatehouse.Part, want ...string) {
	t.Helper()
	var got []string
	for _, p := range parts {
		got = append(got, show(p))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("parts\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// decision changes parts as checkpoints do.
type decision func([]gatehouse.Part) []gatehouse.Part

func set(i int, text string) decision {
	return func(parts []gatehouse.Part) []gatehouse.Part {
		parts[i].Text = text
		return parts
	}
}

func remove(i int, notice string) decision {
	return func(parts []gatehouse.Part) []gatehouse.Part {
		parts[i].Removed, parts[i].Notice = true, notice
		return parts
	}
}

func insert(choice int, texts ...string) decision {
	return func(parts []gatehouse.Part) []gatehouse.Part {
		for _, text := range texts {
			parts = append(parts, gatehouse.Part{Kind: gatehouse.Text, Inserted: true, Choice: choice, Text: text})
		}
		return parts
	}
}

func all(edits ...decision) decision {
	return func(parts []gatehouse.Part) []gatehouse.Part {
		for _, e := range edits {
			parts = e(parts)
		}
		return parts
	}
}

// at is the codec of a method, with a query.
func at(method, query string) wire.Codec {
	values, err := url.ParseQuery(query)
	if err != nil {
		panic(err)
	}
	return Codec{}.At("/v1beta/models/gemini-x:"+method, values)
}

// play reads a stream as the upstream package does; array says in which shape it is.
func play(to wire.Sink, stream string, array bool) (wire.Stream, error) {
	var next func() (sse.Event, error)
	s := wire.Stream(nil)
	if array {
		s, next = at("streamGenerateContent", "").(wire.Arrays).Elements(to), jsonarray.NewReader(strings.NewReader(stream), 0).Next
	} else {
		s, next = at("streamGenerateContent", "alt=sse").Stream(to), sse.NewReader(strings.NewReader(stream), 0).Next
	}
	for {
		e, err := next()
		if len(e.Raw) > 0 {
			if bad := s.Event(e.Raw, e.Name, e.Data); bad != nil {
				return nil, bad
			}
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return s, nil
		case err != nil:
			return nil, err
		}
	}
}

func events(docs ...string) string {
	out := ""
	for _, doc := range docs {
		out += "data: " + doc + "\r\n\r\n"
	}
	return out
}

func elements(docs ...string) string { return "[" + strings.Join(docs, "\n,\r\n") + "\n]\n" }

func TestAt(t *testing.T) {
	cases := []struct {
		path, query, model   string
		stream, array, wrong bool
	}{
		{"/v1beta/models/gemini-2.5-pro:generateContent", "", "gemini-2.5-pro", false, false, false},
		{"/v1beta/models/m:generateContent", "alt=sse", "m", false, false, false},
		{"/v1/models/m:streamGenerateContent", "alt=sse", "m", true, false, false},
		{"/v1/models/m:streamGenerateContent", "%24alt=sse&key=x", "m", true, false, false},
		{"/v1beta/models/m:streamGenerateContent", "", "m", true, true, false},
		{"/v1beta/models/m:streamGenerateContent", "alt=json", "m", true, true, false},
		{"/v1beta/models/m:streamGenerateContent", "alt=proto", "m", true, false, true},
		{"/v1beta/models/m:generateContent", "alt=json&alt=media", "m", false, false, true},
		{"/v1beta/models/m:countTokens", "", "m", false, false, false},
	}
	for _, c := range cases {
		t.Run(c.path+"?"+c.query, func(t *testing.T) {
			query, err := url.ParseQuery(c.query)
			if err != nil {
				t.Fatal(err)
			}
			codec := Codec{}.At(c.path, query)
			req, err := codec.Request([]byte(`{"contents":[]}`))
			if c.wrong {
				if _, ok := wire.IsMalformed(err); !ok {
					t.Errorf("not refused: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if req.Model() != c.model || req.Stream() != c.stream {
				t.Errorf("model %q, stream %v", req.Model(), req.Stream())
			}
			body, kind := codec.Stopped(req, wire.Notice{Text: "no"})
			if array := body[0] == '['; array != c.array || strings.HasPrefix(kind, "text/event-stream") != (c.stream && !c.array) {
				t.Errorf("%s %s", kind, body)
			}
			if reads := codec.(wire.Arrays).Elements(&recorder{}) != nil; reads != c.stream {
				t.Errorf("it reads an array: %v", reads)
			}
		})
	}
}

func TestSpelling(t *testing.T) {
	for in, want := range map[string]string{"text": "text", "inline_data": "inlineData", "inlineData": "inlineData", "function_Call": "function_Call",
		"_text": "_text", "text_": "text_", "function__call": "function_Call", "response_json_schema": "responseJsonSchema", "": ""} {
		if got := camel(in); got != want {
			t.Errorf("camel %q: %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"googleSearch": "google_search", "google_search": "google_search", "urlContext": "url_context", "": ""} {
		if got := snake(in); got != want {
			t.Errorf("snake %q: %q, want %q", in, got, want)
		}
	}
}

func TestError(t *testing.T) {
	for status, name := range map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 409: "ABORTED",
		413: "INVALID_ARGUMENT", 429: "RESOURCE_EXHAUSTED", 499: "CANCELLED", 500: "INTERNAL", 501: "UNIMPLEMENTED", 502: "UNAVAILABLE",
		503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED"} {
		var e struct {
			Error struct {
				Code            int
				Message, Status string
				Details         []struct{ Reason string }
			}
		}
		if err := json.Unmarshal(Codec{}.Error(status, "some_code", `a "text"`), &e); err != nil {
			t.Fatal(err)
		}
		if e.Error.Code != status || e.Error.Status != name || e.Error.Message != `a "text"` || e.Error.Details[0].Reason != "some_code" {
			t.Errorf("%d: %+v, want %s", status, e, name)
		}
	}
}
