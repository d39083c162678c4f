package rawjson

import (
	"bytes"
	"sort"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Patch replaces the bytes Start..End of a document; Start == End inserts.
type Patch struct {
	Start, End int
	With       []byte
}

// Splice applies patches that do not overlap; their order does not matter, patches at one place keep theirs.
func Splice(doc []byte, patches []Patch) []byte {
	if len(patches) == 0 {
		return doc
	}
	sorted := append([]Patch(nil), patches...)
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].Start < sorted[j].Start })
	size := len(doc)
	for _, p := range sorted {
		size += len(p.With) - (p.End - p.Start)
	}
	out := make([]byte, 0, size)
	at := 0
	for _, p := range sorted {
		out = append(out, doc[at:p.Start]...)
		out = append(out, p.With...)
		at = p.End
	}
	return append(out, doc[at:]...)
}

// Quote writes a text as a JSON string, quotes included. Invalid UTF-8 becomes U+FFFD. Nothing is escaped but what must be,
// and U+2028 and U+2029, which old JavaScript readers take for line ends.
func Quote(text string) []byte {
	const hex = "0123456789abcdef"
	out := make([]byte, 0, len(text)+2)
	out = append(out, '"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case r == '\n':
			out = append(out, '\\', 'n')
		case r == '\r':
			out = append(out, '\\', 'r')
		case r == '\t':
			out = append(out, '\\', 't')
		case r < 0x20:
			out = append(out, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		case r == 0x2028 || r == 0x2029:
			out = append(out, '\\', 'u', '2', '0', '2', hex[r&15])
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return append(out, '"')
}

// unquote decodes the inside of a string that the parser has accepted.
func unquote(in []byte) string {
	if word := usual(in); word != "" {
		return word
	}
	if bytes.IndexByte(in, '\\') < 0 {
		return string(in)
	}
	var out strings.Builder
	out.Grow(len(in))
	for i := 0; i < len(in); i++ {
		n := bytes.IndexByte(in[i:], '\\')
		if n < 0 {
			n = len(in) - i
		}
		out.Write(in[i : i+n])
		if i += n + 1; i >= len(in) {
			break
		}
		switch in[i] {
		case 'b':
			out.WriteByte('\b')
		case 'f':
			out.WriteByte('\f')
		case 'n':
			out.WriteByte('\n')
		case 'r':
			out.WriteByte('\r')
		case 't':
			out.WriteByte('\t')
		case 'u':
			r, _ := hex4(in, i+1)
			i += 4
			if utf16.IsSurrogate(r) {
				low, _ := hex4(in, i+3)
				r = utf16.DecodeRune(r, low)
				i += 6
			}
			out.WriteRune(r)
		default: // " \ /
			out.WriteByte(in[i])
		}
	}
	return out.String()
}

// usual are words that requests are full of: they need no memory of their own.
func usual(in []byte) string {
	switch string(in) {
	case "user":
		return "user"
	case "assistant":
		return "assistant"
	case "tool":
		return "tool"
	case "system":
		return "system"
	case "text":
		return "text"
	case "function":
		return "function"
	case "tool_use":
		return "tool_use"
	case "tool_result":
		return "tool_result"
	}
	return ""
}

// RemoveElem is the patch that takes element i out of an array together with the comma that goes with it. When several
// elements of one array go, use [RemoveElems].
func RemoveElem(array Value, i int) Patch {
	return RemoveElems(array, func(j int) bool { return j == i })[0]
}

// RemoveElems are the patches that take the chosen elements out of an array and leave its commas right.
func RemoveElems(array Value, gone func(i int) bool) []Patch {
	spans := make([][2]int, len(array.Elems))
	for i, e := range array.Elems {
		spans[i] = [2]int{e.Start, e.End}
	}
	return removeFromList(array, spans, gone)
}

// RemoveMember is the patch that takes a member out of an object; ok is false when the object has none of that name.
func RemoveMember(object Value, name string) (p Patch, ok bool) {
	spans, found := make([][2]int, len(object.Members)), -1
	for i, m := range object.Members {
		spans[i] = [2]int{m.KeyStart, m.Value.End}
		if m.Key == name {
			found = i
		}
	}
	if found < 0 {
		return Patch{}, false
	}
	return removeFromList(object, spans, func(i int) bool { return i == found })[0], true
}

// removeFromList cuts items with one comma each: the comma before an item where an item is kept before it, else the one
// behind it.
func removeFromList(list Value, spans [][2]int, gone func(i int) bool) []Patch {
	var out []Patch
	kept := false
	for i := range spans {
		if !gone(i) {
			kept = true
			continue
		}
		p := Patch{Start: spans[i][0], End: spans[i][1]}
		switch {
		case kept:
			p.Start = spans[i-1][1]
		case i+1 < len(spans):
			p.End = spans[i+1][0]
		}
		out = append(out, p)
	}
	return out
}
