package openai

import (
	"bytes"
	"fmt"
	"sort"
	"strconv"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/sse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// streamEdit writes a stream whose parts were edited.
type streamEdit struct {
	*stream
	parts   []gatehouse.Part
	choices map[int]*streamedEdit // those that any edit touches
	written map[*growing]bool     // edited parts whose new text is out
	out     []byte
}

// streamedEdit is what happens to one choice.
type streamedEdit struct {
	*streamed
	added     string           // text for the end of the content
	rewritten bool             // the content changes, and what its annotations point at
	removed   bool             // a call goes
	stopped   bool             // and none is left
	indices   map[*growing]int // the new indices of the calls that stay
}

// choice is the edit of a choice, nil when the stream has none of that index, or began it in an event that was refused.
func (w *streamEdit) choice(index int) *streamedEdit {
	if c := w.stream.choices[index]; w.choices[index] == nil && c != nil && c.first < len(w.events) {
		w.choices[index] = &streamedEdit{streamed: c}
	}
	return w.choices[index]
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
		c.removed = true
		if !w.told(c, g) {
			c.added = join(c.added, p.Notice)
		}
	}
	return nil
}

// told reports whether another call that goes says the same as the function_call, so that its notice will do for both.
func (w *streamEdit) told(c *streamedEdit, g *growing) bool {
	for _, twin := range c.parts {
		if g.repeats(twin) && w.gone(twin) && w.parts[twin.place].Notice != "" {
			return true
		}
	}
	return false
}

func (w *streamEdit) edits(g *growing) bool {
	p := w.parts[g.place]
	return p.Removed || p.Text != g.text.String()
}

func (w *streamEdit) gone(g *growing) bool {
	return g.part.Kind == gatehouse.ToolCall && w.parts[g.place].Removed
}

func (w *streamEdit) bytes() ([]byte, error) {
	size := 0
	for _, e := range w.events {
		size += len(e.raw)
	}
	w.out = make([]byte, 0, size)
	for _, c := range w.choices {
		w.renumber(c)
	}
	for i, e := range w.events {
		if err := w.event(i, e); err != nil {
			return nil, err
		}
	}
	if err := w.additions(func(*streamedEdit) bool { return true }); err != nil {
		return nil, err
	}
	for _, g := range w.stream.parts {
		if w.edits(g) && !w.gone(g) && !w.written[g] && final(w.parts[g.place]) != "" {
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
		case g.part.Kind == gatehouse.Text && g.member == "content" && final(w.parts[g.place]) != "" && c.added != "":
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
		raw = w.chunk(i, e, c)
	}
	ends := func(c *streamedEdit) bool { return e.done || c.finish == i }
	if err := w.additions(ends); err != nil {
		return err
	}
	w.out = append(w.out, raw...)
	return nil
}

// chunk is the event after its edits; nil when nothing is left of it.
func (w *streamEdit) chunk(i int, e event, c chunk) []byte {
	refs, empty := e.refs, !c.root.Get("usage").Exists()
	var patches []rawjson.Patch
	for _, one := range c.choices {
		n := len(one.message.items) + len(one.message.calls)
		d := deltaEdit{streamEdit: w, choice: one, doc: c.doc, refs: refs[:n], edit: w.choices[one.index]}
		refs = refs[n:]
		d.run(i)
		patches = append(patches, d.patches...)
		empty = empty && !d.keep
	}
	switch {
	case len(patches) == 0:
		return e.raw
	case empty:
		return nil
	}
	return e.with(rawjson.Splice(e.doc, patches))
}

// with is the event's bytes with another chunk in it.
func (e event) with(doc []byte) []byte {
	if bytes.IndexByte(e.doc, '\n') >= 0 || bytes.Count(e.raw, e.doc) != 1 { // the chunk stood on several lines
		return sse.Append(nil, e.name, string(doc))
	}
	return bytes.Replace(e.raw, e.doc, doc, 1)
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
	e := w.events[c.first]
	root, err := wire.ParseObject(e.doc, wire.MaxDepth)
	if err != nil {
		return err
	}
	body := append([]byte(`[{"index":`+strconv.Itoa(c.index)+`,"delta":{"content":`), rawjson.Quote(c.added)...)
	body = append(body, `},"finish_reason":null}]`...)
	patches := []rawjson.Patch{literal(root.Get("choices"), string(body))}
	if usage := root.Get("usage"); usage.Exists() {
		patches = append(patches, literal(usage, "null"))
	}
	if len(w.out) > 0 && !ended(w.out) {
		w.out = append(w.out, "\n\n"...) // the stream was cut within an event
	}
	w.out = sse.Append(w.out, e.name, string(rawjson.Splice(e.doc, patches)))
	c.added = ""
	return nil
}

// ended reports whether the bytes end with a blank line, so that another event can follow.
func ended(stream []byte) bool {
	line := bytes.TrimSuffix(stream, []byte("\r\n"))
	if len(line) == len(stream) {
		line = bytes.TrimSuffix(bytes.TrimSuffix(stream, []byte("\n")), []byte("\r"))
	}
	return len(line) < len(stream) && (len(line) == 0 || line[len(line)-1] == '\n' || line[len(line)-1] == '\r')
}
