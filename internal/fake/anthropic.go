package fake

import (
	"fmt"
	"net/http"
)

// Anthropic is a server of the Messages API (POST /v1/messages and /v1/messages/count_tokens, GET /v1/models). It is ready to use as a zero value and
// answers with [Echo] then. Set Script before the first request.
type Anthropic struct {
	Script Script
	provider
}

// ServeHTTP answers one request and records it.
func (a *Anthropic) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, counts := "/v1/messages", "/v1/messages/count_tokens"
	f := anthropic{counts: r.URL.Path == counts}
	if f.counts {
		path = counts
	}
	a.serve(w, r, f, a.Script, "/v1/models", path)
}

type anthropic struct{ counts bool }

func (anthropic) streams() string { return eventStream }

func (anthropic) authorized(h http.Header) bool { return h.Get("X-Api-Key") != "" || bearer(h) }

func (anthropic) lacks(body map[string]any) string { return lacksMessages(body) }

func (anthropic) headers(id int) http.Header {
	return http.Header{"Request-Id": {anthropicID(id)}, "Anthropic-Organization-Id": {"fake"}}
}

func anthropicID(id int) string { return fmt.Sprintf("req_%024d", id) }

func (anthropic) request(body map[string]any) Request {
	r := common("anthropic", body)
	r.N = 1
	for _, tool := range maps(body["tools"]) {
		r.Tools = append(r.Tools, str(tool["name"]))
	}
	for _, m := range maps(body["messages"]) {
		r.Messages = append(r.Messages, messages(m)...)
	}
	return r
}

// messages splits a user message with tool results: each result becomes a message of its own, what the user says a last one.
func messages(m map[string]any) []Message {
	var list []Message
	for _, block := range maps(m["content"]) {
		if block["type"] == "tool_result" {
			list = append(list, Message{Role: "tool", Text: text(block["content"]), CallID: str(block["tool_use_id"])})
		}
	}
	if said := text(m["content"]); said != "" || len(list) == 0 {
		list = append(list, Message{Role: str(m["role"]), Text: said})
	}
	return list
}

type message struct {
	ID           string  `json:"id"`
	Type         string  `json:"type"`
	Role         string  `json:"role"`
	Model        string  `json:"model"`
	Content      []any   `json:"content"`
	StopReason   *string `json:"stop_reason"`
	StopSequence *string `json:"stop_sequence"`
	Usage        any     `json:"usage"`
}

func newMessage(req Request, id int) message {
	return message{
		ID: fmt.Sprintf("msg_%024d", id), Type: "message", Role: "assistant", Model: req.Model,
		Content: []any{}, Usage: messageUsage(req, 1),
	}
}

func messageUsage(req Request, output int) any {
	return map[string]any{
		"input_tokens": tokens(string(req.Raw)), "output_tokens": output,
		"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "service_tier": "standard",
	}
}

type thinkingBlock struct {
	Type      string `json:"type"`
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type toolUse struct {
	Type  string `json:"type"`
	ID    string `json:"id"`
	Name  string `json:"name"`
	Input any    `json:"input"`
}

// signature stands for the provider's signature of a thinking block.
const signature = "RmFrZVNpZ25hdHVyZQ=="

func (a anthropic) answer(req Request, turn Turn, id int) any {
	if a.counts {
		return map[string]int{"input_tokens": tokens(string(req.Raw))}
	}
	m := newMessage(req, id)
	if turn.Reasoning != "" {
		m.Content = append(m.Content, thinkingBlock{"thinking", turn.Reasoning, signature})
	}
	if turn.Text != "" || len(turn.Calls) == 0 {
		m.Content = append(m.Content, textBlock{"text", turn.Text})
	}
	for k, call := range turn.Calls {
		m.Content = append(m.Content, toolUse{"tool_use", call.id("toolu", id, 0, k), call.Name, object(call.Args)})
	}
	m.StopReason, m.Usage = stop(turn), messageUsage(req, turn.output())
	return m
}

func stop(t Turn) *string {
	reason := "end_turn"
	if len(t.Calls) > 0 {
		reason = "tool_use"
	}
	return &reason
}

func (anthropic) failure(status int, message string, id int) any {
	kind := "api_error"
	switch status {
	case http.StatusBadRequest, http.StatusMethodNotAllowed:
		kind = "invalid_request_error"
	case http.StatusUnauthorized:
		kind = "authentication_error"
	case http.StatusForbidden:
		kind = "permission_error"
	case http.StatusNotFound:
		kind = "not_found_error"
	case http.StatusRequestEntityTooLarge:
		kind = "request_too_large"
	case http.StatusTooManyRequests:
		kind = "rate_limit_error"
	case 529:
		kind = "overloaded_error"
	}
	return map[string]any{
		"type": "error", "error": map[string]string{"type": kind, "message": message}, "request_id": anthropicID(id),
	}
}

func (anthropic) models() any {
	return map[string]any{
		"data":     []map[string]any{{"type": "model", "id": "claude-fake", "display_name": "Fake", "created_at": "2026-01-01T00:00:00Z"}},
		"has_more": false, "first_id": "claude-fake", "last_id": "claude-fake",
	}
}
