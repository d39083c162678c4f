package fake_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/fake"
)

type contentBlock struct {
	Type, Text, Thinking, Signature, ID, Name string
	Input                                     json.RawMessage
}

type messageBody struct {
	ID, Type, Role string
	Content        []contentBlock
	StopReason     *string `json:"stop_reason"`
	Usage          struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
	}
}

func TestAnthropic(t *testing.T) {
	url := serve(t, &fake.Anthropic{Script: everything})
	whole := decode[messageBody](t, message(t, url, `{"model":"m","messages":[]}`).body)
	stream := message(t, url, `{"model":"m","stream":true,"messages":[]}`)
	streamed := assemble(t, stream.body)
	want := everything(fake.Request{})
	for name, m := range map[string]messageBody{"whole": whole, "streamed": streamed} {
		if len(m.Content) != 4 || m.StopReason == nil || *m.StopReason != "tool_use" || m.Usage.Output < 2 {
			t.Fatalf("%s: %+v", name, m)
		}
		if b := m.Content[0]; b.Type != "thinking" || b.Thinking != want.Reasoning || b.Signature == "" {
			t.Errorf("%s thinking: %+v", name, b)
		}
		if b := m.Content[1]; b.Type != "text" || b.Text != want.Text {
			t.Errorf("%s text: %+v", name, b)
		}
		for k, call := range want.Calls {
			b := m.Content[2+k]
			if b.Type != "tool_use" || b.Name != call.Name || b.ID == "" || call.ID != "" && b.ID != call.ID {
				t.Errorf("%s call: %+v", name, b)
			}
			if compact(string(b.Input)) != compact(call.Args) {
				t.Errorf("%s input %s, want %s", name, b.Input, call.Args)
			}
		}
	}
}

func compact(s string) string { return strings.ReplaceAll(s, " ", "") }

// assemble puts a streamed message together, and checks the order of its events.
func assemble(t *testing.T, stream string) messageBody {
	t.Helper()
	var m messageBody
	open, last := false, ""
	for _, d := range data(t, stream) {
		e := decode[struct {
			Type         string
			Index        int
			Message      messageBody
			ContentBlock contentBlock `json:"content_block"`
			Delta        struct {
				Text, Thinking, Signature string
				PartialJSON               string  `json:"partial_json"`
				StopReason                *string `json:"stop_reason"`
			}
			Usage struct {
				Output int `json:"output_tokens"`
			}
		}](t, d)
		if !strings.Contains(stream, "event: "+e.Type+"\ndata: "+d+"\n\n") {
			t.Errorf("%s lacks its event line", d)
		}
		last = e.Type
		switch e.Type {
		case "message_start":
			m = e.Message
		case "content_block_start":
			if open || e.Index != len(m.Content) {
				t.Fatalf("block %d begins out of order", e.Index)
			}
			open, e.ContentBlock.Input = true, nil
			m.Content = append(m.Content, e.ContentBlock)
		case "content_block_delta":
			b := &m.Content[e.Index]
			b.Text += e.Delta.Text
			b.Thinking += e.Delta.Thinking
			b.Signature += e.Delta.Signature
			b.Input = append(b.Input, e.Delta.PartialJSON...)
		case "content_block_stop":
			open = false
		case "message_delta":
			m.StopReason, m.Usage.Output = e.Delta.StopReason, e.Usage.Output
		}
	}
	if last != "message_stop" {
		t.Errorf("the last event is %s", last)
	}
	return m
}

func TestAnthropicRoundTrip(t *testing.T) {
	url := serve(t, &fake.Anthropic{})
	const tools = `,"tools":[{"name":"search","input_schema":{}}]}`
	got := message(t, url, `{"system":"s","messages":[{"role":"user","content":"call {\"q\":1.50}"}]`+tools)
	if !strings.Contains(got.body, `"name":"search","input":{"q":1.50}`) {
		t.Errorf("call: %s", got.body)
	}
	got = message(t, url, `{"messages":[{"role":"user","content":"call {}"},{"role":"user","content":[
		{"type":"tool_result","tool_use_id":"t1","content":"41"},{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"42"}]}]}]`+tools)
	if !strings.Contains(got.body, `"text":"The tool said: 42"`) {
		t.Errorf("answer: %s", got.body)
	}
}

func TestAnthropicArgumentsThatAreNoJSON(t *testing.T) {
	url := serve(t, &fake.Anthropic{Script: func(fake.Request) fake.Turn {
		return fake.Turn{Calls: []fake.Call{{Name: "search", Args: `{"q":`}}}
	}})
	got := decode[messageBody](t, message(t, url, `{"messages":[]}`).body)
	if string(got.Content[0].Input) != `"{\"q\":"` {
		t.Errorf("input %s", got.Content[0].Input)
	}
}
