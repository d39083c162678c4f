package detect

import "strings"

// markdown is what is known of the Markdown being read.
type markdown struct {
	link  link
	aside int // where in the text a comment began, plus one; 0 outside of one
}

// link is a link whose marks are dropped: [text](target) with brackets at open and close, and its end.
type link struct{ open, close, end int }

const (
	// emphasisMax is the longest run of marks that emphasises.
	emphasisMax = 3
	// linkText and linkTarget bound what is read as a link within a word, in bytes.
	linkText, linkTarget = 80, 200
)

// stands reports whether the byte at i, which may be a mark or begin an entity, is text.
func (w *writer) stands(i int) bool {
	switch c := w.n.Original[i]; c {
	case '&':
		behind := next(w.n.Original, i)
		return behind != '#' && (!w.n.html || !letter(behind))
	case '[':
		return !w.linked(i)
	case ']':
		return i != w.marks.link.close || i == 0
	default:
		return w.emphasis(i, c) == 0
	}
}

// mark passes over marks that only say how text is shown. It reports whether there were any.
func (w *writer) mark(c byte) bool {
	size := 0
	switch c {
	case '*', '_', '~':
		size = w.emphasis(w.at, c)
	case '[':
		if w.linked(w.at) {
			size = 1
		}
	case ']':
		if w.at > 0 && w.at == w.marks.link.close {
			size = w.marks.link.end - w.at
		}
	}
	if size == 0 {
		return false
	}
	w.drop(size)
	return true
}

// emphasis is the size of the run of marks at byte i where they emphasise text within a sentence: ig**no**re, ignore *all*. Those
// that begin a line stay, since rules know headings by them, and so do those in names and sums.
func (w *writer) emphasis(i int, c byte) int {
	text := w.n.Original[:w.end]
	before, end := byteAt(text, i-1), i+1
	for end < len(text) && text[end] == c && end-i <= emphasisMax {
		end++
	}
	size, behind := end-i, byteAt(text, end)
	switch {
	case before == c || size > emphasisMax || c == '~' && size != 2 || c == '_' && size > 1:
		return 0
	case word8(before) && word8(behind):
		if c == '_' || digit(before) || digit(behind) {
			return 0
		}
	case word8(before) && behind != '=' && behind != '(' && behind != '/':
	case before == ' ' && word8(behind) && word8(byteAt(text, i-2)):
	default:
		return 0
	}
	return size
}

// linked reports whether the bracket at byte i opens a link that parts a word or leads nowhere, and notes it.
func (w *writer) linked(i int) bool {
	l := &w.marks.link
	if i > 0 && l.open == i {
		return true
	}
	text := w.n.Original[:w.end]
	n := strings.IndexAny(text[i+1:min(len(text), i+1+linkText)], "[]\n")
	if n < 0 {
		return false
	}
	end := i + 1 + n
	if text[end] != ']' || next(text, end) != '(' {
		return false
	}
	target := text[end+2 : min(len(text), end+2+linkTarget)]
	n = strings.IndexAny(target, "()[ \n\"")
	if n < 0 || target[n] != ')' {
		return false
	}
	if past := end + 2 + n + 1; n == 0 || target[:n] == "#" || word8(byteAt(text, i-1)) || word8(byteAt(text, past)) {
		*l = link{i, end, past}
		return byteAt(text, i-1) != '!'
	}
	return false
}

// byteAt is the byte at i, and 0 outside of the text.
func byteAt(text string, i int) byte {
	if i < 0 || i >= len(text) {
		return 0
	}
	return text[i]
}

// word8 reports whether a byte belongs to a word in any script.
func word8(c byte) bool { return letter(c) || digit(c) || c >= 0x80 }

// lineStart reads what a line begins with. Where every line of a comment or of quoted mail begins with the same mark, that goes,
// and the line end before it: what is said over several lines is one sentence.
func (w *writer) lineStart() {
	text := w.n.Original[:w.end]
	if text[w.at] <= ' ' || text[w.at] == '\\' && w.n.json {
		return
	}
	if text[w.at] == '[' && aside(text[w.at:]) {
		w.marks.aside = len(w.out) + 1
	}
	leader := w.leads(text[w.at:])
	if leader != "" && leader == w.leader && w.lines == 1 && len(w.out) > 0 {
		w.drop(len(leader))
		w.out[len(w.out)-1] = ' '
		w.lines = 0
	}
	w.leader = leader
	if strings.HasPrefix(text[w.at:], "/*") {
		w.leader = "*"
	}
}

// quoteMax bounds the marks of a quotation, in bytes.
const quoteMax = 16

// leads is the mark with which a line begins, where it is one that the lines of a comment share. An asterisk is one only in a
// comment that began with a slash: elsewhere it makes lists.
func (w *writer) leads(line string) string {
	var leader string
	switch {
	case strings.HasPrefix(line, "//"), strings.HasPrefix(line, "--"):
		leader = line[:2]
	case line[0] == '#', line[0] == ';', line[0] == '*' && w.leader == "*":
		leader = line[:1]
	case line[0] == '>': // what is quoted again has several
		quoted := line[:min(len(line), quoteMax)]
		leader = strings.TrimRight(quoted[:len(quoted)-len(strings.TrimLeft(quoted, ">| "))], " ")
	default:
		return ""
	}
	if byteAt(line, len(leader)) != ' ' {
		return ""
	}
	return leader
}

// aside reports whether a line is a comment of Markdown, which is a definition that nothing refers to.
func aside(line string) bool {
	for _, mark := range [...]string{"[//]:", "[comment]:", "[_]:", "[]:"} {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	return false
}

// endAside ends a comment of Markdown with its line.
func (w *writer) endAside() {
	if w.marks.aside > 0 {
		w.veil(w.marks.aside-1, len(w.out))
		w.marks.aside = 0
	}
}
