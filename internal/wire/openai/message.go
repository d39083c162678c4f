package openai

import (
	"strconv"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// message is what an assistant's message holds, in a request's history, in a response, or in the delta of a chunk.
type message struct {
	value rawjson.Value
	items []item
	calls []call
	more  bool // there are members besides those, the role for one
}

// item is a text, or something that no detector reads.
type item struct {
	kind   gatehouse.Kind // Text, Reasoning, Opaque
	member string         // the message's member that it stands in
	path   string
	media  string        // of an opaque item
	at     rawjson.Value // the string; not of an opaque item
}

// call is a tool call or one piece of it.
type call struct {
	member string        // tool_calls or function_call
	elem   rawjson.Value // the whole of it
	id     string
	tool   string
	path   string
	media  string        // "freeform" where the arguments are text and no JSON
	at     rawjson.Value // the arguments: a string, or absent
	copy   rawjson.Value // a function_call that says the same again
}

// reader reads messages from one document.
type reader struct {
	doc   []byte
	delta bool // messages come in pieces: calls may lack what an earlier piece had

	room message // one that was read before and is not needed any more: its lists are written over
}

// message reads an assistant's message.
func (r reader) message(v rawjson.Value, path string) (message, error) {
	m := message{value: v, items: r.room.items[:0], calls: r.room.calls[:0]}
	for _, member := range v.Members {
		if member.Key == "role" && member.Value.Kind == rawjson.String { // every message has one
			m.more = true
			continue
		}
		var err error
		at := path + "." + wire.PathName(member.Key)
		switch member.Key {
		case "content":
			m.items, err = r.content(m.items, member.Value, at)
		case "refusal":
			if member.Value.Exists() && member.Value.Kind != rawjson.String {
				err = wire.Wrong(at, "a string or null")
			} else if member.Value.Exists() {
				m.items = append(m.items, item{kind: gatehouse.Text, member: "refusal", path: at, at: member.Value})
			}
		case "tool_calls":
			err = r.toolCalls(&m, member.Value, at)
		case "function_call":
			err = r.functionCall(&m, member.Value, at)
		case "reasoning_content", "reasoning":
			if member.Value.Kind == rawjson.String {
				m.items = append(m.items, item{kind: gatehouse.Reasoning, member: member.Key, path: at, at: member.Value})
				break
			}
			m.opaque(member, at)
		case "annotations": // sources and offsets into the content, no text of the model's
		default:
			m.more = m.more || member.Value.Exists()
			m.opaque(member, at)
		}
		if err != nil {
			return m, err
		}
	}
	if !r.delta {
		r.pair(&m)
	}
	return m, nil
}

// pair makes the function_call a copy of the call in tool_calls that says the same: servers send both, for clients of
// either age, and a client runs one of them.
func (r reader) pair(m *message) {
	legacy := -1
	for i, c := range m.calls {
		if c.member == "function_call" {
			legacy = i
		}
	}
	if legacy < 0 {
		return
	}
	one := m.calls[legacy]
	for i := range m.calls {
		c := &m.calls[i]
		if c.member == "tool_calls" && c.media == "" && c.tool == one.tool && c.at.Kind == one.at.Kind && c.at.Text(r.doc) == one.at.Text(r.doc) {
			c.copy = one.elem
			m.calls = append(m.calls[:legacy], m.calls[legacy+1:]...)
			return
		}
	}
}

// opaque notes a member that no rule knows, when it is large enough to hold something.
func (m *message) opaque(member rawjson.Member, path string) {
	if member.Value.Kind == rawjson.Object || len(member.Value.Elems) > 0 {
		m.items = append(m.items, item{kind: gatehouse.Opaque, member: member.Key, path: path, media: member.Key})
	}
}

// content adds the content of a message of any role: a string, or a list of typed items.
func (r reader) content(items []item, v rawjson.Value, path string) ([]item, error) {
	switch v.Kind {
	case rawjson.Invalid, rawjson.Null:
		return items, nil
	case rawjson.String:
		return append(items, item{kind: gatehouse.Text, member: "content", path: path, at: v}), nil
	case rawjson.Array:
	default:
		return nil, wire.Wrong(path, "a string or an array")
	}
	for i, elem := range v.Elems {
		at := index(path, i)
		if elem.Kind != rawjson.Object {
			return nil, wire.Wrong(at, "an object")
		}
		kind := elem.Get("type")
		if kind.Kind != rawjson.String {
			return nil, wire.Wrong(at+".type", "a string")
		}
		switch name := kind.Text(r.doc); name {
		case "text", "refusal":
			text := elem.Get(name)
			if text.Kind != rawjson.String {
				return nil, wire.Wrong(at+"."+name, "a string")
			}
			items = append(items, item{kind: gatehouse.Text, member: "content", path: at + "." + name, at: text})
		default:
			items = append(items, item{kind: gatehouse.Opaque, member: "content", path: at, media: name})
			// Some servers read the text of items under other type names, so it counts.
			if text := elem.Get("text"); text.Kind == rawjson.String {
				items = append(items, item{kind: gatehouse.Text, member: "content", path: at + ".text", at: text})
			}
		}
	}
	return items, nil
}

func (r reader) toolCalls(m *message, v rawjson.Value, path string) error {
	if !v.Exists() {
		return nil
	}
	if v.Kind != rawjson.Array {
		return wire.Wrong(path, "an array")
	}
	for i, elem := range v.Elems {
		at := index(path, i)
		if elem.Kind != rawjson.Object {
			return wire.Wrong(at, "an object")
		}
		c := call{member: "tool_calls", elem: elem, id: elem.Get("id").Text(r.doc)}
		body, arguments := "function", "arguments"
		function, custom := elem.Get("function").Exists(), elem.Get("custom").Exists()
		switch {
		case function && custom: // clients differ in which of them they run
			return wire.Wrong(at, "a call with one body")
		case custom, !function && elem.Get("type").Text(r.doc) == "custom":
			body, arguments, c.media = "custom", "input", "freeform"
		}
		if err := r.callBody(&c, elem.Get(body), at+"."+body, arguments); err != nil {
			return err
		}
		m.calls = append(m.calls, c)
	}
	return nil
}

func (r reader) functionCall(m *message, v rawjson.Value, path string) error {
	if !v.Exists() {
		return nil
	}
	c := call{member: "function_call", elem: v}
	if err := r.callBody(&c, v, path, "arguments"); err != nil {
		return err
	}
	m.calls = append(m.calls, c)
	return nil
}

func (r reader) callBody(c *call, body rawjson.Value, path, arguments string) error {
	if r.delta && !body.Exists() {
		c.path = path + "." + arguments
		return nil
	}
	if body.Kind != rawjson.Object {
		return wire.Wrong(path, "an object")
	}
	name := body.Get("name")
	if name.Kind != rawjson.String && (name.Exists() || !r.delta) {
		return wire.Wrong(path+".name", "a string")
	}
	c.tool, c.path, c.at = name.Text(r.doc), path+"."+arguments, body.Get(arguments)
	if c.at.Exists() && c.at.Kind != rawjson.String {
		return wire.Wrong(c.path, "a string")
	}
	return nil
}

func index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
