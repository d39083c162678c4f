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
	StopDetails  *details    `json:"stop_details,omitempty"`
	Usage        usage       `json:"usage"`
}

// details says why a turn was refused (https://docs.anthropic.com/en/api/messages, RefusalStopDetails).
type details struct {
	Type        string  `json:"type"`
	Category    *string `json:"category"` // always null: no policy of the provider's
	Explanation string  `json:"explanation"`
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type usage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
}

// Stopped writes a message, whole or in events, that stops with refusal and holds the notice: as its text, or, where an
// answer by a schema was asked for, as the explanation of the refusal, since the official SDKs parse every text.
func (Codec) Stopped(req wire.Request, n wire.Notice) (body []byte, contentType string) {
	m := newMessage(req, n.RequestID)
	q, ok := req.(*request)
	structured := ok && q.format
	if req.Stream() {
		return stoppedEvents(m, n.Text, structured), "text/event-stream"
	}
	reason := refusal
	m.StopReason = &reason
	if structured {
		m.StopDetails = &details{Type: refusal, Explanation: n.Text}
	} else {
		m.Content = append(m.Content, textBlock{"text", n.Text})
	}
	return encode(m), "application/json"
}

// newMessage is a message without content.
func newMessage(req wire.Request, id string) message {
	return message{ID: "msg_" + plainID(id), Type: "message", Role: "assistant", Model: req.Model(), Content: []textBlock{}}
}

// plainID is an id in the letters that the API's own ids have.
func plainID(id string) string { return strings.ReplaceAll(id, "-", "") }

type fields map[string]any

// stoppedEvents is the sequence that the API sends for one text block, or for none.
func stoppedEvents(m message, text string, structured bool) []byte {
	out := appendEvent(nil, "message_start", fields{"message": m})
	end := fields{"stop_reason": refusal, "stop_sequence": nil}
	if structured {
		end["stop_details"] = details{Type: refusal, Explanation: text}
	} else {
		out = appendEvent(out, "content_block_start", fields{"index": 0, "content_block": textBlock{Type: "text"}})
		out = appendEvent(out, "content_block_delta", fields{"index": 0, "delta": textBlock{"text_delta", text}})
		out = appendEvent(out, "content_block_stop", fields{"index": 0})
	}
	out = appendEvent(out, "message_delta", fields{"delta": end, "usage": usage{}})
	return appendEvent(out, "message_stop", fields{})
}

func appendEvent(to []byte, name string, data fields) []byte {
	data["type"] = name
	return sse.Append(to, name, string(encode(data)))
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
