package conformance_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gatehouse-gateway/gatehouse/internal/fake"
)

// responses is the Responses API, by a client that keeps the conversation itself.
type responses struct{}

func (responses) name() string                          { return "responses" }
func (responses) format() string                        { return "openai" }
func (responses) path(bool) string                      { return "/openai/v1/responses" }
func (responses) model(script fake.Script) http.Handler { return &fake.OpenAI{Script: script} }

func (responses) request(c conversation, stream bool) any {
	items := []object{}
	for _, m := range c.Messages {
		items = append(items, inputItems(m)...)
	}
	body := object{"model": "m", "input": items, "store": false}
	if c.System != "" {
		body["instructions"] = c.System
	}
	if stream {
		body["stream"] = true
	}
	if c.Structured {
		body["text"] = object{"format": object{"type": "json_object"}}
	}
	var tools []object
	for _, tool := range c.Tools {
		if tool.Hosted {
			tools = append(tools, object{"type": strings.TrimSuffix(tool.Name, "_options")})
			continue
		}
		tools = append(tools, object{"type": "function", "name": tool.Name, "description": tool.Description, "parameters": tool.schema()})
	}
	if tools != nil {
		body["tools"] = tools
	}
	return body
}

func inputItems(m message) (items []object) {
	if m.Call != "" {
		return []object{{"type": "function_call_output", "call_id": m.Call, "output": m.pieces("input_text")}}
	}
	if m.Reasoning != "" {
		items = append(items, object{"type": "reasoning", "id": "rs_1", "summary": []object{{"type": "summary_text", "text": m.Reasoning}}})
	}
	if m.Role != "assistant" {
		return append(items, object{"role": m.Role, "content": m.pieces("input_text")})
	}
	if m.Text != "" {
		items = append(items, object{"type": "message", "role": "assistant", "content": []object{{"type": "output_text", "text": m.Text, "annotations": []string{}}}})
	}
	for _, c := range m.Calls {
		items = append(items, object{"type": "function_call", "call_id": c.ID, "name": c.Name, "arguments": c.Args})
	}
	return items
}

// pieces are the text of a message, or its parts.
func (m message) pieces(kind string) any {
	if m.Parts == nil {
		return m.Text
	}
	list := []object{}
	for _, p := range m.Parts {
		if p.Image != "" {
			list = append(list, object{"type": "input_image", "image_url": "data:image/png;base64," + p.Image})
		} else {
			list = append(list, object{"type": kind, "text": p.Text})
		}
	}
	return list
}

// response is a response object.
type response struct {
	ID         string                   `json:"id"`
	Object     string                   `json:"object"`
	Status     string                   `json:"status"`
	Incomplete *struct{ Reason string } `json:"incomplete_details"`
	Output     []outputItem             `json:"output"`
	Usage      *struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
	} `json:"usage"`
}

// outputItem is an item of an output.
type outputItem struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	Content   []outputPiece
	Summary   []outputPiece
	CallID    string `json:"call_id"`
	Name      string
	Arguments string
}

type outputPiece struct{ Type, Text, Refusal string }

func (responses) read(body []byte) ([]answer, usage, error) {
	var r response
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, usage{}, err
	}
	if r.Object != "response" || len(r.Output) == 0 || r.ID == "" {
		return nil, usage{}, errors.New("not a response with an output")
	}
	a, err := r.answer()
	if r.Usage == nil {
		return nil, usage{}, errors.New("no usage")
	}
	return []answer{a}, usage{r.Usage.Input, r.Usage.Output}, err
}

func (r response) answer() (a answer, err error) {
	a.finish = "stop"
	for _, item := range r.Output {
		if item.ID == "" {
			return a, errors.New("an item without an id")
		}
		switch item.Type {
		case "message":
			if len(item.Content) == 0 {
				return a, errors.New("a message without content")
			}
			for _, piece := range item.Content {
				a.text += piece.Text + piece.Refusal
			}
		case "reasoning":
			for _, piece := range item.Summary {
				a.reasoning += piece.Text
			}
		case "function_call":
			a.finish = "calls"
			a.calls = append(a.calls, newCall(item.CallID, item.Name, item.Arguments))
		}
	}
	if r.Incomplete != nil && r.Incomplete.Reason == "content_filter" {
		a.finish = "refused"
	}
	return a, nil
}

// responseReader puts the events of a stream together, as the SDKs do, and holds what each copy says against the pieces.
type responseReader struct {
	output []outputItem
	number int
	done   *response
}

// readStream wants events that are counted up, items and pieces that are where their indices say, and copies that say what the
// pieces have said.
func (responses) readStream(body []byte) ([]answer, usage, error) {
	m := responseReader{number: -1}
	if err := events(body, m.event); err != nil {
		return nil, usage{}, err
	}
	if m.done == nil || m.done.Usage == nil {
		return nil, usage{}, errors.New("the stream does not end in a response with its usage")
	}
	if string(marshal(m.output)) != string(marshal(m.done.Output)) {
		return nil, usage{}, fmt.Errorf("the pieces say %s, the response says %s", marshal(m.output), marshal(m.done.Output))
	}
	a, err := m.done.answer()
	return []answer{a}, usage{m.done.Usage.Input, m.done.Usage.Output}, err
}

type responseEvent struct {
	Type                     string
	Number                   *int   `json:"sequence_number"`
	Output                   int    `json:"output_index"`
	Content                  int    `json:"content_index"`
	Summary                  int    `json:"summary_index"`
	ItemID                   string `json:"item_id"`
	Item                     outputItem
	Part                     outputPiece
	Delta                    string
	Text, Refusal, Arguments string
	Response                 response
}

func (m *responseReader) event(name, data string) error {
	var e responseEvent
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		return err
	}
	if e.Type != name || e.Number == nil || *e.Number != m.number+1 || m.done != nil {
		return fmt.Errorf("%s does not belong where it stands", name)
	}
	m.number++
	switch name {
	case "response.created", "response.in_progress":
		return nil
	case "response.completed":
		m.done = &e.Response
		return nil
	case "response.output_item.added":
		if e.Output != len(m.output) {
			return fmt.Errorf("item %d comes after %d items", e.Output, len(m.output))
		}
		m.output = append(m.output, e.Item)
		return nil
	}
	if e.Output != len(m.output)-1 {
		return fmt.Errorf("%s is about item %d of %d", name, e.Output, len(m.output))
	}
	return m.piece(&m.output[e.Output], name, e)
}

// piece adds to an item, or compares a copy with what it has.
func (m *responseReader) piece(item *outputItem, name string, e responseEvent) error {
	list, at := &item.Content, e.Content
	if strings.HasPrefix(name, "response.reasoning_summary") {
		list, at = &item.Summary, e.Summary
	}
	if strings.HasSuffix(name, "_part.added") {
		if at != len(*list) {
			return fmt.Errorf("piece %d comes after %d", at, len(*list))
		}
		*list = append(*list, e.Part)
		return nil
	}
	last := &outputPiece{}
	if at < len(*list) {
		last = &(*list)[at]
	}
	ok := true
	switch strings.TrimPrefix(name, "response.") {
	case "output_text.delta", "reasoning_summary_text.delta":
		last.Text += e.Delta
	case "refusal.delta":
		last.Refusal += e.Delta
	case "function_call_arguments.delta", "mcp_call_arguments.delta":
		item.Arguments += e.Delta
	case "output_text.done", "reasoning_summary_text.done":
		ok = last.Text == e.Text
	case "refusal.done":
		ok = last.Refusal == e.Refusal
	case "function_call_arguments.done", "mcp_call_arguments.done":
		ok = item.Arguments == e.Arguments
	case "content_part.done", "reasoning_summary_part.done":
		ok = *last == e.Part
	case "output_item.done":
		ok = string(marshal(e.Item)) == string(marshal(*item))
	}
	if !ok || e.ItemID != "" && e.ItemID != item.ID {
		return fmt.Errorf("%s says something else than the pieces: %+v, %+v", name, e, *item)
	}
	return nil
}

func (responses) code(body []byte) string { return openAI{}.code(body) }
