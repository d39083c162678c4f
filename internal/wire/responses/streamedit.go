package responses

import (
	"bytes"
	"strconv"

	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/sse"
)

// streamEdit writes a stream whose parts were edited.
type streamEdit struct {
	*stream
	*plan
	out    []byte
	number int64 // of the next event; events count up
	begun  bool  // an event with a number is out
	told   bool  // the added message is out
}

func (w *streamEdit) bytes() ([]byte, error) {
	for _, e := range w.events {
		if !w.changed {
			w.out = append(w.out, e.raw...)
			continue
		}
		if err := w.event(e); err != nil {
			return nil, err
		}
	}
	w.tell()
	return w.out, nil
}

// event writes one event, with what was added before it where it is the last.
func (w *streamEdit) event(e event) error {
	if e.ends {
		w.tell()
	}
	if e.doc == nil {
		w.out = append(w.out, e.raw...)
		return nil
	}
	if w.gone[e.index] || e.about != nil && w.edits(e.about) { // annotations quote offsets of the text as it was
		return nil
	}
	v, err := readEvent(e.doc, e.name)
	if err != nil {
		return err
	}
	patches, err := w.patches(e, v)
	if err != nil {
		return err
	}
	patches = append(patches, w.rename(e.doc, e.index, v.root.Get("item_id"))...)
	if v.one != nil {
		patches = append(patches, w.rename(e.doc, e.index, v.one.value.Get("id"))...)
	}
	if at, ok := w.place[e.index]; ok && at != e.index {
		patches = append(patches, literal(v.root.Get("output_index"), strconv.FormatInt(at, 10)))
	}
	w.out = append(w.out, e.with(append(patches, w.count(v)...))...)
	return nil
}

func (w *streamEdit) patches(e event, v view) ([]rawjson.Patch, error) {
	switch {
	case v.object != nil:
		return w.object(e.doc, *v.object, e.items, e.refs, e.ends)
	case !v.grows:
		return w.copies(v.fields, e.refs)
	}
	var patches []rawjson.Patch
	for i, g := range e.refs {
		if g != nil && w.edits(g) && v.fields[i].at.Kind == rawjson.String {
			patches = append(patches, v.fields[i].patches(w.once(g))...)
		}
	}
	return patches, nil
}

// once is what a piece of an edited text becomes: the whole new text where it begins, nothing where it goes on.
func (w *streamEdit) once(g *growing) string {
	if w.written[g] {
		return ""
	}
	w.written[g] = true
	return final(w.plan.parts[g.place])
}

// count gives an event the number that follows from those before it.
func (w *streamEdit) count(v view) []rawjson.Patch {
	at := v.root.Get("sequence_number")
	n, ok := at.Int(v.doc)
	if !ok {
		return nil
	}
	if !w.begun {
		w.begun, w.number = true, n
	}
	w.number++
	if n == w.number-1 {
		return nil
	}
	return []rawjson.Patch{literal(at, strconv.FormatInt(w.number-1, 10))}
}

// with is the event's bytes with its data edited.
func (e event) with(patches []rawjson.Patch) []byte {
	if len(patches) == 0 {
		return e.raw
	}
	doc := rawjson.Splice(e.doc, patches)
	if bytes.IndexByte(e.doc, '\n') >= 0 || bytes.Count(e.raw, e.doc) != 1 { // the data stood on several lines
		return sse.Append(nil, e.name, string(doc))
	}
	return bytes.Replace(e.raw, e.doc, doc, 1)
}

// tell writes the events of the added message.
func (w *streamEdit) tell() {
	if w.told || w.added == "" {
		return
	}
	w.told = true
	if len(w.out) > 0 && !ended(w.out) {
		w.out = append(w.out, "\n\n"...) // the stream was cut within an event
	}
	id := ""
	if len(w.keys) > 0 {
		id = w.keys[0]
	}
	say := teller{at: w.at, number: w.number, numbered: w.begun}
	w.out = say.message(w.out, ownMessage(id), outputText(w.added))
	w.number = say.number
}

// ended reports whether the bytes end with a blank line, so that another event can follow.
func ended(stream []byte) bool {
	line := bytes.TrimSuffix(stream, []byte("\r\n"))
	if len(line) == len(stream) {
		line = bytes.TrimSuffix(bytes.TrimSuffix(stream, []byte("\n")), []byte("\r"))
	}
	return len(line) < len(stream) && (len(line) == 0 || line[len(line)-1] == '\n' || line[len(line)-1] == '\r')
}
