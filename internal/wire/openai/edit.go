package openai

import (
	"fmt"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
)

// slot is a part and where its text stands: a string of the document, or nowhere.
type slot struct {
	part gatehouse.Part
	at   place
	copy place // where it stands once more: the arguments of a call that is sent twice
}

// place is where a string stands in the document; the zero place is nowhere.
type place struct{ start, end int }

func placeOf(v rawjson.Value) place {
	if v.Kind != rawjson.String {
		return place{}
	}
	return place{v.Start, v.End}
}

func (p place) set(text string) rawjson.Patch {
	return rawjson.SetText(rawjson.Value{Start: p.start, End: p.end}, text)
}

// write is the patches that put a text where the slot's stands.
func (s slot) write(text string) ([]rawjson.Patch, error) {
	if s.at == (place{}) {
		return nil, fmt.Errorf("%s cannot be edited", s.part.Path)
	}
	patches := []rawjson.Patch{s.at.set(text)}
	if s.copy != (place{}) {
		patches = append(patches, s.copy.set(text))
	}
	return patches, nil
}

// separator stands between a text and what the gateway adds to it.
const separator = "\n\n"

func changed(made, given gatehouse.Part) bool { return given.Removed || given.Text != made.Text }

// join puts the texts that are not empty behind one another.
func join(texts ...string) string {
	var out []string
	for _, text := range texts {
		if text != "" {
			out = append(out, text)
		}
	}
	return strings.Join(out, separator)
}

// textItem is an item of a content list.
func textItem(text string) []byte {
	return append(append([]byte(`{"type":"text","text":`), rawjson.Quote(text)...), '}')
}
