package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/proxy"
)

// slip is an answer that says the secret, for which $S stands, where it may slip past: in one piece, and as the data of events.
type slip struct {
	name     string
	whole    string
	events   []string
	at       string // the path that coverage names; empty where the secret must not come at all
	streamed string // the same of the events, where it is another
	lets     string // why the secret may come unnamed, which no other case may
}

const (
	messageBegins = `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}`
	messageStops  = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}`
	messageEnds   = `{"type":"message_stop"}`
	textBegins    = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	textGrows     = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello you. "}}`
	blockEnds     = `{"type":"content_block_stop","index":0}`
)

func blockBegins(block string) string {
	return `{"type":"content_block_start","index":0,"content_block":` + block + `}`
}

func blockGrows(delta string) string {
	return `{"type":"content_block_delta","index":0,"delta":` + delta + `}`
}

// messageOf is a message with this content; without events the only block comes whole in the event that begins it.
func messageOf(name, content, at string, events ...string) slip {
	if events == nil {
		events = []string{blockBegins(content), blockEnds}
	}
	return slip{name: name, at: at, events: slices.Concat([]string{messageBegins}, events, []string{messageStops, messageEnds}),
		whole: `{"id":"m","type":"message","role":"assistant","model":"m","content":[` + content + `],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`}
}

// messageIn is a message in events alone.
func messageIn(name, at string, events ...string) slip {
	s := messageOf(name, "", at, events...)
	s.whole = ""
	return s
}

func (s slip) inEvents(at string) slip {
	s.streamed = at
	return s
}

func (s slip) letting(why string) slip {
	s.lets = why
	return s
}

func TestAnthropicLetsNothingSlipPast(t *testing.T) {
	half, rest := secret[:18], secret[18:]
	const quote = `{"type":"web_search_result_location","cited_text":"x $S y","url":"u"}`
	citation := blockGrows(`{"type":"citations_delta","citation":` + quote + `}`)
	said := blockGrows(`{"type":"text_delta","text":"x $S y "}`)
	var escaped strings.Builder
	for _, c := range secret {
		fmt.Fprintf(&escaped, `\u%04x`, c)
	}
	noneSlipsPast(t, "/anthropic/v1/messages", "/anthropic/v1/messages", func(stream bool) []byte { return doors[1].body(stream, user("hello")) }, []slip{
		messageOf("text", `{"type":"text","text":"x $S y"}`, "", textBegins, said, blockEnds),
		messageOf("citations", `{"type":"text","text":"x y","citations":[`+quote+`]}`, "content[].citations[].cited_text", textBegins, textGrows, citation, blockEnds).
			inEvents("content_block_delta.delta.citation.cited_text"),
		messageIn("citations where a block begins", "content[].citations[].title",
			blockBegins(`{"type":"text","text":"","citations":[{"title":"$S"}]}`), textGrows, blockEnds),
		messageIn("a citation before its text", "", textBegins, citation, said, blockEnds),
		messageIn("a citation behind its text", "", textBegins, said, citation, blockEnds),
		messageIn("a citation within its text", "", textBegins, blockGrows(`{"type":"text_delta","text":"Hi, x `+half+`"}`), citation,
			blockGrows(`{"type":"text_delta","text":"`+rest+` y "}`), blockEnds),
		messageIn("a citation before its block's text", "", blockBegins(`{"type":"text","text":"","citations":[`+quote+`]}`), said, blockEnds),
		messageOf("beside a text", `{"type":"text","text":"x y","foo":"$S"}`, "content[].foo"),
		messageIn("beside a delta's text", "content_block_delta.delta.foo", textBegins, blockGrows(`{"type":"text_delta","text":"Hello you. ","foo":"$S"}`), blockEnds),
		messageIn("beside a delta", "content_block_delta.foo", textBegins, `{"type":"content_block_delta","index":0,"foo":"$S","delta":{"type":"text_delta","text":"Hello you. "}}`, blockEnds),
		messageIn("a delta that nobody knows", "content[]", textBegins, blockGrows(`{"type":"foo_delta","foo":"$S"}`), blockEnds),
		messageIn("an event that nobody knows", "foo.text", textBegins, textGrows, blockEnds, `{"type":"foo","text":"$S"}`),
		messageIn("the type of an event", "*.type", textBegins, textGrows, blockEnds, `{"type":"$S"}`),
		messageIn("a ping", "ping.text", `{"type":"ping","text":"$S"}`, textBegins, textGrows, blockEnds),
		messageIn("an error", "error.error.message", textBegins, textGrows, `{"type":"error","error":{"type":"overloaded_error","message":"$S"}}`, blockEnds),
		{name: "an error alone", whole: `{"type":"error","error":{"type":"overloaded_error","message":"$S"}}`, at: "error.message"},
		messageOf("thinking", `{"type":"thinking","thinking":"x $S y","signature":"abc="}`, "", blockBegins(`{"type":"thinking","thinking":"","signature":""}`),
			blockGrows(`{"type":"thinking_delta","thinking":"x $S y"}`), blockEnds),
		messageOf("a signature", `{"type":"thinking","thinking":"x y","signature":"$S"}`, "content[].signature", blockBegins(`{"type":"thinking","thinking":"","signature":""}`),
			blockGrows(`{"type":"thinking_delta","thinking":"x y"}`), blockGrows(`{"type":"signature_delta","signature":"$S"}`), blockEnds).
			inEvents("content_block_delta.delta.signature"),
		messageOf("encrypted thinking", `{"type":"redacted_thinking","data":"$S"}`, "content[].data"),
		messageOf("a text beside thinking", `{"type":"thinking","thinking":"x","text":"$S"}`, "content[].text"),
		messageOf("a call", `{"type":"tool_use","id":"t","name":"lookup","input":{"a":"$S"}}`, "", blockBegins(`{"type":"tool_use","id":"t","name":"lookup","input":{}}`),
			blockGrows(`{"type":"input_json_delta","partial_json":"{\"a\":\"`+half+`"}`), blockGrows(`{"type":"input_json_delta","partial_json":"`+rest+`\"}"}`), blockEnds),
		messageOf("a call with escapes", `{"type":"tool_use","id":"t","name":"lookup","input":{"a":"`+escaped.String()+`"}}`, ""),
		messageOf("who calls", `{"type":"tool_use","id":"t","name":"lookup","input":{},"caller":{"type":"$S"}}`, "content[].caller.type"),
		messageOf("a tool's name", `{"type":"tool_use","id":"t","name":"lookup_$S","input":{}}`, "").letting("names of tools are what the gate judges, and no text"),
		messageOf("a call's id", `{"type":"tool_use","id":"$S","name":"lookup","input":{}}`, "").letting("an identifier"),
		messageOf("a hosted call", `{"type":"server_tool_use","id":"t","name":"web_search","input":{"query":"$S"}}`, "",
			blockBegins(`{"type":"server_tool_use","id":"t","name":"web_search","input":{}}`), blockGrows(`{"type":"input_json_delta","partial_json":"{\"query\":\"$S\"}"}`), blockEnds),
		messageOf("a result's title", `{"type":"web_search_tool_result","tool_use_id":"t","content":[{"type":"web_search_result","title":"$S","url":"u"}]}`, ""),
		messageOf("a result's link", `{"type":"web_search_tool_result","tool_use_id":"t","content":[{"type":"web_search_result","title":"a","url":"https://a/$S"}]}`, "content[].content[].url"),
		messageOf("a result's age", `{"type":"web_search_tool_result","tool_use_id":"t","content":[{"type":"web_search_result","title":"a","page_age":"$S"}]}`, "content[].content[].page_age"),
		messageOf("an encrypted result", `{"type":"web_search_tool_result","tool_use_id":"t","content":[{"type":"web_search_result","encrypted_content":"$S"}]}`, "content[].content[].encrypted_content"),
		messageOf("a result's error", `{"type":"web_search_tool_result","tool_use_id":"t","content":{"type":"web_search_tool_result_error","error_code":"$S"}}`, "content[].content.error_code"),
		messageOf("a name in a result", `{"type":"web_search_tool_result","tool_use_id":"t","content":{"$S":1}}`, "content[].content.*"),
		messageOf("beside a result", `{"type":"web_search_tool_result","tool_use_id":"t","content":[],"foo":"$S"}`, "content[].foo"),
		messageOf("a block that nobody knows", `{"type":"poem","verse":"$S"}`, "content[]"),
		messageOf("two blocks", `{"type":"text","text":"`+half+`"},{"type":"text","text":"`+rest+`"}`, "", textBegins, blockGrows(`{"type":"text_delta","text":"`+half+`"}`), blockEnds,
			strings.Replace(textBegins, `"index":0`, `"index":1`, 1), strings.Replace(blockGrows(`{"type":"text_delta","text":"`+rest+`"}`), `"index":0`, `"index":1`, 1), strings.Replace(blockEnds, "0", "1", 1)).
			letting("each block is a text of its own"),
		{name: "why it stopped", at: "stop_details.explanation", streamed: "message_delta.delta.stop_details.explanation",
			whole:  `{"id":"m","type":"message","role":"assistant","content":[],"stop_reason":"refusal","stop_details":{"type":"refusal","explanation":"$S"},"usage":{}}`,
			events: []string{messageBegins, `{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","explanation":"x $S"}}}`, messageEnds}},
		{name: "what stopped it", at: "stop_sequence", streamed: "message_delta.delta.stop_sequence",
			whole:  `{"id":"m","type":"message","role":"assistant","content":[],"stop_reason":"stop_sequence","stop_sequence":"$S","usage":{}}`,
			events: []string{messageBegins, `{"type":"message_delta","delta":{"stop_reason":"stop_sequence","stop_sequence":"$S"}}`, messageEnds}},
		{name: "behind the end", events: []string{messageBegins, messageStops, messageEnds, textBegins, said}},
		{name: "at the root", at: "foo", streamed: "message_start.message.foo", whole: `{"id":"m","type":"message","role":"assistant","content":[],"foo":"$S"}`,
			events: []string{`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"foo":"$S"}}`, messageStops, messageEnds}},
		{name: "in the counts", at: "usage.foo", streamed: "message_delta.usage.foo", whole: `{"id":"m","type":"message","role":"assistant","content":[],"usage":{"foo":"$S"}}`,
			events: []string{messageBegins, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"foo":"$S"}}`, messageEnds}},
		{name: "in the container", at: "container.id", streamed: "message_delta.delta.container.id", whole: `{"id":"m","type":"message","role":"assistant","content":[],"container":{"id":"it is $S"}}`,
			events: []string{messageBegins, `{"type":"message_delta","delta":{"stop_reason":"end_turn","container":{"id":"it is $S"}}}`, messageEnds}},
		{name: "the message's id", whole: `{"id":"$S","type":"message","role":"assistant","content":[]}`, lets: "an identifier"},
	})
	noneSlipsPast(t, "/anthropic/v1/messages/count_tokens", "", func(bool) []byte { return doors[1].body(false, user("hello")) }, []slip{
		{name: "beside a count", whole: `{"input_tokens":3,"foo":"$S"}`, at: "foo"},
	})
}

// noneSlipsPast lets a model answer with each of the slips, in one piece and streamed either way.
func noneSlipsPast(t *testing.T, whole, stream string, body func(stream bool) []byte, slips []slip) {
	t.Helper()
	for _, way := range []string{"whole", "window", "buffer"} {
		var now slip
		path, streamed, mode := stream, true, way
		if way == "whole" {
			path, streamed, mode = whole, false, "buffer"
		}
		g := start(t, options{handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { now.answer(w, path, streamed) }),
			doors: func(s *proxy.Settings) { s.Streaming = mode }})
		for _, now = range slips {
			if streamed && now.events == nil || !streamed && now.whole == "" {
				continue
			}
			at := now.at
			if streamed && now.streamed != "" {
				at = now.streamed
			}
			a := g.send("POST", path, body(streamed), "anthropic-version", "2023-06-01")
			came := saysSome(a.body)
			switch opaque := g.opaque(a); {
			case now.lets != "" && !came:
				t.Errorf("%s, %s: nothing comes, so nothing needs a reason: %s", way, now.name, a.body)
			case now.lets != "":
			case at == "" && came:
				t.Errorf("%s, %s: the secret came, and named are %q: %s", way, now.name, opaque, a.body)
			case at != "" && came && !slices.Contains(opaque, at):
				t.Errorf("%s, %s: named are %q: %s", way, now.name, opaque, a.body)
			case at != "" && !came:
				t.Errorf("%s, %s: the secret was taken out of what nothing reads: %s", way, now.name, a.body)
			}
		}
	}
}

// saysSome reports whether a good piece of the secret is in a text.
func saysSome(text string) bool {
	const good = 12
	text = strings.ReplaceAll(text, `\`, "")
	for i := range len(secret) - good + 1 {
		if strings.Contains(text, secret[i:i+good]) {
			return true
		}
	}
	return false
}

// answer writes the answer, in one piece or in events; where the path asks for neither, these are the elements of an array.
func (s slip) answer(w http.ResponseWriter, path string, streamed bool) {
	array := strings.HasSuffix(path, ":streamGenerateContent")
	switch {
	case !streamed:
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, strings.ReplaceAll(s.whole, "$S", secret))
		return
	case array:
		w.Header().Set("Content-Type", "application/json")
	default:
		w.Header().Set("Content-Type", "text/event-stream")
	}
	for i, data := range s.events {
		data = strings.ReplaceAll(data, "$S", secret)
		switch {
		case !array:
			data = "data: " + data + "\n\n"
		case i == 0:
			data = "[" + data
		default:
			data = "," + data
		}
		if array && i == len(s.events)-1 {
			data += "]"
		}
		io.WriteString(w, data)
		http.NewResponseController(w).Flush()
	}
}

// opaque are the paths of an answer that nothing has read; the numbers of elements are left out.
func (g *gateway) opaque(a answer) (paths []string) {
	g.t.Helper()
	for _, d := range g.record(a).Decisions {
		if d.At != gatehouse.Back {
			continue
		}
		for _, c := range d.Coverage {
			if c.Skipped == "opaque" {
				paths = append(paths, strings.Map(func(c rune) rune {
					if c >= '0' && c <= '9' {
						return -1
					}
					return c
				}, c.Path))
			}
		}
	}
	return paths
}
