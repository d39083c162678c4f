package anthropic

import (
	"fmt"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// Bytes writes the body for these parts. A part without a text of its own (a call, a tool, an image) cannot be removed:
// others in the conversation refer to it.
func (q *request) Bytes(parts []gatehouse.Part) ([]byte, error) {
	_, inserted, err := wire.Align(parts, len(q.slots))
	if err != nil {
		return nil, err
	}
	var patches []rawjson.Patch
	turn := q.lastUser()
	said := turn.Text(q.doc)
	for i, s := range q.slots {
		c, err := s.change(parts[i])
		if err != nil {
			return nil, err
		}
		switch {
		case c.kind == dropped:
			return nil, fmt.Errorf("%s: cannot be removed from a request", s.part.Path)
		case c.kind == kept:
			continue
		case turn.Kind == rawjson.String && s.at.Start == turn.Start:
			said = c.text // written below, together with what is inserted
			continue
		}
		patches = append(patches, s.patches(c.text)...)
	}
	added := insertedTexts(inserted)
	return rawjson.Splice(q.doc, append(patches, q.endOfTurn(turn, said, added)...)), nil
}

func insertedTexts(parts []gatehouse.Part) []string {
	var texts []string
	for _, p := range parts {
		texts = append(texts, p.Text)
	}
	return texts
}

// lastUser is the content of the last user message, absent when there is none.
func (q *request) lastUser() rawjson.Value {
	for i := len(q.messages.Elems) - 1; i >= 0; i-- {
		if m := q.messages.Elems[i]; m.Get("role").Text(q.doc) == "user" {
			return m.Get("content")
		}
	}
	return rawjson.Value{}
}

// endOfTurn writes the last user turn's string, and adds texts behind everything in that turn: a prompt cache that
// ends there or earlier still holds.
func (q *request) endOfTurn(turn rawjson.Value, said string, added []string) []rawjson.Patch {
	text := strings.Join(added, "\n\n")
	switch {
	case turn.Kind == rawjson.String:
		if len(added) > 0 {
			said += "\n\n" + text
		}
		if said == turn.Text(q.doc) {
			return nil
		}
		return []rawjson.Patch{{Start: turn.Start, End: turn.End, With: rawjson.Quote(said)}}
	case len(added) == 0:
		return nil
	case turn.Kind == rawjson.Array:
		return []rawjson.Patch{appendElems(turn, quoteBlocks(added))}
	}
	message := append([]byte(`{"role":"user","content":`), rawjson.Quote(text)...)
	return []rawjson.Patch{appendElems(q.messages, append(message, '}'))}
}

func quoteBlocks(texts []string) []byte {
	var out []byte
	for i, text := range texts {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, quoteBlock(text)...)
	}
	return out
}

// appendElems adds elements, separated by commas, to the end of an array.
func appendElems(array rawjson.Value, elems []byte) rawjson.Patch {
	n := len(array.Elems)
	if n == 0 {
		return rawjson.Patch{Start: array.Start + 1, End: array.Start + 1, With: elems}
	}
	end := array.Elems[n-1].End
	return rawjson.Patch{Start: end, End: end, With: append([]byte{','}, elems...)}
}
