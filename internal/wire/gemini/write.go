package gemini

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/sse"
)

// Bytes writes the answer for these parts. What was cut off stays cut off.
func (a *answer) Bytes(parts []gatehouse.Part) ([]byte, error) {
	own, inserted, err := checkCount(parts, len(a.runs))
	if err != nil {
		return nil, err
	}
	w := &writer{answer: a, edits: map[int]*edit{}}
	for _, r := range a.runs {
		if err := w.plan(r, own[r.place]); err != nil {
			return nil, err
		}
	}
	for _, p := range inserted {
		if p.Text == "" {
			continue
		}
		e := w.edit(p.Choice)
		if e == nil {
			return nil, fmt.Errorf("no candidate %d to add text to", p.Choice)
		}
		e.added = append(e.added, p.Text)
	}
	for _, e := range w.edits {
		e.keepSignature()
	}
	for i := range a.events {
		if err := w.event(i); err != nil {
			return nil, err
		}
	}
	return w.out, nil
}

// writer writes an answer whose parts may have been edited.
type writer struct {
	*answer
	edits map[int]*edit // by candidate; of one that no edit touches there is none
	lead  []byte        // of an array: what stood before elements that have gone, up to the first that is written
	out   []byte
}

// edit is the edit of a candidate, nil when the answer has no such candidate.
func (w *writer) edit(index int) *edit {
	c := w.candidates[index]
	if c == nil {
		return nil
	}
	e := w.edits[index]
	if e == nil {
		e = &edit{candidate: c, texts: map[*run]*rewriting{}, gone: map[*run]string{}, signed: map[*run][]byte{}, end: c.finish}
		if e.end < 0 {
			e.end = c.last
		}
		w.edits[index] = e
	}
	return e
}

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
		e.gone[r] = now.Notice
		if made.Tool == hostedCode && made.Kind == gatehouse.ToolCall {
			e.dropOutput(r)
		}
	default:
		e.texts[r] = rewrite(made.Text, final(now))
	}
	return nil
}

// event writes one event, and nothing where nothing is left of it.
func (w *writer) event(i int) error {
	e := w.events[i]
	if e.doc == nil || len(w.edits) == 0 {
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
		one := sayer{edit: w.edits[s.index], said: s, reader: c.reader, refs: refs[:n]}
		refs = refs[n:]
		if one.edit == nil {
			empty = false
			continue
		}
		if err := one.write(i); err != nil {
			return err
		}
		patches = append(patches, one.patches...)
		empty = empty && one.empty
	}
	switch {
	case len(patches) == 0:
		w.put(e, e.raw)
	case empty && w.array:
		if w.lead == nil && len(w.out) == 0 {
			w.lead = e.raw[:len(e.raw)-len(e.doc)]
		}
	case !empty:
		w.put(e, w.with(e, rawjson.Splice(e.doc, patches)))
	}
	return nil
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
	w.out = append(w.out, raw...)
}

// with is an event's bytes with another document in it.
func (w *writer) with(e event, doc []byte) []byte {
	switch {
	case w.whole:
		return doc
	case w.array:
		return append(append([]byte(nil), e.raw[:len(e.raw)-len(e.doc)]...), doc...)
	case bytes.IndexByte(e.doc, '\n') >= 0 || bytes.Count(e.raw, e.doc) != 1: // it stood on several lines
		return sse.Append(nil, e.name, string(doc))
	}
	return bytes.Replace(e.raw, e.doc, doc, 1)
}

// edit is what happens to one candidate.
type edit struct {
	*candidate
	texts  map[*run]*rewriting
	gone   map[*run]string // with the notices that stand in their places
	signed map[*run][]byte // calls that take over the signature of one that goes
	added  []string        // texts for the end
	end    int             // the event that they go to
	spoken bool            // a text has been written: another is set off from it
}

// dropOutput lets the output of code go along with the code.
func (e *edit) dropOutput(code *run) {
	for i, r := range e.runs {
		if r != code {
			continue
		}
		for _, next := range e.runs[i+1:] {
			if next.part.Kind == gatehouse.ToolResult && next.part.Tool == hostedCode {
				e.gone[next] = ""
				return
			}
		}
	}
}

// keepSignature hands the signature of a first call that goes to the first that stays: the API wants one on the first call of a
// turn when it is sent again.
func (e *edit) keepSignature() {
	var signature []byte
	for _, r := range e.runs {
		if r.part.Kind != gatehouse.ToolCall || r.part.Hosted() {
			continue
		}
		if _, gone := e.gone[r]; !gone {
			if signature != nil && r.signature == nil {
				e.signed[r] = signature
			}
			return
		}
		if signature == nil {
			signature = r.signature
		}
	}
}

// setOff is a text with the gap before it that parts it from what was said before.
func (e *edit) setOff(text string) string {
	if e.spoken {
		return separator + text
	}
	e.spoken = true
	return text
}

// rewriting is one change of a text that is spread over pieces: the bytes from..to become the middle.
type rewriting struct {
	old      string
	from, to int
	middle   string
	placed   bool
}

// rewrite finds the change between two texts. It never parts the bytes of a character.
func rewrite(old, now string) *rewriting {
	from := 0
	for from < len(old) && from < len(now) && old[from] == now[from] {
		from++
	}
	for from > 0 && (from < len(old) && inside(old[from]) || from < len(now) && inside(now[from])) {
		from--
	}
	tail := 0
	for tail < len(old)-from && tail < len(now)-from && old[len(old)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	for tail > 0 && inside(old[len(old)-tail]) {
		tail--
	}
	return &rewriting{old: old, from: from, to: len(old) - tail, middle: now[from : len(now)-tail]}
}

// inside reports whether a byte goes on with a character.
func inside(c byte) bool { return c&0xC0 == 0x80 }

// piece is the new text of a piece. The middle goes to the first that the change reaches.
func (r *rewriting) piece(start, end int) string {
	var b strings.Builder
	b.WriteString(r.old[start:max(start, min(end, r.from))])
	if !r.placed && (end > r.from || end == len(r.old)) {
		r.placed = true
		b.WriteString(r.middle)
	}
	b.WriteString(r.old[min(end, max(start, r.to)):end])
	return b.String()
}
