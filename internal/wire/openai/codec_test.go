package openai

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// recorder is a sink that keeps the parts and the order of calls.
type recorder struct {
	parts  []gatehouse.Part
	log    []string
	unread []string
}

func (r *recorder) Open(p gatehouse.Part) int {
	p.ID = len(r.parts)
	r.parts = append(r.parts, p)
	r.log = append(r.log, fmt.Sprint("open ", p.ID))
	return p.ID
}

func (r *recorder) Text(id int, delta string) { r.parts[id].Text += delta }
func (r *recorder) Close(id int)              { r.log = append(r.log, fmt.Sprint("close ", id)) }

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
	if p.Choice != 0 {
		s += fmt.Sprint(" choice=", p.Choice)
	}
	if p.Latest {
		s += " latest"
	}
	return s
}

func checkParts(t *testing.T, got []gatehouse.Part, want ...string) {
	t.Helper()
	var lines []string
	for _, p := range got {
		lines = append(lines, show(p))
	}
	if g, w := strings.Join(lines, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("parts:\n%s\nwant:\n%s", g, w)
	}
}

func checkJSON(t *testing.T, doc []byte) {
	t.Helper()
	if !json.Valid(doc) {
		t.Errorf("not JSON: %s", doc)
	}
}

func TestMalformedBody(t *testing.T) {
	deep := `{"messages":[],"x":` + strings.Repeat("[", wire.MaxDepth) + strings.Repeat("]", wire.MaxDepth) + `}`
	cases := []struct{ name, body, code, reason string }{
		{"empty", ``, "invalid_json_body", ""},
		{"truncated", `{"messages":[`, "invalid_json_body", ""},
		{"trailing data", `{"messages":[]} {}`, "invalid_json_body", ""},
		{"duplicate key", `{"messages":[],"a":1,"a":2}`, "duplicate_key", ""},
		{"duplicate key by escape", `{"messages":[],"a":1,"\u0061":2}`, "duplicate_key", ""},
		{"invalid UTF-8", "{\"messages\":[],\"a\":\"\xff\"}", "invalid_utf8", ""},
		{"lone surrogate", `{"messages":[],"a":"\ud800"}`, "invalid_utf8", ""},
		{"too deep", deep, "too_deep", ""},
		{"not an object", `[]`, "invalid_request", "the body"},
		{"no messages", `{}`, "invalid_request", "messages"},
		{"messages no list", `{"messages":{}}`, "invalid_request", "messages"},
		{"message no object", `{"messages":["hi"]}`, "invalid_request", "messages[0]"},
		{"no role", `{"messages":[{"content":"a"}]}`, "invalid_request", "messages[0].role"},
		{"role no string", `{"messages":[{"role":1}]}`, "invalid_request", "messages[0].role"},
		{"content a number", `{"messages":[{"role":"user","content":1}]}`, "invalid_request", "messages[0].content"},
		{"content an object", `{"messages":[{"role":"user","content":{}}]}`, "invalid_request", "messages[0].content"},
		{"item no object", `{"messages":[{"role":"user","content":["a"]}]}`, "invalid_request", "messages[0].content[0]"},
		{"item without type", `{"messages":[{"role":"user","content":[{"text":"a"}]}]}`, "invalid_request", "messages[0].content[0].type"},
		{"text no string", `{"messages":[{"role":"user","content":[{"type":"text","text":[]}]}]}`, "invalid_request", "messages[0].content[0].text"},
		{"refusal no string", `{"messages":[{"role":"assistant","refusal":1}]}`, "invalid_request", "messages[0].refusal"},
		{"tool_calls no list", `{"messages":[{"role":"assistant","tool_calls":{}}]}`, "invalid_request", "messages[0].tool_calls"},
		{"call no object", `{"messages":[{"role":"assistant","tool_calls":[1]}]}`, "invalid_request", "messages[0].tool_calls[0]"},
		{"call without function", `{"messages":[{"role":"assistant","tool_calls":[{"id":"a"}]}]}`, "invalid_request", "messages[0].tool_calls[0].function"},
		{"call without name", `{"messages":[{"role":"assistant","tool_calls":[{"function":{}}]}]}`, "invalid_request", "messages[0].tool_calls[0].function.name"},
		{"arguments no string", `{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":{}}}]}]}`, "invalid_request", "messages[0].tool_calls[0].function.arguments"},
		{"tools no list", `{"messages":[],"tools":{}}`, "invalid_request", "tools"},
		{"tool no object", `{"messages":[],"tools":[1]}`, "invalid_request", "tools[0]"},
		{"tool without type", `{"messages":[],"tools":[{}]}`, "invalid_request", "tools[0].type"},
		{"tool without function", `{"messages":[],"tools":[{"type":"function"}]}`, "invalid_request", "tools[0].function"},
		{"function without name", `{"messages":[],"functions":[{}]}`, "invalid_request", "functions[0].name"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Codec{}.Request([]byte(c.body))
			m, ok := wire.IsMalformed(err)
			if !ok || m.Code != c.code || !strings.HasPrefix(m.Reason, c.reason) {
				t.Errorf("got %v (%+v), want %s %s", err, m, c.code, c.reason)
			}
		})
	}
}

func TestError(t *testing.T) {
	for status, kind := range map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "invalid_request_error",
		413: "invalid_request_error", 429: "rate_limit_error", 500: "server_error", 503: "server_error",
	} {
		want := fmt.Sprintf(`{"error":{"message":"no \"entry\"","type":%q,"param":null,"code":"some_code"}}`, kind)
		if got := (Codec{}).Error(status, "some_code", `no "entry"`); string(got) != want {
			t.Errorf("%d: got %s, want %s", status, got, want)
		}
	}
}
