package detect

import (
	"regexp/syntax"
	"sync/atomic"
	"unicode/utf8"
)

// dfa says of a text that an expression does not match in it, in one table look-up for each character.
//
// It accepts a little more than the expression: counted repetitions count no further than one, which keeps the states of a rule in the
// dozens. Where it says no there is no match, where it says yes the expression is asked. States are built when a text first
// needs them (Thompson 1968; RE2 does the same) and shared by all goroutines.
type dfa struct {
	prog     *syntax.Prog
	classes  runeClasses
	empty    syntax.EmptyOp    // conditions that the expression has
	anchored bool              // a match begins at the beginning of a text
	opening  func() *automaton // the words that matches begin with; nil: others do, too
	memory   *dfaMemory
	table    atomic.Pointer[stateTable] // nil until it is needed
}

const (
	// dfaBytes bounds the states of all rules together.
	dfaBytes = 8 << 20
	// stateBytes is what a state costs besides its row and its places.
	stateBytes = 128
)

// newDFA makes a dfa of an expression in the syntax of package regexp. It is nil where the expression has too many sorts of characters.
func newDFA(pattern string, memory *dfaMemory) *dfa {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	words := opening(tree)
	prog, err := syntax.Compile(relax(tree).Simplify())
	if err != nil {
		return nil
	}
	d := &dfa{prog: prog, anchored: prog.StartCond()&syntax.EmptyBeginText != 0, opening: words, memory: memory}
	for i := range prog.Inst {
		if in := &prog.Inst[i]; in.Op == syntax.InstEmptyWidth {
			d.empty |= syntax.EmptyOp(in.Arg) //nolint:gosec // six bits
		}
	}
	var fits bool
	if d.classes, fits = newRuneClasses(prog); !fits {
		return nil
	}
	memory.mu.Lock()
	defer memory.mu.Unlock()
	memory.all = append(memory.all, d)
	return d
}

// relax makes counted repetitions open.
func relax(e *syntax.Regexp) *syntax.Regexp {
	for i := range e.Sub {
		e.Sub[i] = relax(e.Sub[i])
	}
	if e.Op == syntax.OpRepeat {
		e.Op = syntax.OpStar
		if e.Min > 0 {
			e.Op = syntax.OpPlus
		}
	}
	return e
}

// begin is the table and the row of the state before a text, or behind character r of one; -1 is the beginning.
func (d *dfa) begin(r rune) (*stateTable, uint32) {
	t := d.table.Load()
	if t == nil {
		d.memory.mu.Lock()
		t = d.states()
		d.memory.mu.Unlock()
	}
	row := t.idle(d.seen(r))
	return t, row
}

// maybe reports whether the expression could match in the text.
func (d *dfa) maybe(text string) bool {
	if !d.opens(text) {
		return false
	}
	_, end := d.candidate(text, 0)
	return end >= 0
}

// opens reports whether a match could begin in the text, as far as that is known without reading all of it.
func (d *dfa) opens(text string) bool {
	return len(text) < openingFrom || d.opening == nil || d.anchored || d.opening().any(text)
}

// candidate is where the first match from byte from on may end at the earliest, -1 when there is none, and the last byte before that where
// nothing had begun: no match begins before it. What stands before byte from counts for the conditions.
func (d *dfa) candidate(text string, from int) (begin, end int) {
	before := rune(-1)
	if from > 0 {
		before, _ = utf8.DecodeLastRuneInString(text[:from])
	}
	t, row := d.begin(before)
	rows, idle := t.rows, t.idle(befores[len(befores)-1])
	ascii := &d.classes.sheets[0]
	begin = from
	for i := from; i < len(text); {
		if row <= idle {
			if d.anchored && i > 0 {
				return 0, -1
			}
			begin = i
		}
		r, size := rune(text[i]), 1
		var class uint8
		if r < utf8.RuneSelf {
			class = ascii[r]
		} else {
			r, size = utf8.DecodeRuneInString(text[i:])
			class = d.classes.of(r)
		}
		next := rows[row+uint32(class)].Load()
		if next <= idle { // an idle state, a match, or nobody has looked yet
			if next == 0 {
				t, next = d.step(t, row, r, uint32(class))
				rows = t.rows
			}
			if next == matchedState<<t.shift {
				return begin, i
			}
		}
		row, i = next, i+size
	}
	end = d.classes.count
	next := rows[row+uint32(end)].Load() //nolint:gosec // 255 at most
	if next == 0 {
		t, next = d.step(t, row, -1, uint32(end)) //nolint:gosec // as above
	}
	if next != matchedState<<t.shift {
		return 0, -1
	}
	return begin, len(text)
}

// step finds the row that character r, of the given class, leads to from another, and the table that it stands in; -1 is the end of the text.
func (d *dfa) step(t *stateTable, row uint32, r rune, class uint32) (*stateTable, uint32) {
	s := t.states[row>>t.shift].Load()
	w := dfaWalk{prog: d.prog, seen: make([]bool, len(d.prog.Inst)), flags: syntax.EmptyOpContext(s.before, r)}
	if w.run(s.insts, r) {
		t.rows[row+class].Store(matchedState << t.shift)
		return t, matchedState << t.shift
	}
	return d.share(t.years, row+class, w.out, d.seen(r))
}

// seen is the rune that stands for all that are the same to the conditions of the expression; -1 is the beginning of the text.
func (d *dfa) seen(r rune) rune {
	const boundary = syntax.EmptyWordBoundary | syntax.EmptyNoWordBoundary
	switch {
	case r == -1 && d.empty&(syntax.EmptyBeginText|syntax.EmptyBeginLine) != 0:
		return -1
	case r == '\n' && d.empty&syntax.EmptyBeginLine != 0:
		return '\n'
	case d.empty&boundary != 0 && syntax.IsWordChar(r):
		return 'a'
	}
	return ' '
}

// dfaWalk follows a program over one character.
type dfaWalk struct {
	prog  *syntax.Prog
	flags syntax.EmptyOp // conditions that hold before the character
	seen  []bool
	todo  []uint32
	out   []uint32 // places behind the character
}

// run reports whether a match ends before character r, and collects the places behind it otherwise. A match may begin at each character.
func (w *dfaWalk) run(from []uint32, r rune) bool {
	for i := len(from) - 1; i >= 0; i-- {
		w.push(from[i])
	}
	w.push(uint32(w.prog.Start)) //nolint:gosec // an index
	behind := make([]bool, len(w.prog.Inst))
	for len(w.todo) > 0 {
		pc := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		in := &w.prog.Inst[pc]
		switch in.Op {
		case syntax.InstMatch:
			return true
		case syntax.InstAlt, syntax.InstAltMatch:
			w.push(in.Out)
			w.push(in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			w.push(in.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^w.flags == 0 { //nolint:gosec // six bits
				w.push(in.Out)
			}
		case syntax.InstFail:
		default:
			if r >= 0 && in.MatchRune(r) {
				behind[in.Out] = true
			}
		}
	}
	for pc, is := range behind {
		if is {
			w.out = append(w.out, uint32(pc)) //nolint:gosec // an index
		}
	}
	return false
}

func (w *dfaWalk) push(pc uint32) {
	if !w.seen[pc] {
		w.seen[pc] = true
		w.todo = append(w.todo, pc)
	}
}
