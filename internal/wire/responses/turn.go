package responses

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// turn is what the assistant's side says in one response, whole or in events: items, and the parts of them.
type turn struct {
	to    wire.Sink
	items map[int64]*output
	named map[string]int64 // their places by id
	parts []*growing       // in the order in which they were opened
}

// output is one item of a response.
type output struct {
	index    int64 // on the wire
	kind     string
	id       string
	tool     gatehouse.Part // of a call whose arguments come in pieces: what its part is like
	parts    map[string][]*growing
	commands map[int64]*strings.Builder // of a shell, as their pieces tell them
	begun    bool                       // its beginning has come
	waits    bool                       // it makes a call that no part tells of yet: it must not leave like that
}

// growing is a part of the response. Texts arrive in pieces, and in copies.
type growing struct {
	place int // in turn.parts
	part  gatehouse.Part
	text  strings.Builder
	id    int // the sink's
	item  *output
}

// maxItems bounds the items of a response, and maxReadings the different texts that may stand in one place: both are looked up
// one by one.
const (
	maxItems    = 1 << 12
	maxReadings = 8
)

// item finds an item, or begins one.
func (t *turn) item(index int64, kind, id string) (*output, error) {
	if o := t.items[index]; o != nil {
		return o, nil
	}
	if index < 0 || len(t.items) >= maxItems {
		return nil, wrong("output_index", "a small integer")
	}
	if t.items == nil {
		t.items, t.named = map[int64]*output{}, map[string]int64{}
	}
	o := &output{index: index, kind: kind, id: id, parts: map[string][]*growing{}}
	if t.items[index] = o; id != "" {
		t.named[id] = index
	}
	return o, nil
}

// ordered are the items by their place on the wire.
func (t *turn) ordered() []*output {
	list := make([]*output, 0, len(t.items))
	for _, o := range t.items {
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b *output) int { return int(a.index - b.index) })
	return list
}

// indexOf finds the item of a list that tells of all items: by its id, else by its place. Of those that have the same id each is
// another one.
func (t *turn) indexOf(one item, place int, seen map[int64]bool) (int64, error) {
	at := int64(place)
	if o := t.items[at]; one.id != "" && (o == nil || o.id != one.id) {
		if named, ok := t.named[one.id]; ok && !seen[named] {
			at = named
		}
	}
	if seen[at] {
		return 0, wrong("output", "a list of the items that were begun")
	}
	seen[at] = true
	return at, nil
}

// open begins a part.
func (t *turn) open(o *output, f field) *growing {
	f.part.Role = roleOf(f.part)
	f.part.Path = join(".", o.path(), f.key)
	g := &growing{part: f.part, place: len(t.parts), item: o}
	g.text.WriteString(f.part.Text)
	g.id = t.to.Open(f.part)
	t.parts = append(t.parts, g)
	o.parts[f.slot()] = append(o.parts[f.slot()], g)
	return g
}

// path is where the item stands; empty for what comes without one.
func (o *output) path() string {
	if o.index == noItem {
		return ""
	}
	return "output" + index(int(o.index))
}

func roleOf(p gatehouse.Part) gatehouse.Role {
	if p.Role == gatehouse.Tool {
		return gatehouse.Tool
	}
	return gatehouse.Assistant
}

// grow adds a piece to the part of its place. An empty piece of a text opens none.
func (t *turn) grow(o *output, f field) *growing {
	delta := f.part.Text
	list := o.parts[f.slot()]
	if len(list) == 0 {
		if delta == "" && f.part.Kind != gatehouse.ToolCall && f.part.Kind != gatehouse.Opaque {
			return nil
		}
		return t.open(o, f)
	}
	g := list[0]
	if delta != "" {
		g.text.WriteString(delta)
		t.to.Text(g.id, delta)
	}
	return g
}

// whole finds the part that a complete copy of a text belongs to. A copy that says something else than the others do is a part of its
// own: clients do not all read the same one.
func (t *turn) whole(o *output, f field) (*growing, error) {
	text, list := f.part.Text, o.parts[f.slot()]
	if text == "" && (f.part.Kind == gatehouse.Text || f.part.Kind == gatehouse.ToolResult || f.part.Kind == gatehouse.Reasoning && !f.part.Signed) {
		return nil, nil
	}
	for _, g := range list {
		if g.text.Len() == len(text) && g.text.String() == text && g.part.Tool == f.part.Tool && g.part.CallID == f.part.CallID {
			t.to.Close(g.id)
			return g, nil
		}
	}
	if len(list) > 0 && list[0].text.Len() == 0 && list[0].part.Tool == f.part.Tool && list[0].part.CallID == f.part.CallID {
		g := t.grow(o, f) // no pieces came before it
		t.to.Close(g.id)
		return g, nil
	}
	if len(list) >= maxReadings {
		return nil, wrong(join(".", o.path(), f.key), "the same in all its copies")
	}
	g := t.open(o, f)
	t.to.Close(g.id)
	return g, nil
}

// plan is what edits mean for a turn.
type plan struct {
	parts   []gatehouse.Part
	gone    map[int64]bool  // items, by index on the wire
	place   map[int64]int64 // the new indices of the others, where any is gone
	orphans map[int64]bool  // messages whose reasoning is gone: the provider refuses them under their old ids
	added   string          // the text of a message that is added at the end
	at      int64           // its index
	written map[*growing]bool
	changed bool
}

// plan compares the parts as they are now with what the wire had.
func (t *turn) plan(parts []gatehouse.Part) (*plan, error) {
	own, inserted, err := align(parts, len(t.parts))
	if err != nil {
		return nil, err
	}
	p := &plan{parts: own, gone: map[int64]bool{}, orphans: map[int64]bool{}, place: map[int64]int64{}, written: map[*growing]bool{}}
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
		p.changed = p.changed || p.edits(g)
	}
	for _, add := range inserted {
		notices = append(notices, add.Text)
	}
	p.added = join(separator, notices...)
	p.renumber(list)
	p.changed = p.changed || len(p.gone) > 0 || p.added != ""
	return p, nil
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
		if at := p.at; len(p.gone) > 0 {
			p.place[o.index] = at
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
	return []rawjson.Patch{replace(at, ownMessage(at.Text(doc)))}
}

// ownMessage is the id of a message that the gateway writes, after the id of what it belongs to or stands for.
func ownMessage(of string) string {
	return "msg_gatehouse_" + strings.TrimPrefix(strings.TrimPrefix(of, "resp_"), "msg_")
}

func (p *plan) edits(g *growing) bool {
	if g.part.Signed || g.part.Kind == gatehouse.Opaque || p.gone[g.item.index] {
		return false
	}
	now := p.parts[g.place]
	return now.Removed || now.Text != g.text.String()
}

// copies are the patches of the complete copies of texts; refs are their parts.
func (p *plan) copies(list []field, refs []*growing) (patches []rawjson.Patch, err error) {
	for i, f := range list {
		g := refs[i]
		if g == nil || !p.edits(g) {
			continue
		}
		if f.at.Kind != rawjson.String {
			return nil, fmt.Errorf("%s cannot be edited", g.part.Path)
		}
		patches = append(patches, f.patches(final(p.parts[g.place]))...)
	}
	return patches, nil
}
