package detect

import (
	"math"
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
			w := r.linear.weigh(n, outputTool, outputUser, outputJail)
			for _, s := range w.stretches() {
				all = append(all, w.passage(s))
			}
		}
	}
	return all
}

// Sums are what the linear detector says of a text as a whole, by output: the sum of its best window. They are not ok where the text has no
// sentence.
func (r *Reader) Sums(t Text) (sums [outputs]float64, ok bool) {
	for _, n := range views(read(t.Text, formOf(t.Text))) {
		if !n.suits((*linear)(nil).Name()) {
			continue
		}
		w := r.linear.weigh(n, outputTool, outputUser, outputJail)
		for o := range w.sums {
			if len(w.spans) > 0 && (!ok || w.best(o) > sums[o]) {
				sums[o] = w.best(o)
			}
		}
		ok = ok || len(w.spans) > 0
	}
	return sums, ok
}

// weighed is a reading, and what its sentences weigh to some outputs.
type weighed struct {
	*Normalized
	linear *linear
	spans  []span // of the sentences
	sums   [outputs][]Sum
}

// weigh weighs the sentences of a reading by some outputs.
func (l *linear) weigh(n *Normalized, which ...int) *weighed {
	w := &weighed{Normalized: n, linear: l}
	for len(which) > 0 {
		some := which[:min(2, len(which))] // as many as are read at once
		which = which[len(some):]
		var f features
		for _, o := range some {
			f.tables = append(f.tables, l.outputs[o].weights)
		}
		first := w.spans == nil
		f.each(n, func(s span) {
			if first {
				w.spans = append(w.spans, s)
			}
			for i, o := range some {
				w.sums[o] = append(w.sums[o], Sum{float64(f.weight[i]), f.known[i], f.mark})
			}
		})
	}
	return w
}

// best is the sum of the best window of the reading, as the linear detector has it.
func (w *weighed) best(o int) float64 {
	out, best := &w.linear.outputs[o], math.Inf(-1)
	for last := range w.sums[o] {
		late := out.Penalty * Lateness(last)
		Windows(w.sums[o], last, func(_, _ int, sum float64) { best = max(best, sum*out.Unit+out.Bias-late) })
	}
	return best
}

// stretches are the passages of the reading, as numbers of sentences.
func (w *weighed) stretches() []span {
	sizes := make([]int, len(w.spans))
	for i, s := range w.spans {
		sizes[i] = pieces(w.Text[s.start:s.end])
	}
	return stretches(sizes)
}

// passage is the one of some sentences.
func (w *weighed) passage(s span) Passage {
	first, last := w.spans[s.start], w.spans[s.end-1]
	p := Passage{Text: joinedText(w.Text, w.spans[s.start:s.end]), First: s.start, Decoded: w.depth > 0, Concealed: w.concealed(first.start, last.end)}
	from, to := w.origin(first.start, last.end)
	for i, g := range w.given(span{from, to}) {
		if i == 0 {
			p.Start = g.start
		}
		p.End = g.end
	}
	for o := range w.sums {
		if w.sums[o] != nil {
			p.Sums[o] = w.linear.outputs[o].best(w.sums[o][s.start:s.end])
		}
	}
	return p
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
