package responses

import (
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
)

// field is a text of an item, or something in it that no detector reads.
type field struct {
	key   string // where in the item it stands: what all its copies have in common
	part  gatehouse.Part
	at    rawjson.Value   // the string; absent where no other text can be written
	raw   bool            // the text is JSON of the item, which comes in one piece
	notes []rawjson.Value // lists that speak of the text as it is (annotations, log probabilities last): an edit empties them
}

// patches put a text where the field's stands.
func (f field) patches(text string) []rawjson.Patch {
	list := []rawjson.Patch{rawjson.SetText(f.at, text)}
	for _, n := range f.notes {
		if len(n.Elems) > 0 {
			list = append(list, rawjson.Set(n, "[]"))
		}
	}
	return list
}

// slot is what the part of a field is found by: what nothing reads may stand in the same place as a text.
func (f field) slot() string { return string(f.part.Kind) + " " + f.key }

// separator stands between a text and what the gateway adds to it.
const separator = "\n\n"

// join puts the texts that are not empty behind one another.
func join(between string, texts ...string) string {
	var out []string
	for _, text := range texts {
		if text != "" {
			out = append(out, text)
		}
	}
	return strings.Join(out, between)
}
