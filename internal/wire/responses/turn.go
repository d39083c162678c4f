package responses

import (
	"slices"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
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
	opened   []*growing                 // the parts in their order
	calls    []*growing                 // those that are calls
	commands map[int64]*strings.Builder // of a shell, as their pieces tell them
	last     []byte                     // the item as the latest event has told it that has left
	begun    bool                       // its beginning has come
	closed   bool                       // its end has come
	sent     bool                       // it has begun to leave
	ended    bool                       // its end has left
	begunAs  string                     // what its beginning has told of a call that its end tells
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
		return nil, wire.Wrong("output_index", "a small integer")
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
		return 0, wire.Wrong("output", "a list of the items that were begun")
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
	if o.opened = append(o.opened, g); f.part.Kind == gatehouse.ToolCall {
		o.calls = append(o.calls, g)
	}
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
func (t *turn) grow(o *output, f field) ref {
	delta := f.part.Text
	list := o.parts[f.slot()]
	if len(list) == 0 {
		if delta == "" && f.part.Kind != gatehouse.ToolCall && f.part.Kind != gatehouse.Opaque && !f.noted() {
			return ref{}
		}
		return bring(t.open(o, f), 0)
	}
	g := list[0]
	from := g.text.Len()
	if delta != "" {
		g.text.WriteString(delta)
		t.to.Text(g.id, delta)
	}
	return bring(g, from)
}

// whole finds the part that a complete copy of a text belongs to. A copy that says something else than the others do is a part of its
// own: clients do not all read the same one.
func (t *turn) whole(o *output, f field) (ref, error) {
	text, list := f.part.Text, o.parts[f.slot()]
	if text == "" && (f.part.Kind == gatehouse.Text || f.part.Kind == gatehouse.ToolResult || f.part.Kind == gatehouse.Reasoning && !f.part.Signed) {
		if f.noted() { // what the notes say may be of the text of the pieces
			return t.grow(o, f), nil
		}
		return ref{}, nil
	}
	for _, g := range list {
		if g.text.Len() == len(text) && g.text.String() == text && g.part.Tool == f.part.Tool && g.part.CallID == f.part.CallID {
			t.to.Close(g.id)
			return bring(g, len(text)), nil
		}
	}
	if len(list) > 0 && list[0].text.Len() == 0 && list[0].part.Tool == f.part.Tool && list[0].part.CallID == f.part.CallID {
		r := t.grow(o, f) // no pieces came before it
		t.to.Close(r.id)
		return r, nil
	}
	if len(list) >= maxReadings {
		return ref{}, wire.Wrong(join(".", o.path(), f.key), "the same in all its copies")
	}
	g := t.open(o, f)
	t.to.Close(g.id)
	return bring(g, 0), nil
}
