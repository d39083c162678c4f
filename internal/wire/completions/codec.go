// Package completions is the codec of OpenAI's legacy completions (https://platform.openai.com/docs/api-reference/completions),
// streamed and not. It promises that bytes which no edit touches stay as they were, and that log probabilities, which repeat a text,
// go with it when it is edited. There are no calls in this format.
package completions

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/sse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// Codec is the format; its zero value is ready. It keeps no state.
type Codec struct {
	wire.Codec     // of the provider's errors
	Depth      int // most nested arrays and objects of a request; 0: [wire.MaxDepth]
}

var _ wire.Codec = Codec{}

// maxChoices bounds the choices that are written and read; the API allows as many (parameter n).
const maxChoices = 1 << 10

// Released has no place to put a call in.
func (Codec) Released(wire.Request, []wire.Call, string) (body []byte, contentType string, err error) {
	return nil, "", errors.New("a completion makes no calls")
}

type answer struct {
	Index        int     `json:"index"`
	Text         string  `json:"text"`
	Logprobs     *string `json:"logprobs"` // always null
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

// Stopped writes the notice with finish_reason content_filter, once for each choice that was asked for.
func (Codec) Stopped(req wire.Request, n wire.Notice) (body []byte, contentType string) {
	c := completion{ID: "cmpl-" + n.RequestID, Object: "text_completion", Created: time.Now().Unix(), Model: req.Model()}
	filtered := "content_filter"
	for i := range choices(req) {
		c.Choices = append(c.Choices, answer{Index: i, Text: n.Text, FinishReason: &filtered})
	}
	if !req.Stream() {
		c.Usage = &tokens{}
		return encode(c), "application/json"
	}
	var out []byte
	for _, a := range c.Choices {
		c.Choices = []answer{{Index: a.Index, Text: a.Text}}
		out = sse.Append(out, "", string(encode(c)))
		c.Choices = []answer{{Index: a.Index, FinishReason: &filtered}}
		out = sse.Append(out, "", string(encode(c)))
	}
	if r, ok := req.(*request); ok && r.root.Get("stream_options").Get("include_usage").IsTrue(r.doc) {
		c.Choices, c.Usage = []answer{}, &tokens{}
		out = sse.Append(out, "", string(encode(c)))
	}
	return sse.Append(out, "", "[DONE]"), "text/event-stream"
}

// choices is how many alternatives a request asks for: n of each prompt.
func choices(req wire.Request) int {
	r, ok := req.(*request)
	if !ok {
		return 1
	}
	n := int64(1)
	if asked, ok := r.root.Get("n").Int(r.doc); ok && asked > 1 {
		n = min(asked, maxChoices)
	}
	if prompt := r.root.Get("prompt"); len(prompt.Elems) > 1 && prompt.Elems[0].Kind != rawjson.Number {
		n *= int64(min(len(prompt.Elems), maxChoices))
	}
	return int(min(n, maxChoices))
}

// encode writes what the gateway authors itself.
func encode(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err) // only strings and numbers come here
	}
	return out
}
