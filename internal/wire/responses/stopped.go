package responses

import (
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// content is a piece of a message that the gateway writes.
type content struct {
	Type        string    `json:"type"`
	Annotations *[]string `json:"annotations,omitempty"` // of output_text, always empty
	Logprobs    *[]string `json:"logprobs,omitempty"`    // as above
	Text        *string   `json:"text,omitempty"`
	Refusal     *string   `json:"refusal,omitempty"`
}

func outputText(text string) content {
	return content{Type: "output_text", Annotations: &[]string{}, Logprobs: &[]string{}, Text: &text}
}

func refusal(text string) content { return content{Type: "refusal", Refusal: &text} }

// bare is the piece before its text has come.
func (c content) bare() content {
	none := ""
	if c.Refusal != nil {
		c.Refusal = &none
	} else {
		c.Text = &none
	}
	return c
}

// message is an item that the gateway writes.
type message struct {
	ID      string    `json:"id"`
	Type    string    `json:"type"`
	Status  string    `json:"status"`
	Role    string    `json:"role"`
	Content []content `json:"content"`
}

func newMessage(id, status string, pieces ...content) message {
	return message{ID: id, Type: kindMessage, Status: status, Role: "assistant", Content: append([]content{}, pieces...)}
}

type usage struct {
	Input         int            `json:"input_tokens"`
	InputDetails  map[string]int `json:"input_tokens_details"`
	Output        int            `json:"output_tokens"`
	OutputDetails map[string]int `json:"output_tokens_details"`
	Total         int            `json:"total_tokens"`
}

// answer is a response object that the gateway writes.
type answer struct {
	ID         string         `json:"id"`
	Object     string         `json:"object"`
	CreatedAt  int64          `json:"created_at"`
	Status     string         `json:"status"`
	Error      *string        `json:"error"` // always null
	Incomplete *incomplete    `json:"incomplete_details"`
	Model      string         `json:"model"`
	Output     []any          `json:"output"`
	Previous   *string        `json:"previous_response_id"`
	Parallel   bool           `json:"parallel_tool_calls"`
	Store      bool           `json:"store"`
	Text       map[string]any `json:"text"`
	ToolChoice string         `json:"tool_choice"`
	Tools      []string       `json:"tools"` // always empty
	Usage      *usage         `json:"usage"`
	Metadata   struct{}       `json:"metadata"`
}

type incomplete struct {
	Reason string `json:"reason"`
}

// newAnswer is a response without output. Its id says what it continues, as the provider does not know it.
func newAnswer(req wire.Request, id string) answer {
	a := answer{ID: ownID(id, ""), Object: "response", CreatedAt: time.Now().Unix(), Status: "completed", Model: req.Model(), Output: []any{},
		Parallel: true, Text: map[string]any{"format": map[string]string{"type": "text"}}, ToolChoice: "auto", Tools: []string{},
		Usage: &usage{InputDetails: map[string]int{"cached_tokens": 0}, OutputDetails: map[string]int{"reasoning_tokens": 0}}}
	if r, ok := req.(*request); ok {
		a.ID = ownID(id, r.previous.real)
		if r.previous.at.Exists() {
			given := r.previous.at.Text(r.doc)
			a.Previous = &given
		}
	}
	return a
}

// structured reports whether the request asks for an answer by a schema: text that is none goes into a refusal.
func structured(req wire.Request) bool {
	r, ok := req.(*request)
	if !ok {
		return false
	}
	switch r.root.Get("text").Get("format").Get("type").Text(r.doc) {
	case "json_object", "json_schema":
		return true
	}
	return false
}

// Stopped writes a message that says why there is no other. The response is completed, so that clients take it for an answer, and
// its incomplete_details give content_filter as the reason, for programs to read.
func (Codec) Stopped(req wire.Request, n wire.Notice) (body []byte, contentType string) {
	a := newAnswer(req, n.RequestID)
	a.Incomplete = &incomplete{"content_filter"}
	said := outputText(n.Text)
	if structured(req) {
		said = refusal(n.Text)
	}
	id := ownMessage(n.RequestID)
	if !req.Stream() {
		a.Output = append(a.Output, newMessage(id, "completed", said))
		return encode(a), "application/json"
	}
	t := teller{numbered: true}
	out := t.begin(nil, a)
	out = t.message(out, id, said)
	a.Output = append(a.Output, newMessage(id, "completed", said))
	return t.end(out, a), "text/event-stream"
}
