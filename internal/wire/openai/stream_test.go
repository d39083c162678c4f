package openai

import (
	"io"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/sse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// play feeds a whole stream to the codec, as the proxy does.
func play(t *testing.T, to wire.Sink, stream string) wire.Stream {
	t.Helper()
	s, err := tryPlay(to, stream)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func tryPlay(to wire.Sink, stream string) (wire.Stream, error) {
	s := Codec{}.Stream(to)
	for r := sse.NewReader(strings.NewReader(stream), 0); ; {
		e, err := r.Next()
		if err == io.EOF {
			return s, nil
		}
		if bad := s.Event(e.Raw, e.Name, e.Data); bad != nil {
			return s, bad
		}
		if err != nil {
			return s, nil
		}
	}
}

// events writes a stream with an event for each line.
func events(lines ...string) string {
	var out []byte
	for _, line := range lines {
		out = sse.Append(out, "", line)
	}
	return string(out)
}

const done = "[DONE]"

func delta(delta, finish string) string {
	return `{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":` + delta + `,"logprobs":null,"finish_reason":` + finish + `}]}`
}

// twice is a piece of a call as llama-cpp-python sends it, under both names.
func twice(now, legacy string) string {
	return delta(`{"function_call":{"name":"f","arguments":"`+legacy+`"},"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"`+now+`"}}]}`, `null`)
}

func TestStreamParts(t *testing.T) {
	cases := []struct {
		name   string
		stream string
		want   []string
		log    string
	}{
		{"text", events(delta(`{"role":"assistant","content":"","refusal":null}`, `null`), delta(`{"content":"Hel"}`, `null`), delta(`{"content":"lo"}`, `null`), delta(`{}`, `"stop"`), `{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}`, done),
			[]string{`assistant text choices[0].delta.content "Hello"`}, "open 0 close 0"},
		{"comments, CRLF, odd spacing", ": hi\r\n\r\ndata:{ \"choices\" :[{\"delta\":{\"content\":\"a\"},\"x\":1.50}]}\r\n\r\n\nretry: 3\n\ndata: [DONE]\n\n",
			[]string{`assistant text choices[0].delta.content "a"`}, "open 0 close 0"},
		{"reasoning and refusal", events(delta(`{"reasoning_content":"r1"}`, `null`), delta(`{"reasoning_content":"r2","content":""}`, `null`), delta(`{"reasoning":"q"}`, `null`), delta(`{"refusal":"no"}`, `"stop"`)),
			[]string{`assistant reasoning choices[0].delta.reasoning_content "r1r2"`, `assistant reasoning choices[0].delta.reasoning "q"`, `assistant text choices[0].delta.refusal "no"`}, "open 0 open 1 open 2 close 0 close 1 close 2"},
		{"parallel calls", events(
			delta(`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}]}`, `null`),
			delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\""}}]}`, `null`),
			delta(`{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}`, `null`),
			delta(`{"tool_calls":[{"index":1,"id":"b","type":"custom","custom":{"name":"g","input":"i"}}]}`, `null`),
			delta(`{}`, `"tool_calls"`), done),
			[]string{`assistant tool_call choices[0].delta.tool_calls[0].function.arguments "{\"x\":1}" tool=f id=a`, `assistant tool_call choices[0].delta.tool_calls[0].custom.input "i" tool=g id=b media=freeform`},
			"open 0 close 0 open 1 close 1"},
		{"pieces in turn", events(
			delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}},{"index":1,"id":"b","function":{"name":"g","arguments":"["}}]}`, `null`),
			delta(`{"tool_calls":[{"index":1,"function":{"arguments":"]"}},{"index":0,"id":"a","function":{"name":"f","arguments":"}"}}]}`, `null`), done),
			[]string{`assistant tool_call choices[0].delta.tool_calls[0].function.arguments "{}" tool=f id=a`, `assistant tool_call choices[0].delta.tool_calls[1].function.arguments "[]" tool=g id=b`},
			"open 0 close 0 open 1 close 0 close 1"},
		{"calls without index", events(
			delta(`{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{"}}]}`, `null`), delta(`{"tool_calls":[{"function":{"arguments":"}"}}]}`, `null`),
			delta(`{"tool_calls":[{"id":"b","function":{"name":"f","arguments":"{}"}}]}`, `null`), done),
			[]string{`assistant tool_call choices[0].delta.tool_calls[0].function.arguments "{}" tool=f id=a`, `assistant tool_call choices[0].delta.tool_calls[0].function.arguments "{}" tool=f id=b`},
			"open 0 close 0 open 1 close 1"},
		{"function_call", events(delta(`{"function_call":{"name":"f","arguments":"{"}}`, `null`), delta(`{"function_call":{"arguments":"}"}}`, `"function_call"`)),
			[]string{`assistant tool_call choices[0].delta.function_call.arguments "{}" tool=f`}, "open 0 close 0"},
		{"a call that is sent twice", events(delta(`{"role":"assistant","function_call":null,"tool_calls":null}`, `null`), twice("{", "{"), twice("}", "}"), delta(`{}`, `"tool_calls"`), done),
			[]string{`assistant tool_call choices[0].delta.tool_calls[0].function.arguments "{}" tool=f id=a`}, "open 0 close 0"},
		{"the older kind goes its own way", events(twice("{", "{"), twice("}", " }"), twice("", ""), done),
			[]string{`assistant tool_call choices[0].delta.tool_calls[0].function.arguments "{}" tool=f id=a`, `assistant tool_call choices[0].delta.function_call.arguments "{ }" tool=f`}, "open 0 open 1 close 0 close 1"},
		{"the older kind stays behind where the stream is cut", events(twice("{", "")),
			[]string{`assistant tool_call choices[0].delta.tool_calls[0].function.arguments "{" tool=f id=a`, `assistant tool_call choices[0].delta.function_call.arguments "" tool=f`}, "open 0 open 1"},
		{"choices", events(`{"choices":[{"index":1,"delta":{"content":"b"}},{"index":0,"delta":{"content":"a"}}]}`, `{"choices":[{"index":1,"delta":{"content":"B"}}]}`, done),
			[]string{`assistant text choices[0].delta.content "bB" choice=1`, `assistant text choices[1].delta.content "a"`}, "open 0 open 1 close 0 close 1"},
		{"opaque", events(delta(`{"audio":{"data":"1"}}`, `null`), delta(`{"audio":{"data":"2"}}`, `null`)), []string{`assistant opaque choices[0].delta.audio "" media=audio`}, "open 0"},
		{"cut", events(delta(`{"content":"a"}`, `null`)) + "data: ", []string{`assistant text choices[0].delta.content "a"`}, "open 0"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var sink recorder
			s := play(t, &sink, c.stream)
			checkParts(t, sink.parts, c.want...)
			if got := strings.Join(sink.log, " "); got != c.log {
				t.Errorf("got %s, want %s", got, c.log)
			}
			if got, err := s.Bytes(sink.parts); err != nil || string(got) != c.stream {
				t.Errorf("without edits: %q, %v", got, err)
			}
			if s.Done() != strings.Contains(c.stream, done) {
				t.Errorf("done: %v", s.Done())
			}
		})
	}
}

func TestStreamRefuses(t *testing.T) {
	for name, stream := range map[string]string{
		"not JSON":           "data: {\n\n",
		"duplicate key":      events(`{"choices":[],"choices":[]}`),
		"choices no list":    events(`{"choices":1}`),
		"delta no object":    events(`{"choices":[{"delta":"a"}]}`),
		"content a number":   events(delta(`{"content":1}`, `null`)),
		"call without name":  events(delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}`, `null`)),
		"another name":       events(delta(`{"tool_calls":[{"index":0,"function":{"name":"f"}},{"index":0,"function":{"name":"g"}}]}`, `null`)),
		"another id":         events(delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f"}},{"index":0,"id":"b"}]}`, `null`)),
		"another kind":       events(delta(`{"tool_calls":[{"index":0,"function":{"name":"f"}},{"index":0,"custom":{"input":"i"}}]}`, `null`)),
		"two bodies":         events(delta(`{"tool_calls":[{"index":0,"type":"custom","custom":{"name":"f","input":"x"},"function":{"name":"g","arguments":"{}"}}]}`, `null`)),
		"index out of range": events(delta(`{"tool_calls":[{"index":-1,"function":{"name":"f"}}]}`, `null`)),
	} {
		if _, err := tryPlay(&recorder{}, stream); err == nil {
			t.Errorf("%s: accepted", name)
		} else if _, ok := wire.IsMalformed(err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStreamBytes(t *testing.T) {
	role := delta(`{"role":"assistant","content":null}`, `null`)
	usage := `{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}`
	note := func(text string) string {
		return `{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"` + text + `"},"finish_reason":null}]}`
	}
	begin := func(index, id string) string {
		return delta(`{"tool_calls":[{"index":`+index+`,"id":"`+id+`","function":{"name":"f","arguments":"{"}}]}`, `null`)
	}
	more := func(index string) string {
		return delta(`{"tool_calls":[{"index":`+index+`,"function":{"arguments":"}"}}]}`, `null`)
	}
	text := func(s string) string { return delta(`{"content":"`+s+`"}`, `null`) }
	end := func(reason string) string { return delta(`{}`, `"`+reason+`"`) }
	cases := []struct {
		name   string
		stream string
		edit   edit
		want   string
	}{
		{"text", events(role, text("a"), text("b"), text("c"), end("stop"), usage, done), set(0, "X\ny"), events(role, text(`X\ny`), end("stop"), usage, done)},
		{"text to nothing", events(role, text("a"), end("stop"), done), set(0, ""), events(role, end("stop"), done)},
		{"text in the first and last event", events(delta(`{"role":"assistant","content":"a"}`, `null`), delta(`{"content":"b"}`, `"stop"`), done), set(0, "X"),
			events(delta(`{"role":"assistant","content":"X"}`, `null`), delta(`{"content":""}`, `"stop"`), done)},
		{"other lines of an event stay", ": c\r\nid: 7\r\ndata:" + text("a") + "\r\n\r\n", set(0, "X"), ": c\r\nid: 7\r\ndata:" + text("X") + "\r\n\r\n"},
		{"a chunk on several lines", "event: e\ndata: {\"choices\":\ndata: [{\"delta\":{\"content\":\"a\"}}]}\n\n", set(0, "X"), "event: e\ndata: {\"choices\":\ndata: [{\"delta\":{\"content\":\"X\"}}]}\n\n"},
		{"logprobs of the edited choice", events(`{"choices":[{"index":0,"delta":{"content":"a"},"logprobs":{"content":[]}},{"index":1,"delta":{"content":"b"},"logprobs":{}}]}`), set(0, "X"),
			events(`{"choices":[{"index":0,"delta":{"content":"X"},"logprobs":null},{"index":1,"delta":{"content":"b"},"logprobs":{}}]}`)},
		{"an event shared with another choice stays", events(`{"choices":[{"index":0,"delta":{"content":"a"}}]}`, `{"choices":[{"index":0,"delta":{"content":"b"}},{"index":1,"delta":{"content":"c"}}]}`), set(0, "X"),
			events(`{"choices":[{"index":0,"delta":{"content":"X"}}]}`, `{"choices":[{"index":0,"delta":{"content":""}},{"index":1,"delta":{"content":"c"}}]}`)},
		{"first call goes", events(role, begin("0", "a"), more("0"), begin("1", "b"), more("1"), end("tool_calls"), done), remove(0, "n"),
			events(role, begin("0", "b"), more("0"), note("n"), end("tool_calls"), done)},
		{"last call goes", events(role, begin("0", "a"), more("0"), begin("1", "b"), more("1"), end("tool_calls"), done), remove(1, ""),
			events(role, begin("0", "a"), more("0"), end("tool_calls"), done)},
		{"all calls go", events(role, text("t"), begin("0", "a"), more("0"), begin("1", "b"), more("1"), end("tool_calls"), usage, done), both(remove(1, "m"), remove(2, "n"), insert(0, "i")),
			events(role, text("t"), note(`\n\nm\n\nn\n\ni`), end("stop"), usage, done)},
		{"calls in one event", events(delta(`{"tool_calls":[{"index":0,"function":{"name":"f"}}, {"index":1,"function":{"name":"g"}}]}`, `"tool_calls"`)), remove(0, "n"),
			events(note("n"), delta(`{"tool_calls":[{"index":0,"function":{"name":"g"}}]}`, `"tool_calls"`))},
		{"call in the event of its role", events(delta(`{"role":"assistant","tool_calls":[{"index":0,"function":{"name":"f","arguments":"{}"}}]}`, `null`), end("tool_calls")), remove(0, "n"),
			events(delta(`{"role":"assistant"}`, `null`), note("n"), end("stop"))},
		{"function_call goes", events(delta(`{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{"}}`, `null`), delta(`{"function_call":{"arguments":"}"}}`, `null`), end("function_call"), done), remove(0, "n"),
			events(delta(`{"role":"assistant","content":null,"function_call":null}`, `null`), note("n"), end("stop"), done)},
		{"a call that is sent twice goes", events(role, twice("{", "{"), twice("}", "}"), end("tool_calls"), done), remove(0, "n"), events(role, note("n"), end("stop"), done)},
		{"a call that stays keeps its copy", events(role, twice("{", "{"), twice("}", "}"), begin("1", "b"), more("1"), end("tool_calls"), done), remove(1, "n"),
			events(role, twice("{", "{"), twice("}", "}"), note("n"), end("tool_calls"), done)},
		{"a copy that comes later goes too", events(role, begin("0", "a"), more("0"), delta(`{"function_call":{"name":"f","arguments":"{}"}}`, `null`), end("tool_calls"), done), remove(0, "n"),
			events(role, note("n"), end("stop"), done)},
		{"one notice for a copy that comes first", events(role, delta(`{"function_call":{"name":"f","arguments":"{}"}}`, `null`), begin("0", "a"), more("0"), end("tool_calls"), done), both(remove(0, "n"), remove(1, "n")),
			events(role, note("n"), end("stop"), done)},
		{"the older kind of another call has its own notice", events(role, twice("{", "["), end("tool_calls"), done), both(remove(0, "n"), remove(1, "m")), events(role, note(`n\n\nm`), end("stop"), done)},
		{"only the older kind goes", events(twice("{", "["), end("tool_calls"), done), remove(1, "m"),
			events(delta(`{"function_call":null,"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}`, `null`), note("m"), end("tool_calls"), done)},
		{"the arguments of both copies", events(twice("{", "{"), twice("}", "}")), set(0, "[]"), events(twice("[]", "[]"), twice("", ""))},
		{"insert where text comes with the finish reason", events(delta(`{"content":"a"}`, `"stop"`), done), insert(0, "i"), events(delta(`{"content":"a\n\ni"}`, `"stop"`), done)},
		{"insert without a finish reason", events(text("a"), done), insert(0, "i"), events(text("a"), note(`\n\ni`), done)},
		{"insert into a cut stream", events(text("a")), insert(0, "i"), events(text("a"), note(`\n\ni`))},
		{"insert into a stream cut within an event", events(text("a")) + ": x", insert(0, "i"), events(text("a")) + ": x\n\n" + events(note(`\n\ni`))},
		{"no second usage", events(`{"choices":[{"index":0,"delta":{"content":"a"}}],"usage":{"prompt_tokens":1}}`, done), insert(0, "i"),
			events(`{"choices":[{"index":0,"delta":{"content":"a"}}],"usage":{"prompt_tokens":1}}`, `{"choices":[{"index":0,"delta":{"content":"\n\ni"},"finish_reason":null}],"usage":null}`, done)},
		{"an emptied event with usage stays", events(text("a"), `{"choices":[{"index":0,"delta":{"content":"b"}}],"usage":{"prompt_tokens":1}}`), set(0, "X"),
			events(text("X"), `{"choices":[{"index":0,"delta":{"content":""}}],"usage":{"prompt_tokens":1}}`)},
		{"arguments", events(begin("0", "a"), more("0"), end("tool_calls")), set(0, "{ }"),
			events(delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{ }"}}]}`, `null`), delta(`{"tool_calls":[{"index":0,"function":{"arguments":""}}]}`, `null`), end("tool_calls"))},
		{"reasoning goes", events(delta(`{"reasoning_content":"r"}`, `null`), delta(`{"reasoning_content":"s"}`, `null`), text("a"), end("stop"), done), remove(0, ""), events(text("a"), end("stop"), done)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var sink recorder
			s := play(t, &sink, c.stream)
			parts := c.edit(append([]gatehouse.Part(nil), sink.parts...))
			for range 2 { // writing changes nothing in the stream
				if got, err := s.Bytes(parts); err != nil || string(got) != c.want {
					t.Errorf("got  %s, %v\nwant %s", got, err, c.want)
				}
			}
			if got, err := s.Bytes(sink.parts); err != nil || string(got) != c.stream {
				t.Errorf("without edits: %q, %v", got, err)
			}
			play(t, &recorder{}, c.want)
		})
	}
}

func TestStreamUsage(t *testing.T) {
	s := play(t, &recorder{}, events(`{"choices":[],"usage":null}`, `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":6}}`, done))
	if s.Usage() != (gatehouse.Usage{Input: 5, Output: 6}) {
		t.Errorf("got %+v", s.Usage())
	}
}

// An event that is cut off with its connection is refused; what came before it is written all the same.
// A later piece that names another type adds to the call all the same, as clients join it.
func TestStreamJoinsArgumentsOfAnotherType(t *testing.T) {
	var sink recorder
	if _, err := tryPlay(&sink, events(delta(`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{"}}]}`, `null`),
		delta(`{"tool_calls":[{"index":0,"type":"custom","function":{"arguments":"\"a\":1}"}}]}`, `"tool_calls"`))); err != nil {
		t.Fatal(err)
	}
	if len(sink.parts) != 1 || sink.parts[0].Text != `{"a":1}` {
		t.Errorf("%+v", sink.parts)
	}
}

func TestStreamBehindARefusedEvent(t *testing.T) {
	first, last := events(delta(`{"content":"a"}`, `null`)), events(delta(`{"function_call":{"name":"f"},"tool_calls":[{"index":-1}]}`, `null`))
	for before, want := range map[string]string{"": "", first: first} {
		var sink recorder
		s, err := tryPlay(&sink, before+last)
		if err == nil {
			t.Fatal("accepted")
		}
		if got, err := s.Bytes(sink.parts); err != nil || string(got) != want {
			t.Errorf("got %s, %v", got, err)
		}
		got, err := s.Bytes(insert(0, "i")(append([]gatehouse.Part(nil), sink.parts...)))
		if (err == nil) != (before != "") {
			t.Errorf("with a text added: %s, %v", got, err)
		}
	}
}
