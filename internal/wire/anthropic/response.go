package anthropic

import (
	"errors"
	"fmt"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// response is a whole message.
type response struct {
	doc           []byte
	root, content rawjson.Value
	turn
}

func readResponse(body []byte, to wire.Sink) (*response, error) {
	root, err := wire.ParseObject(body, wire.MaxDepth)
	if err != nil {
		return nil, err
	}
	m := &response{doc: body, root: root, content: root.Get("content")}
	wholeShape.Unread(root, body, nil, to.Unread)
	if !m.content.Exists() {
		return m, nil
	}
	if m.content.Kind != rawjson.Array {
		return nil, wire.Wrong("content", "an array")
	}
	r := &reader{doc: body, to: to}
	for i, b := range m.content.Elems {
		r.at = i
		as := gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.Assistant}
		if err := r.block(b, fmt.Sprintf("content[%d]", i), as); err != nil {
			return nil, err
		}
		blockUnread(b, body, to)
		m.blocks = append(m.blocks, readBlock(body, b))
	}
	m.slots = r.slots
	for _, s := range m.slots {
		to.Close(to.Open(s.part))
	}
	return m, nil
}

func readBlock(doc []byte, b rawjson.Value) block {
	id := b.Get("id")
	if !id.Exists() {
		id = b.Get("tool_use_id")
	}
	return block{kind: b.Get("type").Text(doc), call: id.Text(doc)}
}

// Usage is the message's own count, zero where it has none.
func (m *response) Usage() gatehouse.Usage {
	var u gatehouse.Usage
	readUsage(&u, m.doc, m.root.Get("usage"))
	return u
}

// readUsage takes the counts that are there; later ones of a stream replace earlier ones, as they are cumulative.
func readUsage(u *gatehouse.Usage, doc []byte, v rawjson.Value) {
	if n, ok := v.Get("input_tokens").Int(doc); ok {
		u.Input = n
	}
	if n, ok := v.Get("output_tokens").Int(doc); ok {
		u.Output = n
	}
}

// Bytes writes the message for these parts.
func (m *response) Bytes(parts []gatehouse.Part) ([]byte, error) {
	p, err := m.plan(parts)
	if err != nil {
		return nil, err
	}
	if p.empty() {
		return m.doc, nil
	}
	if m.content.Kind != rawjson.Array {
		return nil, errors.New("the message has no content to add text to")
	}
	patches := m.place(p)
	for i, s := range m.slots {
		if text, ok := p.text[i]; ok && !p.gone[s.block] {
			patches = append(patches, s.patches(text)...)
		}
	}
	if p.ended {
		patches = append(patches, endTurn(m.doc, m.root)...)
	}
	return rawjson.Splice(m.doc, patches), nil
}

// place takes blocks out of the content and puts new ones in.
func (m *response) place(p plan) []rawjson.Patch {
	last := -1
	for i, gone := range p.gone {
		if !gone {
			last = i
		}
	}
	if last < 0 { // nothing of the old content is left
		return []rawjson.Patch{{Start: m.content.Start + 1, End: m.content.End - 1, With: quoteBlocks(p.added)}}
	}
	var patches []rawjson.Patch
	if len(p.added) > 0 {
		patches = append(patches, m.insertion(p, last))
	}
	return append(patches, rawjson.RemoveElems(m.content, func(i int) bool { return p.gone[i] })...)
}

// insertion must come before the removals in the list of patches: it may stand where the removal of the comma begins.
func (m *response) insertion(p plan, last int) rawjson.Patch {
	added := quoteBlocks(p.added)
	if p.before < len(m.blocks) {
		at := m.content.Elems[p.before].Start
		return rawjson.Patch{Start: at, End: at, With: append(added, ',')}
	}
	at := m.content.Elems[last].End
	return rawjson.Patch{Start: at, End: at, With: append([]byte{','}, added...)}
}

// endTurn corrects the stop reason in a message or in the delta of a message.
func endTurn(doc []byte, v rawjson.Value) []rawjson.Patch {
	if reason := v.Get("stop_reason"); reason.Text(doc) == "tool_use" {
		return []rawjson.Patch{{Start: reason.Start, End: reason.End, With: []byte(`"end_turn"`)}}
	}
	return nil
}
