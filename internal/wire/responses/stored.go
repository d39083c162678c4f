package responses

import (
	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// Stored is the codec of requests about a response that the provider has stored: to get it, to cancel it. They have no body, or
// none that a model reads; the answer is a response.
type Stored struct{ Codec }

// Request takes what may stand in such a request.
func (c Stored) Request(body []byte) (wire.Request, error) { return wire.BareRequest(body, c.Depth) }

// Items is the codec of lists of stored items (input_items). Nobody runs the calls in them, which are history: their arguments are
// read like texts.
type Items struct{ Stored }

// Response reads a list.
func (c Items) Response(body []byte, to wire.Sink) (wire.Response, error) {
	root, err := wire.ParseObject(body, wire.MaxDepth)
	if err != nil {
		return nil, err
	}
	if root.Get("output").Exists() { // a server that reads the path in another way
		return c.Codec.Response(body, to)
	}
	l := &list{doc: body}
	r, data := &reader{doc: body}, root.Get("data")
	if data.Exists() && data.Kind != rawjson.Array {
		return nil, wire.Wrong("data", "an array")
	}
	for i, v := range data.Elems {
		one, err := r.item(v, "data"+index(i))
		if err != nil {
			return nil, err
		}
		one.unread(body, "data[]", to)
		for _, f := range one.fields {
			switch {
			case f.part.Signed: // of no use to a list, which is not sent again
				to.Unread("data[]." + f.key)
			case f.part.Kind != gatehouse.ToolCall:
			case f.raw:
				f.part.Kind, f.part.Media = gatehouse.Opaque, one.kind
			default:
				f.part.Kind = gatehouse.Text
			}
			if f.part.Kind == gatehouse.Opaque || f.at.Kind == rawjson.String {
				l.fields = append(l.fields, f)
			}
		}
	}
	listShape.Unread(root, body, nil, to.Unread)
	for _, f := range l.fields {
		to.Close(to.Open(f.part))
	}
	return l, nil
}

// list is a list of items. It has no room for words of the gateway's own.
type list struct {
	doc    []byte
	fields []field
}

func (l *list) Usage() gatehouse.Usage { return gatehouse.Usage{} }

func (l *list) Bytes(parts []gatehouse.Part) ([]byte, error) {
	own, _, err := wire.Align(parts, len(l.fields))
	if err != nil {
		return nil, err
	}
	var patches []rawjson.Patch
	for i, f := range l.fields {
		if text := wire.Final(own[i]); f.at.Kind == rawjson.String && (own[i].Removed || text != f.part.Text) {
			patches = append(patches, f.patches(text)...)
		}
	}
	return rawjson.Splice(l.doc, patches), nil
}
