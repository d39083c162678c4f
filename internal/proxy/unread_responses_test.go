package proxy_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/proxy"
)

// hidden is an answer of Responses with a secret, $S, somewhere.
type hidden struct {
	name   string
	at     string   // a path that coverage has as one that nothing reads; empty: the secret does not leave
	never  string   // why the secret leaves and is not named
	item   string   // the answer's only item, streamed and not
	whole  string   // or: the answer itself
	events []string // or: events of the stream, between its first and its last
}

// A secret anywhere in an answer is taken out, or the record tells of a place that nothing has read.
func TestResponsesHideNothing(t *testing.T) {
	half, rest := secret[:18], secret[18:]
	message := func(piece string) string {
		return `{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[` + piece + `]}`
	}
	plain := `{"type":"output_text","text":"x y","annotations":[]}`
	delta := func(text, more string) string {
		return `{"type":"response.output_text.delta","output_index":0,"content_index":0,"item_id":"msg_1","delta":"` + text + `"` + more + `}`
	}
	annotation := `{"type":"response.output_text.annotation.added","output_index":0,"content_index":0,"item_id":"msg_1","annotation":{"type":"url_citation","title":"$S","url":"https://a"}}`
	added := func(item string) string {
		return `{"type":"response.output_item.added","output_index":0,"item":` + item + `}`
	}
	done := func(item string) string {
		return `{"type":"response.output_item.done","output_index":0,"item":` + item + `}`
	}
	tokens := func(tokens string) string { return `,"logprobs":[` + tokens + `]` }
	cases := []hidden{
		{name: "text", item: message(`{"type":"output_text","text":"x $S y","annotations":[]}`)},
		{name: "text of a user", item: `{"type":"message","id":"msg_1","role":"user","content":[{"type":"output_text","text":"$S","annotations":[]}]}`},
		{name: "an annotation", item: message(`{"type":"output_text","text":"x y","annotations":[{"type":"url_citation","title":"$S","url":"https://a"}]}`), at: "output[].content[].annotations[].title"},
		{name: "a link", item: message(`{"type":"output_text","text":"x y","annotations":[{"type":"url_citation","url":"https://a/$S"}]}`), at: "output[].content[].annotations[].url"},
		{name: "log probabilities", item: message(`{"type":"output_text","text":"x y","annotations":[],"logprobs":[{"token":"$S"}]}`), at: "output[].content[].logprobs"},
		{name: "likely tokens", item: message(`{"type":"output_text","text":"x","annotations":[],"logprobs":[{"token":"x","top_logprobs":[{"token":"$S"}]}]}`), at: "output[].content[].logprobs"},
		{name: "beside a text", item: message(`{"type":"output_text","text":"x y","annotations":[],"foo":"$S"}`), at: "output[].content[].foo"},
		{name: "a text beside a refusal", item: message(`{"type":"refusal","refusal":"x y","text":"$S"}`), at: "output[].content[].text"},
		{name: "a piece of another type", item: message(`{"type":"hologram","data":"$S"}`), at: "output[0].content[0]"},
		{name: "beside the content", item: `{"type":"message","id":"msg_1","role":"assistant","foo":"$S","content":[` + plain + `]}`, at: "output[].foo"},
		{name: "beside the content of an item without a type", item: `{"id":"msg_1","role":"assistant","foo":"$S","content":[` + plain + `]}`, at: "output[].foo"},
		{name: "a role", item: `{"type":"message","id":"msg_1","role":"$S","content":[` + plain + `]}`, at: "output[].role"},
		{name: "a result", item: `{"type":"function_call_output","id":"fo_1","call_id":"a","output":"$S"}`},
		{name: "the name of a tool", item: `{"type":"function_call","id":"fc_1","call_id":"a","name":"lookup_$S","arguments":"{}"}`, never: "the policy is asked about names, and they are no text"},
		{name: "an identifier", item: `{"type":"message","id":"$S","role":"assistant","content":[` + plain + `]}`, never: "identifiers are no text"},
		{name: "arguments", item: `{"type":"function_call","id":"fc_1","call_id":"a","name":"lookup","arguments":"{\"a\":\"$S\"}"}`},
		{name: "an input beside arguments", item: `{"type":"function_call","id":"fc_1","call_id":"a","name":"lookup","arguments":"{}","input":"$S"}`, at: "output[].input"},
		{name: "an input", item: `{"type":"custom_tool_call","id":"fc_1","call_id":"a","name":"lookup","input":"$S"}`},
		{name: "two actions", item: `{"type":"computer_call","id":"fc_1","call_id":"a","action":{"type":"wait"},"actions":[{"type":"type","text":"$S"}],"pending_safety_checks":[]}`},
		{name: "a safety check", item: `{"type":"computer_call","id":"fc_1","call_id":"a","action":{"type":"wait"},"pending_safety_checks":[{"id":"a","message":"$S"}]}`, at: "output[].pending_safety_checks[].message"},
		{name: "arguments of MCP", item: `{"type":"mcp_call","id":"mcp_1","server_label":"s","name":"n","arguments":"{\"a\":\"$S\"}"}`},
		{name: "a result of MCP", item: `{"type":"mcp_call","id":"mcp_1","server_label":"s","name":"n","arguments":"{}","output":"x $S"}`},
		{name: "an error of MCP", item: `{"type":"mcp_call","id":"mcp_1","server_label":"s","name":"n","arguments":"{}","error":{"type":"http_error","message":"$S"}}`},
		{name: "the code of an error of MCP", item: `{"type":"mcp_call","id":"mcp_1","server_label":"s","name":"n","arguments":"{}","error":{"code":"$S"}}`, at: "output[].error.code"},
		{name: "a description", item: `{"type":"mcp_list_tools","id":"mcp_1","server_label":"s","tools":[{"name":"n","description":"$S"}]}`},
		{name: "a schema", item: `{"type":"mcp_list_tools","id":"mcp_1","server_label":"s","tools":[{"name":"n","description":"d","input_schema":{"description":"$S"}}]}`, at: "output[].tools[].input_schema"},
		{name: "a tool's title", item: `{"type":"mcp_list_tools","id":"mcp_1","server_label":"s","tools":[{"name":"n","description":"d","annotations":{"title":"$S"}}]}`, at: "output[].tools[].annotations.title"},
		{name: "code", item: `{"type":"code_interpreter_call","id":"ci_1","code":"$S","container_id":"c","outputs":[]}`},
		{name: "logs", item: `{"type":"code_interpreter_call","id":"ci_1","code":"1","container_id":"c","outputs":[{"type":"logs","logs":"$S"}]}`},
		{name: "a picture of code", item: `{"type":"code_interpreter_call","id":"ci_1","code":"1","container_id":"c","outputs":[{"type":"image","url":"https://a/$S"}]}`, at: "output[0].outputs[0]"},
		{name: "a prompt that was revised", item: `{"type":"image_generation_call","id":"ig_1","result":"AAAA","revised_prompt":"$S"}`},
		{name: "another prompt", item: `{"type":"image_generation_call","id":"ig_1","revised_prompt":"a","prompt":"$S"}`, at: "output[].prompt"},
		{name: "a query", item: `{"type":"web_search_call","id":"ws_1","action":{"type":"search","query":"$S"}}`},
		{name: "a source", item: `{"type":"web_search_call","id":"ws_1","action":{"type":"search","query":"a","sources":[{"type":"url","url":"https://a/$S"}]}}`},
		{name: "the link of a result", item: `{"type":"web_search_call","id":"ws_1","action":{"type":"search","query":"a"},"results":[{"url":"https://a/$S"}]}`, at: "output[].results[].url"},
		{name: "a passage", item: `{"type":"file_search_call","id":"fs_1","queries":["a"],"results":[{"text":"$S"}]}`},
		{name: "the name of a file", item: `{"type":"file_search_call","id":"fs_1","queries":["a"],"results":[{"filename":"$S"}]}`, at: "output[].results[].filename"},
		{name: "an attribute", item: `{"type":"file_search_call","id":"fs_1","queries":["a"],"results":[{"attributes":{"author":"$S"}}]}`},
		{name: "an attribute of a structural name", item: `{"type":"file_search_call","id":"fs_1","queries":["a"],"results":[{"attributes":{"url":{"a":"$S"}}}]}`, at: "output[].results[].attributes.url"},
		{name: "the name of an attribute", item: `{"type":"file_search_call","id":"fs_1","queries":["a"],"results":[{"attributes":{"$S":1}}]}`, at: "output[].results[].attributes.*"},
		{name: "a summary", item: `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"x $S"}]}`},
		{name: "what is encrypted", item: `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"$S"}`, at: "output[0].encrypted_content"},
		{name: "an environment", item: `{"type":"shell_call","id":"sh_1","call_id":"a","environment":{"type":"container_reference","foo":"$S"},"action":{"commands":["ls"]}}`, at: "output[].environment.foo"},
		{name: "a new item", item: `{"type":"foo","id":"f_1","bar":"$S"}`, at: "output[0]"},

		{name: "an error", whole: `{"id":"resp_1","status":"failed","error":{"code":"x","message":"$S"},"output":[]}`, at: "error.message",
			events: []string{`{"type":"response.failed","response":{"id":"r","status":"failed","error":{"message":"$S"},"output":[]}}`}},
		{name: "metadata that were not asked for", whole: `{"id":"resp_1","metadata":{"a":"$S"},"output":[]}`, at: "metadata",
			events: []string{`{"type":"response.in_progress","response":{"id":"r","metadata":{"a":"$S"},"output":[]}}`}},
		{name: "instructions that were not given", whole: `{"id":"resp_1","instructions":"$S","output":[]}`, at: "instructions",
			events: []string{`{"type":"response.in_progress","response":{"id":"r","instructions":"$S","output":[]}}`}},
		{name: "a reason", whole: `{"id":"resp_1","incomplete_details":{"reason":"$S"},"output":[]}`, at: "incomplete_details.reason",
			events: []string{`{"type":"response.incomplete","response":{"id":"r","incomplete_details":{"reason":"$S"},"output":[]}}`}},
		{name: "beside the output", whole: `{"id":"resp_1","status":"completed","foo":"$S","output":[]}`, at: "foo",
			events: []string{`{"type":"response.in_progress","response":{"id":"r","foo":"$S","output":[]}}`}},
		{name: "beside the response", at: "event.foo", events: []string{`{"type":"response.in_progress","foo":"$S","response":{"id":"r","output":[]}}`}},
		{name: "an error in the middle", at: "error.message", events: []string{`{"type":"error","message":"$S"}`}},
		{name: "an error as others write it", at: "error.error.message", events: []string{`{"type":"error","error":{"type":"server_error","message":"$S"}}`}},
		{name: "a response beside a delta", events: []string{delta("x $S y", `,"response":{}`)}},
		{name: "a text beside a delta", at: "response.output_text.delta.text", events: []string{delta("x y", `,"text":"$S"`)}},
		{name: "log probabilities of a delta", at: "response.output_text.delta.content[].logprobs", events: []string{delta("x y", tokens(`{"token":"$S"}`))}},
		{name: "log probabilities of another shape", at: "response.output_text.delta.content[].logprobs", events: []string{delta("", tokens(`[{"token":"$S"}]`))}},
		{name: "padding", at: "response.output_text.delta.obfuscation", events: []string{delta("x y", `,"obfuscation":"$S"`)}},
		{name: "an annotation of a text", at: "response.output_text.annotation.added.annotation.title", events: []string{delta("x y", ""), annotation}},
		{name: "a new event that says it has completed", at: "event.text", events: []string{`{"type":"response.foo.completed","output_index":0,"text":"$S"}`}},
		{name: "a new event", at: "response", events: []string{`{"type":"response.foo","text":"$S"}`}},
		{name: "an event of another kind", at: "*", events: []string{`{"type":"foo","text":"$S"}`}},
		{name: "a new delta", events: []string{`{"type":"response.foo.delta","delta":"x $S y"}`}},
		{name: "a new delta and a text", at: "event.text", events: []string{`{"type":"response.foo.delta","delta":"x","text":"$S"}`}},
		{name: "progress", at: "event.query", events: []string{`{"type":"response.web_search_call.searching","output_index":0,"item_id":"ws_1","query":"$S"}`}},
		{name: "a command of no item", at: "response.shell_call_command.delta.delta", events: []string{`{"type":"response.shell_call_command.delta","command_index":0,"delta":"$S"}`}},
		{name: "output of a shell that is no delta", at: "response.shell_call_output_content.done.delta", events: []string{
			`{"type":"response.shell_call_output_content.done","output_index":0,"command_index":0,"delta":{"stdout":"$S"},"output":[]}`}},
		{name: "a query that the end does not tell", at: "output[].action", events: []string{
			added(`{"type":"web_search_call","id":"ws_1","action":{"type":"search","query":"$S"}}`), done(`{"type":"web_search_call","id":"ws_1","action":{"type":"search","query":"a"}}`)}},

		{name: "log probabilities ahead of the text", events: []string{delta("", tokens(`{"token":"$S"}`)), delta("x $S y ", "")}},
		{name: "log probabilities ahead of more text", events: []string{delta("Hi ", tokens(`{"token":"$S"}`)), delta("x $S y ", "")}},
		{name: "an annotation ahead of the text", events: []string{annotation, delta("x $S y ", "")}},
		{name: "an annotation ahead of more text", events: []string{delta("Hi ", ""), annotation, delta("x $S y ", "")}},
		{name: "an annotation in the middle of a secret", events: []string{delta("Hi, x "+half, ""), annotation, delta(rest+" y ", "")}},
		{name: "an annotation in a response that goes on", events: []string{
			`{"type":"response.in_progress","response":{"id":"r","output":[` + message(`{"type":"output_text","text":"","annotations":[{"type":"url_citation","title":"$S"}]}`) + `]}}`, delta("x $S y ", "")}},
		{name: "an annotation of a piece that begins", events: []string{
			`{"type":"response.content_part.added","output_index":0,"content_index":0,"item_id":"msg_1","part":{"type":"output_text","text":"","annotations":[{"type":"url_citation","title":"$S"}]}}`, delta("x $S y ", "")}},
	}
	for _, mode := range []string{"window", "buffer", "unstreamed"} {
		now := new(func(w http.ResponseWriter))
		g := start(t, options{handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body) //nolint:errcheck // what was asked does not matter
			(*now)(w)
		}), doors: func(s *proxy.Settings) {
			if s.Streaming = "buffer"; mode == "window" {
				s.Streaming = mode
			}
		}})
		for _, c := range cases {
			stream := mode != "unstreamed"
			if !stream && c.item == "" && c.whole == "" {
				continue
			}
			t.Run(c.name+", "+mode, func(t *testing.T) {
				*now = func(w http.ResponseWriter) { c.answer(w, stream) }
				a := g.send("POST", responsesPath, marshal(object{"model": "m", "input": "hello", "stream": stream}))
				leaves, unread := piece(a.body), g.unread(a)
				switch {
				case c.never != "":
				case c.at == "" && leaves != "":
					t.Errorf("%s has left, unread is %q: %s", leaves, unread, a.body)
				case c.at != "" && !slices.Contains(unread, c.at):
					t.Errorf("unread is %q, want %s: %s", unread, c.at, a.body)
				case c.at != "" && leaves == "":
					t.Errorf("nothing has left: %d %s", a.status, a.body)
				}
			})
		}
	}
}

// What the provider repeats of the request is not told as unread, and what a stored response says of a request is: nobody knows that.
func TestResponsesRepeatTheRequest(t *testing.T) {
	said := object{"instructions": "Talk like a Pirate.", "metadata": object{"Topic": "A demo"}, "tools": []object{{"type": "function", "name": "get", "description": "Gets it all."}}}
	for _, stream := range []bool{false, true} {
		g := start(t, options{handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer := object{"id": "resp_1", "output": []object{}, "instructions": said["instructions"], "metadata": said["metadata"], "tools": said["tools"]}
			if !stream || r.Method == http.MethodGet {
				w.Header().Set("Content-Type", "application/json")
				w.Write(marshal(answer)) //nolint:errcheck // the test sees what arrives
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: %s\n\n", marshal(object{"type": "response.completed", "response": answer}))
		})})
		body := object{"model": "m", "input": "hello", "stream": stream}
		maps.Copy(body, said)
		if unread := g.unread(g.send("POST", responsesPath, marshal(body))); len(unread) > 0 {
			t.Errorf("streamed %v: unread is %q", stream, unread)
		}
		if unread := g.unread(g.send("GET", responsesPath+"/resp_1", nil)); !slices.Equal(unread, []string{"instructions", "metadata", "tools"}) {
			t.Errorf("of a stored response unread is %q", unread)
		}
	}
}

// answer writes the answer, streamed or not.
func (h hidden) answer(w http.ResponseWriter, stream bool) {
	whole, events := h.whole, h.events
	if h.item != "" {
		whole = `{"id":"resp_1","object":"response","status":"completed","output":[` + h.item + `]}`
		events = []string{`{"type":"response.output_item.added","output_index":0,"item":` + h.item + `}`, `{"type":"response.output_item.done","output_index":0,"item":` + h.item + `}`,
			`{"type":"response.completed","response":` + whole + `}`}
	}
	if !stream {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, strings.ReplaceAll(whole, "$S", secret)) //nolint:errcheck // the test sees what arrives
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	events = append([]string{`{"type":"response.created","response":{"id":"resp_1","status":"in_progress","output":[]}}`}, events...)
	if last := events[len(events)-1]; !strings.Contains(last, `"status":"completed"`) {
		events = append(events, `{"type":"response.completed","response":{"id":"resp_1","status":"completed","output":[]}}`)
	}
	for _, e := range events {
		fmt.Fprintf(w, "data: %s\n\n", strings.ReplaceAll(e, "$S", secret))
		http.NewResponseController(w).Flush() //nolint:errcheck // as above
	}
}

// piece is a piece of the secret that is in a body; empty: none.
func piece(body string) string {
	const least = 12 // letters of it
	body = strings.ReplaceAll(body, `\`, "")
	for i := 0; i+least <= len(secret); i++ {
		if strings.Contains(body, secret[i:i+least]) {
			return secret[i : i+least]
		}
	}
	return ""
}

// unread are the paths of an answer that the record tells of as read by nobody.
func (g *gateway) unread(a answer) (paths []string) {
	g.t.Helper()
	for _, d := range g.record(a).Decisions {
		for _, c := range d.Coverage {
			if c.Skipped == "opaque" {
				paths = append(paths, c.Path)
			}
		}
	}
	return paths
}
