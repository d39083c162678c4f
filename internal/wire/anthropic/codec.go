// Package anthropic reads and writes the Anthropic Messages API (https://docs.anthropic.com/en/api/messages), streamed
// and not. It promises that an exchange without edits keeps its bytes, that an edit changes the bytes of its own place
// only, and that an edited turn is one that the official SDKs accumulate and the API accepts when it is sent again.
// What the parts mean is left to the checkpoints.
package anthropic

import "github.com/gatehouse-gateway/gatehouse/internal/wire"

// Codec is the wire format of the Messages API. It implements [wire.Codec].
type Codec struct {
	Depth int // most nested arrays and objects of a request; 0: [wire.MaxDepth]
}

// Request reads the body of POST /v1/messages or /v1/messages/count_tokens. The error is a [wire.Malformed].
func (c Codec) Request(body []byte) (wire.Request, error) { return readRequest(body, c.Depth) }

// Response reads a whole message. A body without content (an error in a 2xx answer, a token count) has no parts. The
// error is a [wire.Malformed].
func (Codec) Response(body []byte, to wire.Sink) (wire.Response, error) {
	return readResponse(body, to)
}

// Stream begins to read the events of a streamed message.
func (Codec) Stream(to wire.Sink) wire.Stream { return newStream(to) }
