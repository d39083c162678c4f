package responses

import (
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// echo is what a request has said. An answer repeats parts of it, among them the instructions and the tools with all of their texts; what
// the request has said is not news to anybody, and what it has not is told as unread. Of a stored response nothing is known of
// the request.
type echo struct {
	doc   []byte
	root  rawjson.Value
	texts map[string]bool // nil: not asked for so far
}

// repeated are the members of a request that are found again in the answer.
var repeated = [...]string{"context_management", "instructions", "metadata", "prompt", "prompt_cache_key", "prompt_cache_options", "reasoning",
	"safety_identifier", "text", "tool_choice", "tools", "user"}

// Answers implements [wire.Echoed].
func (r *request) Answers(c wire.Codec) wire.Codec {
	if own, ok := c.(Codec); ok {
		own.asked = &echo{doc: r.doc, root: r.root}
		return own
	}
	return c
}

// unread names what a response pretends to repeat.
func (e *echo) unread(response rawjson.Value, doc []byte, to wire.Sink) {
	for _, name := range repeated {
		if !e.knows(response.Get(name), doc) {
			to.Unread(name)
		}
	}
}

// knows reports whether the request has said all that is in a value, but for words of the API: the provider fills in what was
// left open.
func (e *echo) knows(v rawjson.Value, doc []byte) bool {
	if v.Kind == rawjson.String {
		plain := true
		wire.Word.Unread(v, doc, nil, func(string) { plain = false })
		return plain || e.said(v.Text(doc))
	}
	for _, elem := range v.Elems {
		if !e.knows(elem, doc) {
			return false
		}
	}
	for _, m := range v.Members {
		switch {
		case !e.knows(m.Value, doc):
			return false
		case wire.PathName(m.Key) == "*" && m.Key != "additionalProperties" && !e.said(m.Key): // the API adds that one to schemas
			return false
		}
	}
	return true
}

func (e *echo) said(text string) bool {
	if e == nil {
		return false
	}
	if e.texts == nil {
		e.texts = map[string]bool{}
		for _, name := range repeated {
			e.keep(e.root.Get(name))
		}
	}
	return e.texts[text]
}

// keep takes all texts of a value, and the names in it.
func (e *echo) keep(v rawjson.Value) {
	if v.Kind == rawjson.String {
		e.texts[v.Text(e.doc)] = true
	}
	for _, elem := range v.Elems {
		e.keep(elem)
	}
	for _, m := range v.Members {
		e.texts[m.Key] = true
		e.keep(m.Value)
	}
}
