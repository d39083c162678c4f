package verdict

import (
	"fmt"
	"strings"
	"unicode/utf16"
)

const ellipsis = "..."

// escape writes the inside of a JSON string (RFC 8259, section 7) in printable ASCII. Invalid UTF-8 becomes U+FFFD.
func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		b.WriteString(escapeRune(r))
	}
	return b.String()
}

// escapedLen is the length of escape(text) in bytes, found without writing it: texts may be huge.
func escapedLen(text string) int {
	n := 0
	for _, r := range text {
		n += runeLen(r)
	}
	return n
}

// shorten escapes as much of the text as fits into limit bytes, ellipsis included. The text is cut between runes.
func shorten(text string, limit int) string {
	var b strings.Builder
	fits := 0 // how much of b stands if the text turns out too long
	for _, r := range text {
		if b.Len()+runeLen(r) > limit {
			return b.String()[:fits] + ellipsis
		}
		b.WriteString(escapeRune(r))
		if b.Len()+len(ellipsis) <= limit {
			fits = b.Len()
		}
	}
	return b.String()
}

func escapeRune(r rune) string {
	switch {
	case r == '"' || r == '\\':
		return `\` + string(r)
	case r >= ' ' && r <= '~':
		return string(r)
	case r > 0xFFFF:
		high, low := utf16.EncodeRune(r)
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

func runeLen(r rune) int {
	switch {
	case r == '"' || r == '\\':
		return 2
	case r >= ' ' && r <= '~':
		return 1
	case r > 0xFFFF:
		return 12
	}
	return 6
}
