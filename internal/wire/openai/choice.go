package openai

import (
	"fmt"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// choiceEdit makes the patches of one choice of a response.
type choiceEdit struct {
	*response
	choice
	parts   []gatehouse.Part // of the whole response
	added   string           // text that goes to the end of the content
	patches []rawjson.Patch
}

func (e *choiceEdit) run() error {
	notices, removed, err := e.calls()
	if err != nil {
		return err
	}
	if e.added = join(append(notices, e.added)...); e.added != "" && e.message.value.Kind != rawjson.Object {
		return fmt.Errorf("choice %d has no message to add text to", e.index)
	}
	rewritten, err := e.texts()
	if err != nil {
		return err
	}
	e.addition(removed)
	if len(e.patches) > 0 {
		if logprobs := e.value.Get("logprobs"); logprobs.Exists() {
			e.patches = append(e.patches, rawjson.Set(logprobs, "null"))
		}
	}
	// The offsets of annotations refer to the content as it was.
	if annotations := e.message.value.Get("annotations"); rewritten && len(annotations.Elems) > 0 {
		e.patches = append(e.patches, rawjson.Set(annotations, "[]"))
	}
	return nil
}

// calls takes out the removed calls and edits the others. It reports the notices that stand for the removed ones, and
// whether the whole member tool_calls is to go.
func (e *choiceEdit) calls() (notices []string, all bool, err error) {
	gone := map[int]bool{} // by place in tool_calls
	kept, removed := 0, false
	for i, c := range e.message.calls {
		n := e.refs[len(e.message.items)+i]
		p := e.parts[n]
		switch {
		case !p.Removed:
			kept++
			if err := e.replace(n); err != nil {
				return nil, false, err
			}
			continue
		case c.member == "function_call":
			e.patches = append(e.patches, rawjson.Set(c.elem, "null"))
		default:
			gone[c.elem.Start] = true
			if c.copy.Exists() {
				e.patches = append(e.patches, rawjson.Set(c.copy, "null"))
			}
		}
		removed, notices = true, append(notices, p.Notice)
	}
	list := e.message.value.Get("tool_calls")
	if all = len(gone) > 0 && len(gone) == len(list.Elems); !all {
		e.patches = append(e.patches, rawjson.RemoveElems(list, func(i int) bool { return gone[list.Elems[i].Start] })...)
	}
	if removed && kept == 0 {
		e.patches = append(e.patches, stop(e.value.Get("finish_reason"), e.doc)...)
	}
	return notices, all, nil
}

// stop is the patch of a finish reason that promises calls which are gone.
func stop(reason rawjson.Value, doc []byte) []rawjson.Patch {
	switch reason.Text(doc) {
	case "tool_calls", "function_call":
		return []rawjson.Patch{rawjson.SetText(reason, "stop")}
	}
	return nil
}

// texts edits the texts that are parts, and reports whether any of the content changed.
func (e *choiceEdit) texts() (content bool, err error) {
	whole := e.message.value.Get("content")
	var cutter wire.Cutter
	var changes []gatehouse.Edit // of the content's texts, which are one part: they may be many
	part := -1
	for i, item := range e.message.items {
		n := e.refs[i]
		if n < 0 || n != part && !changed(e.slots[n].part, e.parts[n]) {
			continue
		}
		content = content || item.member == "content"
		if item.at.Start == whole.Start && whole.Kind == rawjson.String {
			e.added = join(wire.Final(e.parts[n]), e.added)
			e.patches = append(e.patches, rawjson.SetText(whole, e.added))
			e.added = ""
			continue
		}
		if item.kind == gatehouse.Text && item.member == "content" {
			if n != part {
				part, changes = n, wire.Changes(e.parts[n], e.slots[n].part.Text, wire.Final(e.parts[n]))
			}
			text, err := cutter.Cut(item.at.Text(e.doc), changes)
			if err != nil {
				return content, err
			}
			if text != item.at.Text(e.doc) {
				e.patches = append(e.patches, rawjson.SetText(item.at, text))
			}
			continue
		}
		if err := e.replace(n); err != nil {
			return content, err
		}
	}
	return content, nil
}

// replace writes the final text of a part, when it differs.
func (e *choiceEdit) replace(n int) error {
	s := e.slots[n]
	if !changed(s.part, e.parts[n]) {
		return nil
	}
	patches, err := s.write(wire.Final(e.parts[n]))
	e.patches = append(e.patches, patches...)
	return err
}

// addition takes the member tool_calls away when it is to go, and puts the added text where it belongs: behind the
// content, or, where there is none, in its place or in the place of the calls.
func (e *choiceEdit) addition(removed bool) {
	object := e.message.value
	content, calls := object.Get("content"), object.Get("tool_calls")
	if removed && (e.added == "" || content.Kind != rawjson.Invalid) {
		p, _ := rawjson.RemoveMember(object, "tool_calls")
		e.patches = append(e.patches, p)
	}
	switch {
	case e.added == "":
	case content.Kind == rawjson.Array:
		e.patches = append(e.patches, rawjson.AppendElem(content, textItem(e.added)))
	case content.Kind == rawjson.String:
		e.patches = append(e.patches, rawjson.SetText(content, join(content.Text(e.doc), e.added)))
	case content.Kind == rawjson.Null:
		e.patches = append(e.patches, rawjson.SetText(content, e.added))
	case removed:
		p := rawjson.PrependMember(rawjson.Value{}, "content", rawjson.Quote(e.added))
		e.patches = append(e.patches, rawjson.Patch{Start: keyStart(object, "tool_calls"), End: calls.End, With: p.With})
	default:
		e.patches = append(e.patches, rawjson.PrependMember(object, "content", rawjson.Quote(e.added)))
	}
}

func keyStart(object rawjson.Value, name string) int {
	for _, m := range object.Members {
		if m.Key == name {
			return m.KeyStart
		}
	}
	return object.Start
}
