package gemini

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// Bytes writes the answer for these parts. What was cut off stays cut off.
func (a *answer) Bytes(parts []gatehouse.Part) ([]byte, error) {
	w := &writer{answer: a}
	return w.write(parts, a.events, true)
}

// writer writes an answer whose parts may have been edited, all at once or piece by piece.
type writer struct {
	*answer
	parts   []gatehouse.Part
	ended   bool                      // the answer has ended, and all is decided
	first   int                       // the number of the first event that is to be written
	edits   map[int]*edit             // by candidate; of one that no edit touches there is none
	texts   map[*run][]gatehouse.Edit // the replacements in the texts that change, when all is decided
	cutters map[*run]*wire.Cutter     // of the texts that have begun to be written
	spoken  map[int]bool              // candidates of which a text has been written: another is set off from it
	begun   bool                      // something has been written
	lead    []byte                    // of an array: what stood before elements that have gone, up to the first that is written
	out     []byte
}

// write writes events; last says that they are the last ones and that all is decided.
func (w *writer) write(parts []gatehouse.Part, events []event, last bool) ([]byte, error) {
	own, inserted, err := wire.Align(parts, len(w.runs))
	if err != nil {
		return nil, err
	}
	if w.edits == nil {
		w.edits, w.cutters, w.spoken = map[int]*edit{}, map[*run]*wire.Cutter{}, map[int]bool{}
	}
	w.parts, w.ended, w.first, w.out = own, last, w.sent, nil
	if last {
		if err := w.conclude(inserted); err != nil {
			return nil, err
		}
	}
	for i, e := range events {
		if err := w.event(w.first+i, e); err != nil {
			return nil, err
		}
	}
	if last {
		w.additions()
	}
	return w.out, nil
}

// conclude plans what becomes of the runs when all is decided.
func (w *writer) conclude(inserted []gatehouse.Part) error {
	w.texts = map[*run][]gatehouse.Edit{}
	for _, r := range w.runs {
		if err := w.plan(r, w.parts[r.place]); err != nil {
			return err
		}
	}
	for _, p := range inserted {
		if p.Text == "" {
			continue
		}
		e := w.edit(p.Choice)
		if e == nil {
			return fmt.Errorf("no candidate %d to add text to", p.Choice)
		}
		e.added = append(e.added, p.Text)
	}
	for _, e := range w.edits {
		e.keepSignature()
		if e.end = e.finish; e.end < 0 {
			e.end = e.last
		}
	}
	return nil
}

// edit is the edit of a candidate, nil when the answer has no such candidate.
func (w *writer) edit(index int) *edit {
	c := w.candidates[index]
	if c == nil {
		return nil
	}
	e := w.edits[index]
	if e == nil {
		e = &edit{candidate: c, gone: map[*run]string{}, signed: map[*run][]byte{}, end: -1}
		w.edits[index] = e
	}
	return e
}

// errGone says that what was sent cannot be taken back.
var errGone = errors.New("a part was taken away after it had been sent")

// plan notes what becomes of a run.
func (w *writer) plan(r *run, now gatehouse.Part) error {
	made := r.made()
	if !changed(made, now) {
		return nil
	}
	e := w.edit(made.Choice)
	switch {
	case made.Kind == gatehouse.Opaque:
		return fmt.Errorf("%s cannot be removed", made.Path)
	case now.Removed && made.Kind != gatehouse.Text:
		if r.first < w.first {
			return errGone
		}
		e.gone[r] = now.Notice
		if made.Tool == hostedCode && made.Kind == gatehouse.ToolCall {
			e.dropOutput(r)
		}
	default:
		if w.texts[r] = wire.Changes(now, made.Text, wire.Final(now)); !now.Edited || now.Removed {
			w.texts[r] = []gatehouse.Edit{narrow(made.Text, wire.Final(now))}
		}
	}
	return nil
}

// changes are the replacements in a run that stays.
func (w *writer) changes(r *run) []gatehouse.Edit {
	switch {
	case fixed(r.part):
		return nil
	case w.ended:
		return w.texts[r]
	}
	return w.parts[r.place].Changes()
}

// event writes one event, and nothing where nothing is left of it.
func (w *writer) event(i int, e event) error {
	texts, err := w.cut(e)
	if err != nil {
		return err
	}
	if e.doc == nil || len(w.edits) == 0 {
		w.pass(e)
		w.put(e, e.raw)
		return nil
	}
	c, err := readChunk(e.doc)
	if err != nil {
		return err
	}
	var patches []rawjson.Patch
	refs, empty := e.refs, !w.whole && !c.blocked && len(c.candidates) > 0
	for _, s := range c.candidates {
		n := len(s.slots())
		one := sayer{edit: w.edits[s.index], said: s, reader: c.reader, refs: refs[:n], texts: texts[:n], spoken: w.spoken[s.index]}
		refs, texts = refs[n:], texts[n:]
		if one.edit == nil {
			empty = false
			continue
		}
		if err := one.write(i); err != nil {
			return err
		}
		w.spoken[s.index] = one.spoken
		patches = append(patches, one.patches...)
		empty = empty && one.empty
	}
	switch {
	case len(patches) == 0:
		w.put(e, e.raw)
	case empty && w.array:
		if w.lead == nil && !w.begun {
			w.lead = e.raw[:len(e.raw)-len(e.doc)]
		}
	case !empty:
		w.put(e, w.with(e, rawjson.Splice(e.doc, patches)))
	}
	return nil
}

// cut is what becomes of each piece of a text that an event brings. Candidates whose texts change are edited from then on.
func (w *writer) cut(e event) ([]string, error) {
	texts := make([]string, len(e.refs))
	for i, r := range e.refs {
		if r.run == nil {
			continue
		}
		c, changes := w.cutters[r.run], w.changes(r.run)
		if c == nil {
			c = &wire.Cutter{}
			w.cutters[r.run] = c
		}
		var err error
		if texts[i], err = c.Cut(r.run.text.String()[r.start:r.end], changes); err != nil {
			return nil, err
		}
		if len(changes) > 0 {
			w.edit(r.run.part.Choice)
		}
		if r.run.text.Len() == 0 {
			texts[i] = c.Rest(changes)
		}
	}
	return texts, nil
}

// pass notes which candidates an event lets speak that leaves as it came.
func (w *writer) pass(e event) {
	for _, r := range e.refs {
		if r.run != nil && r.run.part.Kind == gatehouse.Text && r.end > r.start {
			w.spoken[r.run.part.Choice] = true
		}
	}
}

// put writes an event. The first that is left of an array begins with the bracket, not with a comma.
func (w *writer) put(e event, raw []byte) {
	if w.lead != nil {
		at := bytes.IndexAny(raw, ",]")
		w.out = append(w.out, w.lead...)
		if raw = raw[at:]; raw[0] == ',' {
			raw = bytes.TrimLeft(raw[1:], " \t\r\n")
		}
		w.lead = nil
	}
	w.begun = true
	w.out = append(w.out, raw...)
}

// with is an event's bytes with another document in it.
func (w *writer) with(e event, doc []byte) []byte {
	switch {
	case w.whole:
		return doc
	case w.array:
		return append(append([]byte(nil), e.raw[:len(e.raw)-len(e.doc)]...), doc...)
	}
	return wire.WithData(e.raw, e.name, e.doc, doc)
}
