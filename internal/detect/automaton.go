package detect

import "slices"

// automaton finds many words at once (Aho and Corasick, 1975), without regard to ASCII case and with any single white
// space for a blank. It is a full transition table over classes of bytes, small enough for the processor's second-level
// cache: general libraries keep two kilobytes for each state.
type automaton struct {
	class [256]uint8
	width uint32     // transitions of one state
	next  []uint32   // state offset + class → state offset, with found set where a word ends
	ends  [][]uint32 // state → words that end there
}

const found = 1 << 31

// newAutomaton makes an automaton of words in lower case.
func newAutomaton(words []string) *automaton {
	a := &automaton{width: 1}
	for _, w := range words {
		for i := range len(w) {
			if a.class[w[i]] == 0 {
				a.class[w[i]] = uint8(a.width) //nolint:gosec // 255 bytes other than those folded away at most
				a.width++
			}
		}
	}
	for c := byte('A'); c <= 'Z'; c++ {
		a.class[c] = a.class[c|0x20]
	}
	for _, c := range "\t\n\r" {
		a.class[c] = a.class[' ']
	}
	a.link(a.tree(words))
	return a
}

// tree writes the words' transitions alone, states numbered by offset.
func (a *automaton) tree(words []string) (ends [][]uint32) {
	size := 1
	for _, w := range words {
		size += len(w)
	}
	a.next = make([]uint32, a.width, int(a.width)*size)
	ends = make([][]uint32, 1, size)
	for id, w := range words {
		at := uint32(0)
		for i := range len(w) {
			step := at + uint32(a.class[w[i]])
			if a.next[step] == 0 {
				a.next[step] = uint32(len(a.next)) //nolint:gosec // a few thousand states
				a.next = a.next[:len(a.next)+int(a.width)]
				ends = append(ends, nil)
			}
			at = a.next[step]
		}
		ends[at/a.width] = append(ends[at/a.width], uint32(id)) //nolint:gosec // an index
	}
	return ends
}

// link fills in the other transitions, breadth first, so that every state knows what its longest suffix would do.
func (a *automaton) link(ends [][]uint32) {
	fail := make([]uint32, len(ends))
	queue := []uint32{0}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		back := fail[at/a.width]
		if at != 0 {
			ends[at/a.width] = slices.Concat(ends[at/a.width], ends[back/a.width])
		}
		for c := range a.width {
			to := a.next[at+c]
			switch {
			case to == 0 && at != 0:
				a.next[at+c] = a.next[back+c] &^ found
			case to != 0:
				queue = append(queue, to)
				if at != 0 {
					fail[to/a.width] = a.next[back+c] &^ found
				}
			}
		}
	}
	for i, to := range a.next {
		if len(ends[to/a.width]) > 0 {
			a.next[i] |= found
		}
	}
	a.ends = ends
}

// each calls see for every occurrence of a word, in order of its end, until see says false.
func (a *automaton) each(text string, see func(word uint32, end int) bool) {
	at := uint32(0)
	for i := range len(text) {
		at = a.next[at+uint32(a.class[text[i]])]
		if at&found == 0 {
			continue
		}
		at &^= found
		for _, word := range a.ends[at/a.width] {
			if !see(word, i+1) {
				return
			}
		}
	}
}

// any reports whether one of the words occurs.
func (a *automaton) any(text string) bool {
	hit := false
	a.each(text, func(uint32, int) bool { hit = true; return false })
	return hit
}
