package responses

import (
	"errors"
	"fmt"
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
	notes []rawjson.Value // lists that speak of the text as it is (annotations, log probabilities): an edit empties them
}

// patches put a text where the field's stands.
func (f field) patches(text string) []rawjson.Patch {
	list := []rawjson.Patch{replace(f.at, text)}
	for _, n := range f.notes {
		if len(n.Elems) > 0 {
			list = append(list, literal(n, "[]"))
		}
	}
	return list
}

// slot is what the part of a field is found by: what nothing reads may stand in the same place as a text.
func (f field) slot() string { return string(f.part.Kind) + " " + f.key }

// separator stands between a text and what the gateway adds to it.
const separator = "\n\n"

// align splits the parts that a document is given into its own, n of them, and the inserted ones.
func align(parts []gatehouse.Part, n int) (own, inserted []gatehouse.Part, err error) {
	if len(parts) < n {
		return nil, nil, fmt.Errorf("%d parts for a document of %d", len(parts), n)
	}
	for _, p := range parts[n:] {
		if !p.Inserted {
			return nil, nil, errors.New("a part that is neither of the document nor inserted")
		}
	}
	return parts[:n], parts[n:], nil
}

// final is the text that shall stand where the part stands.
func final(p gatehouse.Part) string {
	if p.Removed {
		return p.Notice
	}
	return p.Text
}

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

// replace is the patch that puts a text where a string or null stands.
func replace(at rawjson.Value, text string) rawjson.Patch {
	return rawjson.Patch{Start: at.Start, End: at.End, With: rawjson.Quote(text)}
}

// literal is the patch that puts a JSON value where another stands.
func literal(at rawjson.Value, value string) rawjson.Patch {
	return rawjson.Patch{Start: at.Start, End: at.End, With: []byte(value)}
}

// appendElem is the patch that adds an element to the end of an array.
func appendElem(array rawjson.Value, elem []byte) rawjson.Patch {
	at := array.Start + 1
	if n := len(array.Elems); n > 0 {
		at, elem = array.Elems[n-1].End, append([]byte{','}, elem...)
	}
	return rawjson.Patch{Start: at, End: at, With: elem}
}

// prependMember is the patch that adds a member to the front of an object.
func prependMember(object rawjson.Value, name string, value []byte) rawjson.Patch {
	member := append(rawjson.Quote(name), ':')
	member = append(member, value...)
	if len(object.Members) > 0 {
		member = append(member, ',')
	}
	return rawjson.Patch{Start: object.Start + 1, End: object.Start + 1, With: member}
}
