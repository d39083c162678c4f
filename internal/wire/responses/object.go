package responses

import (
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// object is a response object: the whole of an answer, or what events carry of it.
type object struct {
	value, list rawjson.Value // the list is its output
	items       []item
	said        rawjson.Value // output_text, which some servers add: all texts behind one another
}

func (r *reader) object(v rawjson.Value) (object, error) {
	o := object{value: v, list: v.Get("output"), said: v.Get("output_text")}
	if o.list.Exists() && o.list.Kind != rawjson.Array {
		return o, wire.Wrong("output", "an array")
	}
	if len(o.list.Elems) > maxItems {
		return o, wire.Wrong("output", "a shorter list")
	}
	for i, e := range o.list.Elems {
		one, err := r.item(e, "output"+index(i))
		if err != nil {
			return o, err
		}
		o.items = append(o.items, one)
	}
	if text := o.said.Text(r.doc); text != "" && text != o.text(func(f field, _, _ int) string { return f.part.Text }) {
		return o, wire.Wrong("output_text", "the texts of the output")
	}
	return o, nil
}

// text joins what stands in the pieces of messages that are plain text.
func (o object) text(of func(f field, item, n int) string) string {
	var b strings.Builder
	n := 0
	for i, one := range o.items {
		for _, f := range one.fields {
			if one.kind == kindMessage && len(f.notes) > 0 && f.part.Kind == gatehouse.Text {
				b.WriteString(of(f, i, n))
			}
			n++
		}
	}
	return b.String()
}

func usageOf(v rawjson.Value, doc []byte) gatehouse.Usage {
	input, _ := v.Get("usage").Get("input_tokens").Int(doc)
	output, _ := v.Get("usage").Get("output_tokens").Int(doc)
	return gatehouse.Usage{Input: input, Output: output}
}

// keysOf are the ids that a later request can continue: of the response, of its conversation and of its last message.
func keysOf(v rawjson.Value, doc []byte) []string {
	talk := v.Get("conversation")
	if talk.Kind == rawjson.Object {
		talk = talk.Get("id")
	}
	message := ""
	for _, item := range v.Get("output").Elems {
		if item.Get("type").Text(doc) == kindMessage {
			message = item.Get("id").Text(doc)
		}
	}
	return named(v.Get("id").Text(doc), talk.Text(doc), message)
}

// read takes all items of an object into the turn: which items they are, and the part of each of their fields.
func (t *turn) read(o object) (items []int64, refs []ref, err error) {
	seen := map[int64]bool{}
	for i, one := range o.items {
		at, err := t.indexOf(one, i, seen)
		if err != nil {
			return nil, nil, err
		}
		more, err := t.complete(at, one)
		if err != nil {
			return nil, nil, err
		}
		items, refs = append(items, at), append(refs, more...)
	}
	return items, refs, nil
}

// complete takes an item with all that is in it.
func (t *turn) complete(at int64, one item) (refs []ref, err error) {
	o, err := t.item(at, one.kind, one.id)
	if err != nil {
		return nil, err
	}
	if o.waits = false; o.kind == "" {
		o.kind = one.kind
	}
	if o.denies(one) {
		t.to.Unread("output[].action")
	}
	for _, f := range one.fields {
		r, err := t.whole(o, f)
		if err != nil {
			return nil, err
		}
		refs = append(refs, r)
	}
	return refs, nil
}

// object edits a response object; ends says that it is the last one, where the added message belongs.
func (p *plan) object(doc []byte, o object, items []int64, refs []ref, ends bool) ([]rawjson.Patch, error) {
	var patches []rawjson.Patch
	added := ""
	if ends && p.added != "" && o.list.Kind == rawjson.Array {
		added = p.added
	}
	last := -1
	for i, at := range items {
		if !p.gone[at] {
			last = i
		}
	}
	message := p.message(doc, o.value)
	if last < 0 && len(items) > 0 { // nothing of the old output is left
		if added == "" {
			message = nil
		}
		return append(p.said(o, items, refs, added), rawjson.Patch{Start: o.list.Start + 1, End: o.list.End - 1, With: message}), nil
	}
	switch {
	case added != "" && last < 0:
		patches = append(patches, rawjson.AppendElem(o.list, message))
	case added != "":
		at := o.list.Elems[last].End
		patches = append(patches, rawjson.Patch{Start: at, End: at, With: append([]byte{','}, message...)})
	}
	patches = append(patches, rawjson.RemoveElems(o.list, func(i int) bool { return p.gone[items[i]] })...)
	rest := refs
	for i, one := range o.items {
		n := len(one.fields)
		if !p.gone[items[i]] {
			copies, err := p.copies(one.fields, rest[:n])
			if err != nil {
				return nil, err
			}
			patches = append(append(patches, copies...), p.rename(doc, items[i], one.value.Get("id"))...)
		}
		rest = rest[n:]
	}
	return append(patches, p.said(o, items, refs, added)...), nil
}

// said edits output_text.
func (p *plan) said(o object, items []int64, refs []ref, added string) []rawjson.Patch {
	if o.said.Kind != rawjson.String {
		return nil
	}
	text := o.text(func(f field, item, n int) string {
		switch r := refs[n]; {
		case p.gone[items[item]]:
			return ""
		case r.growing != nil && p.edits(r.growing):
			return p.says(r)
		}
		return f.part.Text
	})
	return []rawjson.Patch{rawjson.SetText(o.said, text+added)}
}

// message is the item that holds what the gateway has to say.
func (p *plan) message(doc []byte, response rawjson.Value) []byte {
	return encode(newMessage(ownMessage(response.Get("id").Text(doc)), "completed", outputText(p.added)))
}
