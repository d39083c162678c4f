package anthropic

import (
	"strconv"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/sse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// Bytes writes the events for these parts. A stream that ended early stays without its end.
func (s *stream) Bytes(parts []gatehouse.Part) ([]byte, error) {
	w := &streamWriter{from: s}
	return w.write(parts, wire.Free, true)
}

// Next implements [wire.Incremental].
func (s *stream) Next(parts []gatehouse.Part, free func(part int) int, last bool) ([]byte, error) {
	if s.live == nil {
		s.live = &streamWriter{from: s}
	}
	out, err := s.live.write(parts, free, last)
	size := 0
	for _, e := range s.live.events {
		size += e.size
	}
	n := len(s.live.events)
	clear(s.events[:n])
	s.events, s.raw, s.sent = s.events[n:], s.raw[size:], s.sent+n
	return out, err
}

// Held implements [wire.Incremental].
func (s *stream) Held() int { return len(s.raw) }

// turn is what the stream has said so far.
func (s *stream) turn() turn {
	slots := append([]slot(nil), s.read.slots...)
	for _, f := range s.flows {
		if f.slot != noSlot {
			slots[f.slot].part.Text = string(f.text)
		}
	}
	return turn{blocks: s.blocks, slots: slots}
}

// streamWriter writes a stream, all at once or piece by piece.
type streamWriter struct {
	from    *stream
	events  []event // those that are to be written, from number begin on
	begin   int
	at      int // where the bytes of the next one begin in from.raw
	plan    plan
	changes map[int][]gatehouse.Edit // by slot
	cutters map[int]*wire.Cutter     // by slot
	slots   []slot
	numbers []int  // new index of each block that is kept
	still   []bool // for each block that it is kept, while the stream goes on
	first   int    // index of the first new block
	place   int    // the new blocks stand before this event; nowhere when it is negative
	out     []byte
}

// write writes what is free of the events that are held.
func (w *streamWriter) write(parts []gatehouse.Part, free func(part int) int, last bool) ([]byte, error) {
	w.events, w.begin, w.at, w.out = w.from.events, w.from.sent, 0, nil
	if w.cutters == nil {
		w.cutters = map[int]*wire.Cutter{}
	}
	w.changes = map[int][]gatehouse.Edit{}
	t := turn{w.from.blocks, w.from.read.slots}
	if last {
		t = w.from.turn()
	}
	w.slots = t.slots
	switch _, _, err := wire.Align(parts, len(t.slots)); {
	case err != nil:
		return nil, err
	case last:
		if err := w.end(t, parts); err != nil {
			return nil, err
		}
	default:
		if w.events = w.events[:w.ready(free)]; len(w.events) == 0 {
			return nil, nil
		}
		w.growing(parts)
	}
	if w.untouched() {
		return w.pass(), nil
	}
	for i := range w.events {
		if w.begin+i == w.place {
			w.added()
		}
		if err := w.event(w.begin + i); err != nil {
			return nil, err
		}
		w.at += w.events[i].size
	}
	if w.place == w.begin+len(w.events) {
		w.added()
	}
	return w.out, nil
}

// growing is the plan while nothing but texts can change: those of the events that are about to leave.
func (w *streamWriter) growing(parts []gatehouse.Part) {
	w.place = -1
	w.plan = plan{text: map[int]string{}}
	for len(w.still) < len(w.from.blocks) {
		w.still = append(w.still, false)
		w.numbers = append(w.numbers, int(w.from.flows[len(w.still)-1].index))
	}
	for n, e := range w.events {
		if e.in == noBlock {
			continue
		}
		f := &w.from.flows[e.in]
		of := f.slots
		if w.begin+n != f.start {
			of = f.deltas()
		}
		for _, i := range of {
			if changes := parts[i].Changes(); len(changes) > 0 {
				if w.changes[i], w.plan.text[i] = changes, ""; i != f.slot { // what deltas bring is cut piece by piece
					w.plan.text[i] = gatehouse.Splice(w.slots[i].part.Text, changes)
				}
			}
		}
	}
	if len(w.plan.text) > 0 {
		w.plan.gone = w.still
	}
}

// end is the plan when all is decided.
func (w *streamWriter) end(t turn, parts []gatehouse.Part) (err error) {
	if w.plan, err = t.plan(parts); err != nil {
		return err
	}
	for i, text := range w.plan.text {
		w.changes[i] = wire.Changes(parts[i], t.slots[i].part.Text, text)
	}
	for n, gone := range w.plan.gone {
		if gone && w.from.flows[n].start < w.begin {
			return errGone
		}
	}
	w.numbers = nil
	return w.number()
}

// untouched reports whether the events leave as they came. Indices that have gaps are the provider's own affair then.
func (w *streamWriter) untouched() bool { return w.plan.empty() }

// pass writes all events as they came.
func (w *streamWriter) pass() []byte {
	size := 0
	for _, e := range w.events {
		size += e.size
		if e.in != noBlock && w.from.flows[e.in].slot != noSlot {
			w.cutter(e.in).Pass(e.upto)
		}
	}
	return w.from.raw[:size:size]
}

// cutter is the one of the text that the deltas of a block bring.
func (w *streamWriter) cutter(n int) *wire.Cutter {
	slot := w.from.flows[n].slot
	if w.cutters[slot] == nil {
		w.cutters[slot] = &wire.Cutter{}
	}
	return w.cutters[slot]
}

// ready is how many of the events that are held may leave. Texts that are added, and why the turn ends, are not known before
// its end.
func (w *streamWriter) ready(free func(part int) int) int {
	for n, e := range w.events {
		if e.in == noBlock {
			if e.kind == "message_delta" || e.kind == "message_stop" || e.data == "[DONE]" {
				return n
			}
			continue
		}
		f := &w.from.flows[e.in]
		if e.cite && f.slot != noSlot && free(f.slot) != gatehouse.Everything { // it may quote what is still to come, and an edit takes it away
			return n
		}
		for f.clear < len(f.slots) && (f.slots[f.clear] == f.slot || w.leaves(e, f.slots[f.clear], free(f.slots[f.clear]))) {
			f.clear++
		}
		if f.clear < len(f.slots) || f.slot != noSlot && !w.leaves(e, f.slot, free(f.slot)) {
			return n
		}
	}
	return len(w.events)
}

// leaves reports whether an event may leave of whose block's slot i so many bytes are free.
func (w *streamWriter) leaves(e event, i, most int) bool {
	switch s := w.slots[i]; {
	case most == gatehouse.Everything:
		return true
	case s.part.Kind == gatehouse.ToolCall || s.part.Kind == gatehouse.Opaque || s.part.Signed:
		return false
	case i == w.from.flows[e.in].slot:
		return e.upto <= most
	default: // it stands in the event that began the block
		return len(s.part.Text) <= most
	}
}

// number counts the blocks anew, without gaps: the SDKs take the index for a place in a list.
func (w *streamWriter) number() error {
	next := 0
	for n := range w.from.blocks {
		if n == w.plan.before {
			w.first, next = next, next+len(w.plan.added)
		}
		if f := w.from.flows[n]; f.start < w.begin { // it has begun to leave
			next = int(f.index)
		}
		w.numbers = append(w.numbers, next)
		if !w.plan.gone[n] {
			next++
		}
	}
	if len(w.plan.added) == 0 {
		w.place = -1
		return nil
	}
	if w.plan.before < len(w.from.blocks) {
		if w.place = w.from.flows[w.plan.before].start; w.place < w.begin {
			return errGone
		}
		return nil
	}
	w.first, w.place = next, w.begin
	begun := w.begin > 0
	for i, e := range w.events {
		if e.in != noBlock || e.kind == "message_start" {
			w.place, begun = w.begin+i+1, true
		}
	}
	if !begun {
		return errNoMessage
	}
	return nil
}

// added writes the new blocks.
func (w *streamWriter) added() {
	for i, text := range w.plan.added {
		index := strconv.Itoa(w.first + i)
		w.author("content_block_start", `{"type":"content_block_start","index":`+index+
			`,"content_block":{"type":"text","text":""}}`)
		w.delta(w.first+i, gatehouse.Text, text)
		w.author("content_block_stop", `{"type":"content_block_stop","index":`+index+`}`)
	}
}

func (w *streamWriter) author(name, data string) { w.out = sse.Append(w.out, name, data) }

func (w *streamWriter) delta(index int, kind gatehouse.Kind, text string) {
	delta := `"text_delta","text":`
	if kind == gatehouse.ToolCall {
		delta = `"input_json_delta","partial_json":`
	}
	w.author("content_block_delta", `{"type":"content_block_delta","index":`+strconv.Itoa(index)+
		`,"delta":{"type":`+delta+string(rawjson.Quote(text))+`}}`)
}

func (w *streamWriter) event(i int) error {
	e := w.get(i)
	switch {
	case e.in != noBlock:
		if w.plan.gone[e.in] {
			return nil
		}
		return w.blockEvent(i)
	case e.kind == "message_delta" && w.plan.ended:
		return w.patched(i, func(doc []byte, root rawjson.Value) []rawjson.Patch {
			return endTurn(doc, root.Get("delta"))
		})
	}
	w.raw(i)
	return nil
}

func (w *streamWriter) get(i int) event { return w.events[i-w.begin] }

// raw writes the event that is written now as it came.
func (w *streamWriter) raw(i int) { w.out = append(w.out, w.from.raw[w.at:w.at+w.get(i).size]...) }

// patched writes an event with changes in its data, as it came when there are none.
func (w *streamWriter) patched(i int, change func(doc []byte, root rawjson.Value) []rawjson.Patch) error {
	e := w.get(i)
	doc := []byte(e.data)
	root, err := wire.ParseObject(doc, wire.MaxDepth)
	if err != nil {
		return err
	}
	patches := change(doc, root)
	if len(patches) == 0 {
		w.raw(i)
		return nil
	}
	w.author(e.name, string(rawjson.Splice(doc, patches)))
	return nil
}

// blockEvent writes an event of a block that is kept. Of an edited block, deltas of whose text nothing is left go, and so do
// citations, which quote it.
func (w *streamWriter) blockEvent(i int) error {
	e, f := w.get(i), w.from.flows[w.get(i).in]
	if f.slot == noSlot {
		return w.patched(i, func(_ []byte, root rawjson.Value) []rawjson.Patch {
			patches := w.renumber(e, root)
			if i == f.start {
				patches = append(patches, w.startPatches(e.in, "")...)
			}
			return patches
		})
	}
	changes := w.changes[f.slot]
	_, edited := w.plan.text[f.slot]
	if edited && e.cite && i != f.start {
		return nil
	}
	cutter := w.cutter(e.in)
	text, err := cutter.Cut(w.piece(e, i), changes)
	if edited && i == f.delta && len(f.text) == 0 { // the deltas that came were empty
		text = cutter.Rest(changes)
	}
	if err != nil || edited && e.text && text == "" {
		return err
	}
	err = w.patched(i, func(_ []byte, root rawjson.Value) []rawjson.Patch {
		patches := w.renumber(e, root)
		switch {
		case i == f.start:
			patches = append(patches, w.startPatches(e.in, text)...)
		case edited && e.text:
			delta := root.Get("delta")
			v := delta.Get(textMember(delta.Get("type").Text([]byte(e.data))))
			patches = append(patches, rawjson.Patch{Start: v.Start, End: v.End, With: rawjson.Quote(text)})
		}
		return patches
	})
	if edited && i == f.start && f.delta == noDelta { // no delta came that could bring it
		kind, rest := w.slots[f.slot].part.Kind, cutter.Rest(changes)
		if kind == gatehouse.ToolCall || rest != "" {
			w.delta(w.numbers[e.in], kind, rest)
		}
	}
	return err
}

// piece is what an event has brought of its block's text.
func (w *streamWriter) piece(e event, i int) string {
	if i != w.from.flows[e.in].start && !e.text {
		return ""
	}
	root, err := wire.ParseObject([]byte(e.data), wire.MaxDepth)
	if err != nil {
		return "" // it has been read before, so this does not happen
	}
	if e.text {
		delta := root.Get("delta")
		return delta.Get(textMember(delta.Get("type").Text([]byte(e.data)))).Text([]byte(e.data))
	}
	return w.initial(root.Get("content_block"), []byte(e.data), e.in)
}

// initial is the beginning of its text that stands in the event that began a block.
func (w *streamWriter) initial(b rawjson.Value, doc []byte, n int) string {
	switch w.from.blocks[n].kind {
	case "text":
		return b.Get("text").Text(doc)
	case "thinking":
		return b.Get("thinking").Text(doc)
	}
	return ""
}

func (w *streamWriter) renumber(e event, root rawjson.Value) []rawjson.Patch {
	if int64(w.numbers[e.in]) == w.from.flows[e.in].index {
		return nil
	}
	v := root.Get("index")
	return []rawjson.Patch{{Start: v.Start, End: v.End, With: strconv.AppendInt(nil, int64(w.numbers[e.in]), 10)}}
}

// startPatches are the changes to the event that began a block: results of hosted tools stand in it whole, of other
// blocks it holds the beginning.
func (w *streamWriter) startPatches(n int, beginning string) []rawjson.Patch {
	var patches []rawjson.Patch
	for _, i := range w.from.flows[n].slots {
		slot := w.slots[i]
		text, edited := w.plan.text[i]
		if !edited {
			continue
		}
		if i == w.from.flows[n].slot {
			text = beginning
			if slot.part.Kind == gatehouse.ToolCall {
				text = "{}"
			}
		}
		patches = append(patches, slot.patches(text)...)
	}
	return patches
}
