package detect

import (
	"html"
	"strings"
	"unicode/utf8"
)

// entityMax bounds the name of an entity, in bytes. The longest that HTML knows has 31 letters.
const entityMax = 33

// entityNest is how many bytes of ampersands that were escaped again are read as one.
const entityNest = 24

// entity reads a character that is written as an entity, whose ampersand takes size bytes. It reports whether there was one: names
// count in HTML alone, numbers everywhere.
func (w *writer) entity(size int) bool {
	rest := w.n.Original[w.at+size : w.end]
	rest = rest[:min(len(rest), entityMax)]
	if rest == "" || rest[0] != '#' && !w.n.html {
		return false
	}
	end := 1
	for end < len(rest) && (wordByte(rest[end]) && rest[end] != '_') {
		end++
	}
	if end == 1 && rest[0] == '#' {
		return false
	}
	if end < len(rest) && rest[end] == ';' {
		end++
	} else if rest[0] != '#' {
		return false
	}
	said := html.UnescapeString("&" + rest[:end])
	r, n := utf8.DecodeRuneInString(said)
	switch {
	case r == '&' && n < len(said) || r == utf8.RuneError:
		return false
	case r == '&' && size+end < entityNest && w.entity(size+end): // it was escaped again
	case n < len(said):
		w.solid(size+end, strings.ToLower(said))
	case r <= ' ':
		w.space(r == '\n', size+end)
	default:
		w.rune(r, size+end)
	}
	return true
}
