package openai

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

func TestResponseParts(t *testing.T) {
	cases := []struct {
		name, body string
		want       []string
	}{
		{"text", `{"choices":[{"index":0,"message":{"role":"assistant","content":"a","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}]}`, []string{
			`assistant text choices[0].message.content "a"`}},
		{"an error", `{"error":{"message":"m"}}`, nil},
		{"no choices", `{ "choices" : [], "x":1.50 }`, nil},
		{"choices null", `{"choices":null}`, nil},
		{"everything", `{"choices":[{"index":1,"message":{"reasoning_content":"r","reasoning":"q","content":[{"type":"text","text":"a"}],"refusal":"n","audio":{"data":""},"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{ }"}},{"id":"2","type":"custom","custom":{"name":"g","input":"i"}}],"function_call":{"name":"h","arguments":"{}"}}},{"index":0,"message":{"content":"b"}}]}`, []string{
			`assistant reasoning choices[0].message.reasoning_content "r" choice=1`,
			`assistant reasoning choices[0].message.reasoning "q" choice=1`,
			`assistant text choices[0].message.content[0].text "a" choice=1`,
			`assistant text choices[0].message.refusal "n" choice=1`,
			`assistant opaque choices[0].message.audio "" media=audio choice=1`,
			`assistant tool_call choices[0].message.tool_calls[0].function.arguments "{ }" tool=f id=1 choice=1`,
			`assistant tool_call choices[0].message.tool_calls[1].custom.input "i" tool=g id=2 media=freeform choice=1`,
			`assistant tool_call choices[0].message.function_call.arguments "{}" tool=h choice=1`,
			`assistant text choices[1].message.content "b"`,
		}},
		{"a call that is sent twice", `{"choices":[{"message":{"function_call":{"name":"f","arguments":"{\u007d"},"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]}}]}`, []string{
			`assistant tool_call choices[0].message.tool_calls[0].function.arguments "{}" tool=f id=1`}},
		{"the older kind of another call", `{"choices":[{"message":{"function_call":{"name":"f","arguments":"{ }"},"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}},{"id":"2","custom":{"name":"f","input":"{ }"}}]}}]}`, []string{
			`assistant tool_call choices[0].message.function_call.arguments "{ }" tool=f`,
			`assistant tool_call choices[0].message.tool_calls[0].function.arguments "{}" tool=f id=1`,
			`assistant tool_call choices[0].message.tool_calls[1].custom.input "{ }" tool=f id=2 media=freeform`}},
		{"the older kind of another choice's call", `{"choices":[{"message":{"function_call":{"name":"f"}}},{"message":{"tool_calls":[{"function":{"name":"f"}}]}}]}`, []string{
			`assistant tool_call choices[0].message.function_call.arguments "" tool=f`,
			`assistant tool_call choices[1].message.tool_calls[0].function.arguments "" tool=f choice=1`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var sink recorder
			r, err := Codec{}.Response([]byte(c.body), &sink)
			if err != nil {
				t.Fatal(err)
			}
			checkParts(t, sink.parts, c.want...)
			if len(sink.log) != 2*len(sink.parts) {
				t.Errorf("not every part was closed: %v", sink.log)
			}
			if same, err := r.Bytes(sink.parts); err != nil || string(same) != c.body {
				t.Errorf("without edits: %s, %v", same, err)
			}
		})
	}
}

func TestResponseRefuses(t *testing.T) {
	for _, body := range []string{`{`, `[]`, `{"choices":{}}`, `{"choices":[1]}`, `{"choices":[{"index":"0"}]}`, `{"choices":[{"message":1}]}`,
		`{"choices":[{"message":{"content":1}}]}`, `{"choices":[{"message":{"tool_calls":[{"id":"1"}]}}]}`, `{"choices":[{"message":{"content":"a","content":"b"}}]}`,
		`{"choices":[{"message":{"tool_calls":[{"id":"1","type":"custom","custom":{"name":"f","input":"x"},"function":{"name":"g","arguments":"{}"}}]}}]}`} {
		var sink recorder
		_, err := Codec{}.Response([]byte(body), &sink)
		if _, ok := wire.IsMalformed(err); !ok || len(sink.parts) > 0 {
			t.Errorf("%s: %v, %d parts", body, err, len(sink.parts))
		}
	}
}

func TestResponseBytes(t *testing.T) {
	const calls = `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}, {"id":"2","function":{"name":"g","arguments":"{\"a\":12345678901234567890}"}}]},"logprobs":{"content":[]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`
	cases := []struct {
		name, body string
		edit       edit
		want       string
	}{
		{"text", `{ "x":1.50,"choices":[{"message":{"content":"a" ,"annotations":[{"type":"url_citation"}]},"logprobs":{"content":[]}},{"index":1,"message":{"content":"b"},"logprobs":{}}]}`, set(0, "A"),
			`{ "x":1.50,"choices":[{"message":{"content":"A" ,"annotations":[]},"logprobs":null},{"index":1,"message":{"content":"b"},"logprobs":{}}]}`},
		{"refusal", `{"choices":[{"message":{"content":null,"refusal":"a"}}]}`, set(0, "A"), `{"choices":[{"message":{"content":null,"refusal":"A"}}]}`},
		{"first call goes", calls, remove(0, "no f"),
			`{"choices":[{"message":{"content":"no f","tool_calls":[{"id":"2","function":{"name":"g","arguments":"{\"a\":12345678901234567890}"}}]},"logprobs":null,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`},
		{"last call goes", calls, remove(1, "no g"),
			`{"choices":[{"message":{"content":"no g","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]},"logprobs":null,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`},
		{"all calls go", calls, both(remove(0, "no f"), remove(1, "no g")),
			`{"choices":[{"message":{"content":"no f\n\nno g"},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`},
		{"notice behind content", `{"choices":[{"message":{"tool_calls":[{"function":{"name":"f"}}],"content":"a"},"finish_reason":"tool_calls"}]}`, remove(1, "n"),
			`{"choices":[{"message":{"content":"a\n\nn"},"finish_reason":"stop"}]}`},
		{"notice behind edited content", `{"choices":[{"message":{"content":"a","tool_calls":[{"function":{"name":"f"}}]},"finish_reason":"tool_calls"}]}`, both(set(0, "A"), remove(1, "n"), insert(0, "i")),
			`{"choices":[{"message":{"content":"A\n\nn\n\ni"},"finish_reason":"stop"}]}`},
		{"notice without content", `{"choices":[{"message":{"tool_calls":[{"function":{"name":"f"}}]},"finish_reason":"tool_calls"}]}`, remove(0, "n"),
			`{"choices":[{"message":{"content":"n"},"finish_reason":"stop"}]}`},
		{"no notice and no content", `{"choices":[{"message":{"tool_calls":[{"function":{"name":"f"}}]},"finish_reason":"tool_calls"}]}`, remove(0, ""),
			`{"choices":[{"message":{},"finish_reason":"stop"}]}`},
		{"function_call goes", `{"choices":[{"message":{"content":"","function_call":{"name":"f","arguments":""}},"finish_reason":"function_call"}]}`, remove(0, "n"),
			`{"choices":[{"message":{"content":"n","function_call":null},"finish_reason":"stop"}]}`},
		{"both kinds of call go", `{"choices":[{"message":{"function_call":{"name":"f"},"tool_calls":[{"function":{"name":"g"}}]},"finish_reason":"tool_calls"}]}`, both(remove(0, "n"), remove(1, "m")),
			`{"choices":[{"message":{"function_call":null,"content":"n\n\nm"},"finish_reason":"stop"}]}`},
		{"a call that is sent twice goes", `{"choices":[{"message":{"content":null,"function_call":{"name":"f","arguments":"{}"},"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`, remove(0, "n"),
			`{"choices":[{"message":{"content":"n","function_call":null},"finish_reason":"stop"}]}`},
		{"one of two calls goes with its copy", `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}},{"id":"2","function":{"name":"g","arguments":"{}"}}],"function_call":{"name":"f","arguments":"{}"}},"finish_reason":"tool_calls"}]}`, remove(0, "n"),
			`{"choices":[{"message":{"content":"n","tool_calls":[{"id":"2","function":{"name":"g","arguments":"{}"}}],"function_call":null},"finish_reason":"tool_calls"}]}`},
		{"a call that stays keeps its copy", `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}},{"id":"2","function":{"name":"g","arguments":"{}"}}],"function_call":{"name":"f","arguments":"{}"}},"finish_reason":"tool_calls"}]}`, remove(1, "n"),
			`{"choices":[{"message":{"content":"n","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}],"function_call":{"name":"f","arguments":"{}"}},"finish_reason":"tool_calls"}]}`},
		{"the arguments of both copies", `{"choices":[{"message":{"tool_calls":[{"function":{"name":"f","arguments":"{}"}}],"function_call":{"name":"f","arguments":"{}"}}}]}`, set(0, "{ }"),
			`{"choices":[{"message":{"tool_calls":[{"function":{"name":"f","arguments":"{ }"}}],"function_call":{"name":"f","arguments":"{ }"}}}]}`},
		{"another finish reason stays", `{"choices":[{"message":{"content":null,"tool_calls":[{"function":{"name":"f"}}]},"finish_reason":"length"}]}`, remove(0, "n"),
			`{"choices":[{"message":{"content":"n"},"finish_reason":"length"}]}`},
		{"insert by choice", `{"choices":[{"index":1,"message":{"content":"b"}},{"index":0,"message":{"content":[{"type":"text","text":"a"}]}}]}`, both(insert(0, "i"), insert(1, "j")),
			`{"choices":[{"index":1,"message":{"content":"b\n\nj"}},{"index":0,"message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"i"}]}}]}`},
		{"insert without content", `{"choices":[{"message":{"refusal":"r"}}]}`, insert(0, "i"), `{"choices":[{"message":{"content":"i","refusal":"r"}}]}`},
		{"arguments", `{"choices":[{"message":{"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}}]}`, set(0, "{ }"),
			`{"choices":[{"message":{"tool_calls":[{"function":{"name":"f","arguments":"{ }"}}]}}]}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var sink recorder
			r, err := Codec{}.Response([]byte(c.body), &sink)
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.Bytes(c.edit(sink.parts))
			if err != nil || string(got) != c.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, c.want)
			}
			checkJSON(t, got)
		})
	}
}

func TestResponseUnplaceable(t *testing.T) {
	for body, e := range map[string]edit{
		`{"error":{}}`: insert(0, "i"),
		`{"choices":[{"index":0,"message":{"content":"a"}}]}`:                           insert(1, "i"),
		`{"choices":[{"index":0}]}`:                                                     insert(0, "i"),
		`{"choices":[{"index":0,"message":{"audio":{}}}]}`:                              set(0, "x"),
		`{"choices":[{"index":0,"message":{"tool_calls":[{"function":{"name":""}}]}}]}`: set(0, "x"),
	} {
		var sink recorder
		r, err := Codec{}.Response([]byte(body), &sink)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := r.Bytes(e(sink.parts)); err == nil {
			t.Errorf("%s became %s", body, got)
		}
	}
}

func TestResponseUsage(t *testing.T) {
	r, err := Codec{}.Response([]byte(`{"usage":{"prompt_tokens":3,"completion_tokens":4}}`), &recorder{})
	if err != nil || r.Usage() != (gatehouse.Usage{Input: 3, Output: 4}) {
		t.Errorf("got %+v, %v", r.Usage(), err)
	}
}

func TestStopped(t *testing.T) {
	n := wire.Notice{RequestID: "id", Text: "stopped <here>"}
	type message struct{ Content, Refusal *string }
	type body struct {
		ID, Object, Model string
		Created           int64
		Choices           []struct {
			Index        int
			Message      message
			Delta        message
			FinishReason *string `json:"finish_reason"`
		}
		Usage *struct {
			Total *int `json:"total_tokens"`
		}
	}
	for _, format := range []string{`{"type":"text"}`, `{"type":"json_object"}`, `{"type":"json_schema"}`} {
		structured := strings.Contains(format, "json_")
		req := mustRequest(t, fmt.Sprintf(`{"model":"m","messages":[],"n":2,"response_format":%s}`, format))
		raw, kind := Codec{}.Stopped(req, n)
		var b body
		if err := json.Unmarshal(raw, &b); err != nil {
			t.Fatal(err)
		}
		if kind != "application/json" || b.ID != "chatcmpl-id" || b.Object != "chat.completion" || b.Model != "m" || b.Created == 0 || len(b.Choices) != 2 || *b.Usage.Total != 0 {
			t.Errorf("%s: %s", kind, raw)
		}
		for i, c := range b.Choices {
			said, other := c.Message.Content, c.Message.Refusal
			if structured {
				said, other = other, said
			}
			if c.Index != i || *c.FinishReason != "content_filter" || said == nil || *said != n.Text || other != nil {
				t.Errorf("choice %d: %s", i, raw)
			}
		}

		req = mustRequest(t, fmt.Sprintf(`{"model":"m","messages":[],"stream":true,"n":2,"stream_options":{"include_usage":true},"response_format":%s}`, format))
		raw, kind = Codec{}.Stopped(req, n)
		if kind != "text/event-stream" || !strings.HasSuffix(string(raw), "data: [DONE]\n\n") || strings.Count(string(raw), `"total_tokens":0`) != 1 || strings.Count(string(raw), "content_filter") != 2 {
			t.Errorf("%s: %s", kind, raw)
		}
		var sink recorder
		s := play(t, &sink, string(raw))
		member := "content"
		if structured {
			member = "refusal"
		}
		checkParts(t, sink.parts, fmt.Sprintf("assistant text choices[0].delta.%s %q", member, n.Text), fmt.Sprintf("assistant text choices[0].delta.%s %q choice=1", member, n.Text))
		if !s.Done() {
			t.Error("not done")
		}
	}
}

func TestTextsOfOneContentAreOne(t *testing.T) {
	const body = `{"choices":[{"message":{"content":[{"type":"text","text":""},{"type":"text","text":"my sec"},{"type":"image_url"},{"type":"text", "text":"ret" }],"refusal":"no"}}]}`
	var sink recorder
	r, err := Codec{}.Response([]byte(body), &sink)
	if err != nil {
		t.Fatal(err)
	}
	checkParts(t, sink.parts, `assistant text choices[0].message.content[1].text "my secret"`,
		`assistant opaque choices[0].message.content[2] "" media=image_url`, `assistant text choices[0].message.refusal "no"`)
	for _, c := range []struct {
		edit edit
		want string
	}{
		{set(0, "my secret"), body},
		{set(0, "gone"), strings.NewReplacer("my sec", "gone", "ret", "").Replace(body)},
		{set(2, "yes"), strings.Replace(body, `"no"`, `"yes"`, 1)},
		{insert(0, "more"), strings.Replace(body, `"ret" }]`, `"ret" },{"type":"text","text":"more"}]`, 1)},
	} {
		got, err := r.Bytes(c.edit(append([]gatehouse.Part(nil), sink.parts...)))
		if err != nil || string(got) != c.want {
			t.Errorf("%v: %s, want %s", err, got, c.want)
		}
	}
}

// The texts of a content are one part, and an edit of it is looked up once, not once for each of them.
func TestManyTextsOfOnePart(t *testing.T) {
	const many, long, most = 40_000, 1 << 20, 3 * time.Second
	item := `{"type":"text","text":"a"},`
	body := `{"choices":[{"message":{"role":"assistant","content":[` + strings.Repeat(item, many) + `{"type":"text","text":"` + strings.Repeat("b ", long) + `key"}]}}]}`
	var sink recorder
	r, err := Codec{}.Response([]byte(body), &sink)
	if err != nil {
		t.Fatal(err)
	}
	sink.parts[0].Text = strings.TrimSuffix(sink.parts[0].Text, "key") + "cut"
	begun := time.Now()
	out, err := r.Bytes(sink.parts)
	if took := time.Since(begun); err != nil || took > most || strings.Contains(string(out), "key") {
		t.Errorf("%v after %v", err, took)
	}
}
