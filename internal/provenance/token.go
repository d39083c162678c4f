package provenance

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// token is a word or number of a text: letters and digits of one kind, in lower case. Only its hash is kept.
type token struct {
	hash   uint64
	before bounds // what ties it to the token before
}

// bounds are the ways in which two neighbours are one thing, so that neither is said alone.
type bounds uint8

const (
	byJoiner bounds = 1 << iota // a-b, a.b, a_b, a+b, 1,000
	byAt                        // a@b
	bySlash                     // a/b
	apart                       // a, b: these are no one thing
)

// tokens are the tokens of one text, and what else it says: numbers that were formatted, accounts that were grouped.
type tokens struct {
	hasher

	text  string // as it was read: in compatible characters
	dense []byte // all tokens, without what stood between them
	list  []word
	count int32 // of the words that say something
}

// word is a token while its text is read.
type word struct {
	start, end int   // in dense
	at         int   // where it begins in the text
	place      int32 // how many words before it say something
	gap        byte  // the one character before it; wide, or open
	class      byte
	digits     int
	stop       bool // it says nothing: the www of a host
}

// Gaps that are no single character.
const (
	open  = 0 // the text begins here, or something else stands between
	stuck = 1 // nothing stands between
	wide  = 2 // two or three characters that numbers are grouped by
)

// Classes of characters. Words do not run over from one into another, so that an address is found within Chinese text.
const (
	between = iota
	alphabet
	hangul
	single // each character is a word
)

var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// ascii are the classes of the first characters.
var ascii = func() (c [utf8.RuneSelf]byte) {
	for r := range c {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' {
			c[r] = alphabet
		}
	}
	return c
}()

func classOf(r rune) byte {
	switch {
	case r < utf8.RuneSelf:
		return ascii[r&(utf8.RuneSelf-1)]
	case !unicode.In(r, unicode.L, unicode.N, unicode.M):
		return between
	case unicode.Is(unicode.Hangul, r):
		return hangul
	case unicode.In(r, unspaced...):
		return single
	}
	return alphabet
}

// read splits a text into words.
func (t *tokens) read(text string) {
	t.dense, t.list, t.count = t.dense[:0], t.list[:0], 0
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			text = norm.NFKC.String(strings.ToValidUTF8(text, "\uFFFD"))
			break
		}
	}
	t.text = text
	w := word{}
	gap, gaps := byte(open), 0
	end := func() {
		if w.class != between {
			w.end = len(t.dense)
			t.add(w)
			gap, gaps, w.class = stuck, 0, between
		}
	}
	for i, size := 0, 0; i < len(text); i += size {
		r := rune(text[i])
		if size = 1; r >= utf8.RuneSelf {
			if r, size = utf8.DecodeRuneInString(text[i:]); unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point) {
				continue // nobody sees it
			}
		}
		c := classOf(r)
		if c == between {
			end()
			gap = widen(gap, gaps, r)
			gaps++
			continue
		}
		if w.class != c || c == single {
			end()
			w = word{start: len(t.dense), at: i, gap: gap, class: c}
			if len(t.list) == 0 {
				w.gap = open
			}
		}
		switch {
		case r >= '0' && r <= '9':
			w.digits++
			fallthrough
		case r >= 'a' && r <= 'z':
			t.dense = append(t.dense, byte(r))
		case r >= 'A' && r <= 'Z':
			t.dense = append(t.dense, byte(r)|0x20)
		default:
			t.dense = utf8.AppendRune(t.dense, unicode.ToLower(r))
		}
	}
	end()
}

// widen is the gap after one more character of it.
func widen(gap byte, gaps int, r rune) byte {
	grouping := r == ' ' || r == '-' || r == '(' || r == ')' || r == '/' || r == '.' || r == '+'
	switch {
	case gaps == 0 && r < utf8.RuneSelf && r > ' ', gaps == 0 && r == ' ':
		return byte(r)
	case gaps == 1 && gap == '\\' && r < utf8.RuneSelf && r > ' ':
		return byte(r) // Markdown escapes it
	case gaps > 0 && gaps < 3 && gap != open && grouping && (gap == wide || gap == ' ' || gap == '-' || gap == '(' || gap == ')'):
		return wide
	}
	return open
}

// add keeps a word, less those that say nothing: an address may be written with or without them.
func (t *tokens) add(w word) {
	switch string(t.dense[w.start:w.end]) {
	case "http", "https", "www", "mailto", "at", "dot":
		w.stop = true
	}
	if w.place = t.count; !w.stop {
		t.count++
	}
	t.list = append(t.list, w)
}

func (t *tokens) hash(start, end int) uint64 { return t.word(t.dense[start:end]) }

// bounds says what ties the word at i to the one before.
func (t *tokens) bounds(i int) bounds {
	if i == 0 {
		return 0
	}
	w, last := t.list[i], t.list[i-1]
	if last.stop {
		if last.end-last.start == len("dot") && t.dense[last.start] == 'd' {
			return byJoiner
		}
		return 0
	}
	switch w.gap {
	case '.', '-', '_', '+':
		return byJoiner
	case ',':
		if w.number() && last.number() && w.end-w.start == 3 {
			return byJoiner
		}
		return apart
	case '@':
		return byAt
	case '/', '\\':
		return bySlash
	case stuck:
		if w.class == alphabet && last.class == alphabet {
			return byJoiner
		}
	case ':', '?', '=', '&', '#', '%', '~', '*', '$', '!', '\'':
		return 0
	}
	return apart
}

func (w word) number() bool { return w.digits > 0 && w.digits == w.end-w.start }

// said calls out each token, and behind the last an end that is tied to nothing.
func (t *tokens) said(out func(token)) {
	for i, w := range t.list {
		if !w.stop {
			out(token{t.hash(w.start, w.end), t.bounds(i)})
		}
	}
	out(token{})
}
