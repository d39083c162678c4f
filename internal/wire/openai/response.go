package openai

import (
	"fmt"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

type response struct {
	reader
	usage   gatehouse.Usage
	slots   []slot
	choices []choice
}

// choice is one alternative of a response, or of a chunk.
type choice struct {
	index   int
	value   rawjson.Value
	message message
	refs    []int // of a response: the slot of each item and then of each call; -1 for an empty text, which is in no part
}

// Response reads a response body. One without choices, such as an error under status 200, has no parts.
func (Codec) Response(body []byte, to wire.Sink) (wire.Response, error) {
	root, err := wire.ParseObject(body, wire.MaxDepth)
	if err != nil {
		return nil, err
	}
	r := &response{reader: reader{doc: body}, usage: readUsage(root, body)}
	values, err := r.list(root)
	if err != nil {
		return nil, err
	}
	for i, v := range values {
		c := choice{value: v, index: i}
		if c.index, err = r.choiceIndex(v, i); err != nil {
			return nil, err
		}
		path := index("choices", i) + ".message"
		if m := v.Get("message"); m.Exists() {
			if m.Kind != rawjson.Object {
				return nil, wire.Wrong(path, "an object")
			}
			if c.message, err = r.message(m, path); err != nil {
				return nil, err
			}
		}
		r.choices = append(r.choices, c)
	}
	r.feed(to)
	r.unread(answerShape, root, r.choices, "message", to)
	for i := range r.choices {
		r.logprobs(&r.choices[i], to)
	}
	return r, nil
}

func readUsage(root rawjson.Value, doc []byte) gatehouse.Usage {
	usage := root.Get("usage")
	input, _ := usage.Get("prompt_tokens").Int(doc)
	output, _ := usage.Get("completion_tokens").Int(doc)
	return gatehouse.Usage{Input: input, Output: output}
}

// list is the choices of a response or of a chunk: objects, each of them.
func (r reader) list(root rawjson.Value) ([]rawjson.Value, error) {
	choices := root.Get("choices")
	if choices.Exists() && choices.Kind != rawjson.Array {
		return nil, wire.Wrong("choices", "an array")
	}
	for i, v := range choices.Elems {
		if v.Kind != rawjson.Object {
			return nil, wire.Wrong(index("choices", i), "an object")
		}
	}
	return choices.Elems, nil
}

// choiceIndex is the index of a choice; without one, its place in the list.
func (r reader) choiceIndex(v rawjson.Value, place int) (int, error) {
	at := v.Get("index")
	if !at.Exists() {
		return place, nil
	}
	n, ok := at.Int(r.doc)
	if !ok || n < 0 || n > maxIndex {
		return 0, wire.Wrong(index("choices", place)+".index", "a small integer")
	}
	return int(n), nil
}

// maxIndex bounds the indices of choices and calls: streams look their parts up one by one. Providers stop at 128.
const maxIndex = 1 << 10

// feed hands the parts to the sink once the whole body is known to be well formed.
func (r *response) feed(to wire.Sink) {
	for i := range r.choices {
		c := &r.choices[i]
		content := -1 // the slot of the content's texts, which are one as in a stream
		for _, item := range c.message.items {
			text := item.kind == gatehouse.Text && item.member == "content"
			p := gatehouse.Part{Kind: item.kind, Role: gatehouse.Assistant, Path: item.path, Media: item.media,
				Choice: c.index, Text: item.at.Text(r.doc)}
			if p.Text == "" && p.Kind != gatehouse.Opaque {
				c.refs = append(c.refs, -1)
				continue
			}
			if text && content >= 0 {
				c.refs = append(c.refs, content)
				continue
			}
			if text {
				content = len(r.slots)
				if c.message.value.Get("content").Kind == rawjson.Array {
					p.Text = c.message.said("content", r.doc)
				}
			}
			c.refs = append(c.refs, r.add(to, slot{part: p, at: placeOf(item.at)}))
		}
		for _, call := range c.message.calls {
			p := gatehouse.Part{Kind: gatehouse.ToolCall, Role: gatehouse.Assistant, Path: call.path, Choice: c.index,
				Tool: call.tool, CallID: call.id, Media: call.media, Text: call.at.Text(r.doc)}
			c.refs = append(c.refs, r.add(to, slot{part: p, at: placeOf(call.at), copy: placeOf(call.copy.Get("arguments"))}))
		}
	}
}

func (r *response) add(to wire.Sink, s slot) int {
	to.Close(to.Open(s.part))
	r.slots = append(r.slots, s)
	return len(r.slots) - 1
}

func (r *response) Usage() gatehouse.Usage { return r.usage }

func (r *response) Bytes(parts []gatehouse.Part) ([]byte, error) {
	own, inserted, err := wire.Align(parts, len(r.slots))
	if err != nil {
		return nil, err
	}
	added := map[int][]string{}
	for _, p := range inserted {
		added[p.Choice] = append(added[p.Choice], p.Text)
	}
	var patches []rawjson.Patch
	for _, c := range r.choices {
		e := choiceEdit{response: r, choice: c, parts: own, added: join(added[c.index]...)}
		delete(added, c.index)
		if err := e.run(); err != nil {
			return nil, err
		}
		patches = append(patches, e.patches...)
	}
	for index, texts := range added {
		if join(texts...) != "" {
			return nil, fmt.Errorf("no choice %d to add text to", index)
		}
	}
	return rawjson.Splice(r.doc, patches), nil
}
