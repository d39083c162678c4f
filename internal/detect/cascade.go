package detect

import (
	"context"
	"slices"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
)

const (
	// judgedMost is how many passages of a text the transformer reads: so many it was measured with. More would find more by chance.
	judgedMost = 3
	// sureFrom is the score from which the stages before are sure of a text: it is cut or stopped whatever the transformer says.
	sureFrom = 0.95
)

// Why the transformer has read less than all passages of a text.
const (
	skipWorst     = "worst"     // it has read those that the linear detector finds worst
	skipSure      = "sure"      // the stages before are, of an attack or of there being none
	skipDeadline  = "deadline"  // time was up
	skipCancelled = "cancelled" // nobody waits for the answer any more
	skipBusy      = "busy"      // too many texts were waiting
	skipSlow      = "slow"      // this CPU takes too long
	skipOff       = "off"       // the operator has said so
	skipAbsent    = "absent"    // none is built in
	skipUnused    = "unused"    // it does not help with texts of this channel
	skipError     = "error"     // its numbers were none
)

// cascade gathers, while the other detectors look at a text, what the transformer may read of it.
type cascade struct {
	set     *Set
	text    Text
	which   []int         // the outputs that matter in its channel
	sure    bool          // it need not be read
	count   int           // passages
	worst   []pick        // those to read, the worst first
	whole   []*Normalized // the readings of a text that is not cut into passages yet
	linear  [outputs]float64
	weighed [outputs]bool    // there is a linear sum
	scores  [outputs]float64 // the linear detector's, by output
	others  float64          // the score by the rest
}

// pick is a passage that the transformer may read.
type pick struct {
	Passage
	reading   *weighed
	sentences span
	from      int // where its chunk begins in the text
	rank      float64
}

// cascade is nil for a text that no model reads.
func (s *Set) cascade(t Text) *cascade {
	if s.model == nil || t.Channel == Output || s.model.slow {
		return nil
	}
	c := &cascade{set: s, text: t, which: []int{outputUser, outputJail}}
	if t.Channel == ToolResult {
		c.which = []int{outputTool}
	}
	return c
}

// unread says of a text that no model reads why.
func (s *Set) unread(t Text) []gatehouse.Partial {
	why := s.Without()
	if why == "" || t.Channel == Output || t.Text == "" {
		return nil
	}
	return []gatehouse.Partial{{Detector: modelName, Why: why}}
}

// add takes in what was seen of the bytes from..to. A text of one chunk is cut into passages once it is clear that somebody will read them;
// of a long one not all chunks can be kept until then.
func (c *cascade) add(readings []*Normalized, from, to int, found []gatehouse.Finding) {
	if c == nil {
		return
	}
	for _, f := range found {
		c.weigh(f)
	}
	if c.sure || !c.used() {
		return
	}
	for _, n := range readings {
		for o := range n.best {
			if n.weighed[o] && (!c.weighed[o] || n.best[o] > c.linear[o]) {
				c.linear[o], c.weighed[o] = n.best[o], true
			}
		}
		switch {
		case !n.suits((*linear)(nil).Name()):
		case from == 0 && to == len(c.text.Text):
			c.whole = append(c.whole, n)
		default:
			c.read(n, from)
		}
	}
}

// weigh notes the score of a finding.
func (c *cascade) weigh(f gatehouse.Finding) {
	if f.Kind != "injection" {
		return
	}
	c.sure = c.sure || f.Score >= sureFrom
	if o := linearOutput(f.Detector); o >= 0 {
		c.scores[o] = max(c.scores[o], f.Score)
	} else {
		c.others = max(c.others, f.Score)
	}
}

// linearOutput is the output of the linear detector that a finding is of; -1 when it is another's.
func linearOutput(detector string) int {
	name, ok := strings.CutPrefix(detector, (*linear)(nil).Name()+"/")
	if !ok {
		return -1
	}
	return slices.Index(outputNames[:], name)
}

// used reports whether the model counts for any output that matters here.
func (c *cascade) used() bool {
	return slices.ContainsFunc(c.which, func(o int) bool { return c.set.model.heads[o].Model != 0 })
}

// doubtful reports whether the model could make the text suspect.
func (c *cascade) doubtful() bool {
	if c.set.named((*linear)(nil).Name()) == nil {
		return true
	}
	return slices.ContainsFunc(c.which, func(o int) bool {
		h := &c.set.model.heads[o]
		return h.Model != 0 && c.weighed[o] && (h.Least == nil || c.linear[o] >= *h.Least)
	})
}

// read cuts a reading into passages, and keeps the worst.
func (c *cascade) read(n *Normalized, from int) {
	order := []int{outputTool, outputUser} // what passages were ranked by when the model learnt
	if c.text.Channel != ToolResult {
		order = []int{outputUser, outputJail}
	}
	w := c.set.passages.weigh(n, order...)
	for _, s := range w.stretches() {
		c.count++
		rank := w.rank(s, order)
		i, _ := slices.BinarySearchFunc(c.worst, rank, func(k pick, rank float64) int {
			if k.rank >= rank {
				return -1 // of equals the first stays first
			}
			return 1
		})
		if i < judgedMost {
			c.worst = slices.Insert(c.worst, i, pick{reading: w, sentences: s, from: from, rank: rank})
			c.worst = c.worst[:min(len(c.worst), judgedMost)]
		}
	}
}

// rank is the highest sum of the best windows of some sentences.
func (w *weighed) rank(s span, which []int) float64 {
	rank := w.linear.outputs[which[0]].best(w.sums[which[0]][s.start:s.end])
	for _, o := range which[1:] {
		rank = max(rank, w.linear.outputs[o].best(w.sums[o][s.start:s.end]))
	}
	return rank
}

// finish lets the model read, and puts what follows into the result: its findings, the score, and what it did not read.
func (c *cascade) finish(ctx context.Context, r *Result) {
	if c == nil {
		return
	}
	var read int
	var why string
	switch {
	case c.sure:
		why = skipSure
	case !c.used():
		why = skipUnused
	case !c.doubtful():
		why = skipSure
	default:
		start := c.set.clock()
		for _, n := range c.whole {
			c.read(n, 0)
		}
		if c.count == 0 {
			return // without a sentence
		}
		read, why = c.judge(ctx, r)
		c.set.took(modelName, start)
	}
	if read > 0 {
		r.Detectors = append(r.Detectors, modelName+"@"+c.set.model.version)
	}
	if read == 0 || read < c.count {
		r.Partial = append(r.Partial, gatehouse.Partial{Detector: modelName, Read: read, Of: c.count, Why: why})
	}
}
