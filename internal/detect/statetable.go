package detect

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
)

// stateTable is the states of a dfa that are known. A row holds where each class of characters leads from a state: to the row of another
// one, by its place among the rows, or to 0 where nobody has looked yet. All rows stand in one list, so that a character costs one look at
// memory. A table that has become too small is copied into a larger one; whoever walks the old one keeps it alive until he ends.
type stateTable struct {
	rows   []atomic.Uint32
	states []atomic.Pointer[state]
	shift  uint // a row has 1<<shift places
	years  int  // how often all was forgotten before this table was made

	known map[string]uint32 // rows by the keys of their states; guarded by the memory's mutex
	used  int               // states; guarded as well
}

// state is a set of places in the program between two characters, and what stands before.
type state struct {
	insts  []uint32 // places reached by the last character, before the conditions that they may begin with are looked at
	before rune     // a character that stands for the last one where conditions ask: one of [befores]
}

// The first rows of a table: of nothing, of a match, and of the states in which nothing has begun, one for each of befores.
const (
	matchedState = 1
	idleState    = 2
	firstState   = idleState + int(idleStates)
	idleStates   = uint32(len(befores))
)

// befores are the characters that stand for all others before a state: the beginning, a line end, a letter, and what is neither.
var befores = [...]rune{-1, '\n', 'a', ' '}

// stateTableLeast is how many states a table has room for at first.
const stateTableLeast = 16

func newStateTable(classes, years int) *stateTable {
	t := &stateTable{known: map[string]uint32{}, years: years, used: firstState}
	for 1<<t.shift <= classes { // the last place is that of the end of the text
		t.shift++
	}
	t.make(stateTableLeast)
	for i, before := range befores {
		t.states[idleState+i].Store(&state{before: before})
	}
	return t
}

func (t *stateTable) make(states int) {
	t.rows, t.states = make([]atomic.Uint32, states<<t.shift), make([]atomic.Pointer[state], states)
}

// idle is the row of the state in which nothing has begun behind a character.
func (t *stateTable) idle(before rune) uint32 {
	for i, c := range befores {
		if c == before {
			return uint32(idleState+i) << t.shift //nolint:gosec // a few
		}
	}
	return 0
}

// bytes is what a table takes.
func (t *stateTable) bytes() int { return 4*len(t.rows) + 8*len(t.states) }

// grown is a table with the same states and room for more.
func (t *stateTable) grown() *stateTable {
	g := &stateTable{shift: t.shift, years: t.years, known: t.known, used: t.used}
	g.make(2 * len(t.states))
	for i := range t.rows {
		g.rows[i].Store(t.rows[i].Load())
	}
	for i := range t.states {
		g.states[i].Store(t.states[i].Load())
	}
	return g
}

// dfaMemory bounds what the states of several expressions take together. Eighty thousand texts, half of them attacks, needed 6 MiB;
// texts made to need more only cause all states to be forgotten, and built again.
type dfaMemory struct {
	limit int // bytes

	mu    sync.Mutex // held while a state is built, which is rare
	used  int
	years int // how often all states were forgotten
	all   []*dfa
}

// tidy forgets all states of all expressions when they take too much.
func (m *dfaMemory) tidy() {
	if m.used <= m.limit {
		return
	}
	for _, d := range m.all {
		d.table.Store(nil)
	}
	m.used = 0
	m.years++
}

// states is the table, new where there is none. The memory's mutex is held.
func (d *dfa) states() *stateTable {
	t := d.table.Load()
	if t == nil {
		t = newStateTable(d.classes.count, d.memory.years)
		d.memory.used += t.bytes()
		d.table.Store(t)
	}
	return t
}

// share is the row of the state of some places, and the table that has it. Where the table is still that of the caller, or a larger one with
// the same states, place at is made to lead there.
func (d *dfa) share(years int, at uint32, insts []uint32, before rune) (*stateTable, uint32) {
	d.memory.mu.Lock()
	defer d.memory.mu.Unlock()
	d.memory.tidy()
	t := d.states()
	row := t.idle(before)
	if len(insts) > 0 {
		t, row = d.row(t, insts, before)
	}
	if t.years == years {
		t.rows[at].Store(row)
	}
	return t, row
}

// row is the row of a state in which something has begun. The memory's mutex is held.
func (d *dfa) row(t *stateTable, insts []uint32, before rune) (*stateTable, uint32) {
	key := make([]byte, 0, 4*len(insts)+1)
	for _, pc := range insts {
		key = binary.LittleEndian.AppendUint32(key, pc)
	}
	key = append(key, byte(before)) //nolint:gosec // one of four
	if row, known := t.known[string(key)]; known {
		return t, row
	}
	if t.used == len(t.states) {
		old := t
		t = old.grown()
		d.memory.used += t.bytes() - old.bytes()
		d.table.Store(t)
	}
	row := uint32(t.used) << t.shift //nolint:gosec // bounded by the memory
	t.states[t.used].Store(&state{insts, before})
	t.known[string(key)] = row
	t.used++
	d.memory.used += stateBytes + 8*len(insts)
	return t, row
}
