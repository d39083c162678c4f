package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/sse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// streamed turns a whole message's content into events, texts in pieces of two bytes.
func streamed(t *testing.T, content, stop string) string {
	t.Helper()
	var blocks []map[string]json.RawMessage
	if err := json.Unmarshal([]byte(content), &blocks); err != nil {
		t.Fatal(err)
	}
	var out []byte
	send := func(name, rest string) { out = sse.Append(out, name, `{"type": "`+name+`"`+rest+`}`) }
	send("message_start", `,"message":{"id":"msg_1","type":"message","content":[],"usage":{"input_tokens":7,"output_tokens":1}}`)
	send("ping", "")
	for i, b := range blocks {
		deltas := dismantle(t, b)
		start, _ := json.Marshal(b)
		send("content_block_start", fmt.Sprintf(`,"index": %d,"content_block":%s`, i, start))
		for _, d := range deltas {
			send("content_block_delta", fmt.Sprintf(`,"index": %d,"delta":%s,"extra":1.50`, i, d))
		}
		send("content_block_stop", fmt.Sprintf(`,"index": %d`, i))
	}
	send("message_delta", `,"delta":{"stop_reason":"`+stop+`","stop_sequence":null},"usage":{"output_tokens":9}`)
	send("message_stop", "")
	return string(out)
}

// dismantle takes out of a block what deltas bring.
func dismantle(t *testing.T, b map[string]json.RawMessage) []string {
	t.Helper()
	var kind string
	if err := json.Unmarshal(b["type"], &kind); err != nil {
		t.Fatal(err)
	}
	pieces := func(text, delta, member string) (out []string) {
		for len(text) > 0 {
			n := min(2, len(text))
			quoted, _ := json.Marshal(text[:n])
			out = append(out, fmt.Sprintf(`{"type":%q,%q:%s}`, delta, member, quoted))
			text = text[n:]
		}
		return out
	}
	unquoted := func(member string) (text string) {
		if err := json.Unmarshal(b[member], &text); err != nil {
			t.Fatal(err)
		}
		b[member] = json.RawMessage(`""`)
		return text
	}
	switch {
	case kind == "text":
		out := pieces(unquoted("text"), "text_delta", "text")
		if c := b["citations"]; c != nil {
			b["citations"] = json.RawMessage("[]")
			out = append(out, `{"type":"citations_delta","citation":{"cited_text":"a"}}`)
		}
		return out
	case kind == "thinking":
		return append(pieces(unquoted("thinking"), "thinking_delta", "thinking"),
			`{"type":"signature_delta","signature":"`+unquoted("signature")+`"}`)
	case isCall(kind):
		input := string(b["input"])
		b["input"] = json.RawMessage("{}")
		return pieces(input, "input_json_delta", "partial_json")
	}
	return nil
}

func feed(body string, s wire.Stream) error {
	r := sse.NewReader(strings.NewReader(body), 0)
	for {
		e, err := r.Next()
		if err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
		if err := s.Event(e.Raw, e.Name, e.Data); err != nil {
			return err
		}
	}
}

// accumulate builds a message out of events the way the official SDKs do: blocks are appended as they start, and deltas
// go to the block at their index.
func accumulate(t *testing.T, body []byte) (content []map[string]any, stop string) {
	t.Helper()
	r := sse.NewReader(bytes.NewReader(body), 0)
	inputs := map[int]string{}
	for {
		e, err := r.Next()
		if err != nil {
			return content, stop
		}
		var d struct {
			Type  string
			Index int
			Block map[string]any `json:"content_block"`
			Delta map[string]any
		}
		if e.Data == "" {
			continue
		}
		if err := json.Unmarshal([]byte(e.Data), &d); err != nil {
			t.Fatalf("%v: %s", err, e.Data)
		}
		switch d.Type {
		case "content_block_start":
			if d.Index != len(content) {
				t.Fatalf("block %d starts as %d", len(content), d.Index)
			}
			content = append(content, d.Block)
		case "content_block_delta":
			b := content[d.Index]
			switch d.Delta["type"] {
			case "text_delta":
				b["text"] = b["text"].(string) + d.Delta["text"].(string)
			case "thinking_delta":
				b["thinking"] = b["thinking"].(string) + d.Delta["thinking"].(string)
			case "signature_delta":
				b["signature"] = d.Delta["signature"]
			case "citations_delta":
				list, _ := b["citations"].([]any)
				b["citations"] = append(list, d.Delta["citation"])
			case "input_json_delta":
				inputs[d.Index] += d.Delta["partial_json"].(string)
			}
		case "content_block_stop":
			if inputs[d.Index] != "" {
				var input any
				if err := json.Unmarshal([]byte(inputs[d.Index]), &input); err != nil {
					t.Fatal(err)
				}
				content[d.Index]["input"] = input
			}
		case "message_delta":
			stop = d.Delta["stop_reason"].(string)
		}
	}
}

func TestStreamBytes(t *testing.T) {
	for _, c := range edits {
		t.Run(c.name, func(t *testing.T) {
			body, sink := streamed(t, c.content, c.stop), &recorder{}
			s := Codec{}.Stream(sink)
			if err := feed(body, s); err != nil {
				t.Fatal(err)
			}
			if !s.Done() || s.Usage() != (gatehouse.Usage{Input: 7, Output: 9}) {
				t.Errorf("done %v, usage %+v", s.Done(), s.Usage())
			}
			if got, err := s.Bytes(sink.parts); err != nil || string(got) != body {
				t.Fatalf("no edit: %s, %v", got, err)
			}
			got, err := s.Bytes(c.edit(sink.parts))
			if err != nil {
				t.Fatal(err)
			}
			content, stop := accumulate(t, got)
			if content == nil {
				content = []map[string]any{}
			}
			have, _ := json.Marshal(content)
			if want := compact(t, c.want); string(have) != want || stop != c.wantStop {
				t.Errorf("got %s %s\nwant %s %s\n%s", have, stop, want, c.wantStop, got)
			}
			if err := feed(string(got), Codec{}.Stream(&recorder{})); err != nil {
				t.Errorf("the edited stream cannot be read: %v", err)
			}
		})
	}
}

// compact writes JSON the way encoding/json does, names sorted.
func compact(t *testing.T, doc string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(doc), &v); err != nil {
		t.Fatal(err)
	}
	out, _ := json.Marshal(v)
	return string(out)
}

func TestStreamParts(t *testing.T) {
	sink := &recorder{}
	s := Codec{}.Stream(sink)
	content := `[` + think + `,{"type":"redacted_thinking","data":"x"},` + textA + `,{"type":"tool_use","id":"t1","name":"read","input":{"n":12345678901234567890}},` + callW + `]`
	if err := feed(streamed(t, content, "tool_use"), s); err != nil {
		t.Fatal(err)
	}
	want := `
reasoning assistant content[0].thinking "hm" signed
reasoning assistant content[1] "" signed
text assistant content[2].text "a"
tool_call assistant read#t1 content[3].input "{\"n\":12345678901234567890}"
tool_call assistant write#t2 content[4].input "{}"`
	if got := "\n" + lines(sink.parts); got != want {
		t.Errorf("got%s\nwant%s", got, want)
	}
	for i, closed := range sink.closed {
		if !closed {
			t.Errorf("part %d was not closed", i)
		}
	}
}

func events(data ...string) string {
	var out strings.Builder
	for _, d := range data {
		out.WriteString("data: " + d + "\n\n")
	}
	return out.String()
}

func TestStreamInputWithoutDeltas(t *testing.T) {
	sink := &recorder{}
	err := feed(events(`{"type":"content_block_start","index":0,"content_block":`+callR+`}`, `{"type":"content_block_stop","index":0}`), Codec{}.Stream(sink))
	if err != nil || sink.parts[0].Text != `{ "n": 12345678901234567890 }` {
		t.Errorf("got %v, %+v", err, sink.parts)
	}
}

func TestStreamEditOfTextAtTheStart(t *testing.T) {
	for _, deltas := range [][]string{nil, {`{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"lo"}}`}} {
		list := append([]string{`{"type":"content_block_start","index":3,"content_block":{"type":"text","text":"hel","citations":null}}`}, deltas...)
		sink := &recorder{}
		s := Codec{}.Stream(sink)
		if err := feed(events(append(list, `{"type":"content_block_stop","index":3}`)...), s); err != nil {
			t.Fatal(err)
		}
		got, err := s.Bytes(rewriteText(0, "new")(sink.parts))
		if err != nil {
			t.Fatal(err)
		}
		if content, _ := accumulate(t, got); content[0]["text"] != "new" {
			t.Errorf("got %s", got)
		}
	}
}

func TestStreamThatEndsEarly(t *testing.T) {
	full := streamed(t, "["+textA+","+callR+"]", "tool_use")
	early := full[:strings.Index(full, "event: message_delta")]
	sink := &recorder{}
	s := Codec{}.Stream(sink)
	if err := feed(early, s); err != nil || s.Done() {
		t.Fatalf("%v, done %v", err, s.Done())
	}
	if got, err := s.Bytes(sink.parts); err != nil || string(got) != early {
		t.Errorf("got %s, %v", got, err)
	}
	got, err := s.Bytes(remove("no", 1)(sink.parts))
	if content, _ := accumulate(t, got); err != nil || len(content) != 2 || content[1]["text"] != "no" {
		t.Errorf("got %s, %v", got, err)
	}
	if bytes.Contains(got, []byte("message_stop")) {
		t.Errorf("an end was made up: %s", got)
	}
	if got, err := (Codec{}).Stream(&recorder{}).Bytes(insertNote(nil)); err == nil {
		t.Errorf("text was added to nothing: %s", got)
	}
}

func TestStreamKeepsWhatItDoesNotKnow(t *testing.T) {
	body := ": comment\r\n\r\nevent: novelty\r\ndata: {\"type\":\"novelty\",\"x\":1.50}\r\n\r\nevent: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\ndata: [DONE]\n\n"
	sink := &recorder{}
	s := Codec{}.Stream(sink)
	if err := feed(body, s); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Bytes(nil); err != nil || string(got) != body || len(sink.parts) > 0 {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestStreamShowsUnknownDeltas(t *testing.T) {
	sink := &recorder{}
	delta := `{"type":"content_block_delta","index":0,"delta":{"type":"odour_delta","smell":"x"}}`
	if err := feed(events(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, delta, delta), Codec{}.Stream(sink)); err != nil {
		t.Fatal(err)
	}
	if len(sink.parts) != 2 || sink.parts[1].Kind != gatehouse.Opaque || sink.parts[1].Media != "odour_delta" {
		t.Errorf("got %s", lines(sink.parts))
	}
}

func TestStreamRefused(t *testing.T) {
	start := `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	call := `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"b","input":{"x":1}}}`
	stop := `{"type":"content_block_stop","index":0}`
	delta := func(d string) string { return `{"type":"content_block_delta","index":0,"delta":` + d + `}` }
	for name, body := range map[string]string{
		"not JSON":                 events(`{"type":`),
		"a key twice":              events(`{"type":"ping","type":"content_block_delta"}`),
		"name and type differ":     "event: ping\n" + events(start),
		"a delta without a block":  events(delta(`{"type":"text_delta","text":"x"}`)),
		"a delta behind the stop":  events(start, stop, delta(`{"type":"text_delta","text":"x"}`)),
		"a stop without a block":   events(stop),
		"a block twice":            events(start, stop, start),
		"a block without an index": events(`{"type":"content_block_start","content_block":{"type":"text","text":""}}`),
		"a block that is a string": events(`{"type":"content_block_start","index":0,"content_block":"x"}`),
		"a block behind the end":   events(`{"type":"message_stop"}`, start),
		"an end inside a block":    events(start, `{"type":"message_stop"}`),
		"a delta of another kind":  events(start, delta(`{"type":"input_json_delta","partial_json":"x"}`)),
		"a delta without its text": events(start, delta(`{"type":"text_delta"}`)),
		"an input that is a list":  events(strings.Replace(call, `"input":{"x":1}`, `"input":["x"]`, 1), delta(`{"type":"input_json_delta","partial_json":"{}"}`), stop),
		"two inputs for one call":  events(call, delta(`{"type":"input_json_delta","partial_json":"{\"x\":2}"}`), stop),
		"content at the beginning": events(`{"type":"message_start","message":{"content":[{"type":"text","text":"x"}]}}`),
	} {
		t.Run(name, func(t *testing.T) {
			if err := feed(body, Codec{}.Stream(&recorder{})); err == nil {
				t.Error("it was read")
			}
		})
	}
}

func FuzzStream(f *testing.F) {
	f.Add(events(`{"type":"message_start","message":{"content":[]}}`, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}`, `{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":`+callR+`}`, `{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":2,"content_block":`+callW+`}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{}"}}`, `{"type":"content_block_stop","index":2}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, `{"type":"message_stop"}`), uint(1), "new\n")
	f.Add(events(`{"type":"content_block_start","index":7,"content_block":{"type":"mcp_tool_result","tool_use_id":"s","content":"x"}}`), uint(0), "x")
	f.Fuzz(func(t *testing.T, body string, at uint, text string) {
		sink := &recorder{}
		s := Codec{}.Stream(sink)
		if feed(body, s) != nil {
			return
		}
		if got, err := s.Bytes(sink.parts); err != nil || string(got) != body {
			t.Fatalf("no edit: %q, %v", got, err)
		}
		read := func(got []byte) ([]gatehouse.Part, error) {
			again := &recorder{}
			err := feedInto(string(got), again)
			return again.parts, err
		}
		parts := editOne(sink.parts, at, text)
		if got, err := s.Bytes(parts); err == nil {
			again := &recorder{}
			if err := feedInto(string(got), again); err != nil || lines(again.parts) != lines(parts) {
				t.Fatalf("%v: got\n%s\nwant\n%s\nin %q", err, lines(again.parts), lines(parts), got)
			}
		}
		checkRemoval(t, parts, s.Bytes, at, read)
	})
}

func feedInto(body string, to *recorder) error { return feed(body, Codec{}.Stream(to)) }
