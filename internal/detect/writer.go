package detect

import (
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"
)

// writer builds a Normalized; at is the offset of what is read next.
type writer struct {
	n     *Normalized
	out   []byte
	at    int
	end   int // of what is read now
	kinds *[256]byte
	word  word
	last  rune // the rune beyond ASCII that was read last
	run   run  // of invisible characters, the last there was
	flag  bool // the tag characters being read belong to an emoji

	lines  int    // line ends since the last character
	leader string // what the last line began with, where comments and quoted mail begin their lines with it
	page   page
	marks  markdown

	pieces []piece // room for those of the next text
	markup []mark
}

// How the bytes of a text are read.
const (
	asItself = 0 // it stands for itself
	asBlank  = 1 // a single one stands for itself
	asMark   = 2 // it may be markup: see stands
	asOther  = 4 // it needs a look
)

// plainKinds, jsonKinds and htmlKinds say how each byte is read.
var (
	plainKinds = kindsOf("")
	jsonKinds  = kindsOf(`\`)
	htmlKinds  = kindsOf("<")
	bothKinds  = kindsOf(`\<`)
)

func kindsOf(more string) *[256]byte {
	var kinds [256]byte
	for c := range kinds {
		if c < ' ' || c >= del {
			kinds[c] = asOther
		}
	}
	kinds[' '] = asBlank
	for _, c := range []byte("*_~[]&") {
		kinds[c] = asMark
	}
	for _, c := range []byte(more) {
		kinds[c] = asOther
	}
	return &kinds
}

func newWriter(n *Normalized) *writer {
	w := spareWriters.Get().(*writer) //nolint:errcheck // the pool holds nothing else
	*w = writer{n: n, out: slices.Grow(w.out, len(n.Original)), lines: 1, kinds: plainKinds, pieces: w.pieces, markup: w.markup}
	switch {
	case n.json && n.html:
		w.kinds = bothKinds
	case n.json:
		w.kinds = jsonKinds
	case n.html:
		w.kinds = htmlKinds
	}
	w.n.pieces, w.n.markup = w.pieces, w.markup
	return w
}

// spareWriters holds writers whose memory the next text may have.
var spareWriters = sync.Pool{New: func() any { return new(writer) }}

// finish ends the text, and the writer with it.
func (w *writer) finish() {
	w.endRun()
	w.unveil()
	w.endAside()
	n := w.n
	n.Text = string(w.out)
	w.pieces, n.pieces = n.pieces[:0], slices.Clone(n.pieces)
	w.markup, n.markup = n.markup[:0], slices.Clone(n.markup)
	w.spare()
}

// spare lets the next text have the memory of the writer, unless it is more than a chunk takes.
func (w *writer) spare() {
	if cap(w.out) <= 2*chunkSize && cap(w.pieces) <= chunkSize && cap(w.markup) <= chunkSize/8 {
		*w = writer{out: w.out[:0], pieces: w.pieces, markup: w.markup}
		spareWriters.Put(w)
	}
}

// read reads up to byte end of the original.
func (w *writer) read(end int) {
	outer := w.end
	w.end = end
	for w.at < end {
		if w.lines > 0 {
			w.lineStart()
		}
		w.stretch()
		if w.at < end {
			w.other()
		}
	}
	w.end = outer
}

// other reads what does not stand for itself.
func (w *writer) other() {
	switch c := w.n.Original[w.at]; {
	case c >= utf8.RuneSelf:
		w.wide()
	case c == ' ' || c >= '\t' && c <= '\r':
		w.space(c == '\n', 1)
	case c < ' ' || c == del:
		w.control(rune(c), 1)
	case c == '\\' && w.n.json:
		w.escape()
	case c == '<' && w.n.html && w.element(1):
	case c == '&' && w.entity(1):
	case w.mark(c):
	case capital(c):
		w.plain(c | 0x20)
	default:
		w.plain(c)
	}
}

// stretch writes the bytes from here on that stand for themselves in lower case, up to the first that needs a look: most of
// most texts.
func (w *writer) stretch() {
	text, end := w.n.Original[:w.end], w.at
	before := uint8(asBlank) // no white space next: there may be some before
	for ; end < len(text); end++ {
		kind := w.kinds[text[end]]
		if kind&(before|asMark|asOther) != 0 && (kind != asMark || !w.stands(end)) {
			break
		}
		before = kind & asBlank
	}
	if end == w.at {
		return
	}
	w.lines = 0
	w.piece(false)
	from := len(w.out)
	w.out = append(w.out, text[w.at:end]...)
	lowerPlain(w.out[from:])
	w.at = end
}

// plain writes one byte that stands for one byte.
func (w *writer) plain(c byte) {
	w.piece(false)
	w.out = append(w.out, c)
	w.at++
	w.lines = 0
}

// piece begins a piece where the one before does not go on by itself.
func (w *writer) piece(solid bool) {
	if k := len(w.n.pieces); k > 0 && !solid {
		if p := w.n.pieces[k-1]; !p.solid && w.at-int(p.from) == len(w.out)-int(p.at) {
			return
		}
	}
	w.n.pieces = append(w.n.pieces, w.here(solid))
}

// here is a piece that begins where the writer is.
func (w *writer) here(solid bool) piece {
	return piece{int32(len(w.out)), int32(w.at), solid} //nolint:gosec // chunks are short
}

// skip passes over bytes that leave nothing behind. The piece before ends with it.
func (w *writer) skip(size int) { w.at += size }

// space writes a blank or a line end unless one stands there already; a line end wins.
func (w *writer) space(line bool, size int) {
	blank := byte(' ')
	if line {
		blank = '\n'
		w.lines++
		w.endAside()
	}
	if k := len(w.out); k > 0 && (w.out[k-1] == ' ' || w.out[k-1] == '\n') {
		if line {
			w.out[k-1] = blank
		}
		w.skip(size)
		return
	}
	w.piece(size != 1)
	w.out = append(w.out, blank)
	w.at += size
}

// solid writes text that stands for size bytes as a whole.
func (w *writer) solid(size int, text string) {
	if len(text) == size && size == 1 {
		w.plain(text[0])
		return
	}
	w.piece(true)
	w.out = append(w.out, text...)
	w.at += size
	w.lines = 0
}

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
		case r == ' ' || r >= '\t' && r <= '\r':
			w.space(r == '\n', used)
		case r < ' ' || r == del:
			w.control(r, used)
		case r == '<' && w.n.html && w.element(used), r == '&' && w.entity(used):
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
	case plain(r):
		w.letter(r, size)
	case r >= 0xE0000 && r <= 0xE007F:
		w.tag(r, size)
	case invisible(r):
		w.unseen(size)
	case accent(r), r >= 0x80 && r < 0xA0 && r != 0x85:
		w.skip(size) // what an accent sits on is enough
	case unicode.IsSpace(r):
		w.space(r == 0x2028 || r == 0x2029 || r == 0x85, size)
	default:
		w.letter(r, size)
	}
	w.last = r
}

// letter writes a rune that people see: the Latin letter that it stands for in its word, or itself.
func (w *writer) letter(r rune, size int) {
	if latin, ok := lookAlike(r); ok && w.word.mixed(w.n.Original, w.at) {
		w.solid(size, string(latin))
	} else if latin, ok := latinForm(r); ok {
		w.solid(size, string(latin))
	} else {
		w.folded(r, size)
	}
}

// folded writes the rune as it is compared. What keeps its size goes on the piece before.
func (w *writer) folded(r rune, size int) {
	if r >= 0x4E00 && r < 0xA000 {
		w.piece(false) // it is folded already, and so is much of the world's text
		w.out = utf8.AppendRune(w.out, r)
	} else {
		folded := fold(r)
		w.piece(len(folded) != size)
		w.out = append(w.out, folded...)
	}
	w.at += size
	w.lines = 0
}
