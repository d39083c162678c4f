// Package wire is the border between bytes and parts. A codec knows one provider's format and nothing else: it is
// pure, keeps no state between calls, and never re-marshals a body that it did not write.
//
// Every document remembers where in the bytes each of its parts stood. Bytes(parts) compares the parts it is given with
// those it made: equal parts give back the very bytes that came in, and a changed part changes its own bytes only.
package wire

import (
	"errors"
	"net/url"

	"github.com/gatehouse-gateway/gatehouse"
)

// Codec is one provider's wire format.
type Codec interface {
	// Request reads a request body. It refuses what is ambiguous: see [Malformed].
	Request(body []byte) (Request, error)
	// Response reads a complete, unstreamed response body of a 2xx answer and feeds its parts to the sink.
	Response(body []byte, to Sink) (Response, error)
	// Stream begins to read a response that arrives as server-sent events.
	Stream(to Sink) Stream
	// Stopped writes the assistant turn that stands where the model's answer would have stood, in the shape that
	// the request asked for (streamed or not, structured or not). Usage is zero.
	Stopped(req Request, n Notice) (body []byte, contentType string)
	// Released writes an assistant turn that makes these calls, at least one, as the provider itself would answer the
	// request, usage zero: one that a human has let through need not be asked of the model again. It is to be read like any
	// answer, so that the checkpoints see it. An error says that the format, or the request, has no room for a call. The id is
	// the X-Mnemom-Request-Id.
	Released(req Request, calls []Call, id string) (body []byte, contentType string, err error)
	// Error writes an error in the provider's own shape (application/json).
	Error(status int, code, message string) []byte
}

// Addressed is a codec whose requests say in their address what others say in the body: the model, and whether and how to
// stream.
type Addressed interface {
	Codec
	// At is the codec for the requests of one address: the path on the upstream, and the query.
	At(path string, query url.Values) Codec
}

// Arrays is a codec whose streamed answers may arrive without server-sent events, as one JSON array, element by element.
type Arrays interface {
	Codec
	// Elements begins to read such an answer; nil where the request has not asked for one. Event is given an element as data,
	// and as raw bytes the element with the bracket or comma before it; the closing bracket comes last, without data.
	Elements(to Sink) Stream
}

// Asker is a codec that can write a request of the gateway's own: unstreamed, without tools, at temperature 0.
type Asker interface {
	Codec
	// Ask is the path below the upstream's URL, and the body.
	Ask(q Question) (path string, body []byte)
}

// Question is what the gateway asks a model for itself.
type Question struct {
	Model, System, User string
	Most                int // tokens of the answer
}

// Request is a request body and its parts.
type Request interface {
	Parts() []gatehouse.Part // in wire order, system first; IDs are not set
	Model() string
	Stream() bool
	// Bytes writes the body for these parts: the parts of Parts in the same order, edited or not, and after them any
	// inserted ones, which go to the end of the last user turn.
	Bytes(parts []gatehouse.Part) ([]byte, error)
}

// Response is an answer of the provider and its parts.
type Response interface {
	// Bytes writes the body for these parts: those that went to the sink in the same order, edited or not, and after
	// them any inserted ones. The result is legal: finish reasons, indices and empty lists follow from what was removed.
	Bytes(parts []gatehouse.Part) ([]byte, error)
	Usage() gatehouse.Usage
}

// Stream is a response that arrives in events, server-sent or elements of an array. Bytes may be called once the stream has ended, however it ended.
type Stream interface {
	Response
	// Event takes one event as it came, with the raw bytes of all its lines and the blank line behind it.
	Event(raw []byte, event, data string) error
	// Done reports whether the provider's terminal event has been seen.
	Done() bool
}

// Stateful is a request or a response of a format whose provider keeps conversations.
type Stateful interface {
	// Keys are the provider's names for what the request continues, or for what a later request may continue: responses and
	// conversations that are stored, and the last message of a response.
	Keys() []string
}

// Mentioning is a request of a format whose provider keeps single messages: a request names them in place of what they say.
type Mentioning interface {
	// Mentions are the names by which the answer that the request mentions last can be found: one of its [Stateful.Keys].
	Mentions() []string
}

// Echoed is a request of a format whose answers repeat some of it.
type Echoed interface {
	// Answers is the codec for the answer to this request: one that knows again what the answer repeats.
	Answers(c Codec) Codec
}

// Sink takes the parts of a response as they arrive. [gatehouse.Flow] is one.
type Sink interface {
	// Open begins a part and returns its ID. The part's Text may already be complete.
	Open(p gatehouse.Part) int
	// Text adds text to a part (a delta of text, reasoning or arguments).
	Text(id int, delta string)
	// Close says that a part is complete: a tool call can now be judged.
	Close(id int)
	// Unread notes a place that may hold a text and is in no part. Of one answer a path may be noted many times.
	Unread(path string)
}

// Notice is what the gateway says when it stops an exchange.
type Notice struct {
	RequestID string // X-Mnemom-Request-Id, used to make message ids
	Text      string
}

// Call is a tool call that the gateway writes.
type Call struct {
	Tool      string
	ID        string // where it is empty and the format needs one, the codec makes one up
	Arguments string // as the model wrote them; they are written byte for byte
	Freeform  bool   // the arguments are text and no JSON
}

// Malformed is a body that a codec refuses: not JSON, ambiguous (duplicate keys, trailing data, invalid UTF-8), too deep,
// or of the wrong shape. Its text names the place, never the content.
type Malformed struct {
	Code   string // invalid_json_body, duplicate_key, invalid_utf8, too_deep, invalid_request
	Reason string
}

func (m *Malformed) Error() string { return m.Reason }

// IsMalformed reports whether the error says that the body was refused.
func IsMalformed(err error) (*Malformed, bool) {
	var m *Malformed
	ok := errors.As(err, &m)
	return m, ok
}
