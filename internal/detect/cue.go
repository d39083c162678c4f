package detect

import "strings"

// cue says what is to be looked at where a word stands.
type cue uint8

const (
	cueRot13 cue = iota
	cueReversed
	cueTurned
	cueEscape
	cueMorse
	cueQuotedPrintable
	cueEncodedWord
	cueJoined
	cueCount
)

// cueWords are the words that texts in an encoding hold, blanks and all.
func cueWords() [cueCount][]string {
	return [cueCount][]string{
		cueRot13: {
			" gur ", " naq ", " lbh ", " nyy ", " sbe ", " jvgu ", " lbhe ", " guvf ", " sebz ", "vtaber", "cerivbhf", "vafgehpgvba", "cyrnfr",
			"flfgrz", "cebzcg", "cnffjbeq", " fraq ", "sbejneq", "rznvy", "qryrgr", "nffvfgnag", " hfre ", "nepuvir", "erirny", "frperg",
		},
		cueReversed: {
			" eht ", " dna ", " uoy ", " lla ", " htiw ", " ruoy ", " siht ", " morf ", "erongi", "suoiverp", "noitcurtsni", "esaelp", "metsys",
			"tpmorp", "drowssap", " dnes", "drawrof", " liame ", "eteled", "tnatsissa", " resu ", "evihcra", "laever", "terces",
		},
		cueTurned:          {"ǝ", "ɹ"},
		cueEscape:          {`\x`, `\u00`, `\u{`},
		cueMorse:           {".-", "-."},
		cueQuotedPrintable: {"quoted-printable"},
		cueEncodedWord:     {"=?"},
		cueJoined:          {`" + "`, `' + '`, `"+"`, `'+'`, `" . "`, `' . '`, `" & "`, `" .. "`, `" || "`, `' || '`},
	}
}

// cueTable finds all cues in one pass, and words that others look for in the same text.
type cueTable struct {
	words *automaton // cues, and behind them the others
	kinds []cue
	sizes []int
}

func newCueTable(others ...string) *cueTable {
	var t cueTable
	var words []string
	for kind, list := range cueWords() {
		for _, w := range list {
			words = append(words, w)
			t.kinds = append(t.kinds, cue(kind)) //nolint:gosec // below cueCount
			t.sizes = append(t.sizes, len(w))
		}
	}
	t.words = newAutomaton(append(words, others...))
	return &t
}

var cueing = newCueTable()

// How views were made by decodings that undo themselves.
const howRot13, howReversed = "rot13", "reversed"

// passage is a passage of which cues are counted.
type passage struct {
	span
	cues int
}

// cues looks at what cues point to, and notes where the other words stand. A passage is decoded once it has enough of them.
func (d *deriver) cues() {
	text, t := d.plain.text, d.table
	var passages [cueCount]passage
	d.n.sought = t
	t.words.each(text, func(word uint32, end int) bool {
		if int(word) >= len(t.kinds) {
			d.n.stands = append(d.n.stands, occurrence{word - uint32(len(t.kinds)), end}) //nolint:gosec // some hundreds
			return true
		}
		if *d.room <= 0 {
			return true
		}
		kind := t.kinds[word]
		start := end - t.sizes[word]
		p := &passages[kind]
		if start >= p.end {
			before := p.end
			*p = passage{d.passage(kind, start, end), 0}
			p.start = max(p.start, runeStart(text, max(before-passageOverlap, 0)))
		}
		p.cues++
		d.follow(kind, p)
		return true
	})
}

// follow decodes a passage when it has as many cues as it needs. What undoes itself is not done twice in a row: plain text around a passage in
// rot13 would become one in the next reading, and so on.
func (d *deriver) follow(kind cue, p *passage) {
	switch {
	case kind == cueRot13 && p.cues == 2 && d.n.how != howRot13:
		d.rot13(p.span)
	case kind == cueReversed && p.cues == 2 && d.n.how != howReversed:
		d.reversed(p.span)
	case kind == cueTurned && p.cues == 3:
		d.turned(p.span)
	case kind == cueEscape && p.cues == 2:
		d.escapes(p.span)
	case kind == cueMorse && p.cues == 1:
		d.morse(p.span)
	case kind == cueQuotedPrintable && p.cues == 1:
		d.quotedPrintable(p.span)
	case kind == cueEncodedWord && p.cues == 1:
		d.encodedWords(p.span)
	case kind == cueJoined && p.cues == 1:
		d.joined(p.span)
	}
}

const (
	// passageReach bounds how far a passage reaches to either side of its first cue, in bytes.
	passageReach = 2 << 10
	// passageOverlap is how much of a passage the next may hold once more, in bytes: what stands across their border is seen.
	passageOverlap = 256
)

// passage is the part of the text that a cue speaks for: a paragraph, a line, what is written in the same letters.
func (d *deriver) passage(kind cue, start, end int) span {
	text := d.plain.text
	switch kind {
	case cueMorse:
		return d.of(" .-/\n|_", start, end)
	case cueQuotedPrintable:
		return d.body(end)
	case cueEncodedWord:
		return d.headerWords(start)
	case cueEscape, cueJoined:
		return within(text, start, end, "\n")
	}
	return within(text, start, end, "\n\n")
}

// within is the passage around start..end between two borders.
func within(text string, start, end int, border string) span {
	low, high := max(0, start-passageReach), min(len(text), end+passageReach)
	s := span{runeStart(text, low), runeStart(text, high)}
	if i := strings.LastIndex(text[s.start:start], border); i >= 0 {
		s.start += i + len(border)
	}
	if i := strings.Index(text[end:s.end], border); i >= 0 {
		s.end = end + i
	}
	return s
}

// of is the passage around start..end that is written in some characters alone.
func (d *deriver) of(letters string, start, end int) span {
	text := d.plain.text
	low, high := max(0, start-passageReach), min(len(text), end+passageReach)
	for start > low && strings.IndexByte(letters, text[start-1]) >= 0 {
		start--
	}
	for end < high && strings.IndexByte(letters, text[end]) >= 0 {
		end++
	}
	return span{start, end}
}
