package fake

import (
	"encoding/json"
	"fmt"
)

// completions is the legacy API of completions.
type completions struct{ openAI }

func (completions) lacks(body map[string]any) string {
	if body["prompt"] == nil {
		return "you must provide a prompt"
	}
	return ""
}

func (completions) request(body map[string]any) Request {
	r := common("openai", body)
	prompts, ok := body["prompt"].([]any)
	if !ok {
		prompts = []any{body["prompt"]}
	}
	for _, p := range prompts {
		r.Messages = append(r.Messages, Message{Role: "user", Text: str(p)})
	}
	r.N *= max(1, len(prompts))
	return r
}

type textChoice struct {
	Index        int    `json:"index"`
	Text         string `json:"text"`
	Logprobs     any    `json:"logprobs"`
	FinishReason any    `json:"finish_reason"`
}

type textCompletion struct {
	ID      string       `json:"id"`
	Object  string       `json:"object"`
	Created int          `json:"created"`
	Model   string       `json:"model"`
	Choices []textChoice `json:"choices"`
	Usage   any          `json:"usage,omitempty"`
}

func newTextCompletion(req Request, id int) textCompletion {
	return textCompletion{ID: fmt.Sprintf("cmpl-%d", id), Object: "text_completion", Created: created, Model: req.Model, Choices: []textChoice{}}
}

func (completions) answer(req Request, turn Turn, id int) any {
	c := newTextCompletion(req, id)
	for i := range req.N {
		c.Choices = append(c.Choices, textChoice{Index: i, Text: turn.choice(i).Text, FinishReason: "stop"})
	}
	c.Usage = chatUsage(req, turn)
	return c
}

func (completions) events(req Request, turn Turn, id int, send func(any) error) {
	options, _ := req.Body["stream_options"].(map[string]any)
	withUsage, _ := options["include_usage"].(bool)
	for i := range req.N {
		list := []textChoice{}
		for _, piece := range deltas(turn.choice(i).Text) {
			list = append(list, textChoice{Index: i, Text: piece})
		}
		for _, choice := range append(list, textChoice{Index: i, FinishReason: "stop"}) {
			c := newTextCompletion(req, id)
			if c.Choices = append(c.Choices, choice); withUsage {
				c.Usage = json.RawMessage("null")
			}
			if send(c) != nil {
				return
			}
		}
	}
	if withUsage {
		c := newTextCompletion(req, id)
		if c.Usage = chatUsage(req, turn); send(c) != nil {
			return
		}
	}
	_ = send(event{data: "[DONE]"}) // nothing follows that an error could stop
}

// embeddings is the API of embeddings. Its vectors mean nothing.
type embeddings struct{ openAI }

func (embeddings) lacks(body map[string]any) string {
	if body["input"] == nil {
		return "input: Field required"
	}
	return ""
}

func (embeddings) request(body map[string]any) Request {
	r := common("openai", body)
	list, ok := body["input"].([]any)
	if !ok {
		list = []any{body["input"]}
	}
	for _, e := range list {
		r.Messages = append(r.Messages, Message{Role: "user", Text: str(e)})
	}
	return r
}

func (embeddings) answer(req Request, _ Turn, _ int) any {
	data := []any{}
	for i := range req.Messages {
		vector := any([]float64{0.25, -0.5, 0.125})
		if req.Body["encoding_format"] == "base64" {
			vector = "AACAPgAAAL8AAAA+"
		}
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": vector})
	}
	in := tokens(string(req.Raw))
	return map[string]any{"object": "list", "data": data, "model": req.Model, "usage": map[string]int{"prompt_tokens": in, "total_tokens": in}}
}
