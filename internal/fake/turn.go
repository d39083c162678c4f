// Package fake has real HTTP servers that speak like the model providers, and like tools, but say what a script tells them.
// Tests and the demo run against them. It promises the providers' shapes, streamed and not, as far as the official SDKs
// look at them; it knows nothing of the gateway.
package fake

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// Turn is what a model answers. The zero value is an empty text.
type Turn struct {
	Text      string // UTF-8
	Reasoning string // streamed and sent before the text
	Calls     []Call
	// Alternatives are the choices after the first when the request asks for several (OpenAI's n). A choice that has no
	// alternative repeats the turn itself.
	Alternatives []Turn

	Status int    // an HTTP status; 0 is 200. From 400 on, an error in the provider's shape is answered
	Error  string // the message of that error

	Raw    []byte      // if not nil, the body, verbatim: JSON, or events when the request asks for a stream
	Header http.Header // added to the provider's own, in place of those of the same name

	Delay     time.Duration // before the status line
	DropAfter int           // cuts the connection after so many bytes of body; negative: before the first. 0 never does
}

// Call is one tool call of a turn.
type Call struct {
	ID   string // empty: the provider makes one
	Name string
	Args string // normally a JSON object; sent as it is wherever the provider's format can hold it
}

// Script says what the model answers. It may be called by several requests at a time.
type Script func(Request) Turn

// Request is what the model is asked, in the words that both formats share.
type Request struct {
	Provider string // openai, anthropic
	Model    string
	Stream   bool
	N        int       // how many choices; at least 1
	Messages []Message // without the system prompt of a field of its own
	Tools    []string  // names of the declared tools, in order
	Header   http.Header
	Body     map[string]any // decoded; numbers are json.Number
	Raw      []byte
}

// Message is one message of a conversation. A tool result has the role tool in both formats.
type Message struct {
	Role   string
	Text   string // text parts joined by line breaks
	CallID string // tool results only
}

// Last is the last message, the zero one when there is none.
func (r Request) Last() Message {
	if len(r.Messages) == 0 {
		return Message{}
	}
	return r.Messages[len(r.Messages)-1]
}

// LastUser is the text of the last user message.
func (r Request) LastUser() string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == "user" {
			return r.Messages[i].Text
		}
	}
	return ""
}

// Echo is the script of a provider that has none: a tool result is answered by "The tool said: …", a user who begins with
// "call " gets a call of the first declared tool with the rest as arguments, and everyone else hears "You said: …".
func Echo(r Request) Turn {
	if last := r.Last(); last.Role == "tool" {
		return Turn{Text: "The tool said: " + last.Text}
	}
	text := r.LastUser()
	if args, ok := strings.CutPrefix(text, "call "); ok && len(r.Tools) > 0 {
		return Turn{Calls: []Call{{Name: r.Tools[0], Args: args}}}
	}
	return Turn{Text: "You said: " + text}
}

// object is the text as a JSON object or other value; a text that is none becomes a JSON string.
func object(args string) json.RawMessage {
	if json.Valid([]byte(args)) {
		return json.RawMessage(args)
	}
	quoted, _ := json.Marshal(args) // a string always marshals
	return quoted
}

// tokens is a count that is plausible and the same every time: about four bytes each.
func tokens(texts ...string) int {
	n := 0
	for _, t := range texts {
		n += (len(t) + 3) / 4
	}
	return n
}

// output counts the tokens of a turn.
func (t Turn) output() int {
	n := tokens(t.Reasoning, t.Text)
	for _, c := range t.Calls {
		n += tokens(c.Name, c.Args)
	}
	return n
}

// deltas cuts a text as models stream it: a few runes at a time. An empty text has no pieces.
func deltas(text string) []string {
	const size = 5 // runes: small enough that most texts and arguments come in several
	var pieces []string
	runes := []rune(text)
	for len(runes) > 0 {
		n := min(size, len(runes))
		pieces = append(pieces, string(runes[:n]))
		runes = runes[n:]
	}
	return pieces
}
