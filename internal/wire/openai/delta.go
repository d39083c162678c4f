package openai

import (
	"strconv"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
)

// deltaEdit makes the patches of one choice of one chunk.
type deltaEdit struct {
	*streamEdit
	choice
	doc     []byte
	refs    []*growing    // for each item and then each call of the delta
	edit    *streamedEdit // nil when no edit touches the choice
	keep    bool          // there is something in it that a client wants
	patches []rawjson.Patch
	err     error // a text was changed that had left
}

// run edits the choice in event number at.
func (d *deltaEdit) run(at int) {
	finish := d.value.Get("finish_reason")
	d.keep = finish.Exists() || d.message.more
	if d.edit == nil {
		d.keep = true
		d.pass()
		return
	}
	d.texts(at)
	d.calls()
	if annotations := d.message.value.Get("annotations"); d.edit.rewritten && len(annotations.Elems) > 0 {
		d.patches = append(d.patches, rawjson.Set(annotations, "[]"))
	}
	if d.edit.stopped {
		d.patches = append(d.patches, stop(finish, d.doc)...)
	}
	if logprobs := d.value.Get("logprobs"); logprobs.Exists() {
		d.patches = append(d.patches, rawjson.Set(logprobs, "null"))
	}
}

func (d *deltaEdit) texts(event int) {
	texts := make([]string, len(d.message.items))
	last := -1 // the content that ends here
	for i, item := range d.message.items {
		texts[i] = d.text(i, item)
		if item.kind == gatehouse.Text && item.member == "content" && texts[i] != "" {
			last = i
		}
		d.keep = d.keep || texts[i] != "" || item.kind == gatehouse.Opaque
	}
	// Text that comes with the finish reason comes before what was added.
	if last >= 0 && d.edit.finish == event {
		texts[last] += d.edit.added
		d.edit.added = ""
	}
	for i, item := range d.message.items {
		if item.kind != gatehouse.Opaque && texts[i] != item.at.Text(d.doc) {
			d.patches = append(d.patches, rawjson.SetText(item.at, texts[i]))
		}
	}
}

// pass lets all texts go by as they are.
func (d *deltaEdit) pass() {
	for i, item := range d.message.items {
		d.text(i, item)
	}
	for i, piece := range d.message.calls {
		d.cut(d.refs[len(d.message.items)+i], piece.at.Text(d.doc))
	}
}

// text is what an item's delta becomes.
func (d *deltaEdit) text(i int, item item) string {
	return d.cut(d.refs[i], item.at.Text(d.doc))
}

func (d *deltaEdit) cut(g *growing, delta string) string {
	if g == nil {
		return delta
	}
	text, err := g.cutter(d.streamEdit).Cut(delta, d.changesOf(g))
	if err != nil {
		d.err = err
	}
	return text
}

func (d *deltaEdit) calls() {
	gone := map[int]bool{} // by where the piece begins
	for i, piece := range d.message.calls {
		g := d.refs[len(d.message.items)+i]
		if d.gone(g) {
			if gone[piece.elem.Start] = true; piece.member == "function_call" {
				d.patches = append(d.patches, rawjson.Set(piece.elem, "null"))
			}
			continue
		}
		d.keep = true
		if at, ok := d.edit.indices[g]; ok && at != g.index && piece.elem.Get("index").Exists() {
			d.patches = append(d.patches, rawjson.Set(piece.elem.Get("index"), strconv.Itoa(at)))
		}
		if delta := piece.at.Text(d.doc); piece.at.Kind == rawjson.String {
			if text := d.cut(g, delta); text != delta {
				d.patches = append(d.patches, rawjson.SetText(piece.at, text))
			}
		}
	}
	list := d.message.value.Get("tool_calls")
	removed := rawjson.RemoveElems(list, func(i int) bool { return gone[list.Elems[i].Start] })
	if len(removed) > 0 && len(removed) == len(list.Elems) {
		p, _ := rawjson.RemoveMember(d.message.value, "tool_calls")
		removed = []rawjson.Patch{p}
	}
	d.patches = append(d.patches, removed...)
}
