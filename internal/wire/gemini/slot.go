package gemini

import (
	"fmt"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// slot is a part and where its text stands in the document; absent where nothing can be written.
type slot struct {
	part gatehouse.Part
	at   rawjson.Value
	form form
}

// form is how a text stands in its place.
type form byte

const (
	quoted    form = iota // as a JSON string
	arguments             // as a JSON object, byte for byte
	value                 // of a wrapped result: any JSON
	wrapper               // a result that must be an object
)

// write is the patch that puts a text where the slot's stands.
func (s slot) write(text string) (rawjson.Patch, error) {
	if !s.at.Exists() {
		return rawjson.Patch{}, fmt.Errorf("%s cannot be edited", s.part.Path)
	}
	with := rawjson.Quote(text)
	switch v, err := rawjson.Parse([]byte(text), wire.MaxDepth); {
	case s.form == arguments && (err != nil || v.Kind != rawjson.Object):
		return rawjson.Patch{}, fmt.Errorf("%s: the new arguments are not a JSON object", s.part.Path)
	case s.form == arguments,
		s.form == wrapper && err == nil && v.Kind == rawjson.Object,
		s.form == value && err == nil && s.at.Kind != rawjson.String:
		with = []byte(text)
	case s.form == wrapper: // "output" is what the API takes for what a tool has returned
		with = append(append([]byte(`{"output":`), with...), '}')
	}
	return rawjson.Patch{Start: s.at.Start, End: s.at.End, With: with}, nil
}

// fixed reports whether no edit changes the part's bytes: what is signed the provider checks, and of what is opaque no text
// was read.
func fixed(p gatehouse.Part) bool { return p.Signed || p.Kind == gatehouse.Opaque }

func changed(made, given gatehouse.Part) bool {
	return given.Removed || !fixed(made) && given.Text != made.Text
}

// textPart is a part of the gateway's own.
func textPart(text string) []byte {
	return append(append([]byte(`{"text":`), rawjson.Quote(text)...), '}')
}

// appendElem is the patch that adds an element to the end of an array, or behind an object that stands for an array of one.
func appendElem(list rawjson.Value, elem []byte) []rawjson.Patch {
	if list.Kind == rawjson.Object {
		return []rawjson.Patch{
			{Start: list.Start, End: list.Start, With: []byte{'['}},
			{Start: list.End, End: list.End, With: append(append([]byte{','}, elem...), ']')},
		}
	}
	at := list.Start + 1
	if n := len(list.Elems); n > 0 {
		at, elem = list.Elems[n-1].End, append([]byte{','}, elem...)
	}
	return []rawjson.Patch{{Start: at, End: at, With: elem}}
}

// addMember is the patch that adds a member to the front of an object, or in place of a null of that name.
func addMember(object rawjson.Value, name string, value []byte) rawjson.Patch {
	for _, m := range object.Members {
		if camel(m.Key) == name {
			return rawjson.Patch{Start: m.Value.Start, End: m.Value.End, With: value}
		}
	}
	member := append(append(rawjson.Quote(name), ':'), value...)
	if len(object.Members) > 0 {
		member = append(member, ',')
	}
	return rawjson.Patch{Start: object.Start + 1, End: object.Start + 1, With: member}
}
