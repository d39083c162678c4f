package gemini

import (
	"bytes"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
)

// sayer makes the patches of one candidate in one event.
type sayer struct {
	*edit
	said
	reader
	refs    []ref    // for each of the candidate's slots
	texts   []string // and what becomes of them
	spoken  bool     // a text has been written: another is set off from it
	patches []rawjson.Patch
	empty   bool // nothing is left that a client wants
}

// write edits the candidate in event number at.
func (s *sayer) write(at int) error {
	refs, texts, dropped, kept := s.refs, s.texts, map[int]bool{}, -1
	for i, e := range s.elems {
		n := len(e.slots)
		stays, err := s.element(e, refs[:n], texts[:n])
		if err != nil {
			return err
		}
		if refs, texts = refs[n:], texts[n:]; stays {
			kept = i
		} else {
			dropped[i] = true
		}
	}
	var added []byte
	if at == s.end && len(s.added) > 0 {
		added = textPart(s.setOff(strings.Join(s.added, separator)))
		s.added = nil
	}
	s.empty = kept < 0 && added == nil && len(dropped) > 0 && !s.finished && len(s.others) == 0
	s.place(kept, dropped, added)
	return s.copies()
}

// element edits one part as the API calls it, and reports whether it stays.
func (s *sayer) element(e element, refs []ref, texts []string) (stays bool, err error) {
	for i, slot := range e.slots {
		r := refs[i]
		if r.run == nil {
			continue
		}
		if notice, gone := s.gone[r.run]; gone {
			if notice == "" {
				return false, nil
			}
			s.gone[r.run] = "" // of several pieces the first one tells it
			s.patches = append(s.patches, rawjson.Patch{Start: e.value.Start, End: e.value.End, With: textPart(s.setOff(notice))})
			return true, nil
		}
		text := texts[i]
		if text == "" && slot.part.Text != "" && e.signature == nil && len(e.slots) == 1 {
			return false, nil
		}
		if text != slot.part.Text {
			p, err := slot.write(text)
			if err != nil {
				return false, err
			}
			s.patches = append(s.patches, p)
		}
		s.spoken = s.spoken || slot.part.Kind == gatehouse.Text && text != ""
		if signature := s.signed[r.run]; signature != nil {
			s.patches = append(s.patches, addMember(e.value, "thoughtSignature", signature))
		}
	}
	return true, nil
}

// setOff is a text with the gap before it that parts it from what was said before.
func (s *sayer) setOff(text string) string {
	if s.spoken {
		return separator + text
	}
	s.spoken = true
	return text
}

// place takes parts out of the content and puts a new one behind those that stay.
func (s *sayer) place(kept int, dropped map[int]bool, added []byte) {
	switch {
	case len(dropped) == 0 && added == nil:
	case s.parts.Kind != rawjson.Array: // so there is something to add
		list := bytes.Join([][]byte{{'['}, added, {']'}}, nil)
		if s.content.Kind == rawjson.Object {
			s.patches = append(s.patches, addMember(s.content, "parts", list))
			return
		}
		s.patches = append(s.patches, addMember(s.value, "content", bytes.Join([][]byte{[]byte(`{"role":"model","parts":`), list, {'}'}}, nil)))
	case kept < 0:
		if added == nil && !s.empty {
			added = textPart("") // a content without parts is none to the SDKs
		}
		s.patches = append(s.patches, rawjson.Patch{Start: s.parts.Start + 1, End: s.parts.End - 1, With: added})
	default:
		if end := s.elems[kept].value.End; added != nil { // first: the next removal may begin where it stands
			s.patches = append(s.patches, rawjson.Patch{Start: end, End: end, With: append([]byte{','}, added...)})
		}
		s.patches = append(s.patches, rawjson.RemoveElems(s.parts, func(i int) bool { return dropped[i] })...)
	}
}

// copies lets go what repeats the text of an edited candidate, or points into it.
func (s *sayer) copies() error {
	for _, name := range [...]string{"citationMetadata", "logprobsResult"} {
		v, err := s.get(s.value, name, "a candidate")
		if err != nil {
			return err
		}
		if v.Exists() {
			s.patches = append(s.patches, rawjson.Patch{Start: v.Start, End: v.End, With: []byte("null")})
		}
	}
	grounding, err := s.get(s.value, "groundingMetadata", "a candidate")
	if err != nil {
		return err
	}
	supports, err := s.get(grounding, "groundingSupports", "groundingMetadata")
	if err == nil && len(supports.Elems) > 0 {
		s.patches = append(s.patches, rawjson.Patch{Start: supports.Start, End: supports.End, With: []byte("[]")})
	}
	return err
}
