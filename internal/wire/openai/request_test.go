package openai

import (
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
)

func mustRequest(t *testing.T, body string) *request {
	t.Helper()
	r, err := Codec{}.Request([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return r.(*request)
}

func TestRequestParts(t *testing.T) {
	cases := []struct {
		name, body string
		want       []string
	}{
		{"no messages", `{"messages":[],"future":{"x":[1]}}`, nil},
		{"system, developer, user", `{"messages":[{"role":"system","content":"s"},{"role":"developer","content":[{"type":"text","text":"d"}]},{"role":"user","content":"u\u00e9"}]}`, []string{
			`system text messages[0].content "s"`,
			`system text messages[1].content[0].text "d"`,
			`user text messages[2].content "ué" latest`,
		}},
		{"content list", `{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:"}},{"type":"input_audio","input_audio":{}},{"type":"file","file":{}},{"type":"new","x":1},{"type":"text","text":"b"}]}]}`, []string{
			`user text messages[0].content[0].text "a" latest`,
			`user opaque messages[0].content[1] "" media=image_url latest`,
			`user opaque messages[0].content[2] "" media=input_audio latest`,
			`user opaque messages[0].content[3] "" media=file latest`,
			`user opaque messages[0].content[4] "" media=new latest`,
			`user text messages[0].content[5].text "b" latest`,
		}},
		{"text under an unknown type", `{"messages":[{"role":"user","content":[{"type":"input_text","text":"a"}]}]}`, []string{
			`user opaque messages[0].content[0] "" media=input_text latest`,
			`user text messages[0].content[0].text "a" latest`,
		}},
		{"unknown role", `{"messages":[{"role":"critic","content":"c"}]}`, []string{`user text messages[0].content "c" latest`}},
		{"tool round trip", `{"messages":[{"role":"user","content":"u"},{"role":"assistant","content":null,"reasoning_content":"r","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\": 1.50}"}},{"id":"2","type":"custom","custom":{"name":"g","input":"free"}}]},{"role":"tool","tool_call_id":"2","content":"G"},{"role":"tool","tool_call_id":"1","content":[{"type":"text","text":"F"}]},{"role":"tool","tool_call_id":"9","content":"?"}]}`, []string{
			`user text messages[0].content "u"`,
			`assistant reasoning messages[1].reasoning_content "r"`,
			`assistant tool_call messages[1].tool_calls[0].function.arguments "{\"a\": 1.50}" tool=f id=1`,
			`assistant tool_call messages[1].tool_calls[1].custom.input "free" tool=g id=2 media=freeform`,
			`tool tool_result messages[2].content "G" tool=g id=2 latest`,
			`tool tool_result messages[3].content[0].text "F" tool=f id=1 latest`,
			`tool tool_result messages[4].content "?" id=9 latest`,
		}},
		{"legacy functions", `{"messages":[{"role":"assistant","content":"","function_call":{"name":"f","arguments":"{}"}},{"role":"function","name":"f","content":"F"}],"functions":[{"name":"f","description":"does f"}]}`, []string{
			`assistant text messages[0].content ""`,
			`assistant tool_call messages[0].function_call.arguments "{}" tool=f`,
			`tool tool_result messages[1].content "F" tool=f latest`,
			`system tool_def functions[0].description "does f" tool=f`,
		}},
		{"refusals", `{"messages":[{"role":"assistant","refusal":"no"},{"role":"assistant","content":[{"type":"refusal","refusal":"never"}]},{"role":"user","content":"u"}]}`, []string{
			`assistant text messages[0].refusal "no"`,
			`assistant text messages[1].content[0].refusal "never"`,
			`user text messages[2].content "u" latest`,
		}},
		{"prefill is no turn", `{"messages":[{"role":"assistant","content":"a"},{"role":"user","content":"u"},{"role":"assistant","content":"p"}]}`, []string{
			`assistant text messages[0].content "a"`,
			`user text messages[1].content "u" latest`,
			`assistant text messages[2].content "p" latest`,
		}},
		{"late system message", `{"messages":[{"role":"user","content":"u"},{"role":"system","content":"s"}]}`, []string{
			`user text messages[0].content "u" latest`,
			`system text messages[1].content "s"`,
		}},
		{"tools", `{"messages":[],"tools":[{"type":"function","function":{"name":"f","description":"does f","parameters":{"properties":{"a":{"description":"a b"}}}}},{"type":"custom","custom":{"name":"g"}},{"type":"web_search"}],"web_search_options":{}}`, []string{
			`system tool_def tools[0].function.description "does f\na b" tool=f`,
			`system tool_def tools[1].custom.description "" tool=g`,
			`system tool_def tools[2] "" tool=hosted:web_search`,
			`system tool_def web_search_options "" tool=hosted:web_search`,
		}},
		{"audio in history", `{"messages":[{"role":"assistant","audio":{"id":"a"}},{"role":"user","content":null}]}`, []string{
			`assistant opaque messages[0].audio "" media=audio`,
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := mustRequest(t, c.body)
			checkParts(t, r.Parts(), c.want...)
			same, err := r.Bytes(r.Parts())
			if err != nil || string(same) != c.body || &same[0] != &r.doc[0] {
				t.Errorf("without edits: %s, %v", same, err)
			}
		})
	}
}

func TestRequestBytes(t *testing.T) {
	cases := []struct {
		name, body string
		edit       func(parts []gatehouse.Part) []gatehouse.Part
		want       string
	}{
		{"text alone changes", "{ \"n\": 1.50,\n\"seed\":12345678901234567890, \"messages\" : [ {\"content\" : \"a\\/b\",\"role\":\"user\",\"x\":null} ] ,\"model\":\"m\"}", set(0, "c\"d\n"),
			"{ \"n\": 1.50,\n\"seed\":12345678901234567890, \"messages\" : [ {\"content\" : \"c\\\"d\\n\",\"role\":\"user\",\"x\":null} ] ,\"model\":\"m\"}"},
		{"tool result item", `{"messages":[{"role":"tool","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]}`, set(1, "B"),
			`{"messages":[{"role":"tool","content":[{"type":"text","text":"a"},{"type":"text","text":"B"}]}]}`},
		{"arguments in history", `{"messages":[{"role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"f"}}]}]}`, set(0, `{"a":1}`),
			`{"messages":[{"role":"assistant","tool_calls":[{"function":{"arguments":"{\"a\":1}","name":"f"}}]}]}`},
		{"description", `{"messages":[],"tools":[{"type":"function","function":{"name":"f","description":"d"}}]}`, set(0, "D"),
			`{"messages":[],"tools":[{"type":"function","function":{"name":"f","description":"D"}}]}`},
		{"removed text leaves its notice", `{"messages":[{"role":"user","content":"a"}]}`, remove(0, "gone"), `{"messages":[{"role":"user","content":"gone"}]}`},
		{"insert behind a string", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}`, insert(0, "i", "j"),
			`{"messages":[{"role":"user","content":"a\n\ni\n\nj"},{"role":"assistant","content":"b"}]}`},
		{"insert behind an edited string", `{"messages":[{"role":"user","content":"a"}]}`, both(set(0, "A"), insert(0, "i")), `{"messages":[{"role":"user","content":"A\n\ni"}]}`},
		{"insert into the last user message", `{"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}`, insert(0, "i"),
			`{"messages":[{"role":"user","content":"a"},{"role":"user","content":"b\n\ni"}]}`},
		{"insert into a list", `{"messages":[{"role":"user","content":[{"type":"text","text":"a"} ]}]}`, insert(0, "i"),
			`{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"i"} ]}]}`},
		{"insert into an empty list", `{"messages":[{"role":"user","content":[ ]}]}`, insert(0, "i"), `{"messages":[{"role":"user","content":[{"type":"text","text":"i"} ]}]}`},
		{"insert where content is null", `{"messages":[{"role":"user","content":null}]}`, insert(0, "i"), `{"messages":[{"role":"user","content":"i"}]}`},
		{"insert where content is missing", `{"messages":[{"role":"user"}]}`, insert(0, "i"), `{"messages":[{"content":"i","role":"user"}]}`},
		{"insert without a user message", `{"messages":[{"role":"system","content":"s"}]}`, insert(0, "i"),
			`{"messages":[{"role":"system","content":"s"},{"role":"user","content":"i"}]}`},
		{"insert without messages", `{"messages":[]}`, insert(0, "i"), `{"messages":[{"role":"user","content":"i"}]}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := mustRequest(t, c.body)
			got, err := r.Bytes(c.edit(r.Parts()))
			if err != nil || string(got) != c.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, c.want)
			}
			checkJSON(t, got)
		})
	}
}

func TestRequestRefusesEdits(t *testing.T) {
	const body = `{"messages":[{"role":"user","content":[{"type":"image_url"}]},{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}]}`
	for name, edit := range map[string]func([]gatehouse.Part) []gatehouse.Part{
		"opaque":        set(0, "x"),
		"removed call":  remove(1, "x"),
		"missing parts": func(parts []gatehouse.Part) []gatehouse.Part { return parts[:1] },
		"foreign parts": func(parts []gatehouse.Part) []gatehouse.Part { return append(parts, parts[0]) },
	} {
		r := mustRequest(t, body)
		if got, err := r.Bytes(edit(r.Parts())); err == nil {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

func TestRequestFields(t *testing.T) {
	r := mustRequest(t, `{"model":"gpt-x","stream":true,"messages":[]}`)
	if r.Model() != "gpt-x" || !r.Stream() {
		t.Errorf("got %q, %v", r.Model(), r.Stream())
	}
	if r := mustRequest(t, `{"messages":[]}`); r.Model() != "" || r.Stream() {
		t.Errorf("got %q, %v", r.Model(), r.Stream())
	}
}

type edit = func(parts []gatehouse.Part) []gatehouse.Part

func set(i int, text string) edit {
	return func(parts []gatehouse.Part) []gatehouse.Part {
		parts[i].Text = text
		return parts
	}
}

func remove(i int, notice string) edit {
	return func(parts []gatehouse.Part) []gatehouse.Part {
		parts[i].Removed, parts[i].Notice = true, notice
		return parts
	}
}

func insert(choice int, texts ...string) edit {
	return func(parts []gatehouse.Part) []gatehouse.Part {
		for _, text := range texts {
			parts = append(parts, gatehouse.Part{Kind: gatehouse.Text, Inserted: true, Choice: choice, Text: text})
		}
		return parts
	}
}

func both(edits ...edit) edit {
	return func(parts []gatehouse.Part) []gatehouse.Part {
		for _, e := range edits {
			parts = e(parts)
		}
		return parts
	}
}
