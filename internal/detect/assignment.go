package detect

import "strings"

// The expressions of gitleaks for an assignment (a name that holds a keyword, an operator, a value) begin with texts of any length and
// take as long as such expressions do. Keywords like key and token stand everywhere, so the way from one to the value is walked by
// hand, and an expression is asked about the value alone.
const (
	nameRest   = 20  // bytes of a name behind the keyword, words with blanks included
	nameQuotes = 4   // what closes a name: quotation marks, brackets, the marks of Markdown
	valueMarks = 5   // what opens a value
	tagsMost   = 4   // tags between a name and its value
	tagMost    = 256 // bytes of one
	nameMost   = 50  // bytes of a name before the keyword
)

// valueOf is where the value begins that is assigned to the name with a keyword that ends at byte end; -1 where nothing is assigned.
func valueOf(text string, end int) int {
	i := end
	for i < len(text) && i-end < nameRest && assigns[text[i]]&assignName != 0 {
		i++
	}
	if k := strings.Index(text[end:i], " is "); k >= 0 {
		return skipMarks(text, end+k+len(" is "))
	}
	for n := 0; n < nameQuotes && i < len(text) && assigns[text[i]]&assignQuote != 0; n++ {
		i++
	}
	if i == len(text) {
		return -1
	}
	if strings.HasPrefix(text[i:], "is ") && i > end && text[i-1] == ' ' {
		return skipMarks(text, i+len("is "))
	}
	from := i
	switch c := text[i]; {
	case c == ',' && text[i-1] != ']': // the end of a list is no name
		i++
	case c == '%' && (percentEscape(text, i) == ':' || percentEscape(text, i) == '='):
		i += 3
	case c == '<':
	default:
		for i < len(text) && i-from < nameQuotes && assigns[text[i]]&assignOperator != 0 {
			i++
		}
		if i == from || text[i-1] == '?' {
			return -1
		}
	}
	opened := skipTags(text, i)
	if opened == from {
		return -1
	}
	return skipMarks(text, opened)
}

// What a byte can be in an assignment.
const (
	assignName     = 1 << iota // part of the name of a value
	assignQuote                // stands between a name and an operator
	assignOperator             // part of an operator
	assignMark                 // opens a value
	assignValue                // part of a value that is no letter: see valueLonger
)

var assigns = func() (sorts [256]uint8) {
	for i := range sorts {
		c := byte(i) //nolint:gosec // an index of 256
		if wordByte(c) || strings.IndexByte(" \t.-", c) >= 0 {
			sorts[i] |= assignName
		}
		if c <= ' ' || strings.IndexByte("'\"`*\\])", c) >= 0 {
			sorts[i] |= assignQuote
		}
		if strings.IndexByte("=>:|?", c) >= 0 {
			sorts[i] |= assignOperator
		}
		if c <= ' ' || strings.IndexByte("'\"`=*([\\", c) >= 0 {
			sorts[i] |= assignMark
		}
		if tokenKinds[c] != 0 || strings.IndexByte("=%~:!$@\"", c) >= 0 {
			sorts[i] |= assignValue
		}
	}
	return sorts
}()

// skipTags is the end of tags that begin at byte i, with white space before them.
func skipTags(text string, i int) int {
	for range tagsMost {
		at := i
		for at < len(text) && at-i < 4 && text[at] <= ' ' {
			at++
		}
		if at+2 >= len(text) || text[at] != '<' || !letter(text[at+1]) && text[at+1] != '/' {
			return i
		}
		size := strings.IndexByte(text[at:min(at+tagMost, len(text))], '>')
		if size < 0 || strings.IndexByte(text[at+1:at+size], '<') >= 0 {
			return i
		}
		i = at + size + 1
	}
	return i
}

// skipMarks is where a value begins: behind quotation marks, blanks and the like.
func skipMarks(text string, i int) int {
	for n := 0; n < valueMarks && i < len(text) && assigns[text[i]]&assignMark != 0; n++ {
		i++
	}
	return i
}

// valueLonger reports whether the value at byte i has at least size bytes, not letters alone unless it may be plain.
func valueLonger(text string, i, size int, plain bool) bool {
	plain = !plain
	for end := i; end < len(text); end++ {
		c := text[end]
		switch {
		case letter(c) || c == '_' || c == '-' || c == '.':
		case assigns[c]&assignValue != 0:
			plain = false
		default:
			return false
		}
		if end-i+1 >= size && !plain {
			return true
		}
	}
	return false
}

// valueEnders are the bytes that can end a value (wideTail).
var valueEnders = func() (in [256]bool) {
	for _, c := range []byte("\t\n\v\f\r `'\";<>)]},&|#*.!?:\\%") {
		in[c] = true
	}
	return in
}()

// valueEnds reports whether within so many bytes from byte i on there is one that can end a value.
func valueEnds(text string, i, size int) bool {
	for end := i; end < i+size; end++ {
		if end == len(text) || valueEnders[text[end]] {
			return true
		}
	}
	return false
}

// nameStart is the start of the name that holds byte i.
func nameStart(text string, i int) int {
	for start := i; ; start-- {
		if start == 0 || i-start == nameMost || !wordByte(text[start-1]) && text[start-1] != '.' && text[start-1] != '-' {
			return start
		}
	}
}
