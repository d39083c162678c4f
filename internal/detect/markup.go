package detect

import (
	"html"
	"strings"
)

// mark is a part of the original that is markup: what is cut out of a text leaves it.
type mark struct {
	span
	name uint64 // of the element whose tag it is, see packed; 0 for comments and the borders of values
	kind byte   // tagOpens, tagCloses, tagAlone or tagParts
}

// What a mark does to the text around.
const (
	tagOpens  byte = iota // it begins an element
	tagCloses             // it ends one
	tagAlone              // it is a whole element
	tagParts              // text on one side of it is no part of what is on the other
)

// packed is the beginning of the name of an element as a number. No two elements have the same.
func packed(name string) (n uint64) {
	for _, c := range []byte(name[:min(len(name), 8)]) {
		n = n<<8 | uint64(c)
	}
	return n
}

// page is what is known of the HTML being read.
type page struct {
	list   []attribute // room for the attributes of a tag
	inside bool        // a value is being read: what looks like a tag in it is none
	raw    string      // the element being read that holds no markup
	shroud shroud
	ends   ahead // of comments
	quotes ahead // quotation marks that end strings of JSON
}

// shroud is the element being read that people are not shown; its name is empty outside of one.
type shroud struct {
	name  string
	depth int // elements of its name in it, and itself
	from  int // where its text begins
	limit int // where it ends at the latest, in the original
}

// ahead remembers the next place of something, so that a text is searched once for it.
type ahead struct {
	at    int
	known bool
}

// looksLikeHTML reports whether a text holds an element of HTML, or a comment.
func looksLikeHTML(text string, json bool) bool {
	w := spareWriters.Get().(*writer) //nolint:errcheck // the pool holds nothing else
	defer w.spare()
	w.n, w.end = &Normalized{Original: text, json: json}, len(text)
	for i := 0; i < len(text); {
		k := strings.IndexByte(text[i:], '<')
		if k < 0 {
			break
		}
		i += k + 1
		if strings.HasPrefix(text[i:], "!--") {
			return true
		}
		if c := byteAt(text, i); letter(c) || c == '/' || c == '\\' {
			if _, ok := w.tagAt(i-1, 1); ok {
				return true
			}
		}
	}
	return json && escapedTag(w) || namedEntity(text)
}

// namedEntity reports whether a text holds a character of HTML by its name.
func namedEntity(text string) bool {
	for i := 0; ; {
		k := strings.IndexByte(text[i:], '&')
		if k < 0 {
			return false
		}
		i += k + 1
		rest := text[i:min(len(text), i+entityMax)]
		end := 0
		for end < len(rest) && (letter(rest[end]) || digit(rest[end])) {
			end++
		}
		if end > 1 && end < len(rest) && rest[end] == ';' && letter(rest[0]) && html.UnescapeString("&"+rest[:end+1]) != "&"+rest[:end+1] {
			return true
		}
	}
}

// escapedTag reports whether a tag stands in JSON that escapes angle brackets.
func escapedTag(w *writer) bool {
	const bracket = `u003`
	text := w.n.Original
	for i := 0; ; {
		k := strings.Index(text[i:], bracket)
		if k < 0 {
			return false
		}
		i += k + len(bracket)
		if c := byteAt(text, i); c|0x20 == 'c' && byteAt(text, i-len(bracket)-1) == '\\' {
			if _, ok := w.tagAt(i, 1); ok || strings.HasPrefix(text[i+1:], "!--") {
				return true
			}
		}
	}
}

// element reads the tag or comment whose angle bracket takes size bytes. It reports whether there was one.
func (w *writer) element(size int) bool {
	if w.page.inside {
		return false
	}
	if c, s := w.unit(w.at + size); c == '!' || c == '?' {
		return w.declaration(size + s)
	}
	t, ok := w.tagAt(w.at, size)
	if !ok || w.page.raw != "" && (!t.closing || t.name != w.page.raw) {
		return false
	}
	w.page.raw = ""
	if t.closing {
		w.close(t)
	} else {
		w.open(t)
	}
	return true
}

// open reads the tag that begins an element, with what its attributes say.
func (w *writer) open(t tag) {
	single := t.ended || t.kind == voidElement || t.kind == lineElement
	w.shade(t, single)
	from, begin := len(w.out), w.at
	rest := begin // of the tag, behind what was written of it
	for _, a := range t.list {
		if a.value.end > a.value.start && a.speaks(w.n.Original[a.value.start:a.value.end]) {
			rest = w.aside(rest, a)
		}
	}
	if single && w.page.shroud.name == "" && concealing(w.n.Original, t) {
		w.veil(from, len(w.out))
	}
	kind := tagOpens
	switch {
	case rest > begin:
		kind = tagParts
	case single:
		kind = tagAlone
	}
	w.past(t, rest, kind)
	if t.kind == rawElement && !single {
		w.page.raw = t.name
	}
}

// aside writes the value of an attribute as a line of its own. from is where the tag, or what is left of it, begins; the rest begins
// where it returns.
func (w *writer) aside(from int, a attribute) int {
	begin := a.value.start
	if a.name == "src" || a.name == "href" {
		begin = a.start // rules read that an address is one
	}
	w.cut(mark{span{from, a.value.start}, 0, tagParts})
	w.at = begin
	w.newLine()
	w.page.inside = true
	w.read(a.value.end)
	w.page.inside = false
	w.at = max(w.at, a.value.end)
	w.newLine()
	return w.at
}

// past passes over a tag, or the end of one.
func (w *writer) past(t tag, from int, kind byte) {
	if t.kind != inlineElement && t.kind != voidElement {
		w.newLine()
	}
	w.cut(mark{span{from, t.end}, packed(t.name), kind})
}

// close reads the tag that ends an element.
func (w *writer) close(t tag) {
	s := &w.page.shroud
	if s.name == t.name {
		if s.depth--; s.depth == 0 {
			w.unveil()
		}
	}
	w.past(t, w.at, tagCloses)
}

// cut passes over markup.
func (w *writer) cut(m mark) {
	w.n.markup = append(w.n.markup, m)
	w.drop(m.end - w.at)
}

// drop passes over bytes that stand for nothing, not even for a part of what was written before.
func (w *writer) drop(size int) {
	if k := len(w.n.pieces); k > 0 && w.n.pieces[k-1].solid {
		w.n.pieces = append(w.n.pieces, w.here(false))
	}
	w.at += size
}

// newLine begins a line where the text does not stand at the beginning of one.
func (w *writer) newLine() {
	w.leader, w.lines = "", max(w.lines, 1)
	k := len(w.out)
	switch {
	case k == 0 || w.out[k-1] == '\n':
	case w.out[k-1] == ' ':
		w.out[k-1] = '\n'
	default:
		w.piece(true)
		w.out = append(w.out, '\n')
	}
}
