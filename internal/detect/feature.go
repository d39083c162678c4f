package detect

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The salts keep the kinds of features apart.
const (
	saltWord uint32 = (iota + 1) * 0x1B873593
	saltPair
	saltTriple
	saltSkip
	saltWide
	saltGram
	saltHead
	saltTail
)

// What stands for words whose own letters say nothing (a detector that learns addresses and numbers learns its training data), for the
// start of a sentence, and for what is known of a sentence besides its words.
const (
	wordStart uint32 = 0xF1EA5EED + iota
	wordMail
	wordLink
	wordHost
	wordNumber
	wordMixed
	wordConcealed
	wordDecoded
)

// features holds the features of one sentence: words, pairs and triples of words, pairs with one or two words between, and parts of
// words. Scripts that set no blanks between words count every letter as a word.
type features struct {
	tables []*Weights // what weighs them, two at most; none when out is wanted
	out    []uint32   // their hashes, each once

	words  bool   // there are any but marks
	mark   uint32 // of all of them: the same for sentences that read the same
	weight [2]int // what they weigh by each table
	known  [2]int // how many weigh anything

	last [3]uint32 // the three words before, the latest first
	cuts []span    // room for the sentences of the next text

	// batch holds features that wait to be looked up: many at once wait for memory together.
	batch [batchMost]uint32
	found [batchMost]uint32 // their buckets in a table
	hits  [batchMost]hit
	n     uint // in batch

	// seen holds the features of this sentence that came last to each place: what is repeated counts once, as far as this sees.
	seen [1 << 10]uint32
	turn uint32
}

// batchMost is how many features wait at most, and wordMade how many a word makes together with those before it.
const (
	batchMost = 1 << 9
	wordMade  = 5
)

// hit is a feature that may have a weight, and that weight.
type hit struct {
	feature uint32
	weight  int32
}

// sentence makes the features of a sentence of normalised text.
func (f *features) sentence(text string, marks ...uint32) {
	f.words, f.mark, f.out, f.last = false, 0, f.out[:0], [3]uint32{wordStart, 0, 0}
	f.weight, f.known = [2]int{}, [2]int{}
	f.turn++
	for _, mark := range marks {
		f.add(saltWord, mark)
	}
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case signs[c] == pause:
			i++
		case signs[c] <= plainDigit:
			i = f.latin(text, i)
		case c < utf8.RuneSelf:
			i = f.sign(text, i)
		default:
			i = f.wide(text, i)
		}
	}
	f.flush()
}

// add appends a feature.
func (f *features) add(salt, hash uint32) {
	if f.n == uint(len(f.batch)) {
		f.flush()
	}
	f.batch[f.n] = hash ^ salt
	f.n++
}

// flush spreads the hashes that wait (multiplicative hashing, Knuth) and looks them up.
func (f *features) flush() {
	list, mark := f.batch[:f.n], f.mark
	f.n = 0
	for i, x := range list {
		x = uint32(uint64(x) * 0x9E3779B97F4A7C15 >> 32) //nolint:gosec // the upper half
		list[i] = x
		mark = bits.RotateLeft32(mark, 1) ^ x
	}
	f.mark = mark
	for k, w := range f.tables {
		f.weigh(k, w, list)
	}
	if f.tables == nil {
		for _, x := range list {
			if f.fresh(x, 0) {
				f.out = append(f.out, x)
			}
		}
	}
}

// weigh adds up what features weigh by a table. About half have a weight; which, is found first and without a branch, as none could be
// foreseen.
func (f *features) weigh(k int, w *Weights, list []uint32) {
	n := uint(0)
	buckets := f.found[:len(list)]
	for i, x := range list { // does nothing else, so that many wait for memory at once
		buckets[i] = w[x>>(32-bucketBits)]
	}
	for i, x := range list {
		weight, found := look(buckets[i], x)
		f.hits[n%batchMost] = hit{x, weight}
		n += found
	}
	weight, known := 0, 0
	for _, h := range f.hits[:n] {
		if h.weight != 0 && f.fresh(h.feature, uint32(k)) { //nolint:gosec // the index of one of two tables
			weight += int(h.weight)
			known++
		}
	}
	f.weight[k] += weight
	f.known[k] += known
}

// fresh reports whether the sentence has not had a feature yet, for one table of several.
func (f *features) fresh(x, table uint32) bool {
	place, stamp := &f.seen[x%uint32(len(f.seen))], x+(f.turn<<1|table)*0x9E3779B1
	if *place == stamp {
		return false
	}
	*place = stamp
	return true
}

// word adds what a word makes together with those before it.
func (f *features) word(w uint32) {
	f.words = true
	a, b, c := f.last[0], f.last[1], f.last[2]
	if f.n > batchMost-wordMade {
		f.flush()
	}
	made := (*[wordMade]uint32)(f.batch[f.n:])
	made[0], made[1] = w^saltWord, (w+a*31)^saltPair
	n := uint(2)
	if b != 0 {
		made[2], made[3] = (w+a*31+b*961)^saltTriple, (w+b*31)^saltSkip
		n = 4
	}
	if c != 0 {
		made[n%wordMade] = (w + c*31) ^ saltWide
		n++
	}
	f.n += n
	f.last = [3]uint32{w, a, b}
}

// The sorts of bytes.
const (
	plainLetter = iota
	plainDigit
	pause  // marks nothing
	inside // may stand within a word
	other
)

// signs is the sort of each byte.
var signs = func() (sorts [256]uint8) {
	for i := range sorts {
		switch c := byte(i); { //nolint:gosec // an index of 256
		case letter(c):
			sorts[i] = plainLetter
		case digit(c):
			sorts[i] = plainDigit
		case strings.IndexByte(" \n\t,\";()", c) >= 0:
			sorts[i] = pause
		case strings.IndexByte(".'-_@:", c) >= 0 || c >= utf8.RuneSelf:
			sorts[i] = inside
		default:
			sorts[i] = other
		}
	}
	return sorts
}()

// latin reads a word that begins with an ASCII letter or digit at byte i: an address, a link, a name with dots, a number, a word.
func (f *features) latin(text string, i int) int {
	if i+8 <= len(text) {
		letters := eight(text[i : i+8])
		if size := lettersOf(letters); size-1 < 7 && (signs[text[i+int(size)]] == pause || signs[text[i+int(size)]] == other) { //nolint:gosec // up to 8
			f.short(letters, size)
			return i + int(size) //nolint:gosec // as above
		}
	}
	end, hash, digits := i, uint32(2166136261), 0
	for end < len(text) && signs[text[end]] <= plainDigit {
		hash = (hash ^ uint32(text[end])) * 16777619
		digits += int(signs[text[end]])
		end++
	}
	class := uint32(0)
	switch {
	case end < len(text) && signs[text[end]] == inside && (text[end] == ':' || text[end] >= utf8.RuneSelf || goesOn(text, end+1)) || end-i > longest:
		if end, class = extent(text, i); class == 0 {
			if !ascii(text[i:end]) {
				return f.wide(text, i)
			}
			hash = hashWord(text[i:end])
		}
	case digits == end-i:
		class = wordNumber
	case digits > 0:
		class = wordMixed
	}
	if class != 0 {
		f.word(class)
		return end
	}
	f.parts(text[i:end])
	f.word(hash)
	return end
}

// extent is the end of the word that begins at byte i, and what stands for it when its letters do not count.
func extent(text string, i int) (end int, class uint32) {
	digits, letters, dots, at := 0, 0, 0, false
	for end = i; end < len(text); end++ {
		c := text[end]
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z' || c >= utf8.RuneSelf:
			letters++
		case c >= '0' && c <= '9':
			digits++
		case c == '@' && goesOn(text, end+1):
			at = true
		case c == '.' && goesOn(text, end+1):
			dots++
		case (c == '-' || c == '_') && (at || digits > 0) && goesOn(text, end+1):
		case c == '\'' && goesOn(text, end+1) && dots == 0:
		case c == ':' && letters > 0 && end+3 <= len(text) && text[end:end+3] == "://":
			return blank(text, end), wordLink
		default:
			return end, classOf(digits, letters, dots, at)
		}
		if end-i > longest {
			return blank(text, end), wordMixed
		}
	}
	return end, classOf(digits, letters, dots, at)
}

// longest is the length, in bytes, from which a word is none.
const longest = 64

func classOf(digits, letters, dots int, at bool) uint32 {
	switch {
	case at:
		return wordMail
	case dots > 0 && letters > 0:
		return wordHost
	case digits > 0 && letters == 0:
		return wordNumber
	case digits > 0:
		return wordMixed
	}
	return 0
}

func goesOn(text string, i int) bool {
	if i >= len(text) {
		return false
	}
	c := text[i]
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c >= utf8.RuneSelf
}

// blank is the offset of the next white space, quote or bracket.
func blank(text string, i int) int {
	for i < len(text) && text[i] > ' ' && text[i] != '"' && text[i] != '<' && text[i] != '>' && text[i] != ')' {
		i++
	}
	return i
}

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func hashWord(w string) uint32 {
	h := uint32(2166136261)
	for i := range len(w) {
		h = (h ^ uint32(w[i])) * 16777619
	}
	return h
}

// sign reads a run of one sign; those that mark nothing but pauses are passed over.
func (f *features) sign(text string, i int) int {
	c, end := text[i], i+1
	if c == '.' || c == '\'' || c == '-' || c == '_' {
		return end
	}
	for end < len(text) && text[end] == c {
		end++
	}
	f.word(uint32(c) | uint32(min(end-i, 3))<<8)
	return end
}

// wide reads a word that holds letters beyond ASCII. A letter of a script without blanks is a word of its own.
func (f *features) wide(text string, i int) int {
	var letters [longest]rune
	n, hash := 0, uint32(2166136261)
	for i < len(text) && n < longest {
		r, size := utf8.DecodeRuneInString(text[i:])
		if unspaced(r) {
			if n > 0 {
				break
			}
			f.word(uint32(r) * 16777619) //nolint:gosec // a rune is not negative
			return i + size
		}
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && r != '\'' {
			if n == 0 {
				f.word(uint32(r)) //nolint:gosec // a rune is not negative
				return i + size
			}
			break
		}
		letters[n] = r
		n++
		hash = (hash ^ uint32(r)) * 16777619 //nolint:gosec // a rune is not negative
		i += size
	}
	f.runes(letters[:n])
	f.word(hash)
	return i
}

// unspaced reports whether a rune belongs to a script that sets no blanks between words.
func unspaced(r rune) bool {
	switch {
	case r < 0x0E00:
		return false
	case r < 0x0F00: // Thai, Lao
		return true
	case r >= 0x1000 && r < 0x10A0, r >= 0x1780 && r < 0x1800: // Myanmar, Khmer
		return true
	case r >= 0x3040 && r < 0x3100, r >= 0x3400 && r < 0xA000, r >= 0x20000 && r < 0x32000: // kana, Han
		return true
	}
	return false
}
