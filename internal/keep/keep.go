// Package keep remembers values in a bounded memory that is shared fairly. It promises that the memory stays within its limit, and
// that what one owner adds cannot push out another's values while the other has less. What is kept may vanish at any
// time. Who may see what is left to the keys: an owner's own must not be guessable by others.
package keep

import "sync"

// Key names a value: a hash that nobody can choose.
type Key [32]byte

// Owner is whose value it is. Parties share the memory, and the members of a party share what it has: so a party does not get
// more by having more members.
type Owner struct {
	Party  string
	Member string
}

// Sizes, in bytes, of what a value takes besides itself, and of what an owner takes: rather too much than too little.
const (
	entrySize = 256
	ownerSize = 1024
)

// largest is the share of the memory that one value may have: one in so many.
const largest = 16

// Memory is safe for concurrent use.
type Memory[V any] struct {
	mu      sync.Mutex
	limit   int
	used    int
	evicted uint64
	entries map[Key]*entry[V]
	parties map[string]*party[V]
	crowd   heap[*party[V]] // the heaviest party first
}

// entry is one value in the list of its member.
type entry[V any] struct {
	key          Key
	value        V
	size         int
	used         bool // since it was last looked at whether it may go
	of           *member[V]
	newer, older *entry[V]
}

// member is one owner's values, a list from the newest to the oldest: those that were used go to its head when their turn to go
// has come.
type member[V any] struct {
	name           string
	of             *party[V]
	used, at       int
	newest, oldest *entry[V]
}

type party[V any] struct {
	name     string
	used, at int
	members  map[string]*member[V]
	crowd    heap[*member[V]] // the heaviest member first
}

func (m *member[V]) weight() int { return m.used }
func (m *member[V]) place() *int { return &m.at }
func (p *party[V]) weight() int  { return p.used }
func (p *party[V]) place() *int  { return &p.at }

// New makes a memory of at most limit bytes; with 0 it keeps nothing.
func New[V any](limit int) *Memory[V] {
	return &Memory[V]{limit: limit, entries: map[Key]*entry[V]{}, parties: map[string]*party[V]{}}
}

// Limit changes the bound, now.
func (m *Memory[V]) Limit(limit int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limit = limit
	m.shrink()
}

// Get finds a value, which counts as used. It must not be changed.
func (m *Memory[V]) Get(k Key) (v V, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[k]
	if e == nil {
		return v, false
	}
	if !e.used { // most were: they are only read
		e.used = true
	}
	return e.value, true
}

// Put keeps a value of size bytes for its owner. Where there is no room the heaviest party goes without what its heaviest
// member has not used for long. A value that is known already stays its first owner's.
func (m *Memory[V]) Put(o Owner, k Key, v V, size int) {
	size += entrySize + len(o.Party) + len(o.Member)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.limit == 0 || size > m.limit/largest {
		return
	}
	if e := m.entries[k]; e != nil {
		m.drop(e)
	}
	e := &entry[V]{key: k, value: v, size: size, of: m.member(o)}
	m.entries[k] = e
	e.of.link(e)
	m.weigh(e.of, size)
	m.shrink()
}

// Drop forgets a value.
func (m *Memory[V]) Drop(k Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.entries[k]; e != nil {
		m.drop(e)
	}
}

// Stats are what a memory holds, and how many values have had to go.
type Stats struct {
	Bytes, Values int
	Evicted       uint64
}

// Stats are those of now.
func (m *Memory[V]) Stats() Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Stats{m.used, len(m.entries), m.evicted}
}

// shrink makes the memory fit into its limit.
func (m *Memory[V]) shrink() {
	for m.used > m.limit {
		m.drop(m.crowd.first().crowd.first().unused())
		m.evicted++
	}
}

// unused is the value that goes next: the oldest, but for a few that were used since.
func (m *member[V]) unused() *entry[V] {
	const most = 16 // so that nobody waits for long
	for range most {
		e := m.oldest
		if !e.used {
			break
		}
		e.used = false
		m.unlink(e)
		m.link(e)
	}
	return m.oldest
}

// drop takes a value out, and its owner with the last one.
func (m *Memory[V]) drop(e *entry[V]) {
	delete(m.entries, e.key)
	e.of.unlink(e)
	m.weigh(e.of, -e.size)
	if e.of.newest != nil {
		return
	}
	p := e.of.of
	m.weigh(e.of, -ownerSize)
	p.crowd.remove(e.of)
	delete(p.members, e.of.name)
	if len(p.members) == 0 {
		m.crowd.remove(p)
		delete(m.parties, p.name)
	}
}

// member finds the owner, or makes it.
func (m *Memory[V]) member(o Owner) *member[V] {
	p := m.parties[o.Party]
	if p == nil {
		p = &party[V]{name: o.Party, members: map[string]*member[V]{}}
		m.parties[o.Party] = p
		m.crowd.add(p)
	}
	one := p.members[o.Member]
	if one == nil {
		one = &member[V]{name: o.Member, of: p}
		p.members[o.Member] = one
		p.crowd.add(one)
		m.weigh(one, ownerSize)
	}
	return one
}

// weigh changes what an owner has.
func (m *Memory[V]) weigh(one *member[V], by int) {
	m.used += by
	one.used += by
	one.of.used += by
	one.of.crowd.settle(one)
	m.crowd.settle(one.of)
}

func (m *member[V]) link(e *entry[V]) {
	if e.older = m.newest; e.older != nil {
		e.older.newer = e
	} else {
		m.oldest = e
	}
	m.newest = e
}

func (m *member[V]) unlink(e *entry[V]) {
	if e.newer != nil {
		e.newer.older = e.older
	} else {
		m.newest = e.older
	}
	if e.older != nil {
		e.older.newer = e.newer
	} else {
		m.oldest = e.newer
	}
	e.newer, e.older = nil, nil
}
