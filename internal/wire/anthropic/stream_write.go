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
	t := s.turn()
	p, err := t.plan(parts)
	if err != nil {
		return nil, err
	}
	if p.empty() {
		return s.raw, nil
	}
	w := &streamWriter{from: s, plan: p, slots: t.slots}
	if err := w.number(); err != nil {
		return nil, err
	}
	for i := range s.events {
		if i == w.place {
			w.added()
		}
		if err := w.event(i); err != nil {
			return nil, err
		}
	}
	if w.place == len(s.events) {
		w.added()
	}
	return w.out, nil
}

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

// streamWriter writes an edited stream.
type streamWriter struct {
	from    *stream
	plan    plan
	slots   []slot
	numbers []int // new index of each block that is kept
	first   int   // index of the first new block
	place   int   // the new blocks stand before this event
	out     []byte
}

// number counts the blocks anew, without gaps: the SDKs take the index for a place in a list.
func (w *streamWriter) number() error {
	next := 0
	for n := range w.from.blocks {
		if n == w.plan.before {
			w.first, next = next, next+len(w.plan.added)
		}
		w.numbers = append(w.numbers, next)
		if !w.plan.gone[n] {
			next++
		}
	}
	if w.plan.before < len(w.from.blocks) {
		w.place = w.from.flows[w.plan.before].start
		return nil
	}
	w.first = next
	for i, e := range w.from.events {
		if e.in != noBlock || e.kind == "message_start" {
			w.place = i + 1
		}
	}
	if w.place == 0 && len(w.plan.added) > 0 {
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
	e := w.from.events[i]
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

func (w *streamWriter) raw(i int) {
	from := 0
	if i > 0 {
		from = w.from.events[i-1].end
	}
	w.out = append(w.out, w.from.raw[from:w.from.events[i].end]...)
}

// patched writes an event with changes in its data, as it came when there are none.
func (w *streamWriter) patched(i int, change func(doc []byte, root rawjson.Value) []rawjson.Patch) error {
	e := w.from.events[i]
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

// blockEvent writes an event of a block that is kept. Of an edited block, the first delta carries the whole new text
// and the others go.
func (w *streamWriter) blockEvent(i int) error {
	e, f := w.from.events[i], w.from.flows[w.from.events[i].in]
	text, edited := "", false
	if f.slot != noSlot {
		text, edited = w.plan.text[f.slot]
	}
	if edited && i != f.delta && (e.text || w.isCitation(e)) {
		return nil
	}
	err := w.patched(i, func(_ []byte, root rawjson.Value) []rawjson.Patch {
		patches := w.renumber(e, root)
		switch {
		case i == f.start:
			patches = append(patches, w.startPatches(e.in)...)
		case edited && i == f.delta:
			delta := root.Get("delta")
			v := delta.Get(textMember(delta.Get("type").Text([]byte(e.data))))
			patches = append(patches, rawjson.Patch{Start: v.Start, End: v.End, With: rawjson.Quote(text)})
		}
		return patches
	})
	if edited && i == f.start && f.delta == noDelta {
		w.delta(w.numbers[e.in], w.slots[f.slot].part.Kind, text)
	}
	return err
}

func (w *streamWriter) isCitation(e event) bool {
	root, err := wire.ParseObject([]byte(e.data), wire.MaxDepth)
	return err == nil && root.Get("delta").Get("type").Text([]byte(e.data)) == "citations_delta"
}

func (w *streamWriter) renumber(e event, root rawjson.Value) []rawjson.Patch {
	if int64(w.numbers[e.in]) == w.from.flows[e.in].index {
		return nil
	}
	v := root.Get("index")
	return []rawjson.Patch{{Start: v.Start, End: v.End, With: strconv.AppendInt(nil, int64(w.numbers[e.in]), 10)}}
}

// startPatches are the changes to the event that began a block: results of hosted tools stand in it whole, of other
// blocks it holds the beginning, which an edited block does without.
func (w *streamWriter) startPatches(n int) []rawjson.Patch {
	var patches []rawjson.Patch
	for i := w.from.flows[n].first; i < len(w.slots) && w.slots[i].block <= n; i++ {
		slot := w.slots[i]
		text, edited := w.plan.text[i]
		if slot.block != n || !edited {
			continue
		}
		if i == w.from.flows[n].slot {
			text = ""
			if slot.part.Kind == gatehouse.ToolCall {
				text = "{}"
			}
		}
		patches = append(patches, slot.patches(text)...)
	}
	return patches
}
