package anthropic

import (
	"fmt"
	"slices"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// turn is what the assistant said, as blocks and the slots in them. Whole and streamed messages share it.
type turn struct {
	blocks []block
	slots  []slot
}

// block is one content block: its type, and the id of the call that it makes or answers.
type block struct {
	kind, call string
}

// plan is what edits mean for a turn.
type plan struct {
	gone   []bool         // by block
	text   map[int]string // new texts, by slot
	added  []string       // texts of new blocks: notices, then insertions
	before int            // the new blocks stand before this block, or at the end
	ended  bool           // calls went and none is left, so nothing waits for results
}

func (p plan) empty() bool {
	return len(p.text) == 0 && len(p.added) == 0 && !slices.Contains(p.gone, true)
}

// plan compares the slots with the parts as they are now. New texts stand together before the first call that is
// kept: the API refuses an assistant turn with text behind a tool_use when the client sends it again.
func (t *turn) plan(parts []gatehouse.Part) (plan, error) {
	p := plan{gone: make([]bool, len(t.blocks)), text: map[int]string{}}
	_, inserted, err := wire.Align(parts, len(t.slots))
	if err != nil {
		return p, err
	}
	for i, s := range t.slots {
		c, err := s.change(parts[i])
		switch {
		case err != nil:
			return p, err
		case c.kind == rewritten:
			p.text[i] = c.text
		case c.kind == dropped && isResult(t.blocks[s.block].kind):
			return p, fmt.Errorf("%s: a piece of a hosted tool's result cannot be removed", s.part.Path)
		case c.kind == dropped:
			p.gone[s.block] = true
			if c.text != "" {
				p.added = append(p.added, c.text)
			}
		}
	}
	p.added = append(p.added, insertedTexts(inserted)...)
	t.dropResults(p.gone)
	p.before, p.ended = t.firstCall(p.gone)
	return p, nil
}

// dropResults takes the results of hosted calls along with the calls: a result alone is refused when it is sent again.
func (t *turn) dropResults(gone []bool) {
	calls := map[string]bool{}
	for i, b := range t.blocks {
		if gone[i] && isCall(b.kind) {
			calls[b.call] = true
		}
	}
	for i, b := range t.blocks {
		if isResult(b.kind) && calls[b.call] {
			gone[i] = true
		}
	}
}

// firstCall is the first block that the client must answer, the number of blocks when there is none; ended says that
// there were some.
func (t *turn) firstCall(gone []bool) (before int, ended bool) {
	for i, b := range t.blocks {
		if b.kind != "tool_use" {
			continue
		}
		if !gone[i] {
			return i, false
		}
		ended = true
	}
	return len(t.blocks), ended
}
