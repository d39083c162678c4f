// Package gemini is the codec of the Gemini API (https://ai.google.dev/api/generate-content): generateContent, streamed and
// not, and the methods that only measure contents. It promises that bytes which no edit touches stay as they were, that
// thought signatures are never changed, and that what it writes is legal. It leaves transport to the proxy and judgement to
// the checkpoints.
package gemini

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// Codec is the format of one address of the API; [Codec.At] makes it. The zero value reads generateContent and writes errors.
type Codec struct {
	Depth int // most nested arrays and objects of a request; 0: [wire.MaxDepth]

	model  string
	stream bool
	shape  string // of a streamed answer: sse, or json, which is an array; anything else is refused
}

var (
	_ wire.Addressed = Codec{}
	_ wire.Arrays    = Codec{}
)

// At is the codec of a path, such as /v1beta/models/M:generateContent, and a query, whose alt chooses how to stream.
func (c Codec) At(path string, query url.Values) wire.Codec {
	name := path[strings.LastIndexByte(path, '/')+1:]
	model, method, _ := strings.Cut(name, ":")
	c.model, c.stream, c.shape = model, method == "streamGenerateContent", "json"
	for _, key := range [...]string{"alt", "$alt"} { // the API's system parameter has two names
		for _, value := range query[key] {
			if c.shape = value; value != "json" && value != "sse" {
				return c
			}
		}
	}
	return c
}

// Stream begins to read an answer that arrives as server-sent events.
func (c Codec) Stream(to wire.Sink) wire.Stream { return newAnswer(to, false) }

// Elements begins to read an answer that arrives as one JSON array; nil where none was asked for.
func (c Codec) Elements(to wire.Sink) wire.Stream {
	if !c.stream {
		return nil
	}
	return newAnswer(to, true)
}

// Response reads a whole answer. One without candidates, such as a count of tokens, has no parts.
func (c Codec) Response(body []byte, to wire.Sink) (wire.Response, error) {
	a := newAnswer(to, false)
	a.whole = true
	if err := a.document(event{raw: body, doc: body}); err != nil {
		return nil, err
	}
	a.closeAll()
	return a, nil
}

// Error writes an error as google.rpc.Status in JSON. The gateway's own code is the reason of an ErrorInfo.
func (Codec) Error(status int, code, message string) []byte {
	type info struct {
		Type   string `json:"@type"`
		Reason string `json:"reason"`
		Domain string `json:"domain"`
	}
	type detail struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Status  string `json:"status"`
		Details []info `json:"details,omitempty"`
	}
	e := detail{Code: status, Message: message, Status: statusName(status)}
	if code != "" {
		e.Details = []info{{"type.googleapis.com/google.rpc.ErrorInfo", code, "gatehouse"}}
	}
	return encode(map[string]detail{"error": e})
}

// statusName is the canonical code that the API answers under an HTTP status.
func statusName(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "UNAUTHENTICATED"
	case http.StatusForbidden:
		return "PERMISSION_DENIED"
	case http.StatusNotFound:
		return "NOT_FOUND"
	case http.StatusConflict:
		return "ABORTED"
	case http.StatusTooManyRequests:
		return "RESOURCE_EXHAUSTED"
	case 499:
		return "CANCELLED"
	case http.StatusNotImplemented:
		return "UNIMPLEMENTED"
	case http.StatusBadGateway, http.StatusServiceUnavailable:
		return "UNAVAILABLE"
	case http.StatusGatewayTimeout:
		return "DEADLINE_EXCEEDED"
	}
	if status >= 500 {
		return "INTERNAL"
	}
	return "INVALID_ARGUMENT"
}

// encode writes what the gateway authors itself.
func encode(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err) // only strings and numbers come here
	}
	return out
}
