package detect

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// runeClasses sorts characters into classes that no expression tells apart.
type runeClasses struct {
	pages  [runePages]uint8     // where the classes of characters are found, by the first bits of the character
	sheets [][runesOnPage]uint8 // the classes of the characters of a page; the first those of ASCII
	starts []rune               // where ranges of one class begin, beginning with 0
	sorts  []uint8              // their classes
	count  int
}

const (
	// runesOnPage and runePages cut the characters that most scripts are written with into pages.
	runesOnPage, runePages = 128, 1 << 16 / runesOnPage
	// manySheets stands for the sheet of a page where there are too many.
	manySheets = 255
)

// of is the class of a character.
func (c *runeClasses) of(r rune) uint8 {
	if page := uint32(r) / runesOnPage; page < runePages && c.pages[page] < manySheets { //nolint:gosec // a rune is not negative
		return c.sheets[c.pages[page]][r%runesOnPage]
	}
	return c.search(r)
}

// lay fills the pages. Those whose characters are all in one range share a sheet with their like.
func (c *runeClasses) lay() {
	even := map[uint8]uint8{} // class → its sheet
	k := 0                    // the range of the character that is looked at
	for page := range c.pages {
		low := rune(page * runesOnPage)
		k = c.rangeOf(low, k)
		alone := k+1 == len(c.starts) || c.starts[k+1] >= low+runesOnPage
		sheet, known := even[c.sorts[k]]
		switch {
		case alone && known:
			c.pages[page] = sheet
			continue
		case len(c.sheets) == manySheets:
			c.pages[page] = manySheets
			continue
		}
		c.pages[page] = uint8(len(c.sheets)) //nolint:gosec // below manySheets
		if alone {
			even[c.sorts[k]] = c.pages[page]
		}
		var classes [runesOnPage]uint8
		for i := range classes {
			k = c.rangeOf(low+rune(i), k)
			classes[i] = c.sorts[k]
		}
		c.sheets = append(c.sheets, classes)
	}
}

// rangeOf is the range that holds a character, k or one behind it.
func (c *runeClasses) rangeOf(r rune, k int) int {
	for k+1 < len(c.starts) && c.starts[k+1] <= r {
		k++
	}
	return k
}

// search is the class of any character.
func (c *runeClasses) search(r rune) uint8 {
	i, found := slices.BinarySearch(c.starts, r)
	if !found {
		i--
	}
	return c.sorts[i]
}

// next is the first character of a text, its size and its class.
func (c *runeClasses) next(text string) (r rune, size int, class uint8) {
	if r = rune(text[0]); r < utf8.RuneSelf {
		return r, 1, c.sheets[0][r]
	}
	r, size = utf8.DecodeRuneInString(text)
	return r, size, c.of(r)
}

// newRuneClasses finds the classes of a program; fits is false where there are more than fit into a byte.
func newRuneClasses(prog *syntax.Prog) (c runeClasses, fits bool) {
	c.starts = borders(prog)
	known := map[string]uint8{}
	signature := make([]byte, 0, len(prog.Inst)+2)
	for _, r := range c.starts {
		signature = signature[:0]
		for i := range prog.Inst {
			if in := &prog.Inst[i]; consumes(in.Op) {
				signature = append(signature, bit(in.MatchRune(r)))
			}
		}
		signature = append(signature, bit(syntax.IsWordChar(r)), bit(r == '\n'))
		class, old := known[string(signature)]
		if !old {
			if len(known) == 255 {
				return c, false
			}
			class = uint8(len(known)) //nolint:gosec // checked
			known[string(signature)] = class
		}
		c.sorts = append(c.sorts, class)
	}
	c.count = len(known)
	c.lay()
	return c, true
}

// borders are the characters from which on something in a program or its conditions may differ.
func borders(prog *syntax.Prog) []rune {
	all := []rune{0, '\n', '\n' + 1, '0', '9' + 1, 'A', 'Z' + 1, '_', '_' + 1, 'a', 'z' + 1}
	for i := range prog.Inst {
		in := &prog.Inst[i]
		if !consumes(in.Op) {
			continue
		}
		for k, r := range in.Rune {
			switch {
			case len(in.Rune) == 1:
				all = append(all, r, r+1)
				for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
					all = append(all, f, f+1)
				}
			case k%2 == 0:
				all = append(all, r)
			default:
				all = append(all, r+1)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func consumes(op syntax.InstOp) bool {
	switch op {
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return true
	}
	return false
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}
