package detect

import (
	"context"
	"sort"

	"github.com/gatehouse-gateway/gatehouse"
)

// reader reads the sentences of one text for the linear detector. Its memory is kept for the next.
type reader struct {
	which    []int // the outputs that weigh them
	features features
	spans    []span   // of the sentences
	sums     [2][]Sum // of the sentences, by output
	best     []scored
}

// spareMax bounds, in sentences, what is kept of a long text.
const spareMax = 4 << 10

// Which outputs read the features of a text together.
var whichTool, whichInput = []int{outputTool}, []int{outputUser, outputJail}

// reader is one for the texts of a channel, with nothing read.
func (l *linear) reader(c Channel) *reader {
	r := l.spare.Get().(*reader) //nolint:errcheck // the pool holds nothing else
	if cap(r.spans) > spareMax {
		*r = reader{}
	}
	if r.which = whichInput; c == ToolResult {
		r.which = whichTool
	}
	r.spans = r.spans[:0]
	r.features.tables = r.features.tables[:0]
	for i, k := range r.which {
		r.features.tables = append(r.features.tables, l.outputs[k].weights)
		r.sums[i] = r.sums[i][:0]
	}
	return r
}

// cut finds the sentences of a text.
func (r *reader) cut(n *Normalized) []span {
	r.features.cuts = appendSentences(r.features.cuts[:0], n)
	return r.features.cuts
}

// weigh weighs some of the sentences of a text.
func (r *reader) weigh(n *Normalized, cuts []span) {
	f := &r.features
	f.over(n, cuts, func(s span) {
		r.spans = append(r.spans, s)
		for i := range r.which {
			r.sums[i] = append(r.sums[i], Sum{float64(f.weight[i]), f.known[i], f.mark})
		}
	})
}

// join appends what another reader has read.
func (r *reader) join(other *reader) {
	r.spans = append(r.spans, other.spans...)
	for i := range r.which {
		r.sums[i] = append(r.sums[i], other.sums[i]...)
	}
}

// leave forgets the sentences from byte i on.
func (r *reader) leave(i int) {
	k := sort.Search(len(r.spans), func(k int) bool { return r.spans[k].start >= i })
	r.spans = r.spans[:k]
	for i := range r.which {
		r.sums[i] = r.sums[i][:k]
	}
}

// payloadFrom is where what is payload as a whole begins in Text; its end where there is none.
func (n *Normalized) payloadFrom() int { return len(n.Text) - int(n.rest.Load()) }

// each reads the sentences of a text and calls see for those that hold a word.
func (f *features) each(n *Normalized, see func(s span)) {
	f.cuts = appendSentences(f.cuts[:0], n)
	f.over(n, f.cuts, see)
}

// over reads some of the sentences of a text.
func (f *features) over(n *Normalized, cuts []span, see func(s span)) {
	marks := make([]uint32, 0, 2)
	for _, s := range cuts {
		if s.start >= n.payloadFrom() {
			break
		}
		marks = marks[:0]
		if len(n.veils) > 0 && n.concealed(s.start, s.end) {
			marks = append(marks, wordConcealed)
		}
		if n.depth > 0 {
			marks = append(marks, wordDecoded)
		}
		if f.sentence(n.Text[s.start:s.end], marks...); f.words {
			see(s)
		}
	}
}

// readerPart is about how much of a text one part of the work reads, in bytes.
const readerPart = 8 << 10

// parts are runs of sentences: what one weighs has nothing to do with the others, until windows of them are looked at.
func (l *linear) parts(ctx context.Context, t Text, n *Normalized) (parts []part, join func() []gatehouse.Finding) {
	if t.Channel == Output || len(n.Text) == 0 || ctx.Err() != nil {
		return nil, nil
	}
	first := l.reader(t.Channel)
	cuts := first.cut(n)
	readers := []*reader{first}
	for len(cuts) > 0 {
		end := min(1+sort.Search(len(cuts), func(i int) bool { return cuts[i].end >= cuts[0].start+readerPart }), len(cuts))
		r, some := readers[len(readers)-1], cuts[:end]
		if len(parts) > 0 {
			r = l.reader(t.Channel)
			readers = append(readers, r)
		}
		parts = append(parts, part{weightLinear * readerPart, func() { r.weigh(n, some) }})
		cuts = cuts[end:]
	}
	return parts, func() []gatehouse.Finding {
		for _, r := range readers[1:] {
			first.join(r)
			l.spare.Put(r)
		}
		first.leave(n.payloadFrom()) // which may have been found while sentences were weighed
		return l.findings(n, first)
	}
}
