package detect

import (
	"math"
	"regexp/syntax"
	"sync"
	"unicode/utf8"
)

// threads finds the first match of an expression as package regexp does, in a small part of the time.
//
// It follows all ways through the program at once, in order of preference (Thompson 1968; Pike's sam). Before a way is followed it is
// asked whether the next character leads anywhere from there, so hardly any thread is begun that ends at once: that is what most
// of the time goes into otherwise, as the rules are long lists of words.
type threads struct {
	prog    []instruction
	start   uint32
	groups  int // what a match has of them
	classes *runeClasses
	begins  bool // a match begins at the beginning of a text alone
}

// instruction is one of a program, with the classes of characters that lead on from it.
type instruction struct {
	op       syntax.InstOp
	out, arg uint32
	leads    classSet
}

// classSet is a set of classes of characters, and of the end of the text.
type classSet [2]uint64

func (s *classSet) has(class uint8) bool { return s[class>>6&1]>>(class&63)&1 > 0 }
func (s *classSet) add(class uint8)      { s[class>>6&1] |= 1 << (class & 63) }

const (
	// classesMost is how many classes fit into a set, beside the end of the text.
	classesMost = 127
	// groupsMost is how many groups of a match threads keep: those of the rule about passwords of curl.
	groupsMost = 8
)

// newThreads makes threads of an expression in the syntax of package regexp, whose characters are of some classes. It is nil where these
// are too many.
func newThreads(pattern string, classes *runeClasses) *threads {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil || classes.count > classesMost {
		return nil
	}
	groups := tree.MaxCap()
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil
	}
	t := &threads{prog: make([]instruction, len(prog.Inst)), start: uint32(prog.Start), groups: groups, classes: classes, //nolint:gosec // an index
		begins: prog.StartCond()&syntax.EmptyBeginText != 0}
	for i := range prog.Inst {
		in := &prog.Inst[i]
		t.prog[i] = instruction{op: in.Op, out: in.Out, arg: in.Arg}
		switch {
		case in.Op == syntax.InstMatch:
			t.prog[i].leads = classSet{math.MaxUint64, math.MaxUint64}
		case consumes(in.Op):
			for k, class := range classes.sorts {
				if in.MatchRune(classes.starts[k]) {
					t.prog[i].leads.add(class)
				}
			}
		}
	}
	t.lead()
	return t
}

// lead finds where characters lead from the instructions that consume none. Those that they go on to mostly stand before them.
func (t *threads) lead() {
	for changed := true; changed; {
		changed = false
		for i := range t.prog {
			in := &t.prog[i]
			before := in.leads
			switch in.op {
			case syntax.InstAlt, syntax.InstAltMatch:
				in.leads.join(&t.prog[in.arg].leads)
				in.leads.join(&t.prog[in.out].leads)
			case syntax.InstCapture, syntax.InstNop, syntax.InstEmptyWidth:
				in.leads.join(&t.prog[in.out].leads)
			}
			changed = changed || in.leads != before
		}
	}
}

func (s *classSet) join(more *classSet) {
	s[0] |= more[0]
	s[1] |= more[1]
}

// places are where a match begins, and where its groups begin and end; -1 is nowhere.
type places [1 + 2*groupsMost]int32

// nowhere is where no group has begun.
var nowhere = func() (at places) {
	for i := range at {
		at[i] = -1
	}
	return at
}()

// thread is a way through the program up to the next character.
type thread struct {
	pc uint32
	at places
}

// threadWalk is the memory of one search.
type threadWalk struct {
	*threads
	now, next []thread
	seen      []uint32 // the turn in which each instruction was met; turns of other searches were before
	turn      uint32
	at        int32
	class     uint8
	before, r rune // the characters around here, for conditions

	found places
	end   int // of the match; -1 without one

	attempt attempt // the way that is tried first
}

// spareWalks holds the memory of searches that are over: bounded by the longest program.
var spareWalks = sync.Pool{New: func() any { return new(threadWalk) }}

// find is the first match from byte from on, and its end; -1 when there is none. A search that has begun nothing by byte sure ends, and rest
// is where it did: no match begins before that. What stands before byte from counts for the conditions. quick is a dfa that was not asked
// yet; nil: it was.
func (t *threads) find(text string, from, sure int, quick *dfa) (at places, end, rest int) {
	w := spareWalks.Get().(*threadWalk) //nolint:errcheck // the pool holds nothing else
	defer spareWalks.Put(w)
	w.attempt.threads, w.attempt.text = t, text
	end, rest, ok := w.attempt.first(from, sure)
	if w.attempt.text = ""; ok {
		return w.attempt.at, end, rest
	}
	if quick != nil {
		if _, end = quick.candidate(text, from); end < 0 {
			return at, -1, rest
		}
	}
	w.threads, w.now, w.end = t, w.now[:0], -1
	if more := len(t.prog) - len(w.seen); more > 0 {
		w.seen = append(w.seen, make([]uint32, more)...)
	}
	w.r = -1
	if from > 0 {
		w.r, _ = utf8.DecodeLastRuneInString(text[:from])
	}
	for {
		r, size := rune(-1), 0
		w.class = uint8(t.classes.count) //nolint:gosec // classesMost
		if from < len(text) {
			r, size, w.class = t.classes.next(text[from:])
		}
		w.before, w.r = w.r, r
		w.at = int32(from) //nolint:gosec // chunks are short
		w.step()
		if from == len(text) || len(w.now) == 0 && (w.end >= 0 || from >= sure) {
			return w.found, w.end, from
		}
		from += size
	}
}

// step goes through the threads before one character. A match ends those that are less preferred.
func (w *threadWalk) step() {
	if w.turn++; w.turn == 0 {
		clear(w.seen)
		w.turn = 1
	}
	w.next = w.next[:0]
	ended := false
	for i := range w.now {
		if ended = w.follow(w.now[i].pc, &w.now[i].at); ended {
			break
		}
	}
	if !ended && w.end < 0 && (!w.begins || w.at == 0) && w.prog[w.start].leads.has(w.class) {
		at := nowhere
		at[0] = w.at
		w.follow(w.start, &at)
	}
	w.now, w.next = w.next, w.now
}

// follow goes from an instruction to those that consume the next character. It reports whether it came to the end of the program.
func (w *threadWalk) follow(pc uint32, at *places) bool {
	for {
		in := &w.prog[pc]
		if !in.leads.has(w.class) || w.seen[pc] == w.turn {
			return false
		}
		w.seen[pc] = w.turn
		switch in.op {
		case syntax.InstAlt, syntax.InstAltMatch:
			switch {
			case !w.prog[in.arg].leads.has(w.class):
				pc = in.out
			case w.prog[in.out].leads.has(w.class) && w.follow(in.out, at):
				return true
			default:
				pc = in.arg
			}
		case syntax.InstCapture:
			if k := in.arg - 1; k >= 1 && k < uint32(len(at)) {
				noted := *at
				noted[k] = w.at
				return w.follow(in.out, &noted)
			}
			pc = in.out
		case syntax.InstNop:
			pc = in.out
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.arg)&^syntax.EmptyOpContext(w.before, w.r) != 0 { //nolint:gosec // six bits
				return false
			}
			pc = in.out
		case syntax.InstMatch:
			w.found, w.end = *at, int(w.at)
			return true
		default:
			w.next = append(w.next, thread{in.out, *at})
			return false
		}
	}
}
