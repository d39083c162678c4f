package fake_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/fake"
)

type chatChoice struct {
	Index   int
	Message chatDelta
	Delta   chatDelta

	FinishReason *string `json:"finish_reason"`
}

type chatDelta struct {
	Role      string
	Content   *string
	Reasoning string `json:"reasoning_content"`
	ToolCalls []struct {
		Index    int
		ID, Type string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

type chatBody struct {
	ID, Object, Model string
	Choices           []chatChoice
	Usage             *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
	}
}

// everything is a turn with reasoning, text and parallel calls, and another for the second choice.
func everything(fake.Request) fake.Turn {
	return fake.Turn{
		Reasoning: "Let me think about it.",
		Text:      "Grüße, I shall look it up & report 🔒.",
		Calls:     []fake.Call{{ID: "call_a", Name: "search", Args: `{"q": "<one>"}`}, {Name: "read", Args: `{"url":"https://example.com/"}`}},
		Alternatives: []fake.Turn{
			{Text: "Another answer."},
		},
	}
}

func TestOpenAI(t *testing.T) {
	url := serve(t, &fake.OpenAI{Script: everything})
	whole := decode[chatBody](t, chat(t, url, `{"model":"m","n":3,"messages":[]}`).body)
	stream := chat(t, url, `{"model":"m","n":3,"stream":true,"stream_options":{"include_usage":true},"messages":[]}`)
	events := data(t, stream.body)
	if events[len(events)-1] != "[DONE]" {
		t.Fatalf("the last event is %s", events[len(events)-1])
	}
	streamed, usages, chunks := make([]chatDelta, 3), 0, 0
	finish := make([]string, 3)
	for _, e := range events[:len(events)-1] {
		chunk := decode[chatBody](t, e)
		if chunk.Object != "chat.completion.chunk" || chunk.Model != "m" {
			t.Fatalf("odd chunk %s", e)
		}
		if chunk.Usage != nil {
			usages++
			if len(chunk.Choices) != 0 || chunk.Usage.Total == 0 {
				t.Errorf("odd usage chunk %s", e)
			}
		} else if !strings.Contains(e, `"usage":null`) {
			t.Errorf("no null usage in %s", e)
		}
		for _, c := range chunk.Choices {
			merge(&streamed[c.Index], c.Delta)
			if c.FinishReason != nil {
				finish[c.Index] = *c.FinishReason
			}
			chunks++
		}
	}
	if usages != 1 || chunks < 30 {
		t.Errorf("%d usage chunks, %d with choices", usages, chunks)
	}
	want := everything(fake.Request{})
	for i, c := range whole.Choices {
		text, calls := want.Text, want.Calls
		if i == 1 {
			text, calls = want.Alternatives[0].Text, nil
		}
		for name, got := range map[string]chatDelta{"whole": c.Message, "streamed": streamed[i]} {
			if got.Role != "assistant" || *got.Content != text || len(got.ToolCalls) != len(calls) {
				t.Fatalf("%s choice %d: %+v", name, i, got)
			}
			for k, call := range calls {
				f := got.ToolCalls[k].Function
				if f.Name != call.Name || f.Arguments != call.Args || got.ToolCalls[k].ID == "" || got.ToolCalls[k].Type != "function" {
					t.Errorf("%s choice %d call %d: %+v", name, i, k, got.ToolCalls[k])
				}
			}
		}
		if *c.FinishReason != finish[i] {
			t.Errorf("choice %d ends with %s whole and %s streamed", i, *c.FinishReason, finish[i])
		}
	}
	if len(whole.Choices) != 3 || whole.Usage == nil || whole.Usage.Total != whole.Usage.Prompt+whole.Usage.Completion {
		t.Errorf("got %+v", whole)
	}
}

// merge adds a delta as the SDKs do.
func merge(to *chatDelta, d chatDelta) {
	to.Role += d.Role
	to.Reasoning += d.Reasoning
	if d.Content != nil {
		joined := *d.Content
		if to.Content != nil {
			joined = *to.Content + joined
		}
		to.Content = &joined
	}
	for _, c := range d.ToolCalls {
		if c.Index == len(to.ToolCalls) {
			to.ToolCalls = append(to.ToolCalls, c)
			continue
		}
		to.ToolCalls[c.Index].Function.Arguments += c.Function.Arguments
	}
}

func TestOpenAIRoundTrip(t *testing.T) {
	url := serve(t, &fake.OpenAI{})
	const tools = `,"tools":[{"type":"function","function":{"name":"search"}}]}`
	got := chat(t, url, `{"messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"call {}"}]}]`+tools)
	if !strings.Contains(got.body, `"content":null`) || !strings.Contains(got.body, `"name":"search","arguments":"{}"`) {
		t.Errorf("call: %s", got.body)
	}
	got = chat(t, url, `{"messages":[{"role":"user","content":"call {}"},{"role":"assistant","tool_calls":[]},{"role":"tool","tool_call_id":"c","content":"42"}]`+tools)
	if !strings.Contains(got.body, `"content":"The tool said: 42"`) {
		t.Errorf("answer: %s", got.body)
	}
}
