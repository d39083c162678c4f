package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// show writes a part in one line: kind role tool#call path "text", and marks.
func show(p gatehouse.Part) string {
	s := fmt.Sprintf("%s %s", p.Kind, p.Role)
	if p.Tool != "" || p.CallID != "" {
		s += " " + p.Tool + "#" + p.CallID
	}
	s += fmt.Sprintf(" %s %q", p.Path, p.Text)
	if p.Media != "" {
		s += " media=" + p.Media
	}
	if p.Latest {
		s += " latest"
	}
	if p.Signed {
		s += " signed"
	}
	return s
}

func lines(parts []gatehouse.Part) string {
	var out []string
	for _, p := range parts {
		out = append(out, show(p))
	}
	return strings.Join(out, "\n")
}

func said(role, content string) string {
	return `{"messages":[{"role":"` + role + `","content":` + content + `}]}`
}

func TestRequestParts(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"a string", said("user", `"hi \u00e9"`), `text user messages[0].content "hi é" latest`},
		{"system as a string, wherever it stands", `{"messages":[{"role":"user","content":"hi"}],"system":"be good"}`, `
text system system "be good"
text user messages[0].content "hi" latest`},
		{"system as blocks", `{"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"text","text":"b"}],"messages":[]}`, `
text system system[0].text "a"
text system system[1].text "b"`},
		{"a system message", said("system", `"s"`), `text system messages[0].content "s"`},
		{"an unknown role is the user's", said("robot", `"s"`), `text user messages[0].content "s" latest`},
		{"images and unknown blocks", said("user", `[{"type":"image","source":{}},{"type":"hologram"}]`), `
opaque user messages[0].content[0] "" media=image latest
opaque user messages[0].content[1] "" media=hologram latest`},
		{"documents", said("user", `[
			{"type":"document","title":"T","context":"C","source":{"type":"text","media_type":"text/plain","data":"D"}},
			{"type":"document","source":{"type":"content","content":[{"type":"text","text":"E"}]}},
			{"type":"document","source":{"type":"base64","data":"xx"}}]`), `
text user messages[0].content[0].title "T" latest
text user messages[0].content[0].context "C" latest
text user messages[0].content[0].source.data "D" latest
text user messages[0].content[1].source.content[0].text "E" latest
opaque user messages[0].content[2].source "" media=document latest`},
		{"a search result", said("user", `[{"type":"search_result","source":"S","title":"T","content":[{"type":"text","text":"x"}]}]`), `
text user messages[0].content[0].title "T" latest
text user messages[0].content[0].source "S" latest
text user messages[0].content[0].content[0].text "x" latest`},
		{"thinking", said("assistant", `[{"type":"thinking","thinking":"a","signature":"s"},{"type":"thinking","thinking":"b","signature":""},{"type":"redacted_thinking","data":"z"}]`), `
reasoning assistant messages[0].content[0].thinking "a" signed
reasoning assistant messages[0].content[1].thinking "b"
reasoning assistant messages[0].content[2] "" signed`},
		{"calls and results", `{"messages":[{"role":"assistant","content":[
			{"type":"tool_use","id":"t1","name":"read","input":{ "n": 12345678901234567890, "x":1.50 }},
			{"type":"server_tool_use","id":"s1","name":"web_search","input":{}},
			{"type":"mcp_tool_use","id":"m1","name":"find","server_name":"docs","input":{}}]},
			{"role":"user","content":[
			{"type":"tool_result","tool_use_id":"t1","content":"one"},
			{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"two"},{"type":"image","source":{}}]},
			{"type":"tool_result","tool_use_id":"t9"},
			{"type":"text","text":"go on"}]}]}`, `
tool_call assistant read#t1 messages[0].content[0].input "{ \"n\": 12345678901234567890, \"x\":1.50 }"
tool_call assistant hosted:web_search#s1 messages[0].content[1].input "{}"
tool_call assistant mcp:docs/find#m1 messages[0].content[2].input "{}"
tool_result tool read#t1 messages[1].content[0].content "one" latest
tool_result tool read#t1 messages[1].content[1].content[0].text "two" latest
opaque tool read#t1 messages[1].content[1].content[1] "" media=image latest
text user messages[1].content[3].text "go on" latest`},
		{"results of hosted tools", said("assistant", `[
			{"type":"server_tool_use","id":"s1","name":"web_search","input":{}},
			{"type":"web_search_tool_result","tool_use_id":"s1","content":[{"type":"web_search_result","url":"u","title":"T","encrypted_content":"E","page_age":"p"}]},
			{"type":"mcp_tool_result","tool_use_id":"m","is_error":false,"content":[{"type":"text","text":"M"}]},
			{"type":"web_fetch_tool_result","tool_use_id":"w","content":{"type":"web_fetch_result","url":"u","content":{"type":"document","source":{"type":"base64","data":"B"},"title":"D"}}}]`), `
tool_call assistant hosted:web_search#s1 messages[0].content[0].input "{}"
tool_result tool hosted:web_search#s1 messages[0].content[1].content[0].title "T"
opaque tool hosted:web_search#s1 messages[0].content[1].content[0].encrypted_content "" media=encrypted_content
tool_result tool #m messages[0].content[2].content[0].text "M"
opaque tool #w messages[0].content[3].content.content.source "" media=base64
tool_result tool #w messages[0].content[3].content.content.title "D"`},
		{"tools", `{"messages":[],"tools":[{"name":"a","description":"does a","input_schema":{"properties":{"a":{"description":"a b"}}}},{"type":"custom","name":"b"},
			{"type":"web_search_20250305","name":"web_search"},{"type":"bash_20250124","name":"bash"},{"type":"novelty_1","name":"n"},
			{"type":"mcp_toolset","mcp_server_name":"docs"}],
			"mcp_servers":[{"type":"url","name":"docs","url":"https://x"}]}`, `
tool_def system a# tools[0].description "does a\na b"
tool_def system b# tools[1].description ""
tool_def system hosted:web_search# tools[2].description ""
tool_def system bash# tools[3].description ""
tool_def system hosted:n# tools[4].description ""
tool_def system mcp:docs/*# tools[5] ""`},
		{"tools of servers, by name where they are listed", `{"messages":[],"tools":[
			{"type":"mcp_toolset","mcp_server_name":"mail","default_config":{"enabled":false},"configs":{"send":{"enabled":true},"wipe":{"enabled":false},"read":{}}}],
			"mcp_servers":[{"type":"url","name":"mail","url":"https://x"},{"type":"url","name":"docs","url":"https://x"},
			{"type":"url","name":"old","url":"https://x","tool_configuration":{"allowed_tools":["find","open"]}}]}`, `
tool_def system mcp:mail/send# tools[0] ""
tool_def system mcp:mail/read# tools[0] ""
tool_def system mcp:docs/*# mcp_servers[1] ""
tool_def system mcp:old/find# mcp_servers[2] ""
tool_def system mcp:old/open# mcp_servers[2] ""`},
		{"what follows the last assistant message is latest, a prefill aside", `{"messages":[{"role":"user","content":"1"},
			{"role":"assistant","content":"2"},{"role":"user","content":"3"},{"role":"system","content":"4"},{"role":"user","content":"5"},{"role":"assistant","content":"6"}]}`, `
text user messages[0].content "1"
text assistant messages[1].content "2"
text user messages[2].content "3" latest
text system messages[3].content "4"
text user messages[4].content "5" latest
text assistant messages[5].content "6"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			q, err := Codec{}.Request([]byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if got := lines(q.Parts()); got != strings.TrimPrefix(c.want, "\n") {
				t.Errorf("got\n%s\nwant%s", got, c.want)
			}
		})
	}
}

func TestRequestSettings(t *testing.T) {
	q, err := Codec{}.Request([]byte(`{"model":"claude","stream":true,"messages":[]}`))
	if err != nil || q.Model() != "claude" || !q.Stream() {
		t.Errorf("got %v %v", q, err)
	}
}

func TestRequestRefused(t *testing.T) {
	for _, c := range []struct{ name, body, code, place string }{
		{"not JSON", `{"messages":[`, "invalid_json_body", ""},
		{"trailing data", `{"messages":[]}{}`, "invalid_json_body", ""},
		{"a key twice", `{"messages":[],"messages":[]}`, "duplicate_key", ""},
		{"a key twice in arguments", said("assistant", `[{"type":"tool_use","id":"a","name":"b","input":{"x":1,"x":2}}]`), "duplicate_key", ""},
		{"not UTF-8", said("user", "\"\xff\""), "invalid_utf8", ""},
		{"half a surrogate pair", said("user", `"\ud800"`), "invalid_utf8", ""},
		{"too deep", said("user", strings.Repeat("[", 200)+strings.Repeat("]", 200)), "too_deep", ""},
		{"not an object", `[]`, "invalid_request", "the body"},
		{"no messages", `{}`, "invalid_request", "messages"},
		{"messages as an object", `{"messages":{}}`, "invalid_request", "messages"},
		{"a message as a string", `{"messages":["x"]}`, "invalid_request", "messages[0]"},
		{"no role", `{"messages":[{"content":"x"}]}`, "invalid_request", "messages[0].role"},
		{"no content", `{"messages":[{"role":"user"}]}`, "invalid_request", "messages[0].content"},
		{"content as a number", said("user", `7`), "invalid_request", "messages[0].content"},
		{"a block as a string", said("user", `["x"]`), "invalid_request", "messages[0].content[0]"},
		{"a block without a type", said("user", `[{"text":"x"}]`), "invalid_request", "messages[0].content[0].type"},
		{"text as a list", said("user", `[{"type":"text","text":["x"]}]`), "invalid_request", "messages[0].content[0].text"},
		{"a call without a name", said("assistant", `[{"type":"tool_use","id":"x"}]`), "invalid_request", "messages[0].content[0].name"},
		{"a result without a call", said("user", `[{"type":"tool_result"}]`), "invalid_request", "messages[0].content[0].tool_use_id"},
		{"system as a number", `{"system":1,"messages":[]}`, "invalid_request", "system"},
		{"tools as an object", `{"tools":{},"messages":[]}`, "invalid_request", "tools"},
		{"stream as a string", `{"stream":"true","messages":[]}`, "invalid_request", "stream"},
		{"model as a number", `{"model":4,"messages":[]}`, "invalid_request", "model"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Codec{}.Request([]byte(c.body))
			m, ok := wire.IsMalformed(err)
			if !ok || m.Code != c.code || !strings.HasPrefix(m.Reason, c.place) {
				t.Errorf("got %v, want %s at %q", err, c.code, c.place)
			}
		})
	}
}

func TestRequestBytes(t *testing.T) {
	insert := func(parts []gatehouse.Part) []gatehouse.Part {
		return append(parts, gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.User, Inserted: true, Text: "note \"1\""})
	}
	set := func(i int, text string) func([]gatehouse.Part) []gatehouse.Part {
		return func(p []gatehouse.Part) []gatehouse.Part { p[i].Text = text; return p }
	}
	odd := "{ \"x\":1.50,\n\t\"messages\" : [ { \"content\":\"h\\u0069 \\/\" , \"role\":\"user\"} ],\"n\":12345678901234567890 }"
	for _, c := range []struct {
		name, body, want string
		edit             func([]gatehouse.Part) []gatehouse.Part
	}{
		{"no edit", odd, odd, func(p []gatehouse.Part) []gatehouse.Part { return p }},
		{"a string", odd, strings.Replace(odd, `"h\u0069 \/"`, `"new"`, 1), set(0, "new")},
		{"a block keeps its cache mark", said("user", `[ {"text" : "a","type":"text","cache_control":{"type":"ephemeral"}} ]`),
			said("user", `[ {"text" : "b","type":"text","cache_control":{"type":"ephemeral"}} ]`), set(0, "b")},
		{"an edited text loses its citations", said("assistant", `[{"type":"text","text":"a","citations":[{"cited_text":"a"}]}]`),
			said("assistant", `[{"type":"text","text":"b","citations":null}]`), set(0, "b")},
		{"signed reasoning stays", said("assistant", `[{"type":"thinking","thinking":"a","signature":"s"}]`),
			said("assistant", `[{"type":"thinking","thinking":"a","signature":"s"}]`), set(0, "b")},
		{"insert behind a string", said("user", `"hi"`), said("user", `"hi\n\nnote \"1\""`), insert},
		{"insert behind an edited string", said("user", `"hi"`), said("user", `"ho\n\nnote \"1\""`),
			func(p []gatehouse.Part) []gatehouse.Part { return insert(set(0, "ho")(p)) }},
		{"insert behind a cache mark", said("user", `[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}} ]`),
			said("user", `[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"text","text":"note \"1\""} ]`), insert},
		{"insert behind results", said("user", `[{"type":"tool_result","tool_use_id":"t"}]`),
			said("user", `[{"type":"tool_result","tool_use_id":"t"},{"type":"text","text":"note \"1\""}]`), insert},
		{"insert into an empty list", said("user", `[ ]`), said("user", `[{"type":"text","text":"note \"1\""} ]`), insert},
		{"insert before a prefill", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}`,
			`{"messages":[{"role":"user","content":"a\n\nnote \"1\""},{"role":"assistant","content":"b"}]}`, insert},
		{"insert without a user message", `{"messages":[ ]}`, `{"messages":[{"role":"user","content":"note \"1\""} ]}`, insert},
		{"a removed text leaves its notice", said("user", `"hi"`), said("user", `"gone"`), func(p []gatehouse.Part) []gatehouse.Part {
			p[0].Removed, p[0].Notice = true, "gone"
			return p
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			q, err := Codec{}.Request([]byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			got, err := q.Bytes(c.edit(q.Parts()))
			if err != nil || string(got) != c.want {
				t.Errorf("got %s, %v\nwant %s", got, err, c.want)
			}
		})
	}
}

func TestRequestKeepsTheSlice(t *testing.T) {
	body := []byte(said("user", `"hi"`))
	q, _ := Codec{}.Request(body)
	if got, _ := q.Bytes(q.Parts()); &got[0] != &body[0] {
		t.Error("a request without edits was copied")
	}
}

func TestRequestEditsThatHaveNoPlace(t *testing.T) {
	call := said("assistant", `[{"type":"tool_use","id":"a","name":"b","input":{}}]`)
	for _, c := range []struct {
		name, body string
		edit       func([]gatehouse.Part) []gatehouse.Part
	}{
		{"a call that goes", call, func(p []gatehouse.Part) []gatehouse.Part { p[0].Removed = true; return p }},
		{"arguments that are not JSON", call, func(p []gatehouse.Part) []gatehouse.Part { p[0].Text = "x"; return p }},
		{"parts that got lost", call, func([]gatehouse.Part) []gatehouse.Part { return nil }},
		{"a description that was not there", `{"messages":[],"tools":[{"name":"a"}]}`,
			func(p []gatehouse.Part) []gatehouse.Part { p[0].Text = "x"; return p }},
	} {
		t.Run(c.name, func(t *testing.T) {
			q, err := Codec{}.Request([]byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := q.Bytes(c.edit(q.Parts())); err == nil {
				t.Errorf("got %s, want an error", got)
			}
		})
	}
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte(said("user", `"hi"`)), uint(0), "new")
	f.Add([]byte(said("user", `[{"type":"text","text":"a","citations":[1]},{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"b"}]}]`)), uint(1), "\u2028\"")
	f.Add([]byte(said("assistant", `[{"type":"tool_use","id":"a","name":"b","input":{ "x":1.50 }}]`)), uint(0), "x")
	f.Add([]byte(`{"system":"s","messages":[],"tools":[{"name":"a","description":"d"}]}`), uint(2), "x")
	f.Fuzz(func(t *testing.T, body []byte, at uint, text string) {
		q, err := Codec{}.Request(body)
		if err != nil {
			return
		}
		parts := q.Parts()
		if got, err := q.Bytes(parts); err != nil || string(got) != string(body) {
			t.Fatalf("no edit: %s, %v", got, err)
		}
		edit := editOne(parts, at, text)
		got, err := q.Bytes(edit)
		if err != nil {
			return // an edit without a place
		}
		if !json.Valid(got) {
			t.Fatalf("not JSON: %s", got)
		}
		again, err := Codec{}.Request(got)
		if err != nil {
			t.Fatalf("%v: %s", err, got)
		}
		if lines(again.Parts()) != lines(edit) {
			t.Fatalf("got\n%s\nwant\n%s", lines(again.Parts()), lines(edit))
		}
	})
}

// editOne changes one part that may be changed. Texts become valid UTF-8, as all text of parts is.
func editOne(parts []gatehouse.Part, at uint, text string) []gatehouse.Part {
	if len(parts) == 0 {
		return parts
	}
	p := &parts[at%uint(len(parts))]
	switch {
	case p.Signed || p.Kind == gatehouse.Opaque:
	case p.Kind == gatehouse.ToolCall:
		p.Text = `{"edited": 1.50}`
	default:
		p.Text = strings.ToValidUTF8(text, "?")
	}
	return parts
}
