// Package rawjson finds values in JSON bytes and splices changes into them, so that everything else stays as it was:
// key order, spacing, 1.50, twenty-digit integers. It parses strictly (RFC 8259): what two readers could understand
// differently (duplicate keys, trailing data, invalid UTF-8, lone surrogates in strings that are read) is an error.
package rawjson

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// Kind is the type of a JSON value.
type Kind byte

// Kinds of value.
const (
	Invalid Kind = iota // the zero value: absent
	Null
	Bool
	Number
	String
	Array
	Object
)

// Value is a value and where it stands: the bytes Start..End of the document, quotes and brackets included.
type Value struct {
	Kind       Kind
	Start, End int
	Members    []Member // of an object, in document order
	Elems      []Value  // of an array
}

// Member is one name and value of an object. KeyStart is the offset of the opening quote of the name.
type Member struct {
	Key      string
	KeyStart int
	Value    Value
}

// The reasons why a document is refused. An [Error] wraps one of them.
var (
	ErrSyntax    = errors.New("not valid JSON")
	ErrDuplicate = errors.New("duplicate key")
	ErrUTF8      = errors.New("invalid UTF-8")
	ErrDepth     = errors.New("nested too deep")
)

// Error is a refusal and the byte offset it was noticed at. It never quotes the document.
type Error struct {
	Err    error
	Offset int
}

func (e *Error) Error() string { return fmt.Sprintf("%v at byte %d", e.Err, e.Offset) }
func (e *Error) Unwrap() error { return e.Err }

// Parse reads one document of at most depth nested arrays and objects.
func Parse(doc []byte, depth int) (Value, error) {
	if !utf8.Valid(doc) {
		return Value{}, &Error{ErrUTF8, invalidAt(doc)}
	}
	p := parser{doc: doc, depth: depth}
	v, err := p.value()
	if err != nil {
		return Value{}, err
	}
	p.space()
	if p.at != len(doc) {
		return Value{}, p.fail(ErrSyntax)
	}
	return v, nil
}

func invalidAt(doc []byte) int {
	for i := 0; i < len(doc); {
		r, n := utf8.DecodeRune(doc[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(doc)
}

// Get is the member of an object by its exact name; the zero Value when there is none.
func (v Value) Get(name string) Value {
	for i := range v.Members {
		if m := &v.Members[i]; m.Key == name {
			return m.Value
		}
	}
	return Value{}
}

// Exists reports whether the value is there and not null.
func (v Value) Exists() bool { return v.Kind != Invalid && v.Kind != Null }

// Raw is the value's own bytes.
func (v Value) Raw(doc []byte) []byte { return doc[v.Start:v.End] }

// Text is the decoded text of a string; empty for every other kind.
func (v Value) Text(doc []byte) string {
	if v.Kind != String {
		return ""
	}
	return unquote(doc[v.Start+1 : v.End-1])
}

// IsTrue reports whether the value is the literal true.
func (v Value) IsTrue(doc []byte) bool { return v.Kind == Bool && doc[v.Start] == 't' }

// Int is the value of a number that is a plain integer of at most 18 digits, and whether it is one.
func (v Value) Int(doc []byte) (int64, bool) {
	if v.Kind != Number {
		return 0, false
	}
	raw, neg := v.Raw(doc), false
	if raw[0] == '-' {
		raw, neg = raw[1:], true
	}
	if len(raw) == 0 || len(raw) > 18 {
		return 0, false
	}
	var n int64
	for _, c := range raw {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if neg {
		n = -n
	}
	return n, true
}
