package anthropic

import (
	"fmt"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// change is what became of a slot.
type change struct {
	kind changeKind
	text string // the new text, or the notice of a slot that goes
}

type changeKind byte

const (
	kept changeKind = iota
	rewritten
	dropped
)

// change compares a slot with the part as it is now. Signed reasoning and opaque parts keep their bytes whatever their
// text says: the provider would refuse the one, and of the other no text was read.
func (s slot) change(p gatehouse.Part) (change, error) {
	switch {
	case p.Removed && (s.wholeBlock() || p.Notice == ""):
		return change{dropped, p.Notice}, nil
	case p.Removed:
		return s.rewrite(p.Notice)
	case s.part.Signed || s.part.Kind == gatehouse.Opaque || p.Text == s.part.Text:
		return change{}, nil
	}
	return s.rewrite(p.Text)
}

// wholeBlock reports whether the slot can only go together with its block, having no text to stand in its place.
func (s slot) wholeBlock() bool {
	switch s.part.Kind {
	case gatehouse.ToolCall, gatehouse.Reasoning, gatehouse.ToolDef, gatehouse.Opaque:
		return true
	}
	return false
}

func (s slot) rewrite(text string) (change, error) {
	if !s.at.Exists() {
		return change{}, fmt.Errorf("%s: no place for a text", s.part.Path)
	}
	if s.part.Kind == gatehouse.ToolCall {
		if v, err := rawjson.Parse([]byte(text), wire.MaxDepth); err != nil || v.Kind != rawjson.Object {
			return change{}, fmt.Errorf("%s: the new arguments are not a JSON object", s.part.Path)
		}
	}
	return change{rewritten, text}, nil
}

// patches write a new text in the slot's place.
func (s slot) patches(text string) []rawjson.Patch {
	with := rawjson.Quote(text)
	if s.part.Kind == gatehouse.ToolCall {
		with = []byte(text)
	}
	list := []rawjson.Patch{{Start: s.at.Start, End: s.at.End, With: with}}
	if s.citations.Exists() {
		list = append(list, rawjson.Patch{Start: s.citations.Start, End: s.citations.End, With: []byte("null")})
	}
	return list
}

// quoteBlock writes a text block of the gateway's own.
func quoteBlock(text string) []byte {
	return append(append([]byte(`{"type":"text","text":`), rawjson.Quote(text)...), '}')
}
