package detect

// tag is a tag of a known element.
type tag struct {
	name    string
	kind    element
	closing bool
	ended   bool // with a slash: it has no content
	end     int
	list    []attribute
}

// attributesMax bounds the attributes of a tag. What has more is no tag.
const attributesMax = 64

// unit is the character at byte i, read as markup in JSON has it, and its size: `\"`, `\/` and `\u003c` are one. What markup has no use
// for is 0.
func (w *writer) unit(i int) (c byte, size int) {
	text := w.n.Original
	if i >= w.end {
		return 0, 0
	}
	if text[i] != '\\' || !w.n.json {
		return text[i], 1
	}
	lead := i
	for lead < len(text) && text[lead] == '\\' && lead-i < escapeLead {
		lead++
	}
	r, size := escapeAt(text, i, lead)
	switch {
	case size == 0 || i+size > w.end:
		return '\\', 1
	case r >= 0x80:
		return 0, size
	}
	return byte(r), size //nolint:gosec // below 0x80
}

// tagAt reads the tag whose angle bracket at byte i takes size bytes. It is none where the element is unknown, or where words stand
// among the attributes: then a model may read it as text.
func (w *writer) tagAt(i, size int) (t tag, ok bool) {
	i += size
	c, size := w.unit(i)
	if c == '/' {
		t.closing = true
		i += size
	}
	if t.name, i = w.name(i, elementName); t.name == "" {
		return t, false
	}
	if t.kind = elements[t.name]; t.kind == unknown {
		return t, false
	}
	t.list = w.page.list[:0]
	for range attributesMax {
		c, size = w.unit(i)
		switch {
		case c == '>':
			t.end = i + size
			w.page.list = t.list
			return t, true
		case c == '/':
			t.ended = true
			i += size
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			i = w.blanks(i + size)
		default:
			return t, false
		}
		if i = w.attribute(&t, i); i < 0 {
			return t, false
		}
	}
	return t, false
}

// name reads a name of at most most bytes, in lower case.
func (w *writer) name(i, most int) (name string, end int) {
	end = i
	for end < w.end && end-i <= most && namely(w.n.Original[end]) {
		end++
	}
	name = w.n.Original[i:end]
	for _, c := range []byte(name) {
		if capital(c) {
			return lowerASCII(name), end
		}
	}
	return name, end
}

func namely(c byte) bool {
	return wordByte(c) || c == '-' || c == ':' || c == '.' || c == '@'
}

// blanks is the end of the white space from byte i on.
func (w *writer) blanks(i int) int {
	for {
		c, size := w.unit(i)
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' || size == 0 {
			return i
		}
		i += size
	}
}

// attributeName bounds the names of attributes, in bytes.
const attributeName = 64

// attribute reads an attribute where one begins at byte i, and returns where it ends; -1 where that cannot stand in a tag.
func (w *writer) attribute(t *tag, i int) int {
	name, end := w.name(i, attributeName)
	if name == "" {
		return i
	}
	a := attribute{name: name, start: i}
	if t.closing || len(name) > attributeName {
		return -1
	}
	at := w.blanks(end)
	c, size := w.unit(at)
	if c != '=' {
		if !a.flag() {
			return -1
		}
		t.list = append(t.list, a)
		return end
	}
	at = w.blanks(at + size)
	a.value, end = w.value(at)
	t.list = append(t.list, a)
	return end
}

// value reads the value of an attribute. In JSON its quotation marks are escaped: one that is not ends the string.
func (w *writer) value(i int) (value span, end int) {
	quote, size := w.unit(i)
	if quote != '"' && quote != '\'' {
		return w.bare(i)
	}
	if quote == '"' && size == 1 && w.n.json {
		return value, -1
	}
	value.start = i + size
	for at := value.start; at < w.end; {
		c, s := w.unit(at)
		if c == quote && s == size {
			value.end = at
			return value, at + s
		}
		if c == '"' && s == 1 && w.n.json {
			break
		}
		at += s
	}
	return value, -1
}

// bare reads a value without quotation marks.
func (w *writer) bare(i int) (value span, end int) {
	for at := i; ; {
		c, size := w.unit(at)
		switch {
		case size == 0 || c == '<' || c == '"' || c == '\'':
			return value, -1
		case c == '>' || c == ' ' || c == '\n' || c == '\t' || c == '\r':
			return span{i, at}, at
		}
		at += size
	}
}
