package wire

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
)

// Shape says which texts a JSON value may hold without anybody reading them as text. The zero Shape allows none: numbers, true, false and
// null alone. A list has the shape of each of its elements, but no list
// of lists does.
type Shape struct {
	leaf    leaf
	members map[string]Shape
	kinds   map[string]Shape
}

type leaf byte

const (
	none leaf = iota
	read
	text
	word
	id
	octets
	moment
)

// The shapes of values without members.
var (
	Read = Shape{leaf: read} // the codec reads it, or makes an opaque part of it
	Text = Shape{leaf: text} // the codec reads a string there, and nothing else
	Word = Shape{leaf: word} // a word that the format has a list of: a type, a role, a reason
	ID   = Shape{leaf: id}   // a name without spaces: an identifier, a tool, a model

	Bytes = Shape{leaf: octets} // bytes in base64, such as a signature, or an identifier in hexadecimal digits
	Time  = Shape{leaf: moment} // a time as RFC 3339 writes it
)

// Object is the shape of an object with these members.
func Object(members map[string]Shape) Shape { return Shape{members: members} }

// Kinds is the shape of objects whose member "type" says which shape they have. Other types have the one under "".
func Kinds(kinds map[string]Shape) Shape { return Shape{kinds: kinds} }

// OrText is the shape of what may be a string in its place, which the codec reads then.
func (s Shape) OrText() Shape {
	s.leaf = text
	return s
}

// Unread calls found for each place in a value that holds a text which its shape does not know, with the path to it below the value: down
// to the first member that is not known, whose name is written as [PathName] has it. [] stands for any element of a list. spell
// makes of a member's name, as it stands, what paths have for it; nil leaves it.
func (s Shape) Unread(v rawjson.Value, doc []byte, spell func(name string) string, found func(path string)) {
	w := walk{doc: doc, spell: spell, found: found}
	w.value(s, v)
}

// walk is the way from a value down.
type walk struct {
	doc   []byte
	at    [deepest]string // names, and [] for elements: a slice would need memory for every value
	depth int
	spell func(name string) string
	found func(path string)
}

const deepest = 24 // no format goes down so far

func (w *walk) value(s Shape, v rawjson.Value) {
	switch {
	case s.leaf == read, s.leaf == text && v.Kind == rawjson.String:
	case v.Kind == rawjson.Array:
		if s.leaf == text { // strings of a list are no such string
			s.leaf = none
		}
		for _, elem := range v.Elems {
			if elem.Kind == rawjson.Array { // no format has lists of lists, and no codec looks into them
				w.below("[]", Shape{}, elem)
				continue
			}
			w.below("[]", s, elem)
		}
	case v.Kind == rawjson.Object:
		w.object(s.of(v, w.doc), v)
	case v.Kind == rawjson.String && !s.holds(v.Raw(w.doc)):
		w.found(w.path())
	}
}

// below goes on with a value inside.
func (w *walk) below(name string, s Shape, v rawjson.Value) {
	if w.depth == deepest {
		if says(v) {
			w.found(w.path())
		}
		return
	}
	w.at[w.depth] = name
	w.depth++
	w.value(s, v)
	w.depth--
}

// of is the shape of one object.
func (s Shape) of(v rawjson.Value, doc []byte) Shape {
	if s.kinds == nil {
		return s
	}
	if of, ok := s.kinds[v.Get("type").Text(doc)]; ok {
		return of
	}
	return s.kinds[""]
}

func (w *walk) object(s Shape, v rawjson.Value) {
	if s.leaf == read {
		return
	}
	for i := range v.Members {
		m := &v.Members[i]
		if of, known := s.members[m.Key]; known {
			w.below(m.Key, of, m.Value)
			continue
		}
		if name := PathName(w.spelled(m.Key)); name == "*" || m.Value.Kind >= rawjson.String && says(m.Value) { // the name may be a text, too
			w.found(joined(w.path(), name))
		}
	}
}

// spelled is a member's name as paths have it.
func (w *walk) spelled(name string) string {
	if w.spell == nil || name == "[]" {
		return name
	}
	return w.spell(name)
}

// says reports whether a value holds any text, names of members that look like none of an API among them.
func says(v rawjson.Value) bool {
	for i := range v.Members {
		if m := &v.Members[i]; PathName(m.Key) == "*" || says(m.Value) {
			return true
		}
	}
	return v.Kind == rawjson.String && v.End-v.Start > len(`""`) || slices.ContainsFunc(v.Elems, says)
}

// holds reports whether a string, in its quotes, needs no reading.
func (s Shape) holds(quoted []byte) bool {
	text := quoted[1 : len(quoted)-1]
	switch s.leaf {
	case read:
		return true
	case word:
		return isWord(text)
	case id:
		return isID(text)
	case octets:
		return isBytes(text)
	case moment:
		_, err := time.Parse(time.RFC3339, string(text))
		return err == nil || len(text) == 0
	}
	return len(text) == 0
}

const (
	longestWord = 64  // bytes
	longestID   = 512 // bytes; routers put their own routes into the ids of responses
	mostDigits  = 8   // of a word: a date
)

// isWord reports whether a text looks like a word of a list: one case, few digits. Keys and tokens hardly ever do.
func isWord(text []byte) bool {
	lower, upper, digits := false, false, 0
	for _, c := range text {
		switch {
		case c >= 'a' && c <= 'z':
			lower = true
		case c >= 'A' && c <= 'Z':
			upper = true
		case c >= '0' && c <= '9':
			digits++
		case c != '_' && c != '-' && c != '.' && c != '/':
			return false
		}
	}
	return len(text) <= longestWord && !(lower && upper) && digits <= mostDigits
}

// isID reports whether a text is one word of printable ASCII.
func isID(text []byte) bool {
	for _, c := range text {
		if c <= ' ' || c > '~' || c == '\\' {
			return false
		}
	}
	return len(text) <= longestID
}

// isBytes reports whether a text is base64 of the standard alphabet, whole, or hexadecimal digits and dashes. Keys with a prefix are neither.
func isBytes(text []byte) bool {
	rest, quads, hex := text, true, true
	for range 2 {
		rest = bytes.TrimSuffix(bytes.TrimSuffix(rest, []byte(`\u003d`)), []byte("=")) // Google's servers write it so
	}
	for _, c := range rest {
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'f':
		case c >= 'g' && c <= 'z', c >= 'A' && c <= 'Z', c == '+', c == '/':
			hex = false
		case c == '-':
			quads = false
		default:
			return false
		}
	}
	return hex || quads && len(rest)%4 != 1
}

func (w *walk) path() (path string) {
	for _, name := range w.at[:w.depth] {
		path = joined(path, w.spelled(strings.Clone(name))) // of its own: the walk would leave the stack with it
	}
	return path
}

func joined(path, name string) string {
	if path == "" || name == "[]" {
		return path + name
	}
	return path + "." + name
}

// AnyElement is a part's path as [Shape.Unread] writes it: without the numbers of elements, so that all of them are told as one.
func AnyElement(path string) string { return numbers.ReplaceAllString(path, "[]") }

var numbers = regexp.MustCompile(`\[\d+\]`)
