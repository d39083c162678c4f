package detect

const (
	// inlineWords is how many tags in a row stand between letters before they are read as blanks.
	inlineWords = 3
	// inlineReach bounds what lies between such tags, in bytes.
	inlineReach = 48
)

// inline reads tags that part letters as blanks, where many do: words may each be an element of their own. The main reading takes
// them for parts of one word.
func (d *deriver) inline() {
	marks, text := d.n.markup, d.n.Original
	count, last := 0, 0
	var run, past int // the first mark of the run, and the one behind its last
	end := func() {
		if count >= inlineWords {
			d.put(group{"inline", d.n.json, spread(text, marks[run:past])})
		}
		count = 0
	}
	for i := 0; i < len(marks); {
		j := i + 1
		within := marks[i].within()
		for ; j < len(marks) && marks[j].start == marks[j-1].end; j++ {
			within = within && marks[j].within()
		}
		if within && word8(byteAt(text, marks[i].start-1)) && word8(byteAt(text, marks[j-1].end)) {
			if count > 0 && marks[i].start-last > inlineReach {
				end()
			}
			if count == 0 {
				run = i
			}
			count++
			last, past = marks[j-1].end, j
		}
		i = j
	}
	end()
}

// withinLines are the elements that leave the line as it is.
var withinLines = func() map[uint64]bool {
	names := map[uint64]bool{0: true} // comments of one word
	for name, kind := range elements {
		if kind == inlineElement || kind == voidElement {
			names[packed(name)] = true
		}
	}
	return names
}()

// within reports whether a mark may stand within a word or between two.
func (m mark) within() bool { return m.kind != tagParts && withinLines[m.name] }

// spread is a text from the words before the first of some marks to those behind the last, with blanks for them.
func spread(text string, marks []mark) decoding {
	var g decoding
	at := max(0, marks[0].start-inlineReach)
	for at > 0 && at < marks[0].start && word8(text[at]) {
		at++
	}
	for _, m := range marks {
		if at < m.start {
			g.exact(text, at, m.start)
		}
		g.solid(" ", m.start, m.end)
		at = m.end
	}
	to := min(len(text), at+inlineReach)
	for to < len(text) && to > at && word8(text[to-1]) {
		to--
	}
	if at < to {
		g.exact(text, at, to)
	}
	return g
}
