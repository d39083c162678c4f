package openai

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// exactly is arguments as no encoder would write them.
const exactly = "{ \"to\" : \"a<b\\u00e9\",\n\"n\":12345678901234567890, \"f\":1.50 }"

func release(t *testing.T, members string, calls ...wire.Call) (body []byte, contentType string, err error) {
	t.Helper()
	return Codec{}.Released(mustRequest(t, `{"model":"m",`+members+`"messages":[]}`), calls, "ab-cd")
}

var releasedCases = []struct {
	name, asked string
	calls       []wire.Call
	message     string   // what the turn holds beside its role
	finish      string   // reason
	parts       []string // behind the path
}{
	{"one call", ``, []wire.Call{{Tool: "mail", ID: "call_1", Arguments: exactly}},
		`"content":null,"refusal":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"mail","arguments":` + quoted(exactly) + `}}]`, "tool_calls",
		[]string{`tool_calls[0].function.arguments ` + strconv.Quote(exactly) + ` tool=mail id=call_1`}},
	{"several calls", `"n":3,`, []wire.Call{{Tool: "mail", ID: "call_1", Arguments: "{}"}, {Tool: "sh", ID: "call_2", Arguments: "ls\n<x>", Freeform: true}, {Tool: "mail", ID: "call_3", Arguments: "[1]"}},
		`"content":null,"refusal":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"mail","arguments":"{}"}},` +
			`{"id":"call_2","type":"custom","custom":{"name":"sh","input":"ls\n\u003cx\u003e"}},{"id":"call_3","type":"function","function":{"name":"mail","arguments":"[1]"}}]`, "tool_calls",
		[]string{`tool_calls[0].function.arguments "{}" tool=mail id=call_1`, `tool_calls[1].custom.input "ls\n<x>" tool=sh id=call_2 media=freeform`,
			`tool_calls[2].function.arguments "[1]" tool=mail id=call_3`}},
	{"no id, no arguments", `"functions":[],"tools":[],`, []wire.Call{{Tool: "mail"}},
		`"content":null,"refusal":null,"tool_calls":[{"id":"call_ab-cd-0","type":"function","function":{"name":"mail","arguments":""}}]`, "tool_calls",
		[]string{`tool_calls[0].function.arguments "" tool=mail id=call_ab-cd-0`}},
	{"functions", `"functions":[{"name":"mail"}],`, []wire.Call{{Tool: "mail", ID: "dropped", Arguments: exactly}},
		`"content":null,"refusal":null,"function_call":{"name":"mail","arguments":` + quoted(exactly) + `}`, "function_call",
		[]string{`function_call.arguments ` + strconv.Quote(exactly) + ` tool=mail`}},
}

func quoted(text string) string {
	out, _ := json.Marshal(text)
	return string(out)
}

func TestReleasedWhole(t *testing.T) {
	for _, c := range releasedCases {
		t.Run(c.name, func(t *testing.T) {
			body, contentType, err := release(t, c.asked, c.calls...)
			if err != nil {
				t.Fatal(err)
			}
			got := regexp.MustCompile(`"created":\d+`).ReplaceAllString(string(body), `"created":1`)
			want := `{"id":"chatcmpl-ab-cd","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant",` + c.message +
				`},"logprobs":null,"finish_reason":"` + c.finish + `"}],"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}`
			if got != want || contentType != "application/json" {
				t.Errorf("got  %s %s\nwant %s", contentType, got, want)
			}
			var sink recorder
			r, err := Codec{}.Response(body, &sink)
			if err != nil {
				t.Fatal(err)
			}
			checkParts(t, sink.parts, at("message", c.parts)...)
			gone, err := r.Bytes(removeAll(sink.parts))
			if err != nil || !strings.Contains(string(gone), `"content":"no`) || !strings.Contains(string(gone), `"finish_reason":"stop"`) {
				t.Errorf("without its calls: %s, %v", gone, err)
			}
		})
	}
}

func TestReleasedStream(t *testing.T) {
	for _, c := range releasedCases {
		for _, usage := range []bool{false, true} {
			asked := c.asked + `"stream":true,`
			if usage {
				asked += `"stream_options":{"include_usage":true},`
			}
			body, contentType, err := release(t, asked, c.calls...)
			if err != nil || contentType != "text/event-stream" {
				t.Fatalf("%s: %s, %v", c.name, contentType, err)
			}
			var sink recorder
			s := play(t, &sink, string(body))
			var want []string
			for i, p := range at("delta", c.parts) {
				// Paths in a stream are those of the chunk, which holds one call.
				want = append(want, strings.Replace(p, "tool_calls["+strconv.Itoa(i)+"]", "tool_calls[0]", 1))
			}
			checkParts(t, sink.parts, want...)
			if !s.Done() || len(sink.log) != 2*len(c.calls) {
				t.Errorf("%s: done %v, %v", c.name, s.Done(), sink.log)
			}
			text := string(body)
			if strings.Count(text, `"finish_reason":"`+c.finish+`"`) != 1 || strings.Count(text, `"finish_reason":null`) != 1+2*len(c.calls) {
				t.Errorf("%s: finish reasons in %s", c.name, text)
			}
			if got := strings.Contains(text, `"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}`+"\n\ndata: [DONE]"); got != usage {
				t.Errorf("%s: usage %v in %s", c.name, got, text)
			}
			gone, err := s.Bytes(removeAll(sink.parts))
			if err != nil || !strings.Contains(string(gone), `"content":"no`) || !strings.Contains(string(gone), `"finish_reason":"stop"`) {
				t.Errorf("%s: without its calls: %s, %v", c.name, gone, err)
			}
		}
	}
}

// TestReleasedChunks holds the events to those of the API's reference of streamed calls.
func TestReleasedChunks(t *testing.T) {
	body, _, err := release(t, `"stream":true,`, wire.Call{Tool: "mail", ID: "call_1", Arguments: "{}"}, wire.Call{Tool: "sh", ID: "call_2", Arguments: "ls", Freeform: true})
	if err != nil {
		t.Fatal(err)
	}
	const none = `"logprobs":null,"finish_reason":null}`
	want := events(
		`{"index":0,"delta":{"role":"assistant","content":null,"refusal":null},`+none,
		`{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"mail","arguments":""}}]},`+none,
		`{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]},`+none,
		`{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_2","type":"custom","custom":{"name":"sh","input":""}}]},`+none,
		`{"index":0,"delta":{"tool_calls":[{"index":1,"custom":{"input":"ls"}}]},`+none,
		`{"index":0,"delta":{},"logprobs":null,"finish_reason":"tool_calls"}`, done)
	got := regexp.MustCompile(`\{"id":"chatcmpl-ab-cd","object":"chat.completion.chunk","created":\d+,"model":"m","choices":\[(.*)\]\}`).ReplaceAllString(string(body), "$1")
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestReleasedRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		asked string
		calls []wire.Call
	}{
		"no calls":              {``, nil},
		"functions, two calls":  {`"functions":[],`, []wire.Call{{Tool: "a"}, {Tool: "b"}}},
		"functions, a freeform": {`"functions":[],`, []wire.Call{{Tool: "a", Freeform: true}}},
	} {
		if body, _, err := release(t, c.asked, c.calls...); err == nil {
			t.Errorf("%s: %s", name, body)
		}
	}
}

func removeAll(parts []gatehouse.Part) []gatehouse.Part {
	for i := range parts {
		parts[i].Removed, parts[i].Notice = true, "no"
	}
	return parts
}

// at puts the paths of parts into the first choice.
func at(member string, parts []string) (out []string) {
	for _, p := range parts {
		out = append(out, "assistant tool_call choices[0]."+member+"."+p)
	}
	return out
}
