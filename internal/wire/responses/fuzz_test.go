package responses

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire/wiretest"
)

// editable reports whether a part can be edited: a text whose place in the bytes is known.
func editable(p gatehouse.Part) bool {
	return p.Text != "" && (p.Kind == gatehouse.Text || p.Kind == gatehouse.ToolResult || p.Kind == gatehouse.Reasoning)
}

// marker stands in no seed.
const marker = "\u2603 an edit \u2603"

// has reports whether any part says a text.
func has(parts []gatehouse.Part, text string) bool {
	return slices.ContainsFunc(parts, func(p gatehouse.Part) bool { return strings.Contains(p.Text, text) })
}

// theirs are the parts without what the codec writes in place of the gateway's messages.
func theirs(parts []gatehouse.Part) []gatehouse.Part {
	return slices.DeleteFunc(parts, func(p gatehouse.Part) bool { return p.Text == noticeOwn })
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"input":"a\u0000","instructions":"i","n":1.50}`), uint8(0))
	f.Add([]byte(`{"instructions":[{"role":"developer","content":"d"}],"input":[{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image"}]},{"type":"reasoning","summary":[{"type":"summary_text","text":"s"}],"encrypted_content":"e"},{"type":"function_call","call_id":"1","name":"f","arguments":"{}"},{"type":"shell_call","action":{}},{"type":"function_call_output","call_id":"1","output":"r"},{"type":"mcp_call","server_label":"s","name":"t","arguments":"","output":"o"}],"tools":[{"type":"function","name":"f","description":"d"},{"type":"mcp","server_label":"s","allowed_tools":["a"]}]}`), uint8(3))
	f.Add([]byte(`{"prompt":{"variables":{"a":"b"}},"previous_response_id":"resp_gatehouse_0123456789abcdef0123456789abcdef_x"}`), uint8(1))
	f.Add([]byte(`{"input":[{"type":"item_reference","id":"msg_gatehouse_1","text":"a"},{"type":"item_reference","id":"msg_2"},{"role":"user","content":"u"}]}`), uint8(0))
	f.Fuzz(func(t *testing.T, body []byte, n uint8) {
		r, err := Codec{}.Request(body)
		if err != nil {
			return
		}
		resolved := len(r.(*request).own) > 0 || strings.Contains(string(body), "previous_response_id")
		if same, err := r.Bytes(r.Parts()); err != nil || string(same) != string(body) && !resolved {
			t.Fatalf("without edits: %q, %v", same, err)
		}
		again := func(parts []gatehouse.Part) []gatehouse.Part {
			t.Helper()
			return theirs(wiretest.Reread(t, r, parts, wiretest.Request(Codec{})))
		}
		parts := r.Parts()
		if i, ok := wiretest.Pick(parts, n, editable); ok {
			parts[i].Text = marker
			if got := again(parts); len(got) != len(parts) || got[i].Text != marker {
				t.Fatalf("got\n%s\nwant\n%s", shown(got), shown(parts))
			}
		}
		added := again(append(r.Parts(), gatehouse.Part{Kind: gatehouse.Text, Text: marker, Inserted: true},
			gatehouse.Part{Kind: gatehouse.ToolResult, CallID: "c", Text: "result " + marker, Inserted: true}))
		if !has(added, "result "+marker) || !slices.ContainsFunc(added, func(p gatehouse.Part) bool {
			return p.Role == gatehouse.User && strings.HasSuffix(p.Text, marker)
		}) {
			t.Fatalf("what was inserted is not there:\n%s", shown(added))
		}
	})
}

func FuzzResponse(f *testing.F) {
	f.Add([]byte(body(thought, said, called)), uint8(0))
	f.Add([]byte(`{"output":[`+said+`],"output_text":"a"}`), uint8(0))
	f.Add([]byte(`{"output":[{"id":"a","type":"mcp_list_tools","server_label":"s","tools":[{"name":"t","description":"d"}]},{"id":"a","type":"code_interpreter_call","code":"c","outputs":[{"type":"logs","logs":"l"}]},{"type":"custom_tool_call","name":"n","input":"i"}]}`), uint8(1))
	f.Fuzz(func(t *testing.T, body []byte, n uint8) {
		var made recorder
		r, err := Codec{}.Response(body, &made)
		if err != nil {
			return
		}
		if same, err := r.Bytes(made.parts); err != nil || string(same) != string(body) {
			t.Fatalf("without edits: %q, %v", same, err)
		}
		checkEdits(t, made.parts, n, func(parts []gatehouse.Part) []gatehouse.Part {
			t.Helper()
			return wiretest.Reread(t, r, parts, wiretest.Response(Codec{}))
		})
	})
}

func FuzzStream(f *testing.F) {
	f.Add(answered(), uint8(0))
	f.Add(events(`response.output_item.added "output_index":0,"item":{"id":"fc","type":"function_call","call_id":"c","name":"f","arguments":""}`,
		`response.function_call_arguments.delta "output_index":0,"delta":"{"`), uint8(0))
	f.Add(": c\r\n\r\nevent: response.output_text.delta\rdata:{\"output_index\":0,\rdata:\"content_index\":0,\"delta\":\"ab\"}\r\r", uint8(1))
	f.Add(events(`response.output_text.done "output_index":3,"content_index":0,"text":"a"`, `response.output_text.delta "output_index":3,"content_index":0,"delta":"b"`,
		`response.output_text.done "output_index":3,"content_index":0,"text":"c"`), uint8(1))
	f.Add(events(`response.shell_call_output_content.delta "output_index":0,"command_index":0,"delta":{"stdout":"a"}`, `response.x.delta "delta":"y"`, `error "message":"m"`), uint8(1))
	f.Fuzz(func(t *testing.T, text string, n uint8) {
		var made recorder
		s, err := play(&made, text)
		if err != nil {
			return
		}
		waiting := false // what never came to its end does not leave, whatever is edited
		for _, o := range s.(*stream).items {
			waiting = waiting || o.waits
		}
		if same, err := s.Bytes(made.parts); err != nil || string(same) != text && !waiting {
			t.Fatalf("without edits: %q, %v", same, err)
		}
		checkEdits(t, made.parts, n, func(parts []gatehouse.Part) []gatehouse.Part {
			out, err := s.Bytes(parts)
			if err != nil {
				t.Fatal(err)
			}
			var again recorder
			if _, err := play(&again, string(out)); err != nil {
				t.Fatalf("%v: %q", err, out)
			}
			return again.parts
		})
	})
}

// checkEdits looks for the three edits that there are: a text that changes is nowhere any more, a call that goes neither, and what is
// added is there.
func checkEdits(t *testing.T, parts []gatehouse.Part, n uint8, again func([]gatehouse.Part) []gatehouse.Part) {
	t.Helper()
	if i, ok := wiretest.Pick(parts, n, editable); ok {
		edited := slices.Clone(parts)
		old := edited[i].Text
		edited[i].Text = marker
		got := again(edited)
		if !has(got, marker) {
			t.Fatalf("the edit of part %d is not in\n%s", i, shown(got))
		}
		others := slices.Delete(slices.Clone(parts), i, i+1)
		if !has(others, old) && !strings.Contains(marker, old) && has(got, old) {
			t.Fatalf("what part %d said is still in\n%s", i, shown(got))
		}
	}
	if i, ok := wiretest.Pick(parts, n, wiretest.Call); ok {
		edited := slices.Clone(parts)
		edited[i].Removed, edited[i].Notice = true, marker
		got := again(edited)
		if !has(got, marker) {
			t.Fatalf("the notice is not in\n%s", shown(got))
		}
		calls := func(list []gatehouse.Part) (n int) {
			for _, p := range list {
				if p.Kind == gatehouse.ToolCall {
					n++
				}
			}
			return n
		}
		if calls(got) >= calls(parts) {
			t.Fatalf("%d calls of %d are left", calls(got), calls(parts))
		}
	}
}
