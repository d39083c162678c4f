package responses

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/sse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// recorder is a sink that keeps the parts.
type recorder struct {
	parts  []gatehouse.Part
	unread []string
}

func (r *recorder) Open(p gatehouse.Part) int {
	p.ID = len(r.parts)
	r.parts = append(r.parts, p)
	return p.ID
}

func (r *recorder) Text(id int, delta string) { r.parts[id].Text += delta }
func (r *recorder) Close(int)                 {}

func (r *recorder) Unread(path string) { r.unread = append(r.unread, path) }

// show writes a part in one line.
func show(p gatehouse.Part) string {
	s := fmt.Sprintf("%s %s %s %q", p.Role, p.Kind, p.Path, p.Text)
	for _, extra := range []struct {
		name, value string
	}{{"tool", p.Tool}, {"id", p.CallID}, {"media", p.Media}} {
		if extra.value != "" {
			s += " " + extra.name + "=" + extra.value
		}
	}
	if p.Latest {
		s += " latest"
	}
	if p.Signed {
		s += " signed"
	}
	return s
}

func shown(parts []gatehouse.Part) string {
	var lines []string
	for _, p := range parts {
		lines = append(lines, show(p))
	}
	return strings.Join(lines, "\n")
}

func play(to wire.Sink, stream string) (wire.Stream, error) {
	s := Codec{}.Stream(to)
	for r := sse.NewReader(strings.NewReader(stream), 0); ; {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if bad := s.Event(e.Raw, e.Name, e.Data); bad != nil {
			return s, bad
		}
		if err != nil {
			return s, nil //nolint:nilerr // a stream may end in the middle of an event
		}
	}
}

// events writes a stream with an event for each line, counted up.
func events(lines ...string) string {
	var out []byte
	for i, line := range lines {
		kind, rest, _ := strings.Cut(line, " ")
		data := fmt.Sprintf(`{"type":%q,"sequence_number":%d`, kind, i)
		if rest != "" {
			data += "," + rest
		}
		out = sse.Append(out, kind, data+"}")
	}
	return string(out)
}

func parse(t *testing.T, body string) (wire.Response, []gatehouse.Part) {
	t.Helper()
	var made recorder
	r, err := Codec{}.Response([]byte(body), &made)
	if err != nil {
		t.Fatal(err)
	}
	return r, made.parts
}

func written(t *testing.T, r interface {
	Bytes([]gatehouse.Part) ([]byte, error)
}, parts []gatehouse.Part) string {
	t.Helper()
	out, err := r.Bytes(parts)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestRefusedBodies(t *testing.T) {
	for body, code := range map[string]string{
		`{"input":1}`:   "invalid_request",
		`{"input":[1]}`: "invalid_request",
		`{"input":[{"role":"user","content":[{"x":1}]}]}`: "invalid_request",
		`{"input":[{"type":"function_call"}]}`:            "invalid_request",
		`{"input":"a","tools":{}}`:                        "invalid_request",
		`{"input":"a","previous_response_id":1}`:          "invalid_request",
		`{"input":"a","input":"b"}`:                       "duplicate_key",
		`{"input":"a"} 1`:                                 "invalid_json_body",
		"{\"input\":\"\xff\"}":                            "invalid_utf8",
	} {
		_, err := Codec{}.Request([]byte(body))
		if m, ok := wire.IsMalformed(err); !ok || m.Code != code {
			t.Errorf("%s: %v, want %s", body, err, code)
		}
	}
}
