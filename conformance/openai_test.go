package conformance_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/gatehouse-gateway/gatehouse/internal/fake"
	"github.com/gatehouse-gateway/gatehouse/internal/sse"
)

// openAI is the Chat Completions API.
type openAI struct{}

func (openAI) name() string                          { return "openai" }
func (openAI) format() string                        { return "openai" }
func (openAI) path(bool) string                      { return "/openai/v1/chat/completions" }
func (openAI) model(script fake.Script) http.Handler { return &fake.OpenAI{Script: script} }

type object = map[string]any

func (openAI) request(c conversation, stream bool) any {
	messages := []object{}
	if c.System != "" {
		messages = append(messages, object{"role": "system", "content": c.System})
	}
	for _, m := range c.Messages {
		messages = append(messages, chatMessage(m))
	}
	body := object{"model": "m", "messages": messages}
	if stream {
		body["stream"], body["stream_options"] = true, object{"include_usage": true}
	}
	if c.N > 0 {
		body["n"] = c.N
	}
	if c.Structured {
		body["response_format"] = object{"type": "json_object"}
	}
	var tools []object
	for _, tool := range c.Tools {
		if tool.Hosted {
			body[tool.Name+"_options"] = object{}
			continue
		}
		tools = append(tools, object{"type": "function", "function": object{
			"name": tool.Name, "description": tool.Description, "parameters": tool.schema()}})
	}
	if tools != nil {
		body["tools"] = tools
	}
	return body
}

func chatMessage(m message) object {
	out := object{"role": m.Role, "content": m.Text}
	if m.Parts != nil {
		var items []object
		for _, p := range m.Parts {
			if p.Image != "" {
				items = append(items, object{"type": "image_url", "image_url": object{"url": "data:image/png;base64," + p.Image}})
			} else {
				items = append(items, object{"type": "text", "text": p.Text})
			}
		}
		out["content"] = items
	}
	if m.Call != "" {
		out["tool_call_id"] = m.Call
	}
	if m.Calls != nil {
		var calls []object
		for _, c := range m.Calls {
			calls = append(calls, object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": c.Args}})
		}
		out["tool_calls"] = calls
		if m.Text == "" {
			out["content"] = nil
		}
	}
	return out
}

// completion is an answer, or one chunk of it.
type completion struct {
	Choices []struct {
		Index        int          `json:"index"`
		Message      *chatContent `json:"message"`
		Delta        *chatContent `json:"delta"`
		FinishReason string       `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	} `json:"usage"`
}

type chatContent struct {
	Content   string `json:"content"`
	Refusal   string `json:"refusal"`
	Reasoning string `json:"reasoning_content"`
	ToolCalls []struct {
		Index    int    `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func (c completion) usage() usage {
	if c.Usage == nil {
		return usage{}
	}
	return usage{c.Usage.Prompt, c.Usage.Completion}
}

func (openAI) read(body []byte) ([]answer, usage, error) {
	var c completion
	if err := json.Unmarshal(body, &c); err != nil {
		return nil, usage{}, err
	}
	var answers []answer
	for i, choice := range c.Choices {
		if choice.Index != i || choice.Message == nil {
			return nil, usage{}, fmt.Errorf("choice %d has index %d or no message", i, choice.Index)
		}
		a := answer{text: choice.Message.Content + choice.Message.Refusal, reasoning: choice.Message.Reasoning,
			finish: chatFinish(choice.FinishReason)}
		for _, call := range choice.Message.ToolCalls {
			a.calls = append(a.calls, newCall(call.ID, call.Function.Name, call.Function.Arguments))
		}
		answers = append(answers, a)
	}
	return answers, c.usage(), nil
}

func chatFinish(reason string) string {
	switch reason {
	case "tool_calls":
		return "calls"
	case "content_filter":
		return "refused"
	}
	return reason
}

func newCall(id, name, args string) call { return call{ID: id, Name: name, Args: args} }

// readStream puts the chunks together: choices in any order, calls counted up from 0 without gaps, nothing for a choice after
// its finish reason, and [DONE] at the end.
func (o openAI) readStream(body []byte) ([]answer, usage, error) {
	var (
		answers []answer
		used    usage
	)
	err := untilDone(body, func(data []byte) error {
		var c completion
		if err := json.Unmarshal(data, &c); err != nil {
			return err
		}
		if c.Usage != nil {
			used = c.usage()
		}
		for _, choice := range c.Choices {
			a := alternative(&answers, choice.Index)
			if a.finish != "" || choice.Delta == nil {
				return errors.New("a choice goes on after its end, or has no delta")
			}
			if err := a.add(choice.Delta); err != nil {
				return err
			}
			a.finish = chatFinish(choice.FinishReason)
		}
		return nil
	})
	return answers, used, err
}

// untilDone reads the chunks of a stream, which ends in [DONE].
func untilDone(body []byte, chunk func(data []byte) error) error {
	done := false
	err := events(body, func(_, data string) error {
		if done {
			return errors.New("an event after [DONE]")
		}
		if done = data == "[DONE]"; done {
			return nil
		}
		return chunk([]byte(data))
	})
	if err == nil && !done {
		err = errors.New("the stream does not end in [DONE]")
	}
	return err
}

// alternative is the answer of an index. It is there from the first time that it is asked for.
func alternative(answers *[]answer, index int) *answer {
	for len(*answers) <= index {
		*answers = append(*answers, answer{})
	}
	return &(*answers)[index]
}

func (a *answer) add(d *chatContent) error {
	a.text, a.reasoning = a.text+d.Content+d.Refusal, a.reasoning+d.Reasoning
	for _, call := range d.ToolCalls {
		if call.Index == len(a.calls) && call.ID != "" {
			a.calls = append(a.calls, newCall(call.ID, call.Function.Name, ""))
		}
		if call.Index >= len(a.calls) {
			return fmt.Errorf("a call with index %d comes after %d calls", call.Index, len(a.calls))
		}
		a.calls[call.Index].Args += call.Function.Arguments
	}
	return nil
}

func (openAI) code(body []byte) string {
	var e struct{ Error struct{ Code string } }
	if json.Unmarshal(body, &e) != nil {
		return "not an error of the provider's shape"
	}
	return e.Error.Code
}

// events reads a stream of server-sent events to its end. Comments are skipped.
func events(body []byte, each func(name, data string) error) error {
	r := sse.NewReader(bytes.NewReader(body), 0)
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && strings.TrimSpace(e.Data) != "" {
			err = each(e.Name, e.Data)
		}
		if err != nil {
			return err
		}
	}
}

func marshal(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("marshal %T: %v", v, err))
	}
	return bytes.TrimSpace(b.Bytes())
}
