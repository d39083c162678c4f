package detect

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Normalized is a text as patterns read it: compatibility forms and accents folded, lower case, invisible characters gone,
// tag characters decoded, Latin look-alikes inside Latin words folded, JSON escapes read, white space in single blanks (or
// single line ends, where a run holds one).
type Normalized struct {
	Original string
	Text     string

	json     bool // Original is, or is part of, a JSON document
	pieces   []piece
	tags     []span // runs of tag characters in Original that are not part of a flag
	inside   []int  // offsets in Original of zero-width characters between two ASCII letters
	longRuns []span // long runs of zero-width characters in Original
	plain    unescaped
}

// span is a range of bytes.
type span struct{ start, end int }

// piece says that Text from at on stands for Original from from on, up to the next piece. A solid piece stands for its
// part as a whole: no byte of one is a certain byte of the other.
type piece struct {
	at, from int
	solid    bool
}

// origin finds the bytes of the original text that the bytes start..end of the normalised text stand for.
func (n *Normalized) origin(start, end int) (from, to int) {
	if start >= end {
		return 0, 0
	}
	from, _ = n.locate(start)
	_, to = n.locate(end - 1)
	from = runeStart(n.Original, from)
	for to < len(n.Original) && !utf8.RuneStart(n.Original[to]) {
		to++
	}
	return from, to
}

// locate is the range of the original that one byte of the normalised text stands for.
func (n *Normalized) locate(at int) (from, to int) {
	i := sort.Search(len(n.pieces), func(i int) bool { return n.pieces[i].at > at }) - 1
	p, end := n.pieces[i], len(n.Original)
	if i+1 < len(n.pieces) {
		end = n.pieces[i+1].from
	}
	if p.solid {
		return p.from, end
	}
	from = p.from + at - p.at
	return from, min(from+1, end)
}

// looksLikeJSON reports whether a text begins as a JSON object, array or string does.
func looksLikeJSON(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	return len(text) > 1 && (text[0] == '{' || text[0] == '[' || text[0] == '"')
}

// normalise reads a text. json says that escapes of JSON strings stand for what they mean.
func normalise(text string, json bool) *Normalized {
	n := &Normalized{Original: text, json: json}
	w := writer{n: n, out: make([]byte, 0, len(text))}
	for w.at < len(text) {
		w.stretch()
		if w.at == len(text) {
			break
		}
		switch c := text[w.at]; {
		case c >= utf8.RuneSelf:
			w.wide()
		case c == ' ' || c >= '\t' && c <= '\r':
			w.space(c == '\n', 1)
		case c == '\\' && json:
			w.escape()
		case c >= 'A' && c <= 'Z':
			w.plain(c | 0x20)
		default:
			w.plain(c)
		}
	}
	w.endRun()
	n.Text = string(w.out)
	return n
}

// writer builds a Normalized; at is the offset of what is read next.
type writer struct {
	n    *Normalized
	out  []byte
	at   int
	word word
	last rune // the rune beyond ASCII that was read last
	run  run  // of invisible characters, the last there was
	flag bool // the tag characters being read belong to an emoji
}

// stretch writes the bytes from here on that stand for themselves in lower case, up to the first that needs a look: most of
// most texts.
func (w *writer) stretch() {
	text, end := w.n.Original, w.at
	blank := true // no white space next: there may be some before
	for ; end < len(text); end++ {
		c := text[end]
		if c == ' ' && !blank {
			blank = true
			continue
		}
		if c <= ' ' || c >= utf8.RuneSelf || c == '\\' {
			break
		}
		blank = false
	}
	if end == w.at {
		return
	}
	w.mark(false)
	from := len(w.out)
	w.out = append(w.out, text[w.at:end]...)
	for i, c := range w.out[from:] {
		if c-'A' < 26 {
			w.out[from+i] = c | 0x20
		}
	}
	w.at = end
}

// plain writes one byte that stands for one byte.
func (w *writer) plain(c byte) {
	w.mark(false)
	w.out = append(w.out, c)
	w.at++
}

// mark begins a piece where the one before does not go on by itself.
func (w *writer) mark(solid bool) {
	if k := len(w.n.pieces); k > 0 && !solid {
		if p := w.n.pieces[k-1]; !p.solid && w.at-p.from == len(w.out)-p.at {
			return
		}
	}
	w.n.pieces = append(w.n.pieces, piece{at: len(w.out), from: w.at, solid: solid})
}

// skip passes over bytes that leave nothing behind. The piece before ends with it.
func (w *writer) skip(size int) { w.at += size }

// space writes a blank or a line end unless one stands there already; a line end wins.
func (w *writer) space(line bool, size int) {
	blank := byte(' ')
	if line {
		blank = '\n'
	}
	if k := len(w.out); k > 0 && (w.out[k-1] == ' ' || w.out[k-1] == '\n') {
		if line {
			w.out[k-1] = blank
		}
		w.skip(size)
		return
	}
	w.solid(size, string(blank))
}

// solid writes text that stands for size bytes as a whole.
func (w *writer) solid(size int, text string) {
	if len(text) == size && size == 1 {
		w.plain(text[0])
		return
	}
	w.mark(true)
	w.out = append(w.out, text...)
	w.at += size
}

// escapeLead bounds the backslashes of one escape: JSON within JSON doubles them, and 15 are four levels.
const escapeLead = 16

// escape reads the escapes of a JSON string, also those that were escaped again because JSON lies within JSON.
func (w *writer) escape() {
	text, i := w.n.Original, w.at
	for i < len(text) && text[i] == '\\' && i-w.at < escapeLead {
		i++
	}
	size := i - w.at + 1
	if i == len(text) {
		w.lead(i)
		return
	}
	switch text[i] {
	case 'n', 'r', 't':
		w.space(text[i] == 'n', size)
	case '"', '/':
		w.solid(size, text[i:i+1])
	case 'u':
		r, used := escapedRune(text, w.at, i+1)
		switch {
		case used == 0:
			w.lead(i)
		case r <= ' ':
			w.space(r == '\n', used)
		default:
			w.rune(r, used)
		}
	default:
		w.lead(i)
	}
}

// lead writes the backslashes before byte end as they are.
func (w *writer) lead(end int) {
	for w.at < end {
		w.plain('\\')
	}
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

// wide reads one rune beyond ASCII.
func (w *writer) wide() {
	r, size := utf8.DecodeRuneInString(w.n.Original[w.at:])
	if r == utf8.RuneError && size == 1 {
		w.plain(w.n.Original[w.at])
		return
	}
	w.rune(r, size)
}

// rune writes what stands for r, which takes size bytes of the original.
func (w *writer) rune(r rune, size int) {
	switch {
	case r >= 0xE0000 && r <= 0xE007F:
		w.tag(r, size)
	case invisible(r):
		w.unseen(size)
	case unicode.Is(unicode.Mn, r) && r >= 0x300 && r <= 0x36F:
		w.skip(size) // an accent: what it sits on is enough
	case unicode.IsSpace(r):
		w.space(r == 0x2028 || r == 0x2029 || r == 0x85, size)
	default:
		if latin, ok := lookAlikes[r]; ok && w.word.mixed(w.n.Original, w.at) {
			w.solid(size, string(latin))
		} else {
			w.folded(r, size)
		}
	}
	w.last = r
}

// folded writes the rune as it is compared. What keeps its size goes on the piece before.
func (w *writer) folded(r rune, size int) {
	folded := fold(r)
	w.mark(len(folded) != size)
	w.out = append(w.out, folded...)
	w.at += size
}

// fold is a rune in NFKC and lower case, without the accents of alphabets. It is not undone by what stands around: Hangul
// and kana stay composed.
func fold(r rune) string {
	if r >= 0x4E00 && r < 0xA000 || r >= 0xAC00 && r < 0xD7A4 {
		return string(r) // unchanged in NFKC, and much of the world's text
	}
	folded := norm.NFKC.String(string(r))
	if unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Greek) {
		bare := []rune(norm.NFD.String(folded))
		kept := bare[:0]
		for _, b := range bare {
			if b < 0x300 || b > 0x36F {
				kept = append(kept, b)
			}
		}
		folded = string(kept)
	}
	return strings.ToLower(folded)
}

// foldRunes folds the runes beyond ASCII of a rule, which is written in lower case otherwise.
func foldRunes(rule string) string {
	var b strings.Builder
	for _, r := range rule {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
		} else {
			b.WriteString(fold(r))
		}
	}
	return b.String()
}
