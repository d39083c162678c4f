package deed

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// longest is the longest stem in bytes, and as much of a word as is looked at.
const longest = 24

// reader goes through the words of a text, folded: lower case, without the marks of Latin letters, and with Latin letters for
// those of other scripts that look like them where a word mixes both. A run of a script that writes without spaces is read
// from each of its characters on.
type reader struct {
	text  string
	at    int
	start int    // where the word begins
	word  []byte // folded, cut at the longest stem
	wide  bool   // of a script without spaces
	latin bool   // it has a Latin letter
	alien bool   // it has a letter that is taken for a Latin one
}

// next finds the next word.
func (r *reader) next() bool {
	r.word, r.latin, r.alien = r.word[:0], false, false
	for r.at < len(r.text) {
		c, size := rune(r.text[r.at]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRuneInString(r.text[r.at:])
		}
		switch {
		case c < utf8.RuneSelf:
			if c |= 0x20; c >= 'a' && c <= 'z' {
				if len(r.word) == 0 {
					r.start, r.wide = r.at, false
				}
				if r.latin = true; len(r.word) < longest {
					r.word = append(r.word, byte(c))
				}
			} else if len(r.word) > 0 {
				return r.done()
			}
		case spaceless(c):
			if len(r.word) > 0 {
				return r.done()
			}
			end := min(r.at+longest, len(r.text))
			r.start, r.wide = r.at, true
			r.word = append(r.word, r.text[r.at:end]...)
			r.at += size
			return true
		case unicode.IsLetter(c) || unicode.In(c, unicode.Mn, unicode.Mc):
			if r.latin && len(r.word) > 0 && c >= 0x590 && c < 0x1e00 || r.latin && c >= 0xac00 && c < 0xfb00 {
				return r.done() // of AI는 the first is a word, and the rest its ending
			}
			if len(r.word) == 0 {
				r.start, r.wide = r.at, false
			}
			r.fold(c)
		case unicode.Is(unicode.Cf, c):
			// nobody sees it
		case len(r.word) > 0:
			return r.done()
		}
		r.at += size
	}
	return len(r.word) > 0 && r.done()
}

// done ends a word.
func (r *reader) done() bool {
	if r.latin && r.alien {
		word := string(r.word)
		r.word = r.word[:0]
		for _, c := range word {
			r.word = utf8.AppendRune(r.word, lookalike(c))
		}
	}
	return true
}

func (r *reader) fold(c rune) {
	if len(r.word) >= longest {
		return
	}
	if c = unicode.ToLower(c); unicode.Is(unicode.Latin, c) {
		r.latin = true
		if d := norm.NFKD.PropertiesString(string(c)).Decomposition(); len(d) > 0 {
			c, _ = utf8.DecodeRune(d)
		}
		switch c {
		case 'ß':
			r.word = append(r.word, "ss"...)
			return
		case 'ł':
			c = 'l'
		case 'ø':
			c = 'o'
		case 'ı':
			c = 'i'
		case 'đ':
			c = 'd'
		}
	}
	if unicode.Is(unicode.Mn, c) && c < 0x370 {
		return // the mark of a Latin letter that is written apart
	}
	r.alien = r.alien || lookalike(c) != c
	r.word = utf8.AppendRune(r.word, c)
}

// lookalike is the Latin letter that a letter of Cyrillic or Greek looks like; else the letter itself.
func lookalike(c rune) rune {
	const alien, latin = "аеорсхуіјѕһԁтмкгανορικτ", "aeopcxyijshdtmkravopikt"
	for i, a := range []rune(alien) {
		if a == c {
			return rune(latin[i])
		}
	}
	return c
}

// matches reports whether the present word is one of a stem's.
func (r *reader) matches(s *stem) bool {
	n := len(s.text)
	return len(r.word) >= n && (n == 2 || r.word[2] == s.text[2]) && string(r.word[:n]) == s.text && (!s.whole || r.wide || len(r.word) == n)
}

// stem begins words; a whole one is the word.
type stem struct {
	text  string
	whole bool
	deeds Set
	marks mark
}

// stems are those of the lexicons, by their first two bytes.
var stems = index()

func index() (out [256]*[256][]stem) {
	add := func(words string, deeds Set, marks mark) {
		for w := range strings.FieldsSeq(words) {
			text, open := strings.CutSuffix(w, "-")
			row := out[text[0]]
			if row == nil {
				row = new([256][]stem)
				out[text[0]] = row
			}
			row[text[1]] = append(row[text[1]], stem{text, !open, deeds, marks})
		}
	}
	for deeds, words := range lexicon {
		add(words, deeds, 0)
	}
	for marks, words := range markers {
		add(words, 0, marks)
	}
	return out
}

// means is what the present word means.
func (r *reader) means() (s Set, m mark) {
	if len(r.word) < 2 || string(r.word) == "asistentes" { // Spanish: those who are there
		return 0, 0
	}
	if r.latin && len(r.word) > len("software") {
		m |= compound(r.word)
	}
	for {
		if row := stems[r.word[0]]; row != nil {
			for i := range row[r.word[1]] {
				if one := &row[r.word[1]][i]; r.matches(one) {
					s, m = s|one.deeds, m|one.marks
				}
			}
		}
		switch { // and, then, to: in Arabic and Hebrew they are written with the word behind them
		case s != 0 || m != 0 || len(r.word) < 8:
			return s, m
		case string(r.word[:2]) == "و", string(r.word[:2]) == "ف", string(r.word[:2]) == "ל", string(r.word[:2]) == "ו":
			r.word = r.word[2:]
		default:
			return s, m
		}
	}
}

// compound is what the last part of a word means that is written together: Reiseassistent, Kassensoftware.
func compound(word []byte) mark {
	const minFirst = 4 // letters: reagents are none
	for _, end := range [...]struct {
		text  string
		marks mark
	}{{"agent", agent}, {"agenten", agent}, {"agenter", agent}, {"agents", agent}, {"assistent", agent}, {"assistenten", agent}, {"assistant", agent}, {"assistants", agent}, {"software", tool}, {"programm", tool}, {"programme", tool}, {"programma", tool}} {
		if len(word) >= len(end.text)+minFirst && string(word[len(word)-len(end.text):]) == end.text {
			return end.marks
		}
	}
	return 0
}

// file reports whether the present word is a part of a path or of a file's name.
func (r *reader) file() bool {
	if r.start > 0 && r.text[r.start-1] == '/' {
		return true
	}
	rest := r.text[r.at:]
	return strings.HasPrefix(rest, "/") || len(rest) > 1 && rest[0] == '.' && letter(rest[1])
}

// spaceless reports whether a character is of a script that is written without spaces between words.
func spaceless(c rune) bool {
	return c >= 0xe00 && unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}
