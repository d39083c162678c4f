package openai

import (
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/sse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// maxChoices bounds the choices that are written; the API allows as many (parameter n).
const maxChoices = 128

type turn struct {
	Role    string  `json:"role"`
	Content *string `json:"content"`
	Refusal *string `json:"refusal"`

	ToolCalls    []toolCall    `json:"tool_calls,omitempty"`
	FunctionCall *functionCall `json:"function_call,omitempty"`
}

type piece struct {
	Role    string  `json:"role,omitempty"`
	Content *string `json:"content,omitempty"`
	Refusal *string `json:"refusal,omitempty"`

	ToolCalls    []toolCall    `json:"tool_calls,omitempty"`
	FunctionCall *functionCall `json:"function_call,omitempty"`
}

type answer struct {
	Index        int     `json:"index"`
	Message      *turn   `json:"message,omitempty"`
	Delta        any     `json:"delta,omitempty"` // a piece, or a turn that has no content
	Logprobs     *string `json:"logprobs"`        // always null
	FinishReason *string `json:"finish_reason"`
}

type tokens struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

type completion struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"` // Unix seconds
	Model   string   `json:"model"`
	Choices []answer `json:"choices"`
	Usage   *tokens  `json:"usage,omitempty"`
}

// shape is what a request asked for.
type shape struct {
	choices    int
	structured bool // an answer by a schema: text that is none goes into the refusal
	usage      bool // a last chunk with the usage
	legacy     bool // the only calls that the client knows are those of functions
}

func shapeOf(req wire.Request) shape {
	r, ok := req.(*request)
	if !ok {
		return shape{choices: 1}
	}
	s := shape{choices: 1, usage: r.root.Get("stream_options").Get("include_usage").IsTrue(r.doc)}
	if n, ok := r.root.Get("n").Int(r.doc); ok && n > 1 {
		s.choices = int(min(n, maxChoices))
	}
	s.legacy = r.root.Get("functions").Exists() && !r.root.Get("tools").Exists()
	switch r.root.Get("response_format").Get("type").Text(r.doc) {
	case "json_object", "json_schema":
		s.structured = true
	}
	return s
}

// Stopped writes the assistant's turn with finish_reason content_filter, once for each choice that was asked for.
func (Codec) Stopped(req wire.Request, n wire.Notice) (body []byte, contentType string) {
	s := shapeOf(req)
	c := completion{ID: "chatcmpl-" + n.RequestID, Created: time.Now().Unix(), Model: req.Model()}
	if req.Stream() {
		c.Object = "chat.completion.chunk"
		return s.stream(c, n.Text), "text/event-stream"
	}
	c.Object, c.Usage = "chat.completion", &tokens{}
	for i := range s.choices {
		m := &turn{Role: "assistant", Content: &n.Text}
		if s.structured {
			m.Content, m.Refusal = nil, &n.Text
		}
		c.Choices = append(c.Choices, answer{Index: i, Message: m, FinishReason: filtered()})
	}
	return encode(c), "application/json"
}

func (s shape) stream(c completion, text string) []byte {
	var out []byte
	for i := range s.choices {
		said, none := &piece{Content: &text}, ""
		if s.structured {
			said = &piece{Refusal: &text}
		}
		for _, a := range []answer{
			{Index: i, Delta: &piece{Role: "assistant", Content: &none}},
			{Index: i, Delta: said},
			{Index: i, Delta: &piece{}, FinishReason: filtered()},
		} {
			c.Choices = []answer{a}
			out = sse.Append(out, "", string(encode(c)))
		}
	}
	return s.end(out, c)
}

// end writes what stands behind the last choice.
func (s shape) end(out []byte, c completion) []byte {
	if s.usage {
		c.Choices, c.Usage = []answer{}, &tokens{}
		out = sse.Append(out, "", string(encode(c)))
	}
	return sse.Append(out, "", "[DONE]")
}

func filtered() *string {
	reason := "content_filter"
	return &reason
}
