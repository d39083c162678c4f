package detect

import (
	"regexp/syntax"
	"unicode/utf8"
)

// attempt looks for a match by following the most preferred way alone, and goes back to the last fork where it ends. Most texts in which a dfa
// sees a match have one there, and one way is followed in a small part of the time that all take together. The steps are bounded: an expression
// and a text that need many are left to all ways at once, so that the work stays linear.
type attempt struct {
	*threads
	text  string
	steps int // that are left

	at    places
	pos   int
	class uint8
	size  int // of the character at pos
	forks []fork
}

// fork is a way that was not taken, or what a group was before it was noted anew.
type fork struct {
	pc, group uint32 // group is 0 of a way
	place     int32
}

// attemptSteps and attemptEach bound an attempt: so many steps, and so many for each byte that a match may begin at.
const attemptSteps, attemptEach = 1 << 10, 8

// first is the first match that begins from byte from on, up to byte sure. It gives up, and is not ok, when it takes too many steps.
func (a *attempt) first(from, sure int) (end, rest int, ok bool) {
	a.steps, a.at = attemptSteps+attemptEach*(sure-from), nowhere // and going back from a way leaves all groups nowhere
	for start := from; ; start += a.size {
		a.move(start)
		size := a.size
		if (!a.begins || start == 0) && a.prog[a.start].leads.has(a.class) {
			a.at[0] = int32(start) //nolint:gosec // chunks are short
			if a.match() {
				return a.pos, start, true
			}
			if a.steps < 0 {
				return -1, from, false
			}
		}
		if start == len(a.text) || start >= sure {
			return -1, min(start+size, len(a.text)), true
		}
		a.size = size
	}
}

// move goes to a byte.
func (a *attempt) move(pos int) {
	switch {
	case pos >= len(a.text):
		a.pos, a.size, a.class = pos, 0, uint8(a.classes.count) //nolint:gosec // classesMost
	case a.text[pos] < utf8.RuneSelf:
		a.pos, a.size, a.class = pos, 1, a.classes.sheets[0][a.text[pos]]
	default:
		a.pos = pos
		_, a.size, a.class = a.classes.next(a.text[pos:])
	}
}

// match follows the ways from the start of the program.
func (a *attempt) match() bool {
	a.forks = a.forks[:0]
	for pc := a.start; ; {
		in := &a.prog[pc]
		leads := in.leads.has(a.class)
		if a.steps--; a.steps < 0 {
			return false
		}
		switch {
		case !leads:
		case in.op == syntax.InstAlt || in.op == syntax.InstAltMatch:
			switch {
			case !a.prog[in.out].leads.has(a.class):
				pc = in.arg
			case a.prog[in.arg].leads.has(a.class):
				a.forks = append(a.forks, fork{pc: in.arg, place: int32(a.pos)}) //nolint:gosec // chunks are short
				pc = in.out
			default:
				pc = in.out
			}
			continue
		case in.op == syntax.InstMatch:
			return true
		case in.op == syntax.InstEmptyWidth:
			if leads = syntax.EmptyOp(in.arg)&^a.holds() == 0; leads { //nolint:gosec // six bits
				pc = in.out
				continue
			}
		case in.op == syntax.InstCapture:
			if k := in.arg - 1; k >= 1 && k < uint32(len(a.at)) {
				a.forks = append(a.forks, fork{group: k, place: a.at[k]})
				a.at[k] = int32(a.pos) //nolint:gosec // chunks are short
			}
			pc = in.out
			continue
		case in.op == syntax.InstNop:
			pc = in.out
			continue
		default:
			pc = in.out
			a.move(a.pos + a.size)
			continue
		}
		var more bool
		if pc, more = a.back(); !more {
			return false
		}
	}
}

// back goes back to the last fork.
func (a *attempt) back() (pc uint32, more bool) {
	for k := len(a.forks) - 1; k >= 0; k-- {
		f := a.forks[k]
		if a.forks = a.forks[:k]; f.group > 0 {
			a.at[f.group] = f.place
			continue
		}
		if int(f.place) != a.pos {
			a.move(int(f.place))
		}
		return f.pc, true
	}
	return 0, false
}

// holds are the conditions that hold here.
func (a *attempt) holds() syntax.EmptyOp {
	before, r := rune(-1), rune(-1)
	if a.pos > 0 {
		before, _ = utf8.DecodeLastRuneInString(a.text[:a.pos])
	}
	if a.pos < len(a.text) {
		r, _ = utf8.DecodeRuneInString(a.text[a.pos:])
	}
	return syntax.EmptyOpContext(before, r)
}
