package proxy_test

import (
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/proxy"
)

// planted is an answer with a secret in it, for which $S stands: unstreamed, or the data of the events of a stream.
type planted struct {
	name   string
	whole  string
	events []string
	// named is the place that coverage has to name where the secret reaches the client, streamed or not; numbers of elements are left
	// out, and $M stands for message or delta. Without it the secret must not reach the client.
	named string
	// lets says why neither is asked.
	lets string
}

const (
	chatBegins = `{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi there. "},"finish_reason":null}]}`
	chatStops  = `{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
)

// chatSays is a message, whole and in one piece of a stream.
func chatSays(name, message, named string) planted {
	return chatWith(name, `"$M":`+message, named)
}

// chatWith is a choice with these members.
func chatWith(name, members, named string) planted {
	return planted{name: name, named: named,
		whole: `{"id":"c","object":"chat.completion","choices":[{"index":0,` + strings.ReplaceAll(members, "$M", "message") + `,"finish_reason":"stop"}]}`,
		events: []string{chatBegins, `{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,` + strings.ReplaceAll(members, "$M", "delta") + `}]}`,
			chatStops, "[DONE]"},
	}
}

// chatRoot is an answer with these members at its root.
func chatRoot(name, members, named string) planted {
	return planted{name: name, named: named,
		whole:  `{"id":"c",` + members + `,"choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}]}`,
		events: []string{chatBegins, `{"id":"c",` + members + `,"choices":[{"index":0,"delta":{"content":"a"}}]}`, chatStops, "[DONE]"},
	}
}

// chatStream are events behind the first of a stream.
func chatStream(name, named string, events ...string) planted {
	return planted{name: name, named: named, events: slices.Concat([]string{chatBegins}, events, []string{chatStops, "[DONE]"})}
}

func TestChatLetsNothingPassUnnamed(t *testing.T) {
	half, rest := secret[:18], secret[18:]
	call := func(members string) string {
		return `{"tool_calls":[{"index":0,"id":"a",` + members + `}]}`
	}
	tool := func(name, members, named string) planted { return chatSays(name, call(members), named) }
	letting := func(p planted, why string) planted {
		p.named, p.lets = "", why
		return p
	}
	const function = `"type":"function","function":{"name":"lookup","arguments":"{}"}`
	noPlants(t, "/openai/v1/chat/completions", marshal(object{"model": "m", "messages": []object{user("hello")}}), []planted{
		chatSays("content", `{"content":"x $S y"}`, ""),
		chatStream("content in two pieces", "", `{"choices":[{"index":0,"delta":{"content":"x `+half+`"}}]}`, `{"choices":[{"index":0,"delta":{"content":"`+rest+` y"}}]}`),
		chatSays("refusal", `{"refusal":"x $S y"}`, ""),
		chatSays("reasoning_content", `{"reasoning_content":"x $S y"}`, ""),
		chatSays("reasoning", `{"reasoning":"x $S y"}`, ""),
		chatSays("a string nobody knows", `{"content":"a","foo":"x $S y"}`, "choices[].$M.foo"),
		chatSays("thinking", `{"content":"a","thinking":"x $S y"}`, "choices[].$M.thinking"),
		chatSays("an object nobody knows", `{"content":"a","foo":{"a":"x $S y"}}`, "choices[].$M.foo"),
		chatSays("a string beside an object", `{"content":"a","foo":{"a":"b"},"bar":"x $S y"}`, "choices[].$M.bar"),
		chatSays("a name", `{"content":"a","$S":1}`, "choices[].$M.*"),
		chatSays("audio", `{"content":null,"audio":{"transcript":"x $S y"}}`, "choices[].$M.audio"),
		chatSays("a role", `{"content":"a","role":"x $S y"}`, "choices[].$M.role"),
		chatSays("annotations", `{"content":"a","annotations":[{"type":"url_citation","url_citation":{"url":"https://a/$S","title":"x"}}]}`, "choices[].$M.annotations"),
		chatSays("beside a text part", `{"content":[{"type":"text","text":"a","foo":"x $S y"}]}`, "choices[].$M.content[].foo"),
		chatSays("a text part with a refusal", `{"content":[{"type":"text","text":"a","refusal":"x $S y"}]}`, "choices[].$M.content[].refusal"),
		chatSays("a refusal part with a text", `{"content":[{"type":"refusal","refusal":"a","text":"x $S y"}]}`, "choices[].$M.content[].text"),
		chatSays("two text parts", `{"content":[{"type":"text","text":"`+half+`"},{"type":"text","text":"`+rest+`"}]}`, ""),
		chatSays("two text parts around another", `{"content":[{"type":"text","text":"`+half+`"},{"type":"image_url"},{"type":"text","text":"`+rest+`"}]}`, ""),
		chatSays("a thinking part", `{"content":[{"type":"thinking","thinking":[{"type":"text","text":"$S"}]}]}`, "choices[].$M.content[]"),
		tool("arguments", `"type":"function","function":{"name":"lookup","arguments":"{\"a\":\"$S\"}"}`, ""),
		tool("input", `"type":"custom","custom":{"name":"lookup","input":"$S"}`, ""),
		tool("both bodies", function+`,"custom":{"name":"lookup","input":"$S"}`, ""),
		tool("a custom call with a function", `"type":"custom","function":{"name":"lookup","arguments":"{\"a\":\"$S\"}"}`, ""),
		chatStream("a call that changes its type", "", `{"choices":[{"index":0,"delta":`+call(`"type":"function","function":{"name":"lookup","arguments":""}`)+`}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"type":"custom","function":{"arguments":"{\"a\":\"$S\"}"}}]}}]}`),
		tool("beside a call", function+`,"foo":"$S"`, "choices[].$M.tool_calls[].foo"),
		tool("beside its arguments", `"type":"function","function":{"name":"lookup","arguments":"{}","input":"$S"}`, "choices[].$M.tool_calls[].function.input"),
		tool("the type of a call", `"type":"x $S y","function":{"name":"lookup","arguments":"{}"}`, "choices[].$M.tool_calls[].type"),
		letting(tool("the name of a tool", `"type":"function","function":{"name":"lookup_$S","arguments":"{}"}`, ""), "names of tools are never a text; the gate decides by them"),
		letting(chatSays("the id of a call", `{"tool_calls":[{"index":0,"id":"$S",`+function+`}]}`, ""), "an identifier"),
		chatSays("the id of a call in words", `{"tool_calls":[{"index":0,"id":"it is $S",`+function+`}]}`, "choices[].$M.tool_calls[].id"),
		chatWith("beside the message", `"foo":"$S","$M":{"content":"a"}`, "choices[].foo"),
		{name: "a delta beside a message", named: "choices[].delta.content", whole: `{"choices":[{"index":0,"delta":{"role":"assistant","content":"$S"},"message":{"role":"assistant","content":"a"}}]}`},
		chatStream("a message beside a delta", "choices[].message.content", `{"choices":[{"index":0,"message":{"role":"assistant","content":"$S"},"delta":{"content":"a"}}]}`),
		chatWith("a text of legacy completions", `"text":"$S","$M":{"content":"a"}`, "choices[].text"),
		chatWith("a reason in words", `"stop_reason":"it is $S","$M":{"content":"a"}`, "choices[].stop_reason"),
		chatRoot("at the root", `"foo":"$S"`, "foo"),
		chatRoot("search results", `"search_results":[{"title":"$S"}]`, "search_results"),
		chatRoot("citations", `"citations":["https://a/$S"]`, "citations"),
		chatRoot("a provider", `"provider":"$S"`, "provider"),
		letting(chatRoot("a fingerprint", `"system_fingerprint":"$S"`, ""), "an identifier"),
		letting(chatRoot("random letters", `"obfuscation":"$S"`, ""), "OpenAI fills chunks up with it; no client shows it"),
		chatRoot("an error", `"error":{"message":"it is $S"}`, "error.message"),
		{name: "an error alone", named: "error.message", whole: `{"error":{"message":"$S"}}`, events: []string{chatBegins, `{"error":{"message":"oops $S"}}`, "[DONE]"}},
		chatWith("log probabilities of the text", `"$M":{"content":"x $S y"},"logprobs":{"content":[{"token":"x $S y","logprob":0,"bytes":null,"top_logprobs":[{"token":"x $S y"}]}]}`, ""),
		chatWith("log probabilities of another text", `"$M":{"content":"a"},"logprobs":{"content":[{"token":"$S"}]}`, "choices[].logprobs.content"),
		chatWith("bytes of another text", `"$M":{"content":"a"},"logprobs":{"content":[{"token":"$S","bytes":[97]}]}`, "choices[].logprobs.content"),
		chatWith("a token beside another", `"$M":{"content":"a"},"logprobs":{"content":[{"token":"a","top_logprobs":[{"token":"$S"}]}]}`, "choices[].logprobs.content[].top_logprobs"),
		chatWith("log probabilities in another shape", `"$M":{"content":"a"},"logprobs":{"tokens":["$S"]}`, "choices[].logprobs.tokens"),
		chatStream("log probabilities ahead of the text", "", `{"choices":[{"index":0,"delta":{"content":""},"logprobs":{"content":[{"token":"$S","logprob":0}]}}]}`,
			`{"choices":[{"index":0,"delta":{"content":"x $S y "}}]}`),
		chatStream("a text for log probabilities ahead of the text", "", `{"choices":[{"index":0,"delta":{"content":""},"logprobs":{"content":"$S"}}]}`,
			`{"choices":[{"index":0,"delta":{"content":"x $S y "}}]}`),
		chatStream("annotations ahead of the text", "", `{"choices":[{"index":0,"delta":{"annotations":[{"type":"url_citation","url_citation":{"title":"$S"}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"content":"x $S y "}}]}`),
		{name: "behind the end of the choice", events: []string{chatBegins, chatStops, `{"choices":[{"index":0,"delta":{"content":" $S x"}}]}`, "[DONE]"}},
		{name: "behind the end", events: []string{chatBegins, chatStops, "[DONE]", `{"choices":[{"index":0,"delta":{"content":" $S x"}}]}`}},
		letting(chatStream("half in a refusal", "", `{"choices":[{"index":0,"delta":{"content":"x `+half+`"}}]}`, `{"choices":[{"index":0,"delta":{"refusal":"`+rest+` y"}}]}`),
			"neither text has the secret, and no client joins them"),
		{name: "choices in turn", events: []string{`{"choices":[{"index":0,"delta":{"content":"x ` + half + `"}},{"index":1,"delta":{"content":"y "}}]}`,
			`{"choices":[{"index":1,"delta":{"content":"z w "}}]}`, `{"choices":[{"index":0,"delta":{"content":"` + rest + ` b"}}]}`,
			`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"},{"index":1,"delta":{},"finish_reason":"stop"}]}`, "[DONE]"}},
		chatStream("null between", "", `{"choices":[{"index":0,"delta":{"content":"x `+half+`"}}]}`, `{"choices":[{"index":0,"delta":{"content":null}}]}`, `{"choices":[]}`,
			`{"choices":[{"index":0,"delta":{"content":"`+rest+`"}}]}`),
	})
}

var elements = regexp.MustCompile(`\[\d+\]`)

// noPlants plays answers in every way they can be sent, and checks that nothing of the secret reaches the client unnamed.
func noPlants(t *testing.T, path string, ask []byte, list []planted) {
	t.Helper()
	for _, way := range []string{"window", "buffer", "whole"} {
		var now planted
		g := start(t, options{
			handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if _, err := io.Copy(io.Discard, r.Body); err != nil {
					t.Error(err)
				}
				now.play(w, way)
			}),
			doors: func(s *proxy.Settings) {
				if way == "window" {
					s.Streaming = way
				}
			},
		})
		body := ask
		if way != "whole" {
			body = []byte(strings.Replace(string(ask), "{", `{"stream":true,`, 1))
		}
		for _, p := range list {
			if way == "whole" && p.whole == "" || way != "whole" && p.events == nil {
				continue
			}
			t.Run(way+"/"+p.name, func(t *testing.T) {
				now = p
				a := g.send("POST", path, body)
				place := strings.ReplaceAll(p.named, "$M", map[bool]string{true: "message", false: "delta"}[way == "whole"])
				switch told := tells(a.body); {
				case !told && p.lets != "":
					t.Error("the exception is none")
				case told && p.lets == "" && !names(g.record(a), place):
					t.Errorf("the secret has passed unnamed: %s", a.body)
				}
			})
		}
	}
}

// play sends the answer.
func (p planted) play(w http.ResponseWriter, way string) {
	filled := func(text string) string { return strings.ReplaceAll(text, "$S", secret) }
	if way == "whole" {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, filled(p.whole)) //nolint:errcheck // the client is the test
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range p.events {
		io.WriteString(w, "data: "+filled(e)+"\n\n") //nolint:errcheck // the client is the test
		http.NewResponseController(w).Flush()        //nolint:errcheck // the same
	}
}

// tells reports whether a good piece of the secret is in a text.
func tells(text string) bool {
	const good = 12
	for i := 0; i+good <= len(secret); i++ {
		if strings.Contains(text, secret[i:i+good]) {
			return true
		}
	}
	return false
}

// names reports whether the coverage of the answer has an opaque part at the place.
func names(r audit.Record, place string) bool {
	for _, d := range r.Decisions {
		for _, c := range d.Coverage {
			if d.At == gatehouse.Back && c.Skipped == "opaque" && elements.ReplaceAllString(c.Path, "[]") == place {
				return true
			}
		}
	}
	return false
}

func TestSecretInTwoTextParts(t *testing.T) {
	whole := `{"choices":[{"index":0,"message":{"role":"assistant","content":[{"type":"text","text":"It is ` + secret[:18] + `"},{"type":"text","text":"` + secret[18:] + ` here."}]},"finish_reason":"stop"}]}`
	g := start(t, options{handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, whole) //nolint:errcheck // the client is the test
	})})
	a := g.ask(doors[0], false, user("hello"))
	if !strings.Contains(a.body, `"text":"It is [`) || !strings.Contains(a.body, `"text":" here."`) || tells(a.body) {
		t.Errorf("%s", a.body)
	}
}
