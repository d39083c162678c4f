// Package openai is the codec of OpenAI Chat Completions (https://platform.openai.com/docs/api-reference/chat), streamed
// and not, as many other servers speak it too. It promises that bytes which no edit touches stay as they were, and that
// what it writes is legal: finish reasons, call indices and empty lists follow from what was removed. It leaves
// transport to the proxy and judgement to the checkpoints.
package openai

import (
	"encoding/json"
	"net/http"

	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// Codec is the format; its zero value is ready. It keeps no state.
type Codec struct {
	Depth int // most nested arrays and objects of a request; 0: [wire.MaxDepth]
}

var _ wire.Codec = Codec{}

// Error writes an error as the API does. The types are those of the official clients' documentation.
func (Codec) Error(status int, code, message string) []byte {
	type detail struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
	}
	return encode(map[string]detail{"error": {Message: message, Type: errorType(status), Code: code}})
}

func errorType(status int) string {
	switch {
	case status == http.StatusUnauthorized:
		return "authentication_error"
	case status == http.StatusForbidden:
		return "permission_error"
	case status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case status >= 500:
		return "server_error"
	}
	return "invalid_request_error"
}

// encode writes what the gateway authors itself.
func encode(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err) // only strings and numbers come here
	}
	return out
}
