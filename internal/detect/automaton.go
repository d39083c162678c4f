package detect

import (
	"slices"
	"strings"
)

// automaton finds many words at once, without regard to ASCII case and with any single white space for a blank.
//
// Ordinary text holds hardly any of the words, so most of the work is to see that none begins at a byte: four bytes are
// folded, hashed and looked up in a bitmap that stays in the processor's first-level cache. Only where the bitmap says that
// a word may begin is the tree of words walked, which is small, too. A full transition table (Aho and Corasick, 1975) takes
// one step for each byte as well, but its megabytes miss the caches.
type automaton struct {
	fold  [256]byte // a byte of a text as words have it
	roots [256]uint32
	nodes []node   // those that go on from one node stand together, the first of all is the root
	twins []uint32 // word → another that is the same, plus one

	begins [1 << 16 / 64]uint64 // hashes of the first four bytes of words
	short  [1 << 16 / 64]uint64 // first two bytes of words that have no four
	fourth []branch             // the nodes of the fourth level: a hash table, a power of two long, half of it free
}

// branch is a node of the fourth level and the bytes that lead to it, the first lowest.
type branch struct{ head, node uint32 }

// node is a place in the tree: the bytes read so far.
type node struct {
	first uint32 // the first of the nodes that go on from here
	count uint16
	char  byte   // the byte that leads here
	word  uint32 // the word that ends here, plus one
}

// fold32 turns capital letters into small ones in four bytes at once; what else it changes only makes the bitmaps say more
// often that a word may begin.
const fold32 = 0x20202020

// newAutomaton makes an automaton of words in lower case.
func newAutomaton(words []string) *automaton {
	a := &automaton{twins: make([]uint32, len(words))}
	for i := range a.fold {
		c := byte(i) //nolint:gosec // an index of 256
		switch {
		case c >= 'A' && c <= 'Z':
			c |= 0x20
		case c == '\t' || c == '\n' || c == '\r':
			c = ' '
		}
		a.fold[i] = c
	}
	a.tree(words)
	for _, w := range words {
		a.begin(w)
	}
	return a
}

// tree makes the nodes, breadth first.
func (a *automaton) tree(words []string) {
	order := make([]int, len(words))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return strings.Compare(words[i], words[j]) })
	branches, depths := [][]int{order}, []int{0} // of each node: the words that lead through it, and how many bytes in
	a.nodes = []node{{}}
	for k := 0; k < len(branches); k++ {
		list, depth := branches[k], depths[k]
		n := node{first: uint32(len(a.nodes)), char: a.nodes[k].char} //nolint:gosec // a few thousand nodes
		for len(list) > 0 {
			id := list[0]
			if len(words[id]) == depth {
				a.twins[id], n.word = n.word, uint32(id)+1 //nolint:gosec // an index
				list = list[1:]
				continue
			}
			c, same := words[id][depth], 1
			for same < len(list) && words[list[same]][depth] == c {
				same++
			}
			a.nodes = append(a.nodes, node{char: c})
			branches, depths = append(branches, list[:same]), append(depths, depth+1)
			n.count++
			list = list[same:]
		}
		a.nodes[k] = n
	}
	a.branches(depths, func(k int) string { return words[branches[k][0]] })
	for i := range a.nodes[0].count {
		at := a.nodes[0].first + uint32(i)
		a.roots[a.nodes[at].char] = at
	}
}

// branches makes the table of the fourth level. word is one of those that lead through a node.
func (a *automaton) branches(depths []int, word func(node int) string) {
	level, size := 0, 2
	for _, depth := range depths {
		if depth == 4 {
			level++
		}
	}
	for size < 2*level {
		size *= 2
	}
	a.fourth = make([]branch, size)
	for k, depth := range depths {
		if depth != 4 {
			continue
		}
		w := word(k)
		head := uint32(w[0]) | uint32(w[1])<<8 | uint32(w[2])<<16 | uint32(w[3])<<24
		at := a.place(head)
		for a.fourth[at].node > 0 {
			at = (at + 1) % uint32(size) //nolint:gosec // a few thousand
		}
		a.fourth[at] = branch{head, uint32(k)} //nolint:gosec // a few thousand nodes
	}
}

// place is where in the table of the fourth level to look first.
func (a *automaton) place(head uint32) uint32 {
	return hash16(head) & uint32(len(a.fourth)-1) //nolint:gosec // a few thousand
}

// fourthAt is the node to which the four bytes of a text from byte i on lead; 0 when no word begins like that.
func (a *automaton) fourthAt(text string, i int) uint32 {
	four := text[i : i+4]
	head := uint32(a.fold[four[0]]) | uint32(a.fold[four[1]])<<8 | uint32(a.fold[four[2]])<<16 | uint32(a.fold[four[3]])<<24
	for at := a.place(head); ; at = (at + 1) & uint32(len(a.fourth)-1) { //nolint:gosec // as above
		if b := a.fourth[at]; b.node == 0 || b.head == head {
			return b.node
		}
	}
}

// begin notes in the bitmaps how a word can begin.
func (a *automaton) begin(w string) {
	set := func(bits *[1 << 16 / 64]uint64, bit uint32) { bits[bit/64] |= 1 << (bit % 64) }
	const known = 4
	heads := []uint32{0}
	for i := range min(len(w), known) {
		forms := w[i : i+1]
		if w[i] == ' ' {
			forms = " \t\n\r"
		}
		var longer []uint32
		for _, head := range heads {
			for j := range len(forms) {
				longer = append(longer, head|uint32(forms[j]|0x20)<<(8*i))
			}
		}
		heads = longer
	}
	for _, head := range heads {
		switch len(w) {
		case 1:
			for c := range uint32(256) {
				set(&a.short, head|c<<8)
			}
		case 2, 3:
			set(&a.short, head&0xffff)
		default:
			set(&a.begins, hash16(head))
		}
	}
}

// hash16 spreads four bytes over 16 bits (multiplicative hashing, Knuth).
func hash16(x uint32) uint32 { return x * 2654435769 >> 16 }

// each calls see for every occurrence of a word, in order of its end, until see says false.
func (a *automaton) each(text string, see func(word uint32, end int) bool) {
	var w walk
	i := 0
	for ; i+8 <= len(text); i += 4 { // four heads at once: at hardly any byte does a word begin
		heads := eight(text[i:i+8]) | fold32<<32 | fold32
		if a.heads(uint32(heads))|a.heads(uint32(heads>>8))|a.heads(uint32(heads>>16))|a.heads(uint32(heads>>24)) == 0 { //nolint:gosec // four bytes of eight
			continue
		}
		for j := i; j < i+4; j, heads = j+1, heads>>8 {
			if a.heads(uint32(heads)) > 0 && !w.begin(a, text, j, uint32(heads), see) { //nolint:gosec // as above
				return
			}
		}
	}
	for ; i+4 <= len(text); i++ {
		head := uint32(text[i]) | uint32(text[i+1])<<8 | uint32(text[i+2])<<16 | uint32(text[i+3])<<24 | fold32
		if a.heads(head) > 0 && !w.begin(a, text, i, head, see) {
			return
		}
	}
	for ; i < len(text); i++ {
		if !w.tell(i, see) {
			return
		}
		w.from(a, text, i, a.roots[a.fold[text[i]]])
	}
	w.tell(len(text), see)
}

// heads is 1 where four bytes, as [fold32] has them, may begin a word.
func (a *automaton) heads(head uint32) uint64 {
	h := hash16(head)
	return a.begins[h/64]>>(h%64)&1 | a.begun(head)
}

// begun is 1 where the first two of four bytes begin a word that has no four.
func (a *automaton) begun(head uint32) uint64 {
	s := head & 0xffff
	return a.short[s/64] >> (s % 64) & 1
}

// any reports whether one of the words occurs.
func (a *automaton) any(text string) bool {
	hit := false
	a.each(text, func(uint32, int) bool { hit = true; return false })
	return hit
}

// walk collects the words that begin at one byte after another, and tells of them in order of their ends.
type walk struct{ waiting []occurrence }

type occurrence struct {
	word uint32
	end  int
}

// begin notes the words that begin at byte i with four bytes as [fold32] has them. It reports whether see wants more.
func (w *walk) begin(a *automaton, text string, i int, head uint32, see func(word uint32, end int) bool) bool {
	if len(w.waiting) > 0 && !w.tell(i, see) {
		return false
	}
	if a.begun(head) == 0 {
		w.from(a, text, i+3, a.fourthAt(text, i))
	} else {
		w.from(a, text, i, a.roots[a.fold[text[i]]])
	}
	return true
}

// from notes all words that go through a node to which byte i leads.
func (w *walk) from(a *automaton, text string, i int, at uint32) {
	for at > 0 {
		i++
		n := &a.nodes[at]
		for word := n.word; word > 0; word = a.twins[word-1] {
			w.note(occurrence{word - 1, i})
		}
		if i == len(text) {
			return
		}
		at = a.after(n, a.fold[text[i]])
	}
}

// after is the node to which a byte leads from another; 0 when no word goes on like that.
func (a *automaton) after(n *node, c byte) uint32 {
	for at := n.first; at < n.first+uint32(n.count); at++ {
		if a.nodes[at].char == c {
			return at
		}
	}
	return 0
}

// note keeps what is waiting in order: of two words with one end the one that begins first comes first.
func (w *walk) note(o occurrence) {
	w.waiting = append(w.waiting, o)
	for k := len(w.waiting) - 1; k > 0 && w.waiting[k-1].end > o.end; k-- {
		w.waiting[k-1], w.waiting[k] = w.waiting[k], w.waiting[k-1]
	}
}

// tell calls see for the words that end at byte i or before: no word that begins there or later ends sooner.
func (w *walk) tell(i int, see func(word uint32, end int) bool) bool {
	n := 0
	for n < len(w.waiting) && w.waiting[n].end <= i {
		if !see(w.waiting[n].word, w.waiting[n].end) {
			return false
		}
		n++
	}
	if n > 0 {
		w.waiting = append(w.waiting[:0], w.waiting[n:]...)
	}
	return true
}
