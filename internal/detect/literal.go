package detect

import (
	"sort"
	"strings"
)

// withinStrings leaves the quotation marks that end strings of JSON out of spans, and the keys between them. No escape is cut through.
func (n *Normalized) withinStrings(list []span) []span {
	var all []span
	for _, s := range list {
		for _, part := range n.acrossStrings(n.wholeEscapes(s)) {
			if inner := n.acrossInner(part); len(inner) > 0 {
				all = append(all, inner...)
			} else {
				all = append(all, part)
			}
		}
	}
	return all
}

// stringOfJSON is a string of JSON without its quotation marks.
type stringOfJSON struct {
	span
	key bool
}

// literals are the strings of the original.
func (n *Normalized) literals() []stringOfJSON {
	if n.strings != nil {
		return n.strings
	}
	text := n.Original
	n.strings = []stringOfJSON{}
	start := -1
	if !looksLikeJSON(text) { // a chunk may begin within a string
		if end := stringEnd(text, 0); end < len(text) && n.endsString(end+1) {
			start = 0
		}
	}
	for i := 0; i < len(text); {
		if start < 0 {
			k := strings.IndexByte(text[i:], '"')
			if k < 0 {
				break
			}
			start = i + k + 1
		}
		end := stringEnd(text, start)
		n.strings = append(n.strings, stringOfJSON{span{start, end}, end < len(text) && n.behind(end+1) == ':'})
		i, start = end+1, -1
	}
	return n.strings
}

// acrossStrings is a part of the original without the borders of strings: what of it lies within the values, or within the keys where
// it holds nothing else.
func (n *Normalized) acrossStrings(s span) []span {
	if strings.IndexByte(n.Original[s.start:s.end], '"') < 0 {
		return []span{s}
	}
	list := n.literals()
	i := sort.Search(len(list), func(i int) bool { return list[i].end >= s.start })
	if i < len(list) && list[i].start <= s.start && s.end <= list[i].end {
		return []span{s}
	}
	var values, keys []span
	for ; i < len(list) && list[i].start < s.end; i++ {
		part := span{max(list[i].start, s.start), min(list[i].end, s.end)}
		switch {
		case part.start >= part.end:
		case list[i].key:
			keys = append(keys, part)
		default:
			values = append(values, part)
		}
	}
	if len(values) == 0 {
		return keys
	}
	return values
}

// wholeEscapes is a part of the original that neither begins nor ends within an escape.
func (n *Normalized) wholeEscapes(s span) span {
	if start := escapeStart(n.Original, s.start); start >= 0 {
		s.start = start
	}
	if start := escapeStart(n.Original, s.end); start > s.start {
		s.end = start
	}
	return s
}

// escapeStart is where the escape begins that byte i lies within; -1 where it lies within none.
func escapeStart(text string, i int) int {
	at := i
	for digits := 0; digits < 3 && at > 0 && i < len(text) && hexDigit(text[at-1]); digits++ {
		at--
	}
	if at > 0 && text[at-1] == 'u' {
		at--
	} else {
		at = i
	}
	if !escaped(text, at) {
		return -1
	}
	return at - 1
}

// acrossInner leaves the quotation marks that end strings of JSON within a string of JSON out of a part of it, and the keys between them.
func (n *Normalized) acrossInner(s span) []span {
	q := n.quote(s.start, s.end)
	if q.start == s.end || !n.holdsJSON(q) {
		return []span{s}
	}
	var all []span
	inside := n.endsString(q.end)
	at := s.start
	for at < s.end {
		if inside && q.start > at && (q.start == s.end || n.behind(q.end) != ':') {
			all = append(all, span{at, q.start})
		}
		at = q.end
		q = n.quote(at, s.end)
		inside = !inside
	}
	return all
}

// innerReach is how far back, in bytes, the bracket is looked for that JSON within a string begins with.
const innerReach = 4 << 10

// holdsJSON reports whether a quotation mark may belong to JSON within the string that it stands in. Without a bracket before it there is
// none: quotation marks and colons are the text's own.
func (n *Normalized) holdsJSON(q span) bool {
	low := max(q.start-innerReach, 0)
	for at := q.start; ; {
		i := strings.LastIndexByte(n.Original[low:at], '"')
		if i < 0 {
			return low > 0 || strings.ContainsAny(n.Original[:q.start], "{[")
		}
		lead := low + i
		for lead > low && n.Original[lead-1] == '\\' {
			lead--
		}
		if low+i+1-lead < q.end-q.start { // the mark that begins the string has fewer backslashes
			return strings.ContainsAny(n.Original[low+i:q.start], "{[")
		}
		at = lead
	}
}

// quote is the next quotation mark from byte at on that ends or begins a string, with the backslashes before it where it is one of
// JSON within JSON. Without one it is empty, at end.
func (n *Normalized) quote(at, end int) span {
	lead := at
	for i := at; i < end; i++ {
		switch n.Original[i] {
		case '\\':
		case '"':
			if !escaped(n.Original, i) {
				return span{i, i + 1}
			}
			if structural(n.Original, i) {
				return span{lead, i + 1}
			}
			lead = i + 1
		default:
			lead = i + 1
		}
	}
	return span{end, end}
}

// endsString reports whether a quotation mark that ends before byte i ends a string and not begins one.
func (n *Normalized) endsString(i int) bool {
	c := n.behind(i)
	return c == 0 || c == ',' || c == ':' || c == '}' || c == ']'
}

// behind is the first character from byte i on that is no white space; 0 at the end.
func (n *Normalized) behind(i int) byte {
	for ; i < len(n.Original); i++ {
		if c := n.Original[i]; c > ' ' {
			return c
		}
	}
	return 0
}
