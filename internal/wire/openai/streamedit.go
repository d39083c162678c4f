package openai

import (
	"errors"
	"fmt"
	"sort"
	"strconv"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/sse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// streamEdit writes a stream, all at once or piece by piece.
type streamEdit struct {
	*stream
	parts   []gatehouse.Part
	whole   bool                  // the stream has ended, and all is decided
	choices map[int]*streamedEdit // those that any edit touches
	changes map[*growing][]gatehouse.Edit
	cutters map[*growing]*wire.Cutter
	out     []byte
	events  []event // those that are to be written, from number first on
	first   int
	gate    wire.Gate // before the first event that is held
	quotes  wire.Gate // before what it quotes
}

// Bytes writes the stream. What was cut off stays cut off: no terminal event is made up.
func (s *stream) Bytes(parts []gatehouse.Part) ([]byte, error) {
	w := &streamEdit{stream: s}
	return w.write(parts, wire.Free, true)
}

// Next implements [wire.Incremental].
func (s *stream) Next(parts []gatehouse.Part, free func(part int) int, last bool) ([]byte, error) {
	if s.live == nil {
		s.live = &streamEdit{stream: s}
	}
	out, err := s.live.write(parts, free, last)
	n := len(s.live.events)
	for _, e := range s.events[:n] {
		s.held -= len(e.raw)
		for _, g := range e.refs {
			if g != nil {
				g.sent = true
			}
		}
	}
	clear(s.events[:n])
	s.events, s.sent = s.events[n:], s.sent+n
	return out, err
}

// Held implements [wire.Incremental].
func (s *stream) Held() int { return s.held }

func (w *streamEdit) write(parts []gatehouse.Part, free func(part int) int, last bool) ([]byte, error) {
	own, inserted, err := wire.Align(parts, len(w.stream.parts))
	if err != nil {
		return nil, err
	}
	w.parts, w.whole, w.out, w.first = own, last, nil, w.sent
	if w.events = w.stream.events; !last {
		w.events = w.events[:w.ready(free)]
		if len(w.events) == 0 {
			return nil, nil
		}
	}
	if w.choices == nil {
		w.choices, w.cutters = map[int]*streamedEdit{}, map[*growing]*wire.Cutter{}
	}
	w.changes = map[*growing][]gatehouse.Edit{}
	if err := w.plans(); err != nil {
		return nil, err
	}
	for _, p := range inserted {
		if p.Text == "" {
			continue
		}
		c := w.choice(p.Choice)
		if c == nil {
			return nil, fmt.Errorf("no choice %d to add text to", p.Choice)
		}
		c.notices = append(c.notices, p.Text)
	}
	for _, c := range w.choices {
		c.added, c.notices = join(append(c.notices, c.added)...), nil
	}
	return w.bytes()
}

// ready is how many of the events that are held may leave.
func (w *streamEdit) ready(free func(part int) int) int {
	for n, e := range w.stream.events {
		if e.done || e.last || !w.quotes.Open(len(e.ahead), func(i int) bool { return e.ahead[i].told(free) }) {
			return n
		}
		if !w.gate.Open(len(e.refs), func(i int) bool { return e.refs[i] == nil || e.refs[i].leaves(e.ends[i], free(e.refs[i].place)) }) {
			return n
		}
	}
	return len(w.stream.events)
}

// leaves reports whether the text up to a byte may leave, of which so many bytes are free. Calls leave in the order of their indices,
// as those of the others change when one goes.
func (g *growing) leaves(end, most int) bool {
	switch g.part.Kind {
	case gatehouse.Text, gatehouse.Reasoning:
		return end <= most
	case gatehouse.ToolCall:
		return most == gatehouse.Everything || most == gatehouse.Decided && g.next
	}
	return most == gatehouse.Everything
}

func (g *growing) cutter(w *streamEdit) *wire.Cutter {
	c := w.cutters[g]
	if c == nil {
		c = &wire.Cutter{}
		w.cutters[g] = c
	}
	return c
}

// streamedEdit is what happens to one choice.
type streamedEdit struct {
	*streamed
	notices   []string         // texts for the end of the content
	added     string           // what they are together
	rewritten bool             // the content changes, and what its annotations point at
	removed   bool             // a call goes
	stopped   bool             // and none is left
	indices   map[*growing]int // the new indices of the calls that stay
}

// choice is the edit of a choice, nil when the stream has none of that index, or began it in an event that was refused.
func (w *streamEdit) choice(index int) *streamedEdit {
	if c := w.stream.choices[index]; w.choices[index] == nil && c != nil && c.first < w.next() {
		w.choices[index] = &streamedEdit{streamed: c}
	}
	return w.choices[index]
}

// plans plans what becomes of the parts: of all of them at the end, and before it of those that are about to leave.
func (w *streamEdit) plans() error {
	if w.whole {
		for _, g := range w.stream.parts {
			if err := w.plan(g); err != nil {
				return err
			}
		}
		return nil
	}
	for _, e := range w.events {
		for _, g := range e.refs {
			if g == nil || g.copy {
				continue
			}
			if err := w.plan(g); err != nil {
				return err
			}
		}
	}
	return w.plansAhead()
}

func (w *streamEdit) plan(g *growing) error {
	p := w.parts[g.place]
	if !w.edits(g) {
		return nil
	}
	c := w.choice(g.part.Choice)
	if g.part.Kind == gatehouse.Opaque || c == nil {
		return fmt.Errorf("%s cannot be edited", g.part.Path)
	}
	c.rewritten = c.rewritten || g.member == "content"
	if w.gone(g) {
		if c.removed = true; g.sent {
			return errGone
		}
		if !w.told(c, g) {
			c.notices = append(c.notices, p.Notice)
		}
	}
	return nil
}

// errGone says that what was sent cannot be taken back.
var errGone = errors.New("a call was taken away after it had been sent")

// told reports whether another call that goes says the same as the function_call, so that its notice will do for both.
func (w *streamEdit) told(c *streamedEdit, g *growing) bool {
	for _, twin := range c.parts {
		if g.repeats(twin) && w.gone(twin) && w.parts[twin.place].Notice != "" {
			return true
		}
	}
	return false
}

func (w *streamEdit) edits(g *growing) bool { return w.gone(g) || len(w.changesOf(g)) > 0 }

// changesOf are the replacements in a part that stays.
func (w *streamEdit) changesOf(g *growing) []gatehouse.Edit {
	list, known := w.changes[g]
	if known || w.gone(g) {
		return list
	}
	p := w.parts[g.place]
	if list = p.Changes(); w.whole {
		list = wire.Changes(p, g.text.String(), wire.Final(p))
	}
	w.changes[g] = list
	return list
}

func (w *streamEdit) gone(g *growing) bool {
	return w.whole && g.part.Kind == gatehouse.ToolCall && w.parts[g.place].Removed
}

func (w *streamEdit) bytes() ([]byte, error) {
	size := 0
	for _, e := range w.events {
		size += len(e.raw)
	}
	w.out = make([]byte, 0, size)
	if w.whole {
		for _, c := range w.choices {
			w.renumber(c)
		}
	}
	for i, e := range w.events {
		if err := w.event(w.first+i, e); err != nil {
			return nil, err
		}
	}
	if !w.whole {
		return w.out, nil
	}
	if err := w.additions(func(*streamedEdit) bool { return true }); err != nil {
		return nil, err
	}
	for _, g := range w.stream.parts {
		if !w.gone(g) && g.cutter(w).Rest(w.changesOf(g)) != "" {
			return nil, fmt.Errorf("%s cannot be edited", g.part.Path)
		}
	}
	return w.out, nil
}

// renumber closes the gaps that removed calls leave, and sets added text off from the content before it.
func (w *streamEdit) renumber(c *streamedEdit) {
	var kept []*growing
	for _, g := range c.parts {
		switch {
		case g.part.Kind == gatehouse.ToolCall && !w.gone(g):
			kept = append(kept, g)
		case g.part.Kind == gatehouse.Text && g.member == "content" && wire.Final(w.parts[g.place]) != "" && c.added != "":
			c.added = separator + c.added
		}
	}
	if !c.removed {
		return
	}
	c.stopped, c.indices = len(kept) == 0, map[*growing]int{}
	sort.SliceStable(kept, func(i, j int) bool { return kept[i].index < kept[j].index })
	for _, g := range kept {
		if g.member == "tool_calls" {
			c.indices[g] = len(c.indices)
		}
	}
}

// event writes one event, with what was added to choices that end here before it.
func (w *streamEdit) event(i int, e event) error {
	raw := e.raw
	if e.doc != nil && len(w.choices) > 0 {
		c, err := readChunk(e.doc)
		if err != nil {
			return err
		}
		if raw, err = w.chunk(i, e, c); err != nil {
			return err
		}
	} else {
		w.pass(e)
	}
	ends := func(c *streamedEdit) bool { return e.done || c.finish == i }
	if err := w.additions(ends); err != nil {
		return err
	}
	w.out = append(w.out, raw...)
	return nil
}

// pass lets the texts of an event go by as they are.
func (w *streamEdit) pass(e event) {
	for i, g := range e.refs {
		if g != nil {
			g.cutter(w).Pass(e.ends[i])
		}
	}
}

// chunk is the event after its edits; nil when nothing is left of it.
func (w *streamEdit) chunk(i int, e event, c chunk) ([]byte, error) {
	refs, empty := e.refs, !c.root.Get("usage").Exists()
	var patches []rawjson.Patch
	for _, one := range c.choices {
		n := len(one.message.items) + len(one.message.calls)
		d := deltaEdit{streamEdit: w, choice: one, doc: c.doc, refs: refs[:n], edit: w.choices[one.index]}
		refs = refs[n:]
		if d.run(i); d.err != nil {
			return nil, d.err
		}
		patches = append(patches, d.patches...)
		empty = empty && !d.keep
	}
	switch {
	case len(patches) == 0:
		return e.raw, nil
	case empty:
		return nil, nil
	}
	return wire.WithData(e.raw, e.name, e.doc, rawjson.Splice(e.doc, patches)), nil
}

// additions writes the added texts of the choices that are chosen, each as a chunk of its own, once.
func (w *streamEdit) additions(chosen func(*streamedEdit) bool) error {
	var indices []int
	for index, c := range w.choices {
		if c.added != "" && chosen(c) {
			indices = append(indices, index)
		}
	}
	sort.Ints(indices)
	for _, index := range indices {
		if err := w.add(w.choices[index]); err != nil {
			return err
		}
	}
	return nil
}

// add writes a chunk like the choice's first one, with the same envelope.
func (w *streamEdit) add(c *streamedEdit) error {
	if len(w.out) > 0 && !wire.Ended(w.out) {
		w.out = append(w.out, "\n\n"...) // the stream was cut within an event
	}
	out, err := c.like(w.out, `{"content":`+string(rawjson.Quote(c.added))+`}`, "null")
	if err != nil {
		return err
	}
	w.out, c.added = out, ""
	return nil
}

// like writes an event like the choice's first one, with another delta and finish reason.
func (c *streamed) like(out []byte, delta, finish string) ([]byte, error) {
	root, err := wire.ParseObject(c.doc, wire.MaxDepth)
	if err != nil {
		return nil, err
	}
	patches := []rawjson.Patch{rawjson.Set(root.Get("choices"), `[{"index":`+strconv.Itoa(c.index)+`,"delta":`+delta+`,"finish_reason":`+finish+`}]`)}
	if usage := root.Get("usage"); usage.Exists() {
		patches = append(patches, rawjson.Set(usage, "null"))
	}
	return sse.Append(out, c.name, string(rawjson.Splice(c.doc, patches))), nil
}
