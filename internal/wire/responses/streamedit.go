package responses

import (
	"strconv"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// streamEdit writes a stream, all at once or piece by piece.
type streamEdit struct {
	*stream
	*plan
	cutters map[*growing]*wire.Cutter
	gate    wire.Gate // before the first event that is held
	looked  int64     // all items before it are reasoning, or were looked at when reasoning before them was
	out     []byte
	number  int64 // of the next event; events count up
	moved   int64 // what numbers behind the events that came and went are more than their own
	begun   bool  // an event with a number is out, or was left out
	told    bool  // the added message is out
	opened  bool  // an event that tells of the response is out
}

// Bytes writes the stream. What was cut off stays cut off: no terminal event is made up.
func (s *stream) Bytes(parts []gatehouse.Part) ([]byte, error) {
	w := &streamEdit{stream: s}
	return w.write(parts, s.events, true)
}

var _ wire.Incremental = (*stream)(nil)

// Next implements [wire.Incremental].
func (s *stream) Next(parts []gatehouse.Part, free func(part int) int, last bool) ([]byte, error) {
	if s.live == nil {
		s.live = &streamEdit{stream: s}
	}
	n := len(s.events)
	if !last {
		n = s.live.ready(free)
	}
	out, err := s.live.write(parts, s.events[:n], last)
	for _, e := range s.events[:n] {
		s.held -= len(e.raw)
		if o := s.items[e.index]; o != nil {
			o.sent = true
		}
	}
	clear(s.events[:n])
	s.events = s.events[n:]
	return out, err
}

// Held implements [wire.Incremental].
func (s *stream) Held() int { return s.held }

// write writes events; last says that they are the last ones and that all is decided.
func (w *streamEdit) write(parts []gatehouse.Part, events []event, last bool) (_ []byte, err error) {
	w.out = nil
	switch {
	case last:
		if w.plan, err = w.turn.plan(parts); err != nil {
			return nil, err
		}
	case len(events) == 0:
		return nil, nil
	default:
		own, _, err := wire.Align(parts, len(w.turn.parts))
		if err != nil {
			return nil, err
		}
		w.plan = &plan{parts: own, growing: true}
	}
	if w.cutters == nil {
		w.cutters = map[*growing]*wire.Cutter{}
	}
	size := 0
	for _, e := range events {
		size += len(e.raw)
	}
	w.out = make([]byte, 0, size)
	for _, e := range events {
		if err := w.event(e); err != nil {
			return nil, err
		}
	}
	if last {
		w.tell()
	}
	return w.out, nil
}

// event writes one event, with what was added before it where it is the last.
func (w *streamEdit) event(e event) error {
	if e.ends {
		w.tell()
	}
	if w.gone[e.index] || e.about != nil && w.edits(e.about) { // annotations quote offsets of the text as it was
		w.leaveOut(e)
		return nil
	}
	texts, err := w.cut(e)
	if err != nil {
		return err
	}
	number := w.count(e)
	if e.doc == nil || number == e.number && !w.touches(e) {
		w.pass(e)
		w.out = append(w.out, e.raw...)
		return nil
	}
	v, err := readEvent(e.doc, e.name)
	if err != nil {
		return err
	}
	patches, err := w.patches(e, v, texts)
	if err != nil {
		return err
	}
	if number != e.number {
		patches = append(patches, rawjson.Set(v.root.Get("sequence_number"), strconv.FormatInt(number, 10)))
	}
	doc := rawjson.Splice(e.doc, patches)
	if e.item != nil && len(patches) > 0 {
		if v, err = readEvent(doc, e.name); err != nil {
			return err
		}
		e.item = v.root.Get("item").Raw(doc)
	}
	w.pass(e)
	if len(patches) == 0 {
		w.out = append(w.out, e.raw...)
	} else {
		w.out = append(w.out, wire.WithData(e.raw, e.name, e.doc, doc)...)
	}
	return nil
}

// touches reports whether the plan may change an event.
func (w *streamEdit) touches(e event) bool {
	if !w.growing {
		return w.changed
	}
	for _, r := range e.refs {
		if r.growing != nil && w.edits(r.growing) {
			return true
		}
	}
	return false
}

// cut is what becomes of each text that an event brings.
func (w *streamEdit) cut(e event) ([]string, error) {
	texts := make([]string, len(e.refs))
	for i, r := range e.refs {
		if r.growing == nil || r.from == r.to {
			continue
		}
		c := w.cutters[r.growing]
		if c == nil {
			c = &wire.Cutter{}
			w.cutters[r.growing] = c
		}
		var err error
		if texts[i], err = c.Cut(r.text.String()[r.from:r.to], w.changes(r.growing)); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// pass notes what an event has told that leaves.
func (w *streamEdit) pass(e event) {
	w.opened = w.opened || e.whole
	if o := w.items[e.index]; o != nil && e.item != nil {
		o.last, o.ended = e.item, e.closes
	}
}

func (w *streamEdit) patches(e event, v view, texts []string) (patches []rawjson.Patch, err error) {
	switch {
	case v.object != nil:
		patches, err = w.object(e.doc, *v.object, e.items, e.refs, e.ends)
	case v.grows:
		patches = w.pieces(e, v, texts)
	default:
		patches, err = w.copies(v.fields, e.refs)
	}
	if err != nil {
		return nil, err
	}
	patches = append(patches, w.rename(e.doc, e.index, v.root.Get("item_id"))...)
	if v.one != nil {
		patches = append(patches, w.rename(e.doc, e.index, v.one.value.Get("id"))...)
	}
	if at, ok := w.place[e.index]; ok && at != e.index {
		patches = append(patches, rawjson.Set(v.root.Get("output_index"), strconv.FormatInt(at, 10)))
	}
	return patches, nil
}

// pieces are the patches of pieces of texts.
func (w *streamEdit) pieces(e event, v view, texts []string) (patches []rawjson.Patch) {
	for i, r := range e.refs {
		if r.growing != nil && w.edits(r.growing) && v.fields[i].at.Kind == rawjson.String {
			patches = append(patches, v.fields[i].patches(texts[i])...)
		}
	}
	return patches
}

// count is the number that an event gets: its own, moved by the events that went and came before it.
func (w *streamEdit) count(e event) int64 {
	if !e.numbered {
		return e.number
	}
	w.begun, w.number = true, e.number+w.moved+1
	return w.number - 1
}

// leaveOut lets the number of an event that goes be that of the next one.
func (w *streamEdit) leaveOut(e event) {
	if !e.numbered {
		return
	}
	if !w.begun {
		w.begun, w.number = true, e.number
	}
	w.moved--
}

// tell writes the events of the added message.
func (w *streamEdit) tell() {
	if w.told || w.added == "" {
		return
	}
	w.told = true
	if len(w.out) > 0 && !wire.Ended(w.out) {
		w.out = append(w.out, "\n\n"...) // the stream was cut within an event
	}
	id := ""
	if len(w.keys) > 0 {
		id = w.keys[0]
	}
	say := teller{at: w.at, number: w.number, numbered: w.begun}
	w.out = say.message(w.out, ownMessage(id), outputText(w.added))
	w.number, w.moved = say.number, w.moved+say.number-w.number
}
