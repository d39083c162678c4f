package conformance_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/gatehouse-gateway/gatehouse/internal/fake"
)

// anthropic is the Messages API.
type anthropic struct{}

func (anthropic) name() string                          { return "anthropic" }
func (anthropic) format() string                        { return "anthropic" }
func (anthropic) path(bool) string                      { return "/anthropic/v1/messages" }
func (anthropic) model(script fake.Script) http.Handler { return &fake.Anthropic{Script: script} }

func (anthropic) request(c conversation, stream bool) any {
	body := object{"model": "m", "max_tokens": 100, "messages": turns(c.Messages)}
	if c.System != "" {
		body["system"] = c.System
	}
	if stream {
		body["stream"] = true
	}
	if c.Structured {
		body["output_config"] = object{"format": object{"type": "json_schema", "schema": object{"type": "object"}}}
	}
	var tools []object
	for _, tool := range c.Tools {
		if tool.Hosted {
			tools = append(tools, object{"type": tool.Name + "_20250305", "name": tool.Name})
			continue
		}
		tools = append(tools, object{"name": tool.Name, "description": tool.Description, "input_schema": tool.schema()})
	}
	if tools != nil {
		body["tools"] = tools
	}
	return body
}

// turns are the messages with the results of tools that follow each other in one user message, as the API wants them.
func turns(messages []message) []object {
	out, results := []object{}, []object(nil)
	flush := func() {
		if results != nil {
			out, results = append(out, object{"role": "user", "content": results}), nil
		}
	}
	for _, m := range messages {
		if m.Role == "tool" {
			results = append(results, object{"type": "tool_result", "tool_use_id": m.Call, "content": m.content()})
			continue
		}
		flush()
		out = append(out, object{"role": m.Role, "content": m.content()})
	}
	flush()
	return out
}

func (m message) content() any {
	if m.Parts == nil && m.Calls == nil && m.Reasoning == "" {
		return m.Text
	}
	blocks := []object{}
	if m.Reasoning != "" {
		blocks = append(blocks, object{"type": "thinking", "thinking": m.Reasoning, "signature": "RmFrZVNpZ25hdHVyZQ=="})
	}
	if m.Text != "" {
		blocks = append(blocks, object{"type": "text", "text": m.Text})
	}
	for _, p := range m.Parts {
		if p.Image != "" {
			blocks = append(blocks, object{"type": "image", "source": object{"type": "base64", "media_type": "image/png", "data": p.Image}})
		} else {
			blocks = append(blocks, object{"type": "text", "text": p.Text})
		}
	}
	for _, c := range m.Calls {
		blocks = append(blocks, object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": json.RawMessage(c.Args)})
	}
	return blocks
}

type contentBlock struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Thinking string          `json:"thinking"`
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Input    json.RawMessage `json:"input"`
}

// block puts a block, or the start of one in a stream, into the answer; args are what is known of a call's arguments.
func (a *answer) block(b contentBlock, args string) {
	switch b.Type {
	case "text":
		a.text += b.Text
	case "thinking":
		a.reasoning += b.Thinking
	case "tool_use":
		a.calls = append(a.calls, newCall(b.ID, b.Name, args))
	}
}

// stopDetails say why a message was refused. A refusal of an answer by a schema has no other text.
type stopDetails struct {
	Type        string `json:"type"`
	Explanation string `json:"explanation"`
}

type messageUsage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
}

func (anthropic) read(body []byte) ([]answer, usage, error) {
	var m struct {
		Type       string         `json:"type"`
		Content    []contentBlock `json:"content"`
		StopReason string         `json:"stop_reason"`
		Details    stopDetails    `json:"stop_details"`
		Usage      messageUsage   `json:"usage"`
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, usage{}, err
	}
	if m.Type != "message" || len(m.Content) == 0 && m.Details.Type != "refusal" {
		return nil, usage{}, errors.New("not a message with content")
	}
	a := answer{text: m.Details.Explanation}
	for _, b := range m.Content {
		a.block(b, string(b.Input))
	}
	a.finish = stopReason(m.StopReason)
	return []answer{a}, usage{m.Usage.Input, m.Usage.Output}, nil
}

func stopReason(reason string) string {
	switch reason {
	case "end_turn":
		return "stop"
	case "tool_use":
		return "calls"
	case "refusal":
		return "refused"
	}
	return reason
}

// messageReader puts the events of a stream together.
type messageReader struct {
	answer
	used  usage
	state string // what came last of message_start, message_delta, message_stop
	open  string // type of the block that is open
	index int    // of the next block

	refused bool // with details
}

// readStream wants blocks that are counted up from 0, opened and closed one after the other, and the events of the message
// around them.
func (anthropic) readStream(body []byte) ([]answer, usage, error) {
	var m messageReader
	if err := events(body, m.event); err != nil {
		return nil, usage{}, err
	}
	if m.state != "message_stop" || m.index == 0 && !m.refused {
		return nil, usage{}, fmt.Errorf("the stream ends after %s with %d blocks", m.state, m.index)
	}
	return []answer{m.answer}, m.used, nil
}

func (m *messageReader) event(name, data string) error {
	var e struct {
		Type    string
		Index   int
		Message struct{ Usage messageUsage }
		Block   contentBlock `json:"content_block"`
		Delta   struct {
			Text, Thinking string
			Partial        string      `json:"partial_json"`
			StopReason     string      `json:"stop_reason"`
			Details        stopDetails `json:"stop_details"`
		}
		Usage messageUsage
	}
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		return err
	}
	legal := e.Type == name
	switch name {
	case "message_start":
		legal = legal && m.state == ""
		m.state, m.used = name, usage{e.Message.Usage.Input, e.Message.Usage.Output}
	case "content_block_start":
		legal = legal && m.state == "message_start" && m.open == "" && e.Index == m.index
		m.open = e.Block.Type
		m.block(e.Block, "")
	case "content_block_delta":
		legal = legal && m.open != "" && e.Index == m.index
		m.text, m.reasoning = m.text+e.Delta.Text, m.reasoning+e.Delta.Thinking
		if n := len(m.calls); m.open == "tool_use" && n > 0 {
			m.calls[n-1].Args += e.Delta.Partial
		}
	case "content_block_stop":
		legal = legal && m.open != "" && e.Index == m.index
		m.open, m.index = "", m.index+1
	case "message_delta":
		legal = legal && m.state == "message_start" && m.open == ""
		m.state, m.finish, m.used.output = name, stopReason(e.Delta.StopReason), e.Usage.Output
		m.text, m.refused = m.text+e.Delta.Details.Explanation, e.Delta.Details.Type == "refusal"
	case "message_stop":
		legal = legal && m.state == "message_delta"
		m.state = name
	}
	if !legal {
		return fmt.Errorf("%s does not belong where it stands", name)
	}
	return nil
}

func (anthropic) code(body []byte) string {
	var e struct {
		Type  string
		Error struct{ Type, Code string }
	}
	if json.Unmarshal(body, &e) != nil || e.Type != "error" || e.Error.Type == "" {
		return "not an error of the provider's shape"
	}
	return e.Error.Code
}
