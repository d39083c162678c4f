package completions

import (
	"fmt"
	"slices"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/sse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// Bytes writes the answer. What the gateway adds to a choice stands behind its text.
func (s *stream) Bytes(parts []gatehouse.Part) ([]byte, error) {
	w := &writer{stream: s}
	return w.write(parts, s.chunks, true)
}

// writer writes an answer, all at once or piece by piece.
type writer struct {
	*stream
	cutters map[*growing]*wire.Cutter
	changes map[*growing][]gatehouse.Edit
	added   map[int]string // texts for the ends of choices
	out     []byte
}

// write writes chunks; last says that they are the last ones and that all is decided.
func (w *writer) write(parts []gatehouse.Part, chunks []chunk, last bool) ([]byte, error) {
	own, inserted, err := wire.Align(parts, len(w.parts))
	if err != nil {
		return nil, err
	}
	if w.cutters == nil {
		w.cutters = map[*growing]*wire.Cutter{}
	}
	w.out, w.changes, w.added = nil, map[*growing][]gatehouse.Edit{}, map[int]string{}
	if last {
		for _, g := range w.parts {
			w.changes[g] = wire.Changes(own[g.place], g.text.String(), wire.Final(own[g.place]))
		}
		if err := w.add(own, inserted); err != nil {
			return nil, err
		}
	} else {
		for _, c := range chunks {
			for _, r := range c.refs {
				if r.growing != nil {
					w.changes[r.growing] = own[r.place].Changes()
				}
			}
			for _, of := range c.ahead { // what it tells of a text goes with an edit of it
				if of.text != nil {
					w.changes[of.text] = own[of.text.place].Changes()
				}
			}
		}
	}
	for i, c := range chunks {
		for _, index := range w.choices(func(of *streamed) bool { return of.finish == w.sent+i || c.doc == nil && c.last }) {
			w.additions(index)
		}
		raw, err := w.chunk(c)
		if err != nil {
			return nil, err
		}
		w.out = append(w.out, raw...)
	}
	for _, index := range w.choices(func(*streamed) bool { return true }) {
		w.additions(index)
	}
	return w.out, nil
}

// add plans what is added to each choice.
func (w *writer) add(own, inserted []gatehouse.Part) error {
	for _, p := range inserted {
		of := w.of[p.Choice]
		switch {
		case p.Text == "":
			continue
		case of == nil:
			return fmt.Errorf("no choice %d to add text to", p.Choice)
		}
		text := w.added[p.Choice]
		if text != "" || of.text != nil && wire.Final(own[of.text.place]) != "" {
			text += separator
		}
		w.added[p.Choice] = text + p.Text
	}
	return nil
}

// separator stands between a text and what the gateway adds to it.
const separator = "\n\n"

// choices are those that are chosen and have something added, in order.
func (w *writer) choices(chosen func(*streamed) bool) (list []int) {
	for index, text := range w.added {
		if text != "" && chosen(w.of[index]) {
			list = append(list, index)
		}
	}
	slices.Sort(list)
	return list
}

// additions writes what is added to a choice, as a chunk of its own; in a whole answer it stands with the text.
func (w *writer) additions(index int) {
	if w.whole {
		return
	}
	if len(w.out) > 0 && !wire.Ended(w.out) {
		w.out = append(w.out, "\n\n"...) // the stream was cut within an event
	}
	w.out = w.of[index].like(w.out, answer{Index: index, Text: w.added[index]})
	w.added[index] = ""
}

// like writes a chunk like the choice's first one, with another choice in it.
func (of *streamed) like(out []byte, a answer) []byte {
	root, err := rawjson.Parse(of.doc, wire.MaxDepth)
	if err != nil {
		return out // it has been read before, so this does not happen
	}
	patches := []rawjson.Patch{rawjson.Set(root.Get("choices"), string(encode([]answer{a})))}
	if usage := root.Get("usage"); usage.Exists() {
		patches = append(patches, rawjson.Set(usage, "null"))
	}
	return sse.Append(out, "", string(rawjson.Splice(of.doc, patches)))
}

// chunk is a chunk after its edits.
func (w *writer) chunk(c chunk) ([]byte, error) {
	texts, edited, err := w.cut(c)
	if err != nil {
		return nil, err
	}
	if c.doc == nil || !edited {
		return c.raw, nil
	}
	_, list, err := read(c.doc)
	if err != nil {
		return nil, err
	}
	var patches []rawjson.Patch
	for i, one := range list {
		text := texts[i]
		if w.whole {
			text += w.added[one.index]
			w.added[one.index] = ""
		}
		if one.text.Text(c.doc) != text {
			if one.text.Kind != rawjson.String {
				return nil, fmt.Errorf("choice %d has no text to add to", one.index)
			}
			patches = append(patches, rawjson.SetText(one.text, text))
		}
		if g := w.of[one.index].text; one.logprobs.Exists() && (text != one.text.Text(c.doc) || g != nil && len(w.changes[g]) > 0) {
			patches = append(patches, rawjson.Set(one.logprobs, "null"))
		}
	}
	doc := rawjson.Splice(c.doc, patches)
	switch {
	case w.whole:
		return doc, nil
	case len(patches) == 0:
		return c.raw, nil
	}
	return wire.WithData(c.raw, c.name, c.doc, doc), nil
}

// cut is what becomes of each text that a chunk brings; edited says that the chunk may change.
func (w *writer) cut(c chunk) (texts []string, edited bool, err error) {
	edited = w.whole && len(w.added) > 0
	for _, changes := range w.changes { // log probabilities may come without a text
		edited = edited || len(changes) > 0
	}
	for _, r := range c.refs {
		text := ""
		if r.growing != nil {
			cutter := w.cutters[r.growing]
			if cutter == nil {
				cutter = &wire.Cutter{}
				w.cutters[r.growing] = cutter
			}
			if text, err = cutter.Cut(r.text.String()[r.from:r.to], w.changes[r.growing]); err != nil {
				return nil, false, err
			}
		}
		texts = append(texts, text)
	}
	return texts, edited, nil
}
