package detect

import (
	"strings"
	"unicode/utf8"
)

const (
	// sentenceWords and sentenceBytes bound a sentence: scripts without full stops, lists and code have none that ends by itself.
	sentenceWords, sentenceBytes = 40, 240
	// closersMax is how many quotation marks and brackets behind a full stop belong to its sentence.
	closersMax = 4
)

// sentences cuts the normalised text of a view into sentences: at full stops and their relatives in other scripts, at line ends,
// between the cells of tables and, in JSON, at the quotation marks of values. Offsets are those of n.Text. What holds no letter is
// left out, and so are the keys of JSON that are one word.
//
// Text that is appended behind the end of a sentence changes no sentence before it: every cut is made by what stands before, and
// by the one or two characters behind.
func sentences(n *Normalized) []span { return appendSentences(nil, n) }

// appendSentences appends them to a list.
func appendSentences(list []span, n *Normalized) []span {
	s := splitter{n: n, text: n.Text, all: list, start: -1, kinds: proseBytes}
	if n.json {
		s.kinds = jsonBytes
	}
	for i := 0; i < len(s.text); {
		i = s.step(s.within(i))
	}
	s.end(len(s.text))
	return s.all
}

// splitter is one walk through a text; start is where the sentence began, -1 between sentences.
type splitter struct {
	n     *Normalized
	text  string
	kinds *[256]uint8
	all   []span
	start int
	blank span // from the last blank in the sentence; empty where a letter stands before it
	words int  // blanks in the sentence
	says  bool // it holds a letter
}

// How bytes within a sentence are read.
const (
	marksSentence    = 0 // it may end the sentence
	blankInSentence  = 1 // it stands between two words
	signInSentence   = 2 // it is a part of the sentence
	letterInSentence = 4 // it is a letter, or a part of one
)

// proseBytes and jsonBytes say how each byte within a sentence is read.
var (
	proseBytes = sentenceKinds("\n.!?|")
	jsonBytes  = sentenceKinds("\n.!?|,\"")
)

func sentenceKinds(marks string) *[256]uint8 {
	var kinds [256]uint8
	for i := range kinds {
		switch c := byte(i); { //nolint:gosec // an index of 256
		case c == ' ':
			kinds[i] = blankInSentence
		case letter(c) || c >= 0x80 && c != 0xD6 && c != 0xD8 && c != 0xDB && (c < 0xE0 || c > 0xE3):
			kinds[i] = letterInSentence
		case c < 0x80 && strings.IndexByte(marks, c) < 0:
			kinds[i] = signInSentence
		}
	}
	return &kinds
}

// within passes over what does not end a sentence from byte i on, but for its last byte.
func (s *splitter) within(i int) int {
	if s.start < 0 {
		return i
	}
	text := s.text[:min(len(s.text)-1, s.start+sentenceBytes-1)]
	var said, before uint8 // before the last blank
	if s.says {
		said = letterInSentence
	}
	words, last := s.words, -1
	for ; i < len(text); i++ {
		kind := s.kinds[text[i]]
		words += int(kind & blankInSentence)
		if kind == marksSentence || words == sentenceWords {
			break
		}
		if kind == blankInSentence {
			last, before = i, said
		}
		said |= kind
	}
	s.says, s.words = said&letterInSentence != 0, words
	if last >= 0 {
		s.blank = span{last, last + 1}
		if before&letterInSentence != 0 {
			s.blank.end = last
		}
	}
	return i
}

// step reads the byte at i and returns where to go on.
func (s *splitter) step(i int) int {
	c := s.text[i]
	if s.start < 0 && !s.leads(c) {
		s.start, s.blank, s.words, s.says = i, span{}, 0, false
	}
	switch {
	case letter(c):
		s.says = true
	case c >= utf8.RuneSelf:
		s.says = true
		if size := fullStop(s.text[i:]); size > 0 {
			return s.end(s.closers(i + size))
		}
	case c == '\n':
		return s.end(i) + 1
	case c == ' ':
		s.words++
		s.blank = span{i, i + 1}
		if s.says {
			s.blank.end = i
		}
		if s.words >= sentenceWords {
			return s.end(i) + 1
		}
	case c == '.' || c == '!' || c == '?':
		if s.stops(i, c) {
			return s.end(s.closers(i + 1))
		}
	case c == '|' && s.cell(i), s.n.json && c == ',' && next(s.text, i) == '"':
		return s.end(i) + 1
	case c == '"' && s.n.json:
		s.quote(i)
	}
	if s.start >= 0 && i+1-s.start >= sentenceBytes {
		return s.cut(i + 1)
	}
	return i + 1
}

// leads reports whether a byte between two sentences belongs to neither.
func (s *splitter) leads(c byte) bool {
	switch c {
	case ' ', '\n', '|':
		return true
	case '"', '{', '}', '[', ']', ':', ',':
		return s.n.json
	}
	return false
}

// end ends the sentence before byte end, and returns that.
func (s *splitter) end(end int) int {
	if s.start >= 0 && s.says {
		last := end
		for last > s.start && s.text[last-1] == ' ' {
			last--
		}
		s.all = append(s.all, span{s.start, last})
	}
	s.start = -1
	return end
}

// cut ends a sentence that grows too long at its last blank, or where it is.
func (s *splitter) cut(at int) int {
	if s.blank.start > s.start {
		s.says = s.blank.end == s.blank.start
		return s.end(s.blank.start)
	}
	for at < len(s.text) && !utf8.RuneStart(s.text[at]) {
		at++
	}
	return s.end(at)
}

// stops reports whether the mark at byte i, one of . ! ?, ends a sentence.
func (s *splitter) stops(i int, c byte) bool {
	behind := next(s.text, i)
	if c == '.' {
		return ended(behind) && !s.shortens(i)
	}
	// Chinese and Japanese marks, which normalisation makes these, have no blank behind them.
	return ended(behind) || behind >= utf8.RuneSelf || i > 0 && s.text[i-1] >= utf8.RuneSelf
}

// ended reports whether a sentence may have ended before a byte; 0 is the end of the text.
func ended(c byte) bool {
	switch c {
	case 0, ' ', '\n', '"', '\'', ')', ']', '<', '\\':
		return true
	}
	return c >= utf8.RuneSelf
}

// shortens reports whether the full stop at byte i belongs to the word or number before it: "e.g.", "Dr.", the 1. of a list.
func (s *splitter) shortens(i int) bool {
	from := i
	for from > s.start && (wordByte(s.text[from-1]) || s.text[from-1] == '.') {
		from--
	}
	word := s.text[from:i]
	if len(word) == 1 && letter(word[0]) || from == s.start && onlyDigits(word) {
		return true
	}
	switch word {
	case "e.g", "i.e", "cf", "vs", "mr", "mrs", "ms", "dr", "prof", "approx", "fig", "z.b", "d.h", "u.a", "bzw", "p.ej":
		return true
	}
	return false
}

func onlyDigits(word string) bool { return word != "" && strings.Trim(word, "0123456789") == "" }

// closers is the end of the quotation marks and brackets from byte i on that close with a sentence.
func (s *splitter) closers(i int) int {
	for range closersMax {
		r, size := utf8.DecodeRuneInString(s.text[i:])
		switch r {
		case '"', '\'', ')', ']', '”', '’', '»', '」', '』', '）':
			i += size
		default:
			return i
		}
	}
	return i
}

// cell reports whether the bar at byte i stands between cells: with a blank or a line end beside it, and no second bar.
func (s *splitter) cell(i int) bool {
	behind, before := next(s.text, i), byte('\n')
	if i > 0 {
		before = s.text[i-1]
	}
	return before != '|' && behind != '|' && (behind == ' ' || behind == '\n' || before == ' ' || before == '\n')
}

// quote ends a sentence at the quotation mark at byte i where a string of a JSON document ends or begins there. A key of one word
// is no sentence.
func (s *splitter) quote(i int) {
	if s.start < 0 {
		return
	}
	at := i + 1
	if next(s.text, i) == ' ' {
		at++
	}
	switch behind := next(s.text, at-1); {
	case behind == ':':
		if s.words == 0 && s.start > 0 && s.text[s.start-1] == '"' {
			s.start = -1
			return
		}
		s.end(i)
	case behind == '}' || behind == ']' || behind == ',' && opensValue(s.text[at+1:]) || behind == '\n' || s.opens(i):
		s.end(i)
	}
}

// opensValue reports whether what follows a comma may be the next string of a document, or what holds one.
func opensValue(rest string) bool {
	if rest != "" && rest[0] == ' ' {
		rest = rest[1:]
	}
	return rest != "" && strings.IndexByte("\n\"{[0123456789-", rest[0]) >= 0
}

// opens reports whether the quotation mark at byte i begins a string behind a number, and is not an escaped one within a string.
func (s *splitter) opens(i int) bool {
	if i < 2 || s.text[i-1] != ' ' || s.text[i-2] != ',' {
		return false
	}
	from, _ := s.n.locate(i)
	return s.n.Original[from] == '"'
}

// next is the byte behind byte i, 0 at the end of the text.
func next(text string, i int) byte {
	if i+1 < len(text) {
		return text[i+1]
	}
	return 0
}

// fullStop is the size of the full stop that a text begins with, in a script that has its own; 0 when it begins with none.
func fullStop(text string) int {
	switch c := text[0]; {
	case c == 0xD6 || c == 0xD8 || c == 0xDB:
		r, size := utf8.DecodeRuneInString(text)
		if r == '։' || r == '؟' || r == '۔' {
			return size
		}
	case c == 0xE0 || c == 0xE1 || c == 0xE2 || c == 0xE3:
		r, size := utf8.DecodeRuneInString(text)
		switch r {
		case '।', '॥', '།', '။', '።', '፧', '។', '᠃', '•', '‣', '。':
			return size
		}
	}
	return 0
}
