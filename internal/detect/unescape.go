package detect

import (
	"strings"
	"unicode/utf8"

	"github.com/gatehouse-gateway/gatehouse"
)

// unescaped is a text with the escapes of JSON strings undone: what whoever reads the document sees. Other texts stand as
// they are.
type unescaped struct {
	text   string
	origin []int // the offset in the original of each byte of text, and of its end; nil: there were no escapes
}

// unescaped undoes the escapes of a text that is JSON.
func (n *Normalized) unescaped() unescaped {
	if !n.json || strings.IndexByte(n.Original, '\\') < 0 {
		return unescaped{text: n.Original}
	}
	if n.plain.origin == nil {
		n.plain = unescape(n.Original)
	}
	return n.plain
}

// width is the bytes that the byte at i takes in the original.
func (u *unescaped) width(i int) int {
	if u.origin == nil {
		return 1
	}
	return u.origin[i+1] - u.origin[i]
}

// back gives findings in the text their places in the original.
func (u *unescaped) back(all []gatehouse.Finding) []gatehouse.Finding {
	if u.origin == nil {
		return all
	}
	for i := range all {
		all[i].Start, all[i].End = u.origin[all[i].Start], u.origin[all[i].End]
	}
	return all
}

// unescape undoes escapes, also those that were escaped again because JSON lies within JSON. A backslash that stands for
// itself stays as it is written. Control characters become blanks: they separate words, and no rule knows them all.
func unescape(text string) unescaped {
	out, origin := make([]byte, 0, len(text)), make([]int, 0, len(text)+1)
	for at := 0; at < len(text); {
		lead := at
		for lead < len(text) && text[lead] == '\\' && lead-at < escapeLead {
			lead++
		}
		if r, size := escapeAt(text, at, lead); size > 0 {
			out = utf8.AppendRune(out, r)
			for len(origin) < len(out) {
				origin = append(origin, at)
			}
			at += size
			continue
		}
		end := lead // of what stands for itself: the backslashes, and what follows up to the next
		for end < len(text) && text[end] != '\\' {
			end++
		}
		out = append(out, text[at:end]...)
		for ; at < end; at++ {
			origin = append(origin, at)
		}
	}
	return unescaped{string(out), append(origin, len(text))}
}

// escapeAt reads the escape with the backslashes from byte at to byte lead. size is its length, 0 when there is none.
func escapeAt(text string, at, lead int) (r rune, size int) {
	if lead == at || lead == len(text) {
		return 0, 0
	}
	size = lead - at + 1
	switch text[lead] {
	case 'n':
		return '\n', size
	case 'r', 't', 'b', 'f':
		return ' ', size
	case '/':
		return '/', size
	case '"':
		if size%2 == 0 { // else they are pairs, and the quote ends the string
			return '"', size
		}
	case 'u':
		r, size = escapedRune(text, at, lead+1)
		if r < ' ' && r != '\n' {
			r = ' '
		}
		return r, size
	}
	return 0, 0
}
