package fake

import (
	"fmt"
	"net/http"
	"strings"
)

// created is when every answer says that it was made: a constant, so that answers can be compared.
const created = 1767225600 // 2026-01-01T00:00:00Z

// OpenAI is a server of the Chat Completions API (POST /v1/chat/completions), of the Responses API with what it stores
// (/v1/responses), of legacy completions, of embeddings, and of GET /v1/models. It is ready to use as a zero value and answers
// with [Echo] then. Set Script before the first request.
type OpenAI struct {
	Script Script
	provider
	shelf shelf
}

// ServeHTTP answers one request and records it.
func (o *OpenAI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case path == "/v1/responses":
		o.serve(w, r, responses{shelf: &o.shelf}, o.Script, "", path)
	case strings.HasPrefix(path, "/v1/responses/"):
		o.stored(w, r)
	case path == "/v1/completions":
		o.serve(w, r, completions{}, o.Script, "", path)
	case path == "/v1/embeddings":
		o.serve(w, r, embeddings{}, o.Script, "", path)
	default:
		o.serve(w, r, openAI{}, o.Script, "/v1/models", "/v1/chat/completions")
	}
}

type openAI struct{}

func (openAI) streams() string { return eventStream }

func (openAI) authorized(h http.Header) bool { return bearer(h) }

func bearer(h http.Header) bool {
	token, ok := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	return ok && strings.TrimSpace(token) != ""
}

func (openAI) lacks(body map[string]any) string { return lacksMessages(body) }

func (openAI) headers(id int) http.Header {
	return http.Header{
		"X-Request-Id":         {fmt.Sprintf("req_%032x", id)},
		"Openai-Version":       {"2020-10-01"},
		"Openai-Organization":  {"fake"},
		"Openai-Processing-Ms": {"1"},
	}
}

func (openAI) request(body map[string]any) Request {
	r := common("openai", body)
	for _, tool := range maps(body["tools"]) {
		for _, kind := range [...]string{"function", "custom"} {
			if f, ok := tool[kind].(map[string]any); ok {
				r.Tools = append(r.Tools, str(f["name"]))
			}
		}
	}
	for _, m := range maps(body["messages"]) {
		r.Messages = append(r.Messages, Message{Role: str(m["role"]), Text: text(m["content"]), CallID: str(m["tool_call_id"])})
	}
	return r
}

type completion struct {
	ID                string   `json:"id"`
	Object            string   `json:"object"`
	Created           int      `json:"created"`
	Model             string   `json:"model"`
	Choices           []choice `json:"choices"`
	Usage             any      `json:"usage,omitempty"`
	ServiceTier       string   `json:"service_tier"`
	SystemFingerprint string   `json:"system_fingerprint"`
}

type choice struct {
	Index        int `json:"index"`
	Message      any `json:"message,omitempty"`
	Delta        any `json:"delta,omitempty"`
	Logprobs     any `json:"logprobs"`
	FinishReason any `json:"finish_reason"`
}

type chatMessage struct {
	Role        string     `json:"role"`
	Content     *string    `json:"content"`
	Reasoning   string     `json:"reasoning_content,omitempty"`
	ToolCalls   []chatCall `json:"tool_calls,omitempty"`
	Refusal     *string    `json:"refusal"`
	Annotations []string   `json:"annotations"`
}

type chatCall struct {
	Index    *int         `json:"index,omitempty"` // in deltas
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

func newCompletion(object string, req Request, id int) completion {
	return completion{
		ID: fmt.Sprintf("chatcmpl-%d", id), Object: object, Created: created, Model: req.Model,
		Choices: []choice{}, ServiceTier: "default", SystemFingerprint: "fp_fake",
	}
}

func (openAI) answer(req Request, turn Turn, id int) any {
	c := newCompletion("chat.completion", req, id)
	for i := range req.N {
		t := turn.choice(i)
		m := chatMessage{Role: "assistant", Reasoning: t.Reasoning, Annotations: []string{}}
		if t.Text != "" || len(t.Calls) == 0 {
			m.Content = &t.Text
		}
		for k, call := range t.Calls {
			m.ToolCalls = append(m.ToolCalls, chatCall{
				ID: call.id("call", id, i, k), Type: "function", Function: chatFunction{call.Name, call.Args},
			})
		}
		c.Choices = append(c.Choices, choice{Index: i, Message: m, FinishReason: finish(t)})
	}
	c.Usage = chatUsage(req, turn)
	return c
}

// choice is the i-th of the alternatives that the request asks for.
func (t Turn) choice(i int) Turn {
	if i > 0 && i <= len(t.Alternatives) {
		return t.Alternatives[i-1]
	}
	return t
}

// id is the call's own or one that is unique in its server.
func (c Call) id(prefix string, response, choice, call int) string {
	if c.ID != "" {
		return c.ID
	}
	return fmt.Sprintf("%s_%06d%02d%02d", prefix, response, choice, call)
}

func finish(t Turn) string {
	if len(t.Calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

func chatUsage(req Request, turn Turn) any {
	in, out := tokens(string(req.Raw)), 0
	for i := range req.N {
		out += turn.choice(i).output()
	}
	return map[string]any{
		"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out,
		"prompt_tokens_details":     map[string]int{"cached_tokens": 0, "audio_tokens": 0},
		"completion_tokens_details": map[string]int{"reasoning_tokens": 0, "audio_tokens": 0},
	}
}

func (openAI) failure(status int, message string, _ int) any {
	kind, code := "invalid_request_error", any(nil)
	switch {
	case status == http.StatusUnauthorized:
		code = "invalid_api_key"
	case status == http.StatusTooManyRequests:
		kind, code = "requests", "rate_limit_exceeded"
	case status >= http.StatusInternalServerError:
		kind = "server_error"
	}
	return map[string]any{"error": map[string]any{"message": message, "type": kind, "param": nil, "code": code}}
}

func (openAI) models() any {
	return map[string]any{"object": "list", "data": []map[string]any{
		{"id": "gpt-fake", "object": "model", "created": created, "owned_by": "fake"},
	}}
}
