package detect

import "slices"

// Lesson is one reading of a text as training sees it: the sentences that the linear detector would score.
type Lesson struct {
	Sentences []Sentence
}

// Sentence is a sentence of a reading: its bytes in the text that was given, and the hashes of its features.
type Sentence struct {
	Start, End int
	Features   []uint32
}

// Lessons are the readings of a text, the main one first. Training and the detector read texts by the same code.
func Lessons(t Text) []Lesson {
	var all []Lesson
	for _, n := range views(read(t.Text, formOf(t.Text))) {
		if !n.suits((*linear)(nil).Name()) {
			continue
		}
		var l Lesson
		f := &features{}
		f.each(n, func(s span) {
			one := Sentence{Features: slices.Clone(f.out)}
			from, to := n.origin(s.start, s.end)
			for i, p := range n.given(span{from, to}) {
				if i == 0 {
					one.Start = p.start
				}
				one.End = p.end
			}
			l.Sentences = append(l.Sentences, one)
		})
		if len(l.Sentences) > 0 || n.depth == 0 {
			all = append(all, l)
		}
	}
	return all
}
