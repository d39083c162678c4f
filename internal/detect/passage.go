package detect

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// passageMost is the length of a passage, in pieces of words as [pieces] counts them.
	passageMost = 56
	// betweenMost bounds what stands between two sentences of a passage, in bytes: the keys of JSON are read, rows of numbers are not.
	betweenMost = 24
)

// Passage is a stretch of whole sentences of one reading, as much as the transformer reads at once. Each begins with the last sentence of
// the one before, where that is short.
type Passage struct {
	Text       string // normalised
	First      int    // the number of its first sentence in its reading
	Start, End int    // what of the given text it stands for
	Concealed  bool   // some of it is not shown to people
	Decoded    bool   // it was decoded from the given text
	// Sums are what the linear detector says of its best window, by output.
	Sums [outputs]float64
}

// Reader reads texts as the detectors do.
type Reader struct{ linear *linear }

// NewReader is a reader with the weights that are built in.
func NewReader() (*Reader, error) {
	l, err := newLinear()
	return &Reader{l}, err
}

// Passages are those of all readings of a text, the main reading first.
func (r *Reader) Passages(t Text) []Passage {
	var all []Passage
	for _, n := range views(read(t.Text, formOf(t.Text))) {
		if n.suits((*linear)(nil).Name()) {
			all = append(all, r.passages(n)...)
		}
	}
	return all
}

func (r *Reader) passages(n *Normalized) []Passage {
	spans, sums := r.linear.sums(n)
	sizes := make([]int, len(spans))
	for i, s := range spans {
		sizes[i] = pieces(n.Text[s.start:s.end])
	}
	var all []Passage
	for _, s := range stretches(sizes) {
		first, last := spans[s.start], spans[s.end-1]
		p := Passage{Text: joinedText(n.Text, spans[s.start:s.end]), First: s.start, Decoded: n.depth > 0, Concealed: n.concealed(first.start, last.end)}
		from, to := n.origin(first.start, last.end)
		for i, g := range n.given(span{from, to}) {
			if i == 0 {
				p.Start = g.start
			}
			p.End = g.end
		}
		for o := range sums {
			p.Sums[o] = r.linear.outputs[o].best(sums[o][s.start:s.end])
		}
		all = append(all, p)
	}
	return all
}

// sums are the sentences of a reading and what they weigh to each output.
func (l *linear) sums(n *Normalized) (spans []span, sums [outputs][]Sum) {
	for o := range l.outputs {
		f := features{tables: []*Weights{l.outputs[o].weights}}
		f.each(n, func(s span) {
			if o == 0 {
				spans = append(spans, s)
			}
			sums[o] = append(sums[o], Sum{float64(f.weight[0]), f.known[0], f.mark})
		})
	}
	return spans, sums
}

// best is the sum of the best window of some sentences.
func (o *output) best(sums []Sum) float64 {
	best := 0.0
	for last := range sums {
		Windows(sums, last, func(first, last int, sum float64) {
			if s := sum*o.Unit + o.Bias; first == 0 && last == 0 || s > best {
				best = s
			}
		})
	}
	return best
}

// stretches cuts sentences of some sizes into passages; start and end of each are numbers of sentences. Each begins with the last sentence
// of the one before, where that is short.
func stretches(sizes []int) []span {
	var all []span
	for i := 0; i < len(sizes); {
		end, total := i, 0
		for end < len(sizes) && (end == i || total+sizes[end] <= passageMost) {
			total += sizes[end]
			end++
		}
		all = append(all, span{i, end})
		last := end - 1
		if end < len(sizes) && last > i && 2*sizes[last] <= passageMost && sizes[last]+sizes[end] <= passageMost {
			end = last
		}
		i = end
	}
	return all
}

// joinedText is the text of a passage: its sentences, with what little stands between them.
func joinedText(text string, sentences []span) string {
	var b strings.Builder
	for i, s := range sentences {
		if i > 0 {
			between := text[sentences[i-1].end:s.start]
			if len(between) > betweenMost || between == "" {
				between = " "
			}
			b.WriteString(between)
		}
		b.WriteString(text[s.start:s.end])
	}
	return b.String()
}

// pieces is about how many pieces of words a text has for the transformer. It errs to the high side.
func pieces(text string) int {
	n, letters, digits, foreign := 0, 0, 0, 0
	flush := func() {
		n += (letters+5)/6 + (digits+1)/2 + (foreign+2)/3
		letters, digits, foreign = 0, 0, 0
	}
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case letter(c):
				letters++
			case digit(c):
				digits++
			default:
				flush()
				if c != ' ' && c != '\n' {
					n++
				}
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) {
			flush()
			n++
			continue
		}
		foreign++
	}
	flush()
	return n
}
