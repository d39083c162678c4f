package detect

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gatehouse-gateway/gatehouse"
)

// escapeLead bounds the backslashes of one escape: JSON within JSON doubles them, and 15 are four levels.
const escapeLead = 16

// unescaped is a text with the escapes of JSON strings undone: what whoever reads the document sees. Other texts stand as
// they are.
type unescaped struct {
	text   string
	origin []int32 // the offset in the original of each byte of text, and of its end; nil: there were no escapes
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
	return int(u.origin[i+1] - u.origin[i])
}

// back gives findings in the text their places in the original.
func (u *unescaped) back(all []gatehouse.Finding) []gatehouse.Finding {
	if u.origin == nil {
		return all
	}
	for i := range all {
		all[i].Start, all[i].End = int(u.origin[all[i].Start]), int(u.origin[all[i].End])
	}
	return all
}

// unescape undoes escapes, also those that were escaped again because JSON lies within JSON. A backslash that stands for
// itself stays as it is written. Control characters become blanks: they separate words, and no rule knows them all.
func unescape(text string) unescaped {
	out, origin := make([]byte, 0, len(text)), make([]int32, 0, len(text)+1)
	for at := 0; at < len(text); {
		lead := at
		for lead < len(text) && text[lead] == '\\' && lead-at < escapeLead {
			lead++
		}
		if r, size := escapeAt(text, at, lead); size > 0 {
			out = utf8.AppendRune(out, r)
			for len(origin) < len(out) {
				origin = append(origin, int32(at)) //nolint:gosec // chunks are short
			}
			at += size
			continue
		}
		end := lead // of what stands for itself: the backslashes, and what follows up to the next
		for end < len(text) && text[end] != '\\' {
			end++
		}
		out = append(out, text[at:end]...)
		from := len(origin)
		origin = origin[:from+end-at]
		for i := range origin[from:] {
			origin[from+i] = int32(at + i) //nolint:gosec // chunks are short
		}
		at = end
	}
	return unescaped{string(out), append(origin, int32(len(text)))} //nolint:gosec // chunks are short
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

// escapedRune reads the digits at byte digits of an escape that begins at byte from, and a second escape where the first is
// half of a pair. used is the length of it all, 0 when that is no escape.
func escapedRune(text string, from, digits int) (r rune, used int) {
	r, ok := hexRune(text, digits)
	if !ok {
		return 0, 0
	}
	lead := digits - from // backslashes and the letter u
	end := digits + 4
	if utf16.IsSurrogate(r) && strings.HasPrefix(text[end:], text[from:digits]) {
		if low, ok := hexRune(text, end+lead); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, end + lead + 4 - from
			}
		}
	}
	return r, end - from
}

func hexRune(text string, at int) (rune, bool) {
	if at+4 > len(text) {
		return 0, false
	}
	var r rune
	for _, c := range []byte(text[at : at+4]) {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
