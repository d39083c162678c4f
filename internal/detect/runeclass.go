package detect

import (
	"regexp/syntax"
	"slices"
	"unicode"
)

// runeClasses sorts characters into classes that no expression tells apart.
type runeClasses struct {
	ascii  [128]uint8
	starts []rune  // where ranges of one class begin, beginning with 0
	sorts  []uint8 // their classes
	count  int
}

// of is the class of a character.
func (c *runeClasses) of(r rune) uint8 {
	i, found := slices.BinarySearch(c.starts, r)
	if !found {
		i--
	}
	return c.sorts[i]
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
	for i := range c.ascii {
		c.ascii[i] = c.of(rune(i))
	}
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
