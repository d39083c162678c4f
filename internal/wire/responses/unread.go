package responses

import (
	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// unread names what of a response object is in no part.
func (o object) unread(doc []byte, asked *echo, to wire.Sink) {
	responseShape.Unread(o.value, doc, nil, to.Unread)
	asked.unread(o.value, doc, to)
	for _, one := range o.items {
		one.unread(doc, "output[]", to)
	}
}

// unread names what of an item is in no part. One of a type that is not known is a part itself.
func (i item) unread(doc []byte, at string, to wire.Sink) {
	shape, known := itemShapes[i.kind]
	if !known {
		return
	}
	shape.Unread(i.value, doc, nil, func(path string) { to.Unread(at + "." + path) })
	for _, path := range i.left {
		to.Unread(at + "." + path)
	}
	for _, f := range i.fields {
		f.unread(doc, at, to)
	}
}

// unread names log probabilities that tell another text than the one that they stand beside.
func (f field) unread(doc []byte, at string, to wire.Sink) {
	if spelled, others := f.spelled(doc); !spelled || others {
		to.Unread(at + "." + wire.AnyElement(f.key) + ".logprobs")
	}
}

// unread names what of an event is in no part.
func (v *view) unread(asked *echo, to wire.Sink) {
	shape, known := eventShapes[v.kind]
	switch {
	case v.object != nil:
		shape = lifeCycle
		v.object.unread(v.doc, asked, to)
	case v.opaque:
		return
	case v.command && v.index == noItem: // nothing takes it
		shape = progress
	case !known:
		shape = v.unknownShape()
	}
	at := v.kind
	if !known {
		at = "event"
	}
	shape.Unread(v.root, v.doc, nil, func(path string) { to.Unread(at + "." + path) })
	if !padding(v.root.Get("obfuscation"), v.doc) {
		to.Unread(at + ".obfuscation")
	}
	if v.one != nil {
		v.one.unread(v.doc, "output[]", to)
		return
	}
	for _, f := range v.fields {
		f.unread(v.doc, at, to)
	}
}

// unknownShape is that of an event that no rule knows.
func (v *view) unknownShape() wire.Shape {
	for _, f := range v.fields {
		switch f.at.Start {
		case v.root.Get("delta").Start:
			return newDelta
		case v.root.Get("text").Start:
			return newText
		}
	}
	return progress
}

// padding reports whether a value is what the API fills deltas up with, so that their length tells nothing: random letters and
// digits, at most 16 as far as anybody has seen. They come with every delta, and are too short for most keys.
func padding(v rawjson.Value, doc []byte) bool {
	const longest = 32
	if v.Kind != rawjson.String {
		return v.Kind < rawjson.String
	}
	text := v.Raw(doc)[1 : v.End-v.Start-1]
	for _, c := range text {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return len(text) <= longest
}

// early notes what an item says of its call when it begins. The end of the item says it again; what that does not is in no part.
func (o *output) early(doc []byte, one item, f field) {
	for _, member := range [...]string{"action", "actions", "operation", "queries", "arguments"} {
		unfinished.Unread(one.value.Get(member), doc, nil, func(string) { o.begunAs = f.part.Text })
	}
}

// denies reports whether an item's end tells another call than its beginning has told.
func (o *output) denies(one item) bool {
	for _, f := range one.fields {
		if f.raw && f.part.Kind == gatehouse.ToolCall {
			return o.begunAs != "" && o.begunAs != f.part.Text
		}
	}
	return o.begunAs != ""
}
