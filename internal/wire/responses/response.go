package responses

import (
	"errors"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// response is an answer that came whole.
type response struct {
	turn
	doc   []byte
	root  rawjson.Value
	items []int64
	refs  []ref
}

// Response reads a response body. One without an output, such as the answer to a request that runs in the background, has no
// parts.
func (c Codec) Response(body []byte, to wire.Sink) (wire.Response, error) {
	root, err := wire.ParseObject(body, wire.MaxDepth)
	if err != nil {
		return nil, err
	}
	o, err := (&reader{doc: body}).object(root)
	if err != nil {
		return nil, err
	}
	r := &response{doc: body, root: root, turn: turn{to: to}}
	if r.items, r.refs, err = r.read(o); err != nil {
		return nil, err
	}
	o.unread(body, c.asked, to)
	return r, nil
}

func (r *response) Usage() gatehouse.Usage { return usageOf(r.root, r.doc) }

// Keys implements [wire.Stateful]: what a later request can continue.
func (r *response) Keys() []string { return keysOf(r.root, r.doc) }

func (r *response) Bytes(parts []gatehouse.Part) ([]byte, error) {
	p, err := r.plan(parts)
	if err != nil || !p.changed {
		return r.doc, err
	}
	o, err := (&reader{doc: r.doc}).object(r.root)
	if err != nil {
		return nil, err
	}
	if p.added != "" && o.list.Kind != rawjson.Array {
		return nil, errors.New("the response has no output to add text to")
	}
	patches, err := p.object(r.doc, o, r.items, r.refs, true)
	if err != nil {
		return nil, err
	}
	return rawjson.Splice(r.doc, patches), nil
}
