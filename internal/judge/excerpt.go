package judge

import (
	"strings"
	"unicode/utf8"
)

const (
	// edge is what is shown of the beginning and of the end of a text that is too long, in bytes.
	edge = 1 << 10
	gap  = "\n[…]\n"
)

// Excerpt is what is shown of a text: all of it, or its beginning, what stands around start..end, and its end. whole says which.
func Excerpt(text string, start, end int) (shown string, whole bool) {
	if len(text) <= MaxText {
		return text, true
	}
	const middle = MaxText - 2*edge - 2*len(gap)
	start = min(max(start, 0), len(text))
	end = min(max(end, start), len(text), start+middle)
	from := max(0, start-(middle-(end-start))/2)
	to := min(len(text), from+middle)
	from = max(0, to-middle)
	head, tail := edge, len(text)-edge
	var b strings.Builder
	switch {
	case from <= head: // the middle begins in the beginning
		b.WriteString(text[:cutAt(text, max(head, to))])
		b.WriteString(gap)
		b.WriteString(text[cutAfter(text, tail):])
	case to >= tail:
		b.WriteString(text[:cutAt(text, head)])
		b.WriteString(gap)
		b.WriteString(text[cutAfter(text, min(tail, from)):])
	default:
		b.WriteString(text[:cutAt(text, head)])
		b.WriteString(gap)
		b.WriteString(text[cutAfter(text, from):cutAt(text, to)])
		b.WriteString(gap)
		b.WriteString(text[cutAfter(text, tail):])
	}
	return b.String(), false
}

// cutAt is i, or the start of the rune that i would cut; cutAfter is the end of that rune.
func cutAt(text string, i int) int {
	for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}

func cutAfter(text string, i int) int {
	for i < len(text) && !utf8.RuneStart(text[i]) {
		i++
	}
	return i
}
