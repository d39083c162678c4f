package provenance

import (
	"cmp"
	"hash/maphash"
	"slices"
)

const (
	// maxText bounds the index: bytes of text, counted once for each reading. What the user and the operator said comes
	// first, then tainted texts, then the newest.
	maxText = 4 << 20
	// maxWork bounds the comparisons of one conversation, and maxWholes the numbers and accounts in other writings.
	maxWork, maxWholes = 20_000_000, 1 << 17
	// bytesPerToken is about how many bytes of a text there are to one token.
	bytesPerToken = 5
)

// index finds runs of tokens. It lives for one exchange, and holds no text.
type index struct {
	scan   tokens
	said   []Said // those that were read; their texts and traces are not kept
	begins []int32
	list   []token
	heads  []int32 // slots; the first token of a hash, counted from 1
	next   []int32 // the next token of the same hash, counted from 1
	wholes map[uint64]int32
	placed []placed // of the wholes, every place
	spans  []span   // the passages, sorted by their places
	unread []unread
	loose  bool                    // what is looked for may bear an ending: 0142-re
	seen   func(said, place int32) // told of every place of a value that is looked for; may be nil

	work                int
	tainted             bool // one of the texts is
	missed, missedTaint bool // texts that were not read
}

func newIndex(key *Key, said []Said, lost Lost) *index {
	x := &index{wholes: map[uint64]int32{}, missed: lost.Some, missedTaint: lost.Tainted}
	x.scan.hasher = hasher{key, maphash.MakeSeed()}
	said = x.fitting(said)
	size := 0
	for _, s := range said {
		size += len(s.Text)/bytesPerToken + len(s.Trace)/traceEntry
	}
	x.list = make([]token, 0, size)
	for _, s := range said {
		x.read(s)
	}
	x.link()
	return x
}

// fitting are the texts that the bounds leave room for, in their order.
func (x *index) fitting(said []Said) []Said {
	total := 0
	for _, s := range said {
		total += len(s.Text) + len(s.Trace)
	}
	if total <= maxText/maxReadings {
		return said
	}
	order := make([]int, len(said))
	for i := range order {
		order[i] = i
	}
	urgency := func(i int) int {
		switch s := said[i]; {
		case s.Tainted:
			return 1
		case s.Source == System || s.Source == User:
			return 0
		}
		return 2
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Or(urgency(i)-urgency(j), j-i) })
	room := maxText
	var kept []int
	for _, i := range order {
		cost := len(said[i].Trace)
		list, _ := readings(said[i].Text)
		for _, r := range list {
			cost += len(r)
		}
		if cost > room {
			x.missed, x.missedTaint = true, x.missedTaint || said[i].Tainted
			continue
		}
		room -= cost
		kept = append(kept, i)
	}
	slices.Sort(kept)
	out := make([]Said, len(kept))
	for n, i := range kept {
		out[n] = said[i]
	}
	return out
}

func (x *index) read(s Said) {
	at := int32(len(x.said))
	x.said = append(x.said, Said{Source: s.Source, Tool: s.Tool, Tainted: s.Tainted, At: s.At})
	x.begins, x.tainted = append(x.begins, int32(len(x.list))), x.tainted || s.Tainted
	add := func(t token) { x.list = append(x.list, t) }
	begin := int32(len(x.list))
	place := func(w placed) { x.addWhole(placed{w.hash, w.place + begin}, at) }
	if s.Trace != nil {
		if !traced(s.Trace, add, place, func(p span) { p.place += begin; x.spans = append(x.spans, p) }) {
			x.missed, x.missedTaint = true, true
		}
		return
	}
	list, shown := readings(s.Text)
	for i, text := range list {
		begin = int32(len(x.list))
		x.scan.read(text)
		x.scan.said(add)
		x.scan.wholes(func(w whole) { place(x.scan.placed(w)) })
		if s.Source != Model {
			x.unread = append(x.unread, unread{text, begin, i >= shown})
		}
	}
}

// addWhole notes that a text says a number or an account in another writing.
func (x *index) addWhole(w placed, at int32) {
	if len(x.placed) < maxWholes {
		x.placed = append(x.placed, w)
	}
	if have, ok := x.wholes[w.hash]; ok && !x.before(at, have) {
		return
	}
	if len(x.wholes) >= maxWholes {
		x.missed, x.missedTaint = true, true
		return
	}
	x.wholes[w.hash] = at
}

// link chains the tokens of one hash, in their order.
func (x *index) link() {
	size := 16
	for size < 2*len(x.list) {
		size *= 2
	}
	x.heads, x.next = make([]int32, size), make([]int32, len(x.list))
	for i := len(x.list) - 1; i >= 0; i-- {
		if x.list[i].hash != 0 {
			slot := x.slot(x.list[i].hash)
			x.next[i], x.heads[slot] = x.heads[slot], int32(i+1)
		}
	}
}

// slot is where the chain of a hash begins, or would.
func (x *index) slot(hash uint64) int {
	at := int(hash) & (len(x.heads) - 1)
	for x.heads[at] != 0 && x.list[x.heads[at]-1].hash != hash {
		at = (at + 1) & (len(x.heads) - 1)
	}
	return at
}

// undecided is where a value that was not found comes from when something may have been missed.
func (x *index) undecided() (o Origin, ok bool) {
	spent := x.work > maxWork
	return Origin{Source: ToolResult, Tainted: x.missedTaint || spent && x.tainted}, x.missed || spent
}

// before reports whether one text speaks for a value rather than another that holds it, too.
func (x *index) before(i, j int32) bool {
	return cmp.Or(x.rank(i)-x.rank(j), int(i-j)) < 0
}

func (x *index) rank(i int32) int {
	switch s := x.said[i]; {
	case s.Tainted:
	case s.Source == System:
		return 0
	case s.Source == User:
		return 1
	}
	return 2
}

// find looks for a value that stands alone: tied to nothing in one of the ways given.
func (x *index) find(text string, not bounds, slight bool) (Origin, bool) {
	x.scan.read(text)
	best := int32(-1)
	see := func(at, place int32) {
		if x.seen != nil && place >= 0 {
			x.seen(at, place)
		}
		if slight && x.rank(at) > 1 {
			return
		}
		if best < 0 || x.before(at, best) {
			best = at
		}
	}
	var value []token
	anchor, longest := 0, 0
	for i, w := range x.scan.list {
		if !w.stop {
			if n := w.end - w.start; n > longest {
				anchor, longest = len(value), n
			}
			value = append(value, token{x.scan.hash(w.start, w.end), x.scan.bounds(i)})
		}
	}
	if len(value) == 0 {
		return Origin{}, false
	}
	x.sequence(value, anchor, not, see)
	for _, hash := range x.forms(text, value) {
		if at, ok := x.wholes[hash]; ok {
			see(at, -1)
			x.places(hash, see)
		}
		if len(value) > 1 {
			x.sequence([]token{{hash: hash}}, 0, not, see)
		}
	}
	if best < 0 {
		return Origin{}, false
	}
	s := x.said[best]
	return Origin{Source: s.Source, Tool: s.Tool, Tainted: s.Tainted, At: s.At}, true
}

// places tells where the texts say a whole, where that is asked for.
func (x *index) places(hash uint64, see func(said, place int32)) {
	if x.seen == nil {
		return
	}
	x.work += len(x.placed)
	for _, w := range x.placed {
		if w.hash == hash {
			see(x.saidAt(w.place), w.place)
		}
	}
}

// forms are the hashes of a value as one word: a number in plain digits, an account without its groups.
func (x *index) forms(text string, value []token) []uint64 {
	var out []uint64
	if len(value) == 1 {
		out = append(out, value[0].hash)
	}
	last := len(x.scan.list) - 1
	x.scan.wholes(func(w whole) {
		if w.first == 0 && w.last == last {
			out = append(out, w.hash)
		}
	})
	return out
}

// sequence finds every place where the value stands.
func (x *index) sequence(value []token, anchor int, not bounds, see func(said, place int32)) {
	for i := x.heads[x.slot(value[anchor].hash)]; i != 0 && x.work <= maxWork; i = x.next[i-1] {
		x.work++
		from := int(i) - 1 - anchor
		if from < 0 || from+len(value) >= len(x.list) || x.list[from].before&not != 0 || x.list[from+len(value)].before&not != 0 && !x.loose {
			continue
		}
		if !x.stands(value, from) {
			continue
		}
		see(x.saidAt(int32(from)), int32(from))
	}
}

func (x *index) stands(value []token, from int) bool {
	for k := range value {
		x.work++
		t := x.list[from+k]
		if t.hash != value[k].hash || k > 0 && t.before&apart != 0 && value[k].before&apart == 0 {
			return false // what is one thing in the value is one in the text
		}
	}
	return true
}
