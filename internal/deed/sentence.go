package deed

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// minWrapped is the length from which a line is taken for one that goes on in the next.
	minWrapped = 60
	// maxSentence bounds what is read as one sentence, in bytes.
	maxSentence = 800
)

// sentence is what one sentence says by itself.
type sentence struct {
	start, end int
	deeds      Set
	signs      Sign
	first      bool // of its paragraph
}

// splitter divides a text into sentences: every byte of it belongs to one.
type splitter struct {
	text string
	at   int
	cut  bool   // a paragraph has ended
	veil string // what ends the text that nobody sees in which this stands; empty: it can be seen
}

func (s *splitter) next() (one sentence, ok bool) {
	if s.at >= len(s.text) {
		return one, false
	}
	one.start, one.first = s.at, s.cut || s.at == 0
	if s.veil == "" {
		s.veil = veils(s.text[s.at:])
	}
	one.end, s.cut = s.bound()
	s.at = one.end
	veiled := s.veil != ""
	if veiled && strings.Contains(s.text[one.start:one.end], s.veil) {
		s.veil = ""
	}
	one.deeds, one.signs = meaning(s.text[one.start:one.end])
	if named(s.text[one.start:one.end]) {
		one.signs |= Names
	}
	if veiled {
		one.signs |= Hidden
	}
	if blank(s.text[one.start:one.end]) {
		one.signs |= Blank
	}
	return one, true
}

// bound is where the sentence that begins here ends, and whether its paragraph does.
func (s *splitter) bound() (end int, paragraph bool) {
	for i := s.at; i < len(s.text); {
		if (alnum(s.text[i]) || s.text[i] == ' ' || s.text[i] == ',') && i-s.at < maxSentence {
			i++
			continue
		}
		c, size := utf8.DecodeRuneInString(s.text[i:])
		next := i + size
		switch {
		case strings.HasPrefix(s.text[i:], "-->"):
			return i + len("-->"), true
		case c == Separator, c == '<' && (closes(s.text[next:]) || s.veil != "" && strings.HasPrefix(s.text[next:], s.veil[1:])):
			return next, true
		case c == '<' && i > s.at && s.veil == "" && veils(s.text[i:]) != "":
			return i, true
		case c == '\n':
			line := strings.LastIndexByte(s.text[:i], '\n') + 1
			rest := strings.TrimLeft(s.text[next:], " \t\r")
			switch {
			case strings.HasPrefix(rest, "\n"):
				return len(s.text) - len(strings.TrimLeft(rest, " \t\r\n")), true
			case !startsLow(uncommented(s.text[line:i], rest)) || i-line < minWrapped && commentOf(s.text[line:i]) == "":
				return next, false
			}
		case c == '。' || c == '\uff01' || c == '\uff1f' || c == '।' || c == '؟': // the first three of East Asia
			return next, false
		case (c == '.' || c == '!' || c == '?') && ends(s.text[next:]):
			return next, false
		case next-s.at >= maxSentence && (unicode.IsSpace(c) || next-s.at >= 2*maxSentence):
			return next, false
		}
		i = next
	}
	return len(s.text), true
}

// commentOf is what marks a line as a comment or a quotation; empty when nothing does.
func commentOf(line string) string {
	line = strings.TrimLeft(line, " \t")
	for _, sign := range [...]string{"#", "//", ">", "--", ";"} {
		if strings.HasPrefix(line, sign) {
			return sign
		}
	}
	return ""
}

// uncommented is what a line says behind the sign of a comment that the line before bears, too.
func uncommented(before, line string) string {
	if sign := commentOf(before); sign != "" {
		line = strings.TrimLeft(strings.TrimPrefix(line, sign), " \t")
	}
	return line
}

func startsLow(text string) bool {
	c, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLower(c)
}

// closes reports whether a tag of HTML ends a block.
func closes(tag string) bool {
	if len(tag) < 3 || tag[0] != '/' {
		return false
	}
	switch name, _, _ := strings.Cut(strings.ToLower(tag[1:min(len(tag), 12)]), ">"); name {
	case "p", "li", "td", "th", "tr", "div", "h1", "h2", "h3", "h4", "h5", "h6", "section", "article", "blockquote", "title":
		return true
	}
	return false
}

// ends reports whether what follows a full stop shows that it was one.
func ends(rest string) bool {
	rest = strings.TrimLeft(rest, "\"'”’»)]*_")
	if rest == "" {
		return true
	}
	c, size := utf8.DecodeRuneInString(rest)
	if !unicode.IsSpace(c) && c != '<' && c != Separator {
		return c > utf8.RuneSelf && unicode.IsLetter(c)
	}
	c, _ = utf8.DecodeRuneInString(strings.TrimLeft(rest[size:], " "))
	return !unicode.IsLower(c)
}
