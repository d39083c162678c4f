package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/gatehouse-gateway/gatehouse/internal/sse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// refusal is the stop reason of a turn that the gateway wrote.
const refusal = "refusal"

type message struct {
	ID           string      `json:"id"`
	Type         string      `json:"type"`
	Role         string      `json:"role"`
	Model        string      `json:"model"`
	Content      []textBlock `json:"content"`
	StopReason   *string     `json:"stop_reason"`
	StopSequence *string     `json:"stop_sequence"`
	Usage        usage       `json:"usage"`
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type usage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
}

// Stopped writes a message, whole or in events, that holds the notice and stops with refusal.
func (Codec) Stopped(req wire.Request, n wire.Notice) (body []byte, contentType string) {
	m := message{
		ID:   "msg_" + strings.ReplaceAll(n.RequestID, "-", ""),
		Type: "message", Role: "assistant", Model: req.Model(), Content: []textBlock{},
	}
	if req.Stream() {
		return stoppedEvents(m, n.Text), "text/event-stream"
	}
	reason := refusal
	m.Content, m.StopReason = append(m.Content, textBlock{"text", n.Text}), &reason
	return encode(m), "application/json"
}

// stoppedEvents is the sequence that the API sends for one text block.
func stoppedEvents(m message, text string) []byte {
	type fields map[string]any
	var out []byte
	for _, e := range []struct {
		name string
		data fields
	}{
		{"message_start", fields{"message": m}},
		{"content_block_start", fields{"index": 0, "content_block": textBlock{Type: "text"}}},
		{"content_block_delta", fields{"index": 0, "delta": textBlock{"text_delta", text}}},
		{"content_block_stop", fields{"index": 0}},
		{"message_delta", fields{"delta": fields{"stop_reason": refusal, "stop_sequence": nil}, "usage": usage{}}},
		{"message_stop", fields{}},
	} {
		e.data["type"] = e.name
		out = sse.Append(out, e.name, string(encode(e.data)))
	}
	return out
}

// Error writes an error envelope (https://docs.anthropic.com/en/api/errors). The gateway's code is a member of its own,
// which the SDKs ignore: their users match on type.
func (Codec) Error(status int, code, text string) []byte {
	type detail struct {
		Type    string `json:"type"`
		Message string `json:"message"`
		Code    string `json:"code,omitempty"`
	}
	return encode(struct {
		Type  string `json:"type"`
		Error detail `json:"error"`
	}{"error", detail{errorType(status), text, code}})
}

func errorType(status int) string {
	switch status {
	case 401:
		return "authentication_error"
	case 403:
		return "permission_error"
	case 404:
		return "not_found_error"
	case 413:
		return "request_too_large"
	case 429:
		return "rate_limit_error"
	case 529:
		return "overloaded_error"
	}
	if status >= 500 {
		return "api_error"
	}
	return "invalid_request_error"
}

// encode writes what this package made itself; such values cannot fail to encode.
func encode(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		panic("anthropic: " + err.Error())
	}
	return out
}
