package detect

import (
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Normalized is a text as patterns read it: compatibility forms and accents folded, lower case, invisible characters gone,
// tag characters decoded, Latin look-alikes inside Latin words folded, JSON escapes read, the tags of HTML and the marks of
// Markdown gone, comments and attributes that say something on lines of their own, white space in single blanks (or single
// line ends, where a run holds one).
type Normalized struct {
	Original string
	Text     string

	json     bool // Original is, or is part of, a JSON document
	html     bool // Original holds elements of HTML
	pieces   []piece
	markup   []mark // what of Original is markup and not text
	veils    []span // what of Text people are not shown
	tags     []span // runs of tag characters in Original that are not part of a flag
	inside   []int  // offsets in Original of zero-width characters between two ASCII letters
	longRuns []span // long runs of zero-width characters in Original
	plain    unescaped
	sought   *cueTable      // what was looked for in Original without escapes; nil: nothing
	stands   []occurrence   // where its words stand that are no cues
	strings  []stringOfJSON // of Original, once they were asked for

	how      string         // the decoding that made Original of a part of another text; empty when it is what was given
	depth    int            // how many decodings lie between Original and what was given
	segments []segment      // what Original stands for in the text that it was decoded from
	parent   *Normalized    // that text; nil of what was given
	places   map[int][]span // what can be cut out of the text that was given for solid segments, once they were asked for

	best    [outputs]float64 // the linear detector's sum of its best window, by output, once it
	weighed [outputs]bool    // has looked

	decisive int // decisive phrases in all readings of what was given, in the main one
	// rest is bytes at the end of Text that are payload as a whole, so that no injection need be looked for. Others may look already when
	// patterns find that out.
	rest atomic.Int64
}

// root is the main reading.
func (n *Normalized) root() *Normalized {
	for n.parent != nil {
		n = n.parent
	}
	return n
}

// span is a range of bytes.
type span struct{ start, end int }

// piece says that Text from at on stands for Original from from on, up to the next piece. A solid piece stands for its
// part as a whole: no byte of one is a certain byte of the other.
type piece struct {
	at, from int32 // a chunk is never longer
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
	return from, max(from, to)
}

// locate is the range of the original that one byte of the normalised text stands for.
func (n *Normalized) locate(at int) (from, to int) {
	i := sort.Search(len(n.pieces), func(i int) bool { return int(n.pieces[i].at) > at }) - 1
	p, end := n.pieces[i], len(n.Original)
	if i+1 < len(n.pieces) {
		end = int(n.pieces[i+1].from)
	}
	if p.solid {
		return int(p.from), end
	}
	from = int(p.from) + at - int(p.at)
	return from, min(from+1, end)
}

// concealed reports whether a part of Text is something that people are not shown: a comment, an element that is hidden or too
// small or too pale to see.
func (n *Normalized) concealed(start, end int) bool {
	i := sort.Search(len(n.veils), func(i int) bool { return n.veils[i].end > start })
	return i < len(n.veils) && n.veils[i].start < end
}

// form is what a text as a whole is written in.
type form struct{ json, html bool }

func formOf(text string) form {
	json := looksLikeJSON(text)
	return form{json, looksLikeHTML(text, json)}
}

// looksLikeJSON reports whether a text begins as a JSON object, array or string does.
func looksLikeJSON(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	return len(text) > 1 && (text[0] == '{' || text[0] == '[' || text[0] == '"')
}

// normalise reads a text. json says that escapes of JSON strings stand for what they mean.
func normalise(text string, json bool) *Normalized {
	return read(text, form{json, looksLikeHTML(text, json)})
}

// read normalises a text, or a part of one, in the syntax of the whole.
func read(text string, s form) *Normalized {
	n := &Normalized{Original: text, json: s.json, html: s.html}
	w := newWriter(n)
	w.read(len(text))
	w.finish()
	return n
}

// fold is a rune in NFKC and lower case, without the accents of alphabets. It is not undone by what stands around: Hangul
// and kana stay composed.
func fold(r rune) string {
	if r >= 0 && r>>8 < foldPages {
		return foldings[r>>8]().folded[r&0xFF]
	}
	return folded(r)
}

// foldPages is how many times 256 runes there are that most scripts are written with.
const foldPages = 256

// foldPage is what is known of 256 runes.
type foldPage struct {
	folded [256]string
	plain  [256]bool // it is no tag, accent, control character or white space, and people see it
	inWord [256]bool
}

// foldings are those runes, looked at when the first of them is met.
var foldings = func() (pages [foldPages]func() *foldPage) {
	for page := range pages {
		pages[page] = sync.OnceValue(func() *foldPage {
			var p foldPage
			for i := range p.folded {
				r := rune(page<<8 | i) //nolint:gosec // below 65536
				p.folded[i] = folded(r)
				p.plain[i] = r >= 0xA0 && !invisible(r) && !accent(r) && !unicode.IsSpace(r)
				p.inWord[i] = inWord(r)
			}
			return &p
		})
	}
	return pages
}()

// plain reports whether a rune is one that is written as it is folded, or as what it looks like.
func plain(r rune) bool { return r>>8 < foldPages && foldings[r>>8]().plain[r&0xFF] }

func folded(r rune) string {
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
