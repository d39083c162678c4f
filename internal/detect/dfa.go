package detect

import (
	"encoding/binary"
	"regexp/syntax"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// dfa says of a text that an expression does not match in it, in one table look-up for each character.
//
// It accepts a little more than the expression: counted repetitions count no further than one, which keeps the states of a rule in the
// dozens. Where it says no there is no match, where it says yes the expression is asked. States are built when a text first
// needs them (Thompson 1968; RE2 does the same) and shared by all goroutines.
type dfa struct {
	prog    *syntax.Prog
	classes runeClasses
	empty   syntax.EmptyOp // conditions that the expression has
	matched *state         // where a match leads
	memory  *dfaMemory
	table   atomic.Pointer[stateTable] // nil until it is needed
}

// dfaMemory bounds what the states of several expressions take together. Eighty thousand texts, half of them attacks, needed 6 MiB;
// texts made to need more only cause all states to be forgotten, and built again.
type dfaMemory struct {
	limit int // bytes

	mu   sync.Mutex // held while a state is built, which is rare
	used int
	all  []*dfa
}

// stateTable is the states that are known. A scan that walks states of a table that was dropped keeps it alive until it ends.
type stateTable struct {
	start  *state
	states map[string]*state // by their key; guarded by the memory's mutex
}

// state is a set of places in the program between two characters, and what stands before.
type state struct {
	insts  []uint32 // places reached by the last character, before the conditions that they may begin with are looked at
	before rune     // a character that stands for the last one where conditions ask: beginning, line end, word or other
	next   []atomic.Pointer[state]
}

const (
	// dfaBytes bounds the states of all rules together.
	dfaBytes = 8 << 20
	// stateBytes is what a state costs besides its row and its places.
	stateBytes = 160
)

// newDFA makes a dfa of an expression in the syntax of package regexp. It is nil where the expression has too many sorts of characters.
func newDFA(pattern string, memory *dfaMemory) *dfa {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	prog, err := syntax.Compile(relax(tree).Simplify())
	if err != nil {
		return nil
	}
	d := &dfa{prog: prog, matched: &state{}, memory: memory}
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

// start is the state before a text.
func (d *dfa) start() *state {
	if t := d.table.Load(); t != nil {
		return t.start
	}
	d.memory.mu.Lock()
	defer d.memory.mu.Unlock()
	return d.known().start
}

// known is the table, new where there is none. The memory's mutex is held.
func (d *dfa) known() *stateTable {
	t := d.table.Load()
	if t == nil {
		t = &stateTable{start: d.newState(nil, d.seen(-1)), states: map[string]*state{}}
		d.table.Store(t)
	}
	return t
}

func (d *dfa) newState(insts []uint32, before rune) *state {
	s := &state{insts: insts, before: before, next: make([]atomic.Pointer[state], d.classes.count+1)}
	d.memory.used += s.bytes()
	return s
}

func (s *state) bytes() int { return stateBytes + 8*len(s.next) + 8*len(s.insts) }

// tidy forgets all states of all expressions when they take too much.
func (m *dfaMemory) tidy() {
	if m.used <= m.limit {
		return
	}
	for _, d := range m.all {
		d.table.Store(nil)
	}
	m.used = 0
}

// maybe reports whether the expression could match in the text.
func (d *dfa) maybe(text string) bool {
	s := d.start()
	for i := 0; i < len(text); {
		next, size := d.next(s, text[i:])
		if next == d.matched {
			return true
		}
		s, i = next, i+size
	}
	last := s.next[d.classes.count].Load()
	if last == nil {
		last = d.step(s, -1, d.classes.count)
	}
	return last == d.matched
}

// idle is the last byte of a text before its first match where nothing had begun: no match begins before it.
func (d *dfa) idle(text string) int {
	at := 0
	s := d.start()
	for i := 0; i < len(text) && s != d.matched; {
		if len(s.insts) == 0 {
			at = i
		}
		next, size := d.next(s, text[i:])
		s, i = next, i+size
	}
	return at
}

// next is the state that the first character of a text leads to, and the size of that.
func (d *dfa) next(s *state, text string) (*state, int) {
	class, r, size := uint8(0), rune(text[0]), 1
	if r < utf8.RuneSelf {
		class = d.classes.ascii[r]
	} else {
		r, size = utf8.DecodeRuneInString(text)
		class = d.classes.of(r)
	}
	next := s.next[class].Load()
	if next == nil {
		next = d.step(s, r, int(class))
	}
	return next, size
}

// step finds the state that character r, of the given class, leads to; -1 is the end of the text.
func (d *dfa) step(s *state, r rune, class int) *state {
	w := dfaWalk{prog: d.prog, seen: make([]bool, len(d.prog.Inst)), flags: syntax.EmptyOpContext(s.before, r)}
	next := d.matched
	if !w.run(s.insts, r) {
		next = d.share(w.out, d.seen(r))
	}
	s.next[class].Store(next)
	return next
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

// share is the state of some places, the known one where there is one.
func (d *dfa) share(insts []uint32, before rune) *state {
	key := make([]byte, 0, 4*len(insts)+1)
	for _, pc := range insts {
		key = binary.LittleEndian.AppendUint32(key, pc)
	}
	key = append(key, byte(before)) //nolint:gosec // one of four
	d.memory.mu.Lock()
	defer d.memory.mu.Unlock()
	d.memory.tidy()
	t := d.known()
	if s, known := t.states[string(key)]; known {
		return s
	}
	s := d.newState(insts, before)
	t.states[string(key)] = s
	return s
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
