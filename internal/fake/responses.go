package fake

import (
	"fmt"
	"slices"
)

// responses is the Responses API.
type responses struct {
	openAI
	*shelf
}

func (r responses) lacks(body map[string]any) string {
	if body["input"] == nil {
		return "Missing required parameter: 'input'."
	}
	if why := r.unknown(body); why != "" {
		return why
	}
	return r.unanswered(body)
}

func (r responses) request(body map[string]any) Request {
	req := common("openai", body)
	req.N = 1
	for _, tool := range maps(body["tools"]) {
		if name := str(tool["name"]); name != "" {
			req.Tools = append(req.Tools, name)
		}
	}
	req.Messages = append(req.Messages, r.history(str(body["previous_response_id"]))...)
	req.Messages = append(req.Messages, r.inputMessages(body)...)
	return req
}

// inputMessages are the messages and the results of tools of an input.
func (s *shelf) inputMessages(body map[string]any) (list []Message) {
	if said, ok := body["input"].(string); ok {
		return []Message{{Role: "user", Text: said}}
	}
	for _, item := range maps(body["input"]) {
		switch kind := str(item["type"]); kind {
		case "", "message":
			list = append(list, Message{Role: str(item["role"]), Text: text(item["content"])})
		case "function_call_output", "custom_tool_call_output":
			list = append(list, Message{Role: "tool", Text: text(item["output"]), CallID: str(item["call_id"])})
		case "item_reference":
			list = append(list, Message{Role: "assistant", Text: s.message(str(item["id"]))})
		}
	}
	return list
}

type response struct {
	ID         string   `json:"id"`
	Object     string   `json:"object"`
	CreatedAt  int      `json:"created_at"`
	Status     string   `json:"status"`
	Background bool     `json:"background"`
	Error      *string  `json:"error"`
	Incomplete *string  `json:"incomplete_details"`
	Model      string   `json:"model"`
	Output     []any    `json:"output"`
	Previous   *string  `json:"previous_response_id"`
	Parallel   bool     `json:"parallel_tool_calls"`
	Store      bool     `json:"store"`
	ToolChoice string   `json:"tool_choice"`
	Tools      []string `json:"tools"`
	Usage      any      `json:"usage"`
}

type outputMessage struct {
	ID      string       `json:"id"`
	Type    string       `json:"type"`
	Status  string       `json:"status"`
	Role    string       `json:"role"`
	Content []outputText `json:"content"`
}

type outputText struct {
	Type        string   `json:"type"`
	Annotations []string `json:"annotations"`
	Logprobs    []string `json:"logprobs"`
	Text        string   `json:"text"`
}

type functionCall struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	Status    string `json:"status"`
	Arguments string `json:"arguments"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
}

type reasoningItem struct {
	ID      string        `json:"id"`
	Type    string        `json:"type"`
	Summary []summaryText `json:"summary"`
}

type summaryText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func newResponse(req Request, id int) response {
	r := response{ID: fmt.Sprintf("resp_%06d", id), Object: "response", CreatedAt: created, Status: "in_progress", Model: req.Model,
		Output: []any{}, Parallel: true, Store: req.Body["store"] != false, ToolChoice: "auto", Tools: []string{}}
	if previous := str(req.Body["previous_response_id"]); previous != "" {
		r.Previous = &previous
	}
	r.Background = req.Body["background"] == true
	return r
}

// output are the items of a turn, in the order of a model that thinks, speaks and then calls.
func output(turn Turn, id int) (items []any) {
	if turn.Reasoning != "" {
		items = append(items, reasoningItem{ID: fmt.Sprintf("rs_%06d", id), Type: "reasoning", Summary: []summaryText{{"summary_text", turn.Reasoning}}})
	}
	if turn.Text != "" || len(turn.Calls) == 0 {
		items = append(items, outputMessage{ID: fmt.Sprintf("msg_%06d", id), Type: "message", Status: "completed", Role: "assistant",
			Content: []outputText{{Type: "output_text", Annotations: []string{}, Logprobs: []string{}, Text: turn.Text}}})
	}
	for k, call := range turn.Calls {
		items = append(items, functionCall{ID: fmt.Sprintf("fc_%06d%02d", id, k), Type: "function_call", Status: "completed",
			Arguments: call.Args, CallID: call.id("call", id, 0, k), Name: call.Name})
	}
	return items
}

// whole is the response as it is in the end.
func whole(req Request, turn Turn, id int) response {
	r := newResponse(req, id)
	in, out := tokens(string(req.Raw)), turn.output()
	r.Status, r.Output = "completed", output(turn, id)
	r.Usage = map[string]any{
		"input_tokens": in, "output_tokens": out, "total_tokens": in + out,
		"input_tokens_details":  map[string]int{"cached_tokens": 0},
		"output_tokens_details": map[string]int{"reasoning_tokens": 0},
	}
	return r
}

func (r responses) answer(req Request, turn Turn, id int) any {
	done := whole(req, turn, id)
	r.put(req, turn, done)
	if done.Background {
		queued := newResponse(req, id)
		queued.Status = "queued"
		return queued
	}
	return done
}

func (r responses) events(req Request, turn Turn, id int, send func(any) error) {
	done := whole(req, turn, id)
	r.put(req, turn, done)
	sendResponse(done, send)
}

// calls are the ids of the calls of an output.
func calls(items []any) (ids []string) {
	for _, item := range items {
		if c, ok := item.(functionCall); ok {
			ids = append(ids, c.CallID)
		}
	}
	return ids
}

// answered are the ids of the calls that an input answers.
func (s *shelf) answered(body map[string]any) (ids []string) {
	for _, m := range s.inputMessages(body) {
		if m.Role == "tool" && !slices.Contains(ids, m.CallID) {
			ids = append(ids, m.CallID)
		}
	}
	return ids
}
