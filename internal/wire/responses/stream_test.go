package responses

import (
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
)

// answered is a stream with a thought, a text and a call.
func answered() string {
	thought := `{"id":"rs","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}`
	said := `{"id":"m","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","annotations":[{"type":"url_citation"}],"logprobs":[{"token":"ab"}],"text":"abcd"}]}`
	call := `{"id":"fc","type":"function_call","call_id":"c","name":"f","arguments":"{}","status":"completed"}`
	return events(
		`response.created "response":{"id":"resp_1","status":"in_progress","output":[]}`,
		`response.output_item.added "output_index":0,"item":{"id":"rs","type":"reasoning","summary":[]}`,
		`response.reasoning_summary_part.added "output_index":0,"summary_index":0,"item_id":"rs","part":{"type":"summary_text","text":""}`,
		`response.reasoning_summary_text.delta "output_index":0,"summary_index":0,"item_id":"rs","delta":"hm"`,
		`response.reasoning_summary_text.done "output_index":0,"summary_index":0,"item_id":"rs","text":"hm"`,
		`response.reasoning_summary_part.done "output_index":0,"summary_index":0,"item_id":"rs","part":{"type":"summary_text","text":"hm"}`,
		`response.output_item.done "output_index":0,"item":`+thought,
		`response.output_item.added "output_index":1,"item":{"id":"m","type":"message","role":"assistant","status":"in_progress","content":[]}`,
		`response.content_part.added "output_index":1,"content_index":0,"item_id":"m","part":{"type":"output_text","annotations":[],"text":""}`,
		`response.output_text.delta "output_index":1,"content_index":0,"item_id":"m","delta":"ab","logprobs":[{"token":"ab"}]`,
		`response.output_text.delta "output_index":1,"content_index":0,"item_id":"m","delta":"cd","logprobs":[]`,
		`response.output_text.annotation.added "output_index":1,"content_index":0,"item_id":"m","annotation":{"type":"url_citation"}`,
		`response.output_text.done "output_index":1,"content_index":0,"item_id":"m","text":"abcd"`,
		`response.content_part.done "output_index":1,"content_index":0,"item_id":"m","part":{"type":"output_text","annotations":[{"type":"url_citation"}],"logprobs":[{"token":"ab"}],"text":"abcd"}`,
		`response.output_item.done "output_index":1,"item":`+said,
		`response.output_item.added "output_index":2,"item":{"id":"fc","type":"function_call","call_id":"c","name":"f","arguments":"","status":"in_progress"}`,
		`response.function_call_arguments.delta "output_index":2,"item_id":"fc","delta":"{"`,
		`response.function_call_arguments.delta "output_index":2,"item_id":"fc","delta":"}"`,
		`response.function_call_arguments.done "output_index":2,"item_id":"fc","arguments":"{}"`,
		`response.output_item.done "output_index":2,"item":`+call,
		`response.completed "response":{"id":"resp_1","status":"completed","output":[`+thought+`,`+said+`,`+call+`],"usage":{"input_tokens":3,"output_tokens":4}}`,
	)
}

const answeredParts = `assistant reasoning output[0].summary[0] "hm"
assistant text output[1].content[0] "abcd"
assistant tool_call output[2].arguments "{}" tool=f id=c`

func TestStreamParts(t *testing.T) {
	added := `response.output_item.added "output_index":0,"item":`
	finished := `response.output_item.done "output_index":0,"item":`
	cases := []struct{ desc, stream, want string }{
		{"copies are one part with their pieces", answered(), answeredParts},
		{"copies without pieces", events(finished+`{"id":"m","type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}`,
			`response.completed "response":{"output":[{"id":"m","type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}]}`),
			`assistant text output[0].content[0] "a"`},
		{"a copy that says something else is read, too", events(added+`{"id":"m","type":"message","role":"assistant","content":[]}`,
			`response.output_text.delta "output_index":0,"content_index":0,"delta":"a"`, `response.output_text.done "output_index":0,"content_index":0,"text":"b"`),
			"assistant text output[0].content[0] \"a\"\nassistant text output[0].content[0] \"b\""},
		{"arguments that come with the item alone", events(added+`{"id":"fc","type":"function_call","call_id":"c","name":"f","arguments":""}`,
			finished+`{"id":"fc","type":"function_call","call_id":"c","name":"f","arguments":"{}"}`), `assistant tool_call output[0].arguments "{}" tool=f id=c`},
		{"a call by another name in its end", events(added+`{"id":"fc","type":"function_call","call_id":"c","name":"f","arguments":""}`,
			finished+`{"id":"fc","type":"function_call","call_id":"c","name":"g","arguments":""}`),
			"assistant tool_call output[0].arguments \"\" tool=f id=c\nassistant tool_call output[0].arguments \"\" tool=g id=c"},
		{"a shell's commands are one call", events(added+`{"id":"s","type":"shell_call","call_id":"c","action":{"commands":[]}}`,
			`response.shell_call_command.added "output_index":0,"command_index":0,"command":""`, `response.shell_call_command.delta "output_index":0,"command_index":0,"delta":"ls"`,
			finished+`{"id":"s","type":"shell_call","call_id":"c","action":{"commands":["ls"]}}`), `assistant tool_call output[0].action "{\"commands\":[\"ls\"]}" tool=shell id=c media=shell_call`},
		{"code and what it wrote", events(added+`{"id":"ci","type":"code_interpreter_call","code":null,"outputs":null}`,
			`response.code_interpreter_call_code.delta "output_index":0,"delta":"1"`, `response.code_interpreter_call_code.done "output_index":0,"code":"1"`, `response.code_interpreter_call.completed "output_index":0`,
			finished+`{"id":"ci","type":"code_interpreter_call","code":"1","outputs":[{"type":"logs","logs":"l"}]}`),
			"assistant tool_call output[0].code \"1\" tool=hosted:code_interpreter id=ci media=freeform\nassistant tool_result output[0].outputs[0].logs \"l\" tool=hosted:code_interpreter id=ci"},
		{"what a hosted shell writes", events(`response.shell_call_output_content.delta "output_index":0,"command_index":0,"delta":{"stdout":"a"}`,
			`response.shell_call_output_content.delta "output_index":0,"command_index":0,"delta":{"stdout":"b"}`,
			`response.shell_call_output_content.done "output_index":0,"command_index":0,"output":[{"stdout":"ab","stderr":"","outcome":{"type":"exit","exit_code":0}}]`),
			`assistant tool_result output[0].stdout[0] "ab" tool=hosted:shell`},
		{"pictures and events that no rule knows are told once", events(`response.image_generation_call.partial_image "output_index":0,"partial_image_b64":"x"`,
			`response.image_generation_call.partial_image "output_index":0,"partial_image_b64":"y"`, `response.brand_new "x":1`, `response.web_search_call.searching "output_index":1`),
			"assistant opaque output[0].image_generation_call \"\" media=image\nassistant opaque response \"\" media=response.brand_new"},
		{"of a type that may be a text nothing is told", events(`response.Gh0st.delta "delta":"a"`, `response.Gh0st "x":1`), "assistant text * \"a\"\nassistant opaque response \"\" media=response.*"},
		{"a new kind of text", events(`response.audio.transcript.delta "delta":"a"`, `response.audio.transcript.delta "delta":"b"`), `assistant text audio.transcript "ab"`},
	}
	for _, c := range cases {
		t.Run(c.desc, func(t *testing.T) {
			var made recorder
			s, err := play(&made, c.stream)
			if err != nil {
				t.Fatal(err)
			}
			if got := shown(made.parts); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if got := written(t, s, made.parts); got != c.stream {
				t.Errorf("without edits: %s", got)
			}
		})
	}
}

func TestStreamRefuses(t *testing.T) {
	added := `response.output_item.added "output_index":0,"item":`
	for desc, stream := range map[string]string{
		"arguments of no call":             events(`response.function_call_arguments.delta "output_index":0,"delta":"{"`),
		"an item that begins twice":        events(added+`{"type":"message","role":"assistant"}`, added+`{"type":"message","role":"assistant"}`),
		"commands that the end denies":     events(`response.shell_call_command.done "output_index":0,"command_index":0,"command":"rm"`, `response.output_item.done "output_index":0,"item":{"type":"shell_call","action":{"commands":["ls"]}}`),
		"a name that is not the type":      "event: response.completed\ndata: {\"type\":\"response.created\"}\n\n",
		"an index that is too large":       events(`response.output_text.delta "output_index":99999,"content_index":0,"delta":"a"`),
		"a delta without its text":         events(`response.output_text.delta "output_index":0,"content_index":0`),
		"a response beside a delta":        events(`response.output_text.delta "output_index":0,"content_index":0,"delta":"a","response":{}`),
		"a response beside an item":        events(`response.output_item.done "output_index":0,"item":{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},"response":{}`),
		"an output_text beside the output": events(`response.completed "response":{"output":[],"output_text":"x"}`),
	} {
		if _, err := play(&recorder{}, stream); err == nil {
			t.Errorf("%s: taken", desc)
		}
	}
}

func TestStreamEdits(t *testing.T) {
	edit := func(i int, f func(*gatehouse.Part)) func([]gatehouse.Part) []gatehouse.Part {
		return func(parts []gatehouse.Part) []gatehouse.Part { f(&parts[i]); return parts }
	}
	said := func(text string) func([]gatehouse.Part) []gatehouse.Part {
		return func(parts []gatehouse.Part) []gatehouse.Part {
			return append(parts, gatehouse.Part{Kind: gatehouse.Text, Text: text, Inserted: true})
		}
	}
	cases := []struct {
		desc  string
		edit  func([]gatehouse.Part) []gatehouse.Part
		want  string
		gone  []string
		times map[string]int
	}{
		{"a text changes in all its copies", edit(1, func(p *gatehouse.Part) { p.Text = "[x]" }),
			strings.ReplaceAll(answeredParts, `"abcd"`, `"[x]"`), []string{`"ab"`, "cd", "url_citation", `"token"`}, map[string]int{`"[x]"`: 5}},
		{"a call goes, its reasoning stays with the text", edit(2, func(p *gatehouse.Part) { p.Removed, p.Notice = true, "no call" }),
			"assistant reasoning output[0].summary[0] \"hm\"\nassistant text output[1].content[0] \"abcd\"\nassistant text output[2].content[0] \"no call\"",
			[]string{"function_call", `"fc"`}, map[string]int{`"no call"`: 5}},
		{"reasoning goes, and the message is no longer the one that it belongs to", edit(0, func(p *gatehouse.Part) { p.Removed = true }),
			"assistant text output[0].content[0] \"abcd\"\nassistant tool_call output[1].arguments \"{}\" tool=f id=c", []string{"hm", `"rs"`, `"m"`}, map[string]int{`"msg_gatehouse_m"`: 9}},
		{"text is added", said("a warning"), answeredParts + "\nassistant text output[3].content[0] \"a warning\"", nil, map[string]int{`"a warning"`: 5}},
		{"everything goes", func(parts []gatehouse.Part) []gatehouse.Part {
			for i := range parts {
				parts[i].Removed = true
			}
			return append(parts, gatehouse.Part{Kind: gatehouse.Text, Text: "stopped", Inserted: true})
		}, `assistant text output[0].content[0] "stopped"`, []string{"hm", "ab", `"fc"`}, nil},
	}
	for _, c := range cases {
		t.Run(c.desc, func(t *testing.T) {
			var made, again recorder
			s, err := play(&made, answered())
			if err != nil {
				t.Fatal(err)
			}
			out := written(t, s, c.edit(made.parts))
			if _, err := play(&again, out); err != nil {
				t.Fatalf("%v:\n%s", err, out)
			}
			if got := shown(again.parts); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			for _, text := range c.gone {
				if strings.Contains(out, text) {
					t.Errorf("%s is still in\n%s", text, out)
				}
			}
			for text, n := range c.times {
				if got := strings.Count(out, text); got != n {
					t.Errorf("%s is there %d times, want %d:\n%s", text, got, n, out)
				}
			}
		})
	}
}

// A call whose end has not come when the stream breaks off is told by no part, and nothing of it leaves.
func TestHalfACommandDoesNotLeave(t *testing.T) {
	var made recorder
	s, err := play(&made, events(`response.output_item.added "output_index":0,"item":{"id":"s","type":"shell_call","call_id":"c","action":{"commands":[]}}`,
		`response.shell_call_command.delta "output_index":0,"command_index":0,"delta":"rm -rf"`))
	if err != nil {
		t.Fatal(err)
	}
	if out := written(t, s, made.parts); out != "" {
		t.Errorf("got %s", out)
	}
}

func TestUsageAndNames(t *testing.T) {
	s, err := play(&recorder{}, answered())
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Usage(); got.Input != 3 || got.Output != 4 || !s.Done() {
		t.Errorf("usage %+v, done %v", got, s.Done())
	}
	if got := s.(*stream).Keys(); strings.Join(got, " ") != "resp_1 m" {
		t.Errorf("keys %q", got)
	}
}
