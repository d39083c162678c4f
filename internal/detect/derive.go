package detect

const (
	// depthMax is how many decodings one within the other are undone.
	depthMax = 3
	// derivedShare and derivedLeast bound what may be decoded from a chunk: so many times its length, and so many bytes.
	derivedShare, derivedLeast = 2, 4 << 10
)

// views are the readings of a text: the main one, and what can be decoded from runs in it that look encoded, and from runs in that.
func views(n *Normalized) []*Normalized { return viewsBy(n, cueing, nil) }

// viewsBy are the readings of a text, and in each is noted where the other words of a table stand. Those who share the work on them are told
// of each; nil: nobody does.
func viewsBy(n *Normalized, t *cueTable, work *division) []*Normalized {
	all := []*Normalized{n}
	work.begun(n)
	room := derivedShare*len(n.Original) + derivedLeast
	for i := 0; i < len(all); i++ {
		if all[i].depth < depthMax {
			d := deriver{n: all[i], plain: all[i].unescaped(), room: &room, table: t}
			for _, n := range d.derive() {
				all = append(all, n)
				work.begun(n)
			}
		}
		work.decoded(i)
	}
	return all
}

// deriver decodes runs of one view.
type deriver struct {
	n      *Normalized
	plain  unescaped
	room   *int // bytes that may still be decoded
	table  *cueTable
	groups []group
	spare  decoding // room for the next decoding of a run

	pairs, bits, singles, leet streak
	lineEnd                    int // of the line that was decoded last, by any decoding of lines
	spacedEnd                  int // of the letters that were put together last
	percents                   int // where the run of percent escapes that was read last ends
}

// streak counts tokens of one kind that follow each other.
type streak struct {
	span
	count int
}

// add counts the token from..to. It goes on with the streak where at most gap bytes lie between.
func (s *streak) add(from, to, gap int) {
	if s.count == 0 || from-s.end > gap {
		*s = streak{span{from, from}, 0}
	}
	s.end = to
	s.count++
}

func (d *deriver) derive() []*Normalized {
	d.walk()
	d.cues()
	d.fields()
	d.inline()
	return d.views()
}

// Kinds of bytes in tokens: runs of the letters that base64 is written with.
const (
	isLetter = 1 << iota
	isDigit
	isSign  // of base64
	notHex  // a letter beyond f
	notBits // anything but 0 and 1
)

var tokenKinds = func() (kinds [256]byte) {
	for i := range kinds {
		c := byte(i) //nolint:gosec // an index of 256
		switch {
		case letter(c):
			kinds[c] = isLetter | notBits
			if c|0x20 > 'f' {
				kinds[c] |= notHex
			}
		case digit(c):
			kinds[c] = isDigit
			if c > '1' {
				kinds[c] |= notBits
			}
		case c == '+' || c == '/' || c == '-' || c == '_':
			kinds[c] = isSign | notHex | notBits
		}
	}
	return kinds
}()

// walk looks at each token once.
func (d *deriver) walk() {
	text := d.plain.text
	for i := 0; i < len(text); {
		kind := tokenKinds[text[i]]
		if kind == 0 {
			if text[i] == '%' && i >= d.percents {
				d.percent(i)
			}
			i++
			continue
		}
		start := i
		if i+8 <= len(text) { // most tokens are short words
			if size := int(lettersOf(eight(text[i : i+8]))); size > 2 && size < 8 && tokenKinds[text[i+size]] == 0 && d.singles.count == 0 { //nolint:gosec // up to 8
				i += size
				continue
			}
		}
		for i++; i < len(text); i++ {
			k := tokenKinds[text[i]]
			if k == 0 {
				break
			}
			kind |= k
		}
		switch size := i - start; {
		case size == 1:
			d.singles.add(start, i, separatorMax)
		case size >= encodedLeast || kind&isSign != 0 && size > 8:
			i = d.long(start, i, kind)
		case kind&(isLetter|isDigit) == isDigit|isLetter || size == 2 || size == 8:
			d.short(start, i, kind)
		}
		if d.singles.count > 0 && (start > d.singles.end+separatorMax || i == len(text)) {
			d.spaced(d.singles)
			d.singles = streak{}
		}
	}
	d.spaced(d.singles)
	d.hexPairs(d.pairs)
	d.binary(d.bits)
}

// long reads a token that is too long for a word, and returns where to go on.
func (d *deriver) long(start, end int, kind byte) int {
	text := d.plain.text
	size := end - start
	switch {
	case kind&notBits == 0 && size%8 == 0:
		d.bits.add(start, end, 0)
		d.binary(streak{span{start, end}, size / 8})
		d.bits = streak{}
	case kind&notHex == 0 && size >= hexLeast:
		d.hex(start, end)
	case size-2 >= hexLeast && text[start] == '0' && text[start+1]|0x20 == 'x' && hexDigits(text[start+2:end]):
		d.hex(start+2, end)
	case separated(text[start:end]):
		d.spaced(streak{span{start, end}, spacedLeast})
	case size >= encodedLeast && kind&isSign != 0 && text[start+2] == '-':
		d.hexPairs(streak{span{start, end}, size / 3})
	case size >= encodedLeast:
		return d.base64(start, end)
	}
	return end
}

// short reads a token that may be one of a row of numbers, or a word in leetspeak.
func (d *deriver) short(start, end int, kind byte) {
	text := d.plain.text
	size := end - start
	if kind&(isLetter|isDigit) == isDigit|isLetter && size > 2 && size <= leetLetters {
		d.leetToken(start, end)
	}
	if d.pairs.count > 0 && start-d.pairs.end > separatorMax {
		d.hexPairs(d.pairs)
		d.pairs = streak{}
	}
	if d.bits.count > 0 && start-d.bits.end > separatorMax {
		d.binary(d.bits)
		d.bits = streak{}
	}
	switch {
	case size == 2 && kind&notHex == 0, size == 4 && text[start] == '0' && text[start+1]|0x20 == 'x' && hexDigits(text[start+2:end]):
		d.pairs.add(start, end, separatorMax)
	case size == 8 && kind&notBits == 0:
		d.bits.add(start, end, separatorMax)
	}
}

// separatorMax bounds what stands between letters and numbers of a row, in bytes.
const separatorMax = 4
