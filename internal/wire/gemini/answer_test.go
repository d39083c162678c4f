package gemini

import (
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// saidParts is a whole answer of one candidate.
func saidParts(parts string) string {
	return `{"candidates":[{"content":{"parts":[` + parts + `],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":4,"thoughtsTokenCount":2,"toolUsePromptTokenCount":1}}`
}

// piece is one event of a stream of one candidate.
func piece(parts, more string) string {
	return `{"candidates":[{"content":{"parts":[` + parts + `],"role":"model"}` + more + `}]}`
}

const finish = `,"finishReason":"STOP"`

func TestResponseParts(t *testing.T) {
	cases := []struct {
		desc, body string
		want       []string
	}{
		{"texts run together", saidParts(`{"text":"a"},{"text":""},{"text":"b"}`), []string{`assistant text candidates[0].content.parts[0].text "ab"`}},
		{"thoughts run together, unless they are signed", saidParts(`{"text":"t","thought":true},{"text":"u","thought":true},{"text":"s","thought":true,"thoughtSignature":"cw=="},{"text":"a"}`), []string{
			`assistant reasoning candidates[0].content.parts[0].text "tu"`, `assistant reasoning candidates[0].content.parts[2].text "s" signed`,
			`assistant text candidates[0].content.parts[3].text "a"`}},
		{"calls", saidParts(`{"functionCall":{"name":"f","args":{"a": 1}},"thoughtSignature":"cw=="},{"functionCall":{"id":"2","name":"f"}},{"functionCall":{"name":"f","args":[]}}`), []string{
			`assistant tool_call candidates[0].content.parts[0].functionCall.args "{\"a\": 1}" tool=f`,
			`assistant tool_call candidates[0].content.parts[1].functionCall.args "" tool=f id=2`,
			`assistant tool_call candidates[0].content.parts[2].functionCall.args "[]" tool=f`}},
		{"code", saidParts(`{"executableCode":{"code":"1"}},{"codeExecutionResult":{"output":"2"}}`), []string{
			`assistant tool_call candidates[0].content.parts[0].executableCode.code "1" tool=hosted:code_execution media=freeform`,
			`tool tool_result candidates[0].content.parts[1].codeExecutionResult.output "2" tool=hosted:code_execution`}},
		{"an image and what nobody knows", `{"candidates":[{"content":{"parts":[{"inlineData":{"data":"AA"}},{"toolCall":{"toolType":"X"}}]},"groundingMetadata":{"webSearchQueries":["q"]},"urlContextMetadata":{},"safetyRatings":[{"category":"X"}]}]}`, []string{
			`assistant opaque candidates[0].content.parts[0].inlineData "" media=inline_data`,
			`assistant opaque candidates[0].content.parts[1] "" media=tool_call`, `assistant opaque candidates[0] "" media=grounding_metadata`}},
		{"alternatives", `{"candidates":[{"content":{"parts":[{"text":"a"}]}},{"index":1,"content":{"parts":[{"text":"b"}]}}]}`, []string{
			`assistant text candidates[0].content.parts[0].text "a"`, `assistant text candidates[1].content.parts[0].text "b" choice=1`}},
		{"a blocked prompt", `{"promptFeedback":{"blockReason":"SAFETY"}}`, nil},
		{"a candidate without content", `{"candidates":[{"finishReason":"SAFETY","index":0}]}`, nil},
		{"a count", `{"totalTokens":31}`, nil},
		{"an error", `{"error":{"code":500}}`, nil},
	}
	for _, c := range cases {
		t.Run(c.desc, func(t *testing.T) {
			var sink recorder
			r, err := Codec{}.Response([]byte(c.body), &sink)
			if err != nil {
				t.Fatal(err)
			}
			checkParts(t, sink.parts, c.want...)
			if len(sink.closed) != len(sink.parts) {
				t.Errorf("not every part was closed: %v", sink.closed)
			}
			if same, err := r.Bytes(sink.parts); err != nil || string(same) != c.body {
				t.Errorf("without edits: %s, %v", same, err)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	var sink recorder
	r, err := Codec{}.Response([]byte(saidParts(`{"text":"a"}`)), &sink)
	if err != nil || r.Usage() != (gatehouse.Usage{Input: 4, Output: 6}) {
		t.Errorf("%+v, %v", r.Usage(), err)
	}
	s, err := play(&sink, events(piece(`{"text":"a"}`, ``)[:len(piece(`{"text":"a"}`, ``))-1]+`,"usageMetadata":{"promptTokenCount":3}}`,
		`{"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":9}}`), false)
	if err != nil || s.Usage() != (gatehouse.Usage{Input: 3, Output: 9}) {
		t.Errorf("%+v, %v", s.Usage(), err)
	}
}

func TestResponseRefuses(t *testing.T) {
	for _, body := range []string{``, ` `, `[DONE]`, `{`, `[]`, `{"candidates":1}`, `{"candidates":[1]}`, `{"candidates":[{"index":"0"}]}`,
		`{"candidates":[{"index":2000}]}`, `{"candidates":[{},{"index":0}]}`, `{"candidates":[{"content":[]}]}`,
		`{"candidates":[{"content":{"parts":{"text":"a"}}}]}`, `{"candidates":[{"content":{"parts":[1]}}]}`,
		saidParts(`{"text":"a","functionCall":{"name":"f"}}`), saidParts(`{"functionCall":{}}`),
		saidParts(`{"functionCall":{"name":"f","partialArgs":[{"jsonPath":"$.a","stringValue":"b"}]}}`), saidParts(`{"functionCall":{"name":"f","willContinue":true}}`),
		saidParts(`{"text":"a","text":"b"}`), saidParts(`{"functionCall":{"name":"f","args":{"a":1,"a":2}}}`)} {
		var sink recorder
		_, err := Codec{}.Response([]byte(body), &sink)
		if _, ok := wire.IsMalformed(err); !ok || len(sink.parts) > 0 {
			t.Errorf("%s: %v, %d parts", body, err, len(sink.parts))
		}
	}
}

func TestResponseBytes(t *testing.T) {
	const (
		one = `{"functionCall":{"name":"f","args":{"n":12345678901234567890}},"thoughtSignature":"cw=="}`
		two = `{"functionCall": {"name":"g"}}`
	)
	cases := []struct {
		desc, body string
		edit       decision
		want       string
	}{
		{"a text", saidParts(`{"text" : "abc","thoughtSignature":"cw=="}`), set(0, "aXc"), saidParts(`{"text" : "aXc","thoughtSignature":"cw=="}`)},
		{"only the piece that changes", saidParts(`{"text":"one "},{"text":"two "},{"text":"three"}`), set(0, "one 2 three"), saidParts(`{"text":"one "},{"text":"2 "},{"text":"three"}`)},
		{"a change over pieces", saidParts(`{"text":"one tw"},{"text":"o thr"},{"text":"ee"}`), set(0, "one X ee"), saidParts(`{"text":"one X "},{"text":"ee"}`)},
		{"characters stay whole", saidParts(`{"text":"é"},{"text":"è"}`), set(0, "éê"), saidParts(`{"text":"é"},{"text":"ê"}`)},
		{"a text that goes", saidParts(`{"text":"a"},{"functionCall":{"name":"f"}}`), set(0, ""), saidParts(`{"functionCall":{"name":"f"}}`)},
		{"a text that goes leaves its signature", saidParts(`{"text":"a","thoughtSignature":"cw=="},{"functionCall":{"name":"f"}}`), set(0, ""), saidParts(`{"text":"","thoughtSignature":"cw=="},{"functionCall":{"name":"f"}}`)},
		{"the first call goes, its signature stays", saidParts(one + `, ` + two), remove(0, "no"), saidParts(`{"text":"no"}, {"thoughtSignature":"cw==","functionCall": {"name":"g"}}`)},
		{"the second call goes", saidParts(one + `, ` + two), remove(1, "no"), saidParts(one + `, {"text":"no"}`)},
		{"a call goes without a word", saidParts(one + `, ` + two), remove(0, ""), saidParts(`{"thoughtSignature":"cw==","functionCall": {"name":"g"}}`)},
		{"all calls go", saidParts(`{"text":"I will."},` + one + `,` + two), all(remove(1, "no"), remove(2, "nor")), saidParts(`{"text":"I will."},{"text":"\n\nno"},{"text":"\n\nnor"}`)},
		{"nothing is left", saidParts(one), remove(0, ""), saidParts(`{"text":""}`)},
		{"inserted", saidParts(`{"text":"a"}`), insert(0, "x", "", "y"), saidParts(`{"text":"a"},{"text":"\n\nx\n\ny"}`)},
		{"inserted where all goes", saidParts(one + `,` + two), all(remove(0, ""), remove(1, ""), insert(0, "x")), saidParts(`{"text":"x"}`)},
		{"inserted where the last goes", saidParts(`{"text":"a"} , ` + two), all(remove(1, ""), insert(0, "x")), saidParts(`{"text":"a"},{"text":"\n\nx"}`)},
		{"inserted without content", `{"candidates":[{"finishReason":"SAFETY"}]}`, insert(0, "x"), `{"candidates":[{"content":{"role":"model","parts":[{"text":"x"}]},"finishReason":"SAFETY"}]}`},
		{"inserted without parts", `{"candidates":[{"content":{"role":"model"}}]}`, insert(0, "x"), `{"candidates":[{"content":{"parts":[{"text":"x"}],"role":"model"}}]}`},
		{"a thought goes", saidParts(`{"text":"t","thought":true},{"text":"u","thought":true},{"text":"a"}`), remove(0, ""), saidParts(`{"text":"a"}`)},
		{"a thought is told of", saidParts(`{"text":"t","thought":true},{"text":"u","thought":true}`), remove(0, "no"), saidParts(`{"text":"no"}`)},
		{"a signed thought is never edited", saidParts(`{"text":"t","thought":true,"thoughtSignature":"cw=="},{"text":"a"}`), set(0, "other"), saidParts(`{"text":"t","thought":true,"thoughtSignature":"cw=="},{"text":"a"}`)},
		{"code goes with its output", saidParts(`{"executableCode":{"code":"1"}},{"codeExecutionResult":{"output":"2"}},{"text":"a"}`), remove(0, "no"), saidParts(`{"text":"no"},{"text":"a"}`)},
		{"output is edited", saidParts(`{"codeExecutionResult":{"output":"2"}}`), set(0, "3"), saidParts(`{"codeExecutionResult":{"output":"3"}}`)},
		{"copies go", `{"candidates":[{"content":{"parts":[{"text":"a"}]},"citation_metadata":{"x":1},"logprobsResult":{},"groundingMetadata":{"groundingSupports":[{}],"q":1}},{"index":1,"citationMetadata":{}}]}`, set(0, "b"),
			`{"candidates":[{"content":{"parts":[{"text":"b"}]},"citation_metadata":null,"logprobsResult":null,"groundingMetadata":{"groundingSupports":[],"q":1}},{"index":1,"citationMetadata":{}}]}`},
	}
	for _, c := range cases {
		t.Run(c.desc, func(t *testing.T) {
			var sink recorder
			r, err := Codec{}.Response([]byte(c.body), &sink)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // writing changes nothing
				got, err := r.Bytes(c.edit(append([]gatehouse.Part(nil), sink.parts...)))
				if err != nil || string(got) != c.want {
					t.Errorf("%s, %v\nwant %s", got, err, c.want)
				}
			}
		})
	}
}

func TestStreamBytes(t *testing.T) {
	call := func(name string) string { return `{"functionCall":{"name":"` + name + `"}}` }
	cases := []struct {
		desc string
		docs []string
		edit decision
		want []string
	}{
		{"nothing", []string{piece(`{"text":"a"}`, ``), piece(`{"text":""}`, finish)}, all(), []string{piece(`{"text":"a"}`, ``), piece(`{"text":""}`, finish)}},
		{"a text over pieces", []string{piece(`{"text":"one t"}`, ``), piece(`{"text":"w"}`, ``), piece(`{"text":"o three"}`, ``), piece(`{"text":"."}`, finish)}, set(0, "one X three."),
			[]string{piece(`{"text":"one X"}`, ``), piece(`{"text":" three"}`, ``), piece(`{"text":"."}`, finish)}},
		{"the first event goes", []string{piece(`{"text":"t","thought":true}`, ``), piece(`{"text":"a"}`, finish)}, remove(0, ""), []string{piece(`{"text":"a"}`, finish)}},
		{"the last one stays", []string{piece(`{"text":"a"}`, ``), piece(`{"text":"b"}`, finish)}, set(0, "a"), []string{piece(`{"text":"a"}`, ``), piece(`{"text":""}`, finish)}},
		{"a call goes", []string{piece(`{"text":"a"}`, ``), piece(call("f"), ``), piece(call("g"), finish)}, remove(1, "no"),
			[]string{piece(`{"text":"a"}`, ``), piece(`{"text":"\n\nno"}`, ``), piece(call("g"), finish)}},
		{"inserted at the end", []string{piece(`{"text":"a"}`, ``), `{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{}}`}, insert(0, "x"),
			[]string{piece(`{"text":"a"}`, ``), `{"candidates":[{"content":{"role":"model","parts":[{"text":"\n\nx"}]},"finishReason":"STOP"}],"usageMetadata":{}}`}},
		{"inserted where the stream was cut", []string{piece(`{"text":"a"}`, ``), piece(`{"text":"b"}`, ``)}, insert(0, "x"),
			[]string{piece(`{"text":"a"}`, ``), piece(`{"text":"b"},{"text":"\n\nx"}`, ``)}},
		{"another candidate is left alone", []string{piece(`{"text":"a"}`, `,"index":1`), piece(`{"text":"b"}`, finish), piece(`{"text":"c"}`, `,"index":1`+finish)}, set(1, "X"),
			[]string{piece(`{"text":"a"}`, `,"index":1`), piece(`{"text":"X"}`, finish), piece(`{"text":"c"}`, `,"index":1`+finish)}},
	}
	for _, c := range cases {
		for _, array := range []bool{false, true} {
			shape := events
			if array {
				shape = elements
			}
			t.Run(c.desc+shape(), func(t *testing.T) {
				var sink recorder
				s, err := play(&sink, shape(c.docs...), array)
				if err != nil {
					t.Fatal(err)
				}
				got, err := s.Bytes(c.edit(append([]gatehouse.Part(nil), sink.parts...)))
				if err != nil || string(got) != shape(c.want...) {
					t.Errorf("%s, %v\nwant %s", got, err, shape(c.want...))
				}
			})
		}
	}
}

func TestArrayOfWhichNothingIsLeft(t *testing.T) {
	var sink recorder
	s, err := play(&sink, elements(piece(`{"text":"t","thought":true}`, ``), piece(`{"text":"u","thought":true}`, ``)), true)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Bytes(remove(0, "")(sink.parts))
	if err != nil || string(got) != "[]\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestDone(t *testing.T) {
	cases := []struct {
		desc, stream string
		array, want  bool
	}{
		{"no event", "", false, false},
		{"no end", events(piece(`{"text":"a"}`, ``)), false, false},
		{"an end", events(piece(`{"text":"a"}`, finish)), false, true},
		{"one of two", events(piece(`{"text":"a"}`, finish), piece(`{"text":"a"}`, `,"index":1`)), false, false},
		{"a blocked prompt", events(`{"promptFeedback":{"blockReason":"OTHER"}}`), false, true},
		{"an array", elements(piece(`{"text":"a"}`, ``)), true, true},
	}
	for _, c := range cases {
		s, err := play(&recorder{}, c.stream, c.array)
		if err != nil || s.Done() != c.want {
			t.Errorf("%s: %v, %v", c.desc, s.Done(), err)
		}
	}
	cut := at("streamGenerateContent", "").(wire.Arrays).Elements(&recorder{})
	if err := cut.Event([]byte(`[`+piece(`{"text":"a"}`, finish)), "", piece(`{"text":"a"}`, finish)); err != nil || cut.Done() {
		t.Errorf("an array without its bracket: %v", err)
	}
}

func TestStreamRefusesAnEvent(t *testing.T) {
	var sink recorder
	s := Codec{}.Stream(&sink)
	good := events(piece(`{"text":"a"}`, ``))
	if err := s.Event([]byte(good), "", piece(`{"text":"a"}`, ``)); err != nil {
		t.Fatal(err)
	}
	if err := s.Event([]byte("data: x\n\n"), "", `{"candidates":[{"content":{"parts":[{"text":"b"},{"functionCall":{}}]}}]}`); err == nil {
		t.Error("a call without a name")
	}
	if got, err := s.Bytes(sink.parts); err != nil || string(got) != good || sink.parts[0].Text != "a" {
		t.Errorf("the refused event left %q, %v; text %q", got, err, sink.parts[0].Text)
	}
}

func TestBytesRefuses(t *testing.T) {
	for desc, change := range map[string]decision{
		"no such candidate":      insert(3, "x"),
		"an opaque part goes":    remove(1, "no"),
		"a part that is unknown": func(p []gatehouse.Part) []gatehouse.Part { return append(p, gatehouse.Part{}) },
		"a part is lost":         func(p []gatehouse.Part) []gatehouse.Part { return p[1:] },
	} {
		var sink recorder
		r, err := Codec{}.Response([]byte(saidParts(`{"text":"a"},{"inlineData":{}}`)), &sink)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := r.Bytes(change(sink.parts)); err == nil {
			t.Errorf("%s: %s", desc, out)
		}
	}
}

func TestStopped(t *testing.T) {
	notice := wire.Notice{RequestID: "id", Text: `stopped "here"`}
	cases := []struct {
		desc, method, query, body string
		want                      []string // parts of the answer when it is read again
		holds                     string
	}{
		{"whole", "generateContent", "", `{"contents":[]}`, []string{`assistant text candidates[0].content.parts[0].text "stopped \"here\""`}, `"finishReason":"SAFETY"`},
		{"events", "streamGenerateContent", "alt=sse", `{"contents":[]}`, []string{`assistant text candidates[0].content.parts[0].text "stopped \"here\""`}, `data: {`},
		{"an array", "streamGenerateContent", "", `{"contents":[]}`, []string{`assistant text candidates[0].content.parts[0].text "stopped \"here\""`}, `[{"candidates"`},
		{"by a schema", "generateContent", "", `{"contents":[],"generation_config":{"response_mime_type":"application/json"}}`, nil, `"finishMessage":"stopped \"here\""`},
		{"as plain text", "generateContent", "", `{"contents":[],"generationConfig":{"responseMimeType":"text/plain"}}`, []string{`assistant text candidates[0].content.parts[0].text "stopped \"here\""`}, ``},
		{"two candidates", "generateContent", "", `{"contents":[],"generationConfig":{"candidateCount":2}}`, []string{
			`assistant text candidates[0].content.parts[0].text "stopped \"here\""`, `assistant text candidates[1].content.parts[0].text "stopped \"here\"" choice=1`}, ``},
	}
	for _, c := range cases {
		t.Run(c.desc, func(t *testing.T) {
			codec := at(c.method, c.query)
			req, err := codec.Request([]byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			body, kind := codec.Stopped(req, notice)
			checkParts(t, reread(t, body, kind), c.want...)
			if !strings.Contains(string(body), c.holds) || !strings.Contains(string(body), `"modelVersion":"gemini-x"`) {
				t.Errorf("%s", body)
			}
		})
	}
}

// reread reads an answer of the gateway's own.
func reread(t *testing.T, body []byte, kind string) []gatehouse.Part {
	t.Helper()
	var sink recorder
	var err error
	switch {
	case strings.HasPrefix(kind, "text/event-stream"):
		_, err = play(&sink, string(body), false)
	case body[0] == '[':
		_, err = play(&sink, string(body), true)
	default:
		_, err = Codec{}.Response(body, &sink)
	}
	if err != nil {
		t.Fatal(err)
	}
	return sink.parts
}

func TestReleased(t *testing.T) {
	calls := []wire.Call{{Tool: "send", ID: "c1", Arguments: `{"n": 12345678901234567890}`}, {Tool: "ping"}}
	for _, address := range [][2]string{{"generateContent", ""}, {"streamGenerateContent", "alt=sse"}, {"streamGenerateContent", ""}} {
		codec := at(address[0], address[1])
		req, err := codec.Request([]byte(`{"contents":[]}`))
		if err != nil {
			t.Fatal(err)
		}
		body, kind, err := codec.Released(req, calls, "id")
		if err != nil {
			t.Fatal(err)
		}
		checkParts(t, reread(t, body, kind), `assistant tool_call candidates[0].content.parts[0].functionCall.args "{\"n\": 12345678901234567890}" tool=send id=c1`,
			`assistant tool_call candidates[0].content.parts[1].functionCall.args "{}" tool=ping`)
		if n := strings.Count(string(body), unsigned); n != 1 || !strings.Contains(string(body), `"finishReason":"STOP"`) {
			t.Errorf("%d signatures: %s", n, body)
		}
		for desc, bad := range map[string][]wire.Call{"none": nil, "text": {{Tool: "f", Freeform: true, Arguments: "{}"}},
			"no object": {{Tool: "f", Arguments: "[]"}}, "no JSON": {{Tool: "f", Arguments: "x"}}, "hosted": {{Tool: "hosted:x", Arguments: "{}"}}} {
			if body, _, err := codec.Released(req, bad, "id"); err == nil {
				t.Errorf("%s: %s", desc, body)
			}
		}
	}
}
