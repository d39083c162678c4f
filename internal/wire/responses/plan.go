package responses

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// plan is what edits mean for a turn.
type plan struct {
	parts   []gatehouse.Part
	gone    map[int64]bool                // items, by index on the wire
	place   map[int64]int64               // the new indices of the others, where any is gone
	orphans map[int64]bool                // messages whose reasoning is gone: the provider refuses them under their old ids
	added   string                        // the text of a message that is added at the end
	at      int64                         // its index
	texts   map[*growing][]gatehouse.Edit // replacements in the texts that change
	growing bool                          // the turn goes on, and nothing but texts changes
	changed bool
}

// plan compares the parts as they are now with what the wire had.
func (t *turn) plan(parts []gatehouse.Part) (*plan, error) {
	own, inserted, err := wire.Align(parts, len(t.parts))
	if err != nil {
		return nil, err
	}
	p := &plan{parts: own, gone: map[int64]bool{}, orphans: map[int64]bool{}, place: map[int64]int64{}, texts: map[*growing][]gatehouse.Edit{}}
	list := t.ordered()
	for _, o := range list {
		p.judge(o)
	}
	p.dropReasoning(list)
	var notices []string
	told := map[string]bool{}
	for _, g := range t.parts {
		now := own[g.place]
		switch {
		case g.part.Kind == gatehouse.ToolCall && now.Removed:
			if !told[now.Notice] { // two readings of one call need one notice
				notices = append(notices, now.Notice)
			}
			told[now.Notice] = true
		case g.part.Kind == gatehouse.ToolCall && now.Text != g.text.String():
			return nil, fmt.Errorf("%s cannot be edited", g.part.Path)
		}
		if list := wire.Changes(now, g.text.String(), wire.Final(now)); len(list) > 0 && !p.gone[g.item.index] {
			p.texts[g] = list
			p.changed = p.changed || p.edits(g)
		}
	}
	for _, add := range inserted {
		notices = append(notices, add.Text)
	}
	p.added = join(separator, notices...)
	p.renumber(list)
	p.changed = p.changed || len(p.gone) > 0 || p.added != ""
	for index := range p.gone {
		if t.items[index].sent {
			return nil, errGone
		}
	}
	return p, nil
}

// errGone says that what was sent cannot be taken back.
var errGone = errors.New("an item was taken away after it had been sent")

// changes are the replacements in a text.
func (p *plan) changes(g *growing) []gatehouse.Edit {
	switch {
	case g.part.Signed || g.part.Kind == gatehouse.Opaque || p.gone[g.item.index]:
		return nil
	case p.growing:
		return p.parts[g.place].Changes()
	}
	return p.texts[g]
}

func (p *plan) edits(g *growing) bool { return len(p.changes(g)) > 0 }

// says is what the first bytes of a text become, where a copy of them stands.
func (p *plan) says(r ref) string {
	text, err := new(wire.Cutter).Cut(r.text.String()[:r.to], p.changes(r.growing))
	if err != nil {
		return "" // replacements do not overlap, so this does not happen
	}
	return text
}

// judge finds out whether an item goes: one whose call or whose reasoning was taken out, or whose texts are all gone.
func (p *plan) judge(o *output) {
	texts, removed, others := 0, 0, 0
	gone := o.waits
	for _, list := range o.parts {
		for _, g := range list {
			now := p.parts[g.place]
			switch g.part.Kind {
			case gatehouse.ToolCall, gatehouse.Reasoning:
				gone = gone || now.Removed
			case gatehouse.Text:
				texts++
				if now.Removed && now.Notice == "" {
					removed++
				}
			default:
				others++
			}
		}
	}
	if gone || texts > 0 && removed == texts && others == 0 {
		p.gone[o.index] = true
	}
}

// dropReasoning takes reasoning along with what hangs on it: reasoning whose items are all gone is refused when it is sent again.
func (p *plan) dropReasoning(list []*output) {
	for i := 0; i < len(list); {
		first := i
		for i < len(list) && list[i].kind == kindReasoning {
			i++
		}
		begin, kept, lost := i, false, false
		for i < len(list) && list[i].kind != kindReasoning {
			kept = kept || !p.gone[list[i].index]
			i++
		}
		for _, o := range list[first:begin] {
			if begin < i && !kept {
				p.gone[o.index] = true
			}
			lost = lost || p.gone[o.index]
		}
		for _, o := range list[begin:i] {
			p.orphans[o.index] = lost && o.kind == kindMessage && !p.gone[o.index]
		}
	}
}

// renumber closes the gaps that items leave, and finds the place of the added one.
func (p *plan) renumber(list []*output) {
	for _, o := range list {
		if p.gone[o.index] {
			continue
		}
		if o.sent { // its index is known
			p.at = o.index
		}
		if len(p.gone) > 0 {
			p.place[o.index] = p.at
		}
		p.at++
		if len(p.gone) == 0 {
			p.at = o.index + 1
		}
	}
}

// rename gives a message whose reasoning is gone an id that the provider does not know; at is where its id stands.
func (p *plan) rename(doc []byte, item int64, at rawjson.Value) []rawjson.Patch {
	if !p.orphans[item] || at.Kind != rawjson.String {
		return nil
	}
	return []rawjson.Patch{rawjson.SetText(at, ownMessage(at.Text(doc)))}
}

// ownMessage is the id of a message that the gateway writes, after the id of what it belongs to or stands for.
func ownMessage(of string) string {
	return ownMessagePrefix + strings.TrimPrefix(strings.TrimPrefix(of, "resp_"), "msg_")
}

// copies are the patches of the complete copies of texts; refs are their parts.
func (p *plan) copies(list []field, refs []ref) (patches []rawjson.Patch, err error) {
	for i, f := range list {
		r := refs[i]
		if r.growing == nil || !p.edits(r.growing) {
			continue
		}
		if f.at.Kind != rawjson.String {
			return nil, fmt.Errorf("%s cannot be edited", r.part.Path)
		}
		patches = append(patches, f.patches(p.says(r))...)
	}
	return patches, nil
}
