package openai

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
)

// slot is a part and where its text stands: a string of the document, or nowhere.
type slot struct {
	part gatehouse.Part
	at   rawjson.Value
	copy rawjson.Value // where it stands once more: the arguments of a call that is sent twice
}

// write is the patches that put a text where the slot's stands.
func (s slot) write(text string) ([]rawjson.Patch, error) {
	if s.at.Kind != rawjson.String {
		return nil, fmt.Errorf("%s cannot be edited", s.part.Path)
	}
	patches := []rawjson.Patch{replace(s.at, text)}
	if s.copy.Kind == rawjson.String {
		patches = append(patches, replace(s.copy, text))
	}
	return patches, nil
}

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

func changed(made, given gatehouse.Part) bool { return given.Removed || given.Text != made.Text }

// final is the text that shall stand where the part stands.
func final(p gatehouse.Part) string {
	if p.Removed {
		return p.Notice
	}
	return p.Text
}

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

// prependMember is the patch that adds a text member to the front of an object.
func prependMember(object rawjson.Value, name, text string) rawjson.Patch {
	member := append(rawjson.Quote(name), ':')
	member = append(member, rawjson.Quote(text)...)
	if len(object.Members) > 0 {
		member = append(member, ',')
	}
	return rawjson.Patch{Start: object.Start + 1, End: object.Start + 1, With: member}
}

// textItem is an item of a content list.
func textItem(text string) []byte {
	return append(append([]byte(`{"type":"text","text":`), rawjson.Quote(text)...), '}')
}
