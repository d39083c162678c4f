package anthropic

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
)

// recorder is a sink that keeps what it is told.
type recorder struct {
	parts  []gatehouse.Part
	closed []bool
	unread []string
}

func (r *recorder) Open(p gatehouse.Part) int {
	p.ID = len(r.parts)
	r.parts, r.closed = append(r.parts, p), append(r.closed, false)
	return p.ID
}

func (r *recorder) Text(id int, delta string) {
	if r.closed[id] {
		panic("text for a part that is closed")
	}
	r.parts[id].Text += delta
}

func (r *recorder) Close(id int) {
	if r.closed[id] {
		panic("a part closed twice")
	}
	r.closed[id] = true
}

func (r *recorder) Unread(path string) { r.unread = append(r.unread, path) }

func whole(content, stop string) string {
	return `{"id":"msg_1","type":"message", "content":` + content + `,"stop_reason":"` + stop + `","usage":{"input_tokens":7,"output_tokens":9},"x":1.50}`
}

const (
	textA = `{"type":"text","text":"a"}`
	callR = `{"type":"tool_use","id":"t1","name":"read","input":{ "n": 12345678901234567890 }}`
	callW = `{"type":"tool_use","id":"t2","name":"write","input":{}}`
	think = `{"type":"thinking","thinking":"hm","signature":"s"}`
	note  = `{"type":"text","text":"no"}`
)

func remove(notice string, at ...int) func([]gatehouse.Part) []gatehouse.Part {
	return func(p []gatehouse.Part) []gatehouse.Part {
		for _, i := range at {
			p[i].Removed, p[i].Notice = true, notice
		}
		return p
	}
}

func rewriteText(at int, text string) func([]gatehouse.Part) []gatehouse.Part {
	return func(p []gatehouse.Part) []gatehouse.Part { p[at].Text = text; return p }
}

func insertNote(p []gatehouse.Part) []gatehouse.Part {
	return append(p, gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.Assistant, Inserted: true, Text: "no"})
}

// edits are edits of a turn. The same must come of them streamed and not.
var edits = []struct {
	name     string
	content  string
	stop     string
	edit     func([]gatehouse.Part) []gatehouse.Part
	want     string
	wantStop string
}{
	{"a text", "[ " + textA + " ]", "end_turn", rewriteText(0, "b \"c\""), `[ {"type":"text","text":"b \"c\""} ]`, "end_turn"},
	{"a text with citations", `[{"citations":[{"cited_text":"a"}],"type":"text","text":"a"}]`, "end_turn",
		rewriteText(0, "b"), `[{"citations":null,"type":"text","text":"b"}]`, "end_turn"},
	{"a text that goes", "[" + textA + "," + callR + "]", "tool_use", remove("", 0), "[" + callR + "]", "tool_use"},
	{"a text that leaves its notice", "[" + textA + "," + callR + "]", "tool_use", remove("no", 0), "[" + note + "," + callR + "]", "tool_use"},
	{"the only call", "[" + callR + "]", "tool_use", remove("no", 0), "[" + note + "]", "end_turn"},
	{"the only call behind text", "[" + textA + " , " + callR + "]", "tool_use", remove("no", 1), "[" + textA + "," + note + "]", "end_turn"},
	{"the first of two calls", "[" + callR + "," + callW + "]", "tool_use", remove("no", 0), "[" + note + "," + callW + "]", "tool_use"},
	{"the second of two calls", "[" + textA + "," + callR + "," + callW + "]", "tool_use", remove("no", 2),
		"[" + textA + "," + note + "," + callR + "]", "tool_use"},
	{"both calls", "[" + callR + "," + callW + "]", "tool_use", remove("no", 0, 1), "[" + note + "," + note + "]", "end_turn"},
	{"a stop reason that does not wait for results", "[" + callR + "]", "max_tokens", remove("no", 0), "[" + note + "]", "max_tokens"},
	{"an insertion before calls", "[" + textA + "," + callR + "]", "tool_use", insertNote, "[" + textA + "," + note + "," + callR + "]", "tool_use"},
	{"an insertion at the end", "[" + textA + "]", "end_turn", insertNote, "[" + textA + "," + note + "]", "end_turn"},
	{"an insertion into nothing", "[]", "end_turn", insertNote, "[" + note + "]", "end_turn"},
	{"reasoning that goes", "[" + think + "," + textA + "]", "end_turn", remove("", 0), "[" + textA + "]", "end_turn"},
	{"reasoning with its calls", "[" + think + "," + callR + "]", "tool_use", remove("", 0, 1), "[]", "end_turn"},
	{"signed reasoning stays as it is", "[" + think + "," + textA + "]", "end_turn", rewriteText(0, "x"), "[" + think + "," + textA + "]", "end_turn"},
	{"a hosted call takes its result along",
		`[{"type":"server_tool_use","id":"s","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"s","content":[{"type":"web_search_result","title":"T"}]},` + textA + "]",
		"end_turn", remove("no", 0), "[" + textA + "," + note + "]", "end_turn"},
	{"a hosted result", `[{"type":"mcp_tool_result","tool_use_id":"s","content":[{"type":"text","text":"T"}]}]`, "end_turn",
		rewriteText(0, "U"), `[{"type":"mcp_tool_result","tool_use_id":"s","content":[{"type":"text","text":"U"}]}]`, "end_turn"},
	{"an opaque block that goes", `[{"type":"hologram","x":1},` + textA + "]", "end_turn", remove("no", 0), "[" + textA + "," + note + "]", "end_turn"},
}

func TestResponseBytes(t *testing.T) {
	for _, c := range edits {
		t.Run(c.name, func(t *testing.T) {
			body, sink := whole(c.content, c.stop), &recorder{}
			m, err := Codec{}.Response([]byte(body), sink)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := m.Bytes(sink.parts); err != nil || string(got) != body {
				t.Fatalf("no edit: %s, %v", got, err)
			}
			got, err := m.Bytes(c.edit(sink.parts))
			if want := whole(c.want, c.wantStop); err != nil || string(got) != want {
				t.Errorf("got  %s, %v\nwant %s", got, err, want)
			}
		})
	}
}

func TestResponseParts(t *testing.T) {
	sink := &recorder{}
	m, err := Codec{}.Response([]byte(whole("["+think+`,{"type":"redacted_thinking","data":"x"},`+textA+","+callR+"]", "tool_use")), sink)
	if err != nil {
		t.Fatal(err)
	}
	want := `
reasoning assistant content[0].thinking "hm" signed
reasoning assistant content[1] "" signed
text assistant content[2].text "a"
tool_call assistant read#t1 content[3].input "{ \"n\": 12345678901234567890 }"`
	if got := "\n" + lines(sink.parts); got != want {
		t.Errorf("got%s\nwant%s", got, want)
	}
	if m.Usage() != (gatehouse.Usage{Input: 7, Output: 9}) {
		t.Errorf("usage %+v", m.Usage())
	}
	for i, closed := range sink.closed {
		if !closed {
			t.Errorf("part %d was not closed", i)
		}
	}
}

func TestResponseWithoutContent(t *testing.T) {
	for _, body := range []string{`{"type":"error","error":{"type":"api_error","message":"x"}}`, ` {"input_tokens": 3}`, `{"content":null}`} {
		sink := &recorder{}
		m, err := Codec{}.Response([]byte(body), sink)
		if err != nil || len(sink.parts) > 0 {
			t.Fatalf("%s: %v, %d parts", body, err, len(sink.parts))
		}
		if got, err := m.Bytes(nil); err != nil || string(got) != body {
			t.Errorf("got %s, %v", got, err)
		}
		if got, err := m.Bytes(insertNote(nil)); err == nil {
			t.Errorf("text was added to %s: %s", body, got)
		}
	}
}

func TestResponseRefused(t *testing.T) {
	for _, body := range []string{``, `[]`, `{"content":"x"}`, `{"content":[{"type":"text"}]}`, `{"content":[],"content":[]}`} {
		if _, err := (Codec{}).Response([]byte(body), &recorder{}); err == nil {
			t.Errorf("%s was read", body)
		}
	}
}

func FuzzResponse(f *testing.F) {
	for _, c := range edits {
		f.Add([]byte(whole(c.content, c.stop)), uint(0), "new")
	}
	f.Fuzz(func(t *testing.T, body []byte, at uint, text string) {
		sink := &recorder{}
		m, err := Codec{}.Response(body, sink)
		if err != nil {
			return
		}
		if got, err := m.Bytes(sink.parts); err != nil || string(got) != string(body) {
			t.Fatalf("no edit: %s, %v", got, err)
		}
		parts := editOne(sink.parts, at, text)
		if got, err := m.Bytes(parts); err == nil {
			again := &recorder{}
			if _, err := (Codec{}).Response(got, again); err != nil || !json.Valid(got) {
				t.Fatalf("%v: %s", err, got)
			}
			if lines(again.parts) != lines(parts) {
				t.Fatalf("got\n%s\nwant\n%s", lines(again.parts), lines(parts))
			}
		}
		checkRemoval(t, parts, m.Bytes, at, func(got []byte) ([]gatehouse.Part, error) {
			again := &recorder{}
			_, err := Codec{}.Response(got, again)
			return again.parts, err
		})
	})
}

// checkRemoval removes one call and looks at what is left: the other calls, and the notice before them.
func checkRemoval(t *testing.T, parts []gatehouse.Part, write func([]gatehouse.Part) ([]byte, error), at uint, read func([]byte) ([]gatehouse.Part, error)) {
	t.Helper()
	if len(parts) == 0 || parts[at%uint(len(parts))].Kind != gatehouse.ToolCall {
		return
	}
	gone := int(at % uint(len(parts)))
	parts[gone].Removed, parts[gone].Notice = true, "NOTICE"
	got, err := write(parts)
	if err != nil {
		return
	}
	left, err := read(got)
	if err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	var want, have []string
	for i, p := range parts {
		if p.Kind == gatehouse.ToolCall && i != gone {
			want = append(want, p.CallID+p.Text)
		}
	}
	notice := false
	for _, p := range left {
		if p.Kind == gatehouse.ToolCall {
			have = append(have, p.CallID+p.Text)
		}
		notice = notice || p.Text == "NOTICE"
	}
	if !notice || strings.Join(have, "\n") != strings.Join(want, "\n") {
		t.Fatalf("notice %v, calls %q, want %q", notice, have, want)
	}
}
