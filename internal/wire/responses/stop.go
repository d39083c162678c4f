package responses

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/sse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// Stop implements [wire.Incremental]: items that are open end as far as they have come, a message with the text follows, and the
// response is completed as one that its filter has stopped.
func (s *stream) Stop(text string) []byte {
	w := s.live
	if w == nil {
		w = &streamEdit{stream: s}
	}
	t := teller{number: w.number, numbered: w.begun || !w.opened}
	var out []byte
	if !w.opened {
		out = t.begin(out, answer{Object: "response", Output: []any{}})
	}
	var items [][]byte
	for _, o := range s.ordered() {
		if !o.sent || o.last == nil {
			continue
		}
		if t.at = o.index + 1; !o.ended {
			o.last = w.unfinished(o)
			out = t.raw(out, "response.output_item.done", `"output_index":`+strconv.FormatInt(o.index, 10)+`,"item":`+string(o.last))
		}
		items = append(items, o.last)
	}
	id := ""
	if len(s.keys) > 0 {
		id = s.keys[0]
	}
	said := outputText(text)
	out = t.message(out, ownMessage(id), said)
	items = append(items, encode(newMessage(ownMessage(id), "completed", said)))
	return t.raw(out, "response.completed", `"response":`+string(s.stopped(items)))
}

// Comments implements [wire.Incremental].
func (*stream) Comments() bool { return true }

// raw writes an event from its members as they stand.
func (t *teller) raw(out []byte, kind, members string) []byte {
	number := ""
	if t.numbered {
		number = `,"sequence_number":` + strconv.FormatInt(t.number, 10)
		t.number++
	}
	return sse.Append(out, kind, `{"type":"`+kind+`"`+number+`,`+members+`}`)
}

// unfinished is an item that has begun to leave, with as much of its texts as has left.
func (w *streamEdit) unfinished(o *output) []byte {
	root, err := rawjson.Parse(o.last, wire.MaxDepth)
	if err != nil {
		return o.last // it was read before, so this does not happen
	}
	var patches []rawjson.Patch
	if status := root.Get("status"); status.Kind == rawjson.String {
		patches = append(patches, rawjson.Set(status, `"incomplete"`))
	}
	for _, list := range [...]struct{ name, kind string }{{"content", "output_text"}, {"summary", "summary_text"}} {
		if o.kind == kindReasoning && list.name == "content" {
			list.kind = "reasoning_text"
		}
		if at := root.Get(list.name); at.Kind == rawjson.Array {
			patches = append(patches, rawjson.Set(at, "["+string(bytes.Join(w.left(o, list.name, list.kind), []byte{','}))+"]"))
		}
	}
	for _, name := range [...]string{"arguments", "input", "code"} {
		if at := root.Get(name); at.Kind == rawjson.String {
			patches = append(patches, rawjson.SetText(at, w.said(o, gatehouse.ToolCall, name)))
		}
	}
	return rawjson.Splice(o.last, patches)
}

// left are the pieces of an item's list whose texts have begun to leave.
func (w *streamEdit) left(o *output, list, kind string) (pieces [][]byte) {
	as := gatehouse.Text
	if o.kind == kindReasoning {
		as = gatehouse.Reasoning
	}
	for i := range len(o.parts) {
		text := w.said(o, as, list+index(i))
		if text == "" {
			break
		}
		piece := fields{"type": kind, "text": text}
		if kind == "output_text" {
			piece["annotations"] = []string{}
		}
		pieces = append(pieces, encode(piece))
	}
	return pieces
}

// said is what has left of a text, as it has left.
func (w *streamEdit) said(o *output, kind gatehouse.Kind, key string) string {
	for _, g := range o.parts[(field{key: key, part: gatehouse.Part{Kind: kind}}).slot()] {
		if c := w.cutters[g]; c != nil {
			return c.Said(g.text.String(), w.changes(g))
		}
	}
	return ""
}

// stopped is the response with these items as its output.
func (s *stream) stopped(items [][]byte) []byte {
	list := string(slices.Concat([]byte{'['}, bytes.Join(items, []byte{','}), []byte{']'}))
	first := s.first
	if first == nil {
		first = encode(answer{Object: "response", Output: []any{}})
	}
	root, err := rawjson.Parse(first, wire.MaxDepth)
	if err != nil {
		return first // it was read before, so this does not happen
	}
	counted := usage{Input: int(s.usage.Input), InputDetails: map[string]int{"cached_tokens": 0}, Output: int(s.usage.Output),
		OutputDetails: map[string]int{"reasoning_tokens": 0}, Total: int(s.usage.Input + s.usage.Output)}
	doc := first
	for _, m := range [...]struct{ name, value string }{
		{"usage", string(encode(counted))}, {"incomplete_details", `{"reason":"content_filter"}`}, {"output", list}, {"status", `"completed"`},
	} {
		p := rawjson.PrependMember(root, m.name, []byte(m.value))
		for _, has := range root.Members {
			if has.Key == m.name {
				p = rawjson.Set(has.Value, m.value)
			}
		}
		doc = rawjson.Splice(doc, []rawjson.Patch{p})
		if root, err = rawjson.Parse(doc, wire.MaxDepth); err != nil {
			return doc // as above
		}
	}
	return doc
}
