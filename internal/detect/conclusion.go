package detect

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/gatehouse-gateway/gatehouse"
)

// judge reads the worst passages when it is their turn. It says how many were read, and why not all.
func (c *cascade) judge(ctx context.Context, r *Result) (read int, why string) {
	m := c.set.model
	ctx, cancel, ended := leisure(ctx)
	defer cancel()
	if ctx.Err() != nil {
		return 0, ended()
	}
	if err := m.turns.take(ctx); err != nil {
		if errors.Is(err, errBusy) {
			return 0, skipBusy
		}
		return 0, ended()
	}
	defer m.turns.give()
	list := c.list()
	said, err := m.judge.sums(ctx, m.turns.slots, c.text.Channel, list)
	for _, s := range said {
		if s != nil {
			read++
		}
	}
	if read > 0 {
		c.conclude(r, said, read == len(list))
	}
	switch {
	case ctx.Err() != nil && read < len(list):
		return read, ended()
	case err != nil:
		return read, skipError
	}
	return read, skipWorst
}

// list puts the texts of the passages together that are to be read.
func (c *cascade) list() []Passage {
	list := make([]Passage, len(c.worst))
	for i := range c.worst {
		k := &c.worst[i]
		k.Passage = k.reading.passage(k.sentences)
		list[i] = k.Passage
	}
	return list
}

// conclude turns sums into findings and the score of the text. Where all that was to be read was read, what both detectors say together
// stands in place of what the linear one says alone; otherwise it can only add to it.
func (c *cascade) conclude(r *Result, said [][]float32, all bool) {
	r.Score = c.others
	var found []gatehouse.Finding
	for _, o := range c.which {
		score := c.scores[o]
		if c.set.model.heads[o].Model != 0 {
			top, own, list := c.output(o, said)
			if all {
				score = min(score, top)
				r.Findings = capped(r.Findings, o, top)
			}
			score = max(score, own)
			found = append(found, list...)
		}
		r.Score = max(r.Score, score)
	}
	r.Findings = append(r.Findings, found...)
}

// output is what one output says: the score of the text, the highest that a passage has, which is lower where that only mentions attacks,
// and findings.
func (c *cascade) output(o int, said [][]float32) (top, own float64, found []gatehouse.Finding) {
	h := &c.set.model.heads[o]
	knots, share, most := h.Together, h.Linear, h.Most
	if c.set.named((*linear)(nil).Name()) == nil {
		knots, share, most = h.Knots, 0, math.Inf(1)
	}
	best, joint := 0.0, make([]float64, len(said)) // the highest sum of the model's own, and each passage's with the linear one
	order := make([]int, 0, len(said))
	for i, s := range said {
		if s == nil {
			continue
		}
		k := &c.worst[i]
		own := h.Model * min(float64(s[o])-h.Penalty*Lateness(k.First), most)
		if len(order) == 0 || own > best {
			best = own
		}
		joint[i] = own + share*min(k.Sums[o], c.linear[o])
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(joint[j], joint[i]) })
	top = scoreOf(knots, best+share*c.linear[o])
	for n, i := range order {
		score := top
		if n > 0 {
			score = scoreOf(knots, joint[i])
		}
		k := &c.worst[i]
		if score > mentionMax && c.set.passages.mentioned(k.Text) {
			score = mentionMax
		}
		own = max(own, score)
		if score >= reportFrom {
			found = append(found, k.findings(o, score)...)
		}
	}
	return top, own, found
}

// findings are those of a passage: of its sentences, those that the linear detector gives weight to, where there are any.
func (k *pick) findings(o int, score float64) []gatehouse.Finding {
	w := k.reading
	last := k.sentences.end - 1
	list := cut(w.Normalized, w.spans, w.sums[o], scored{k.sentences.start, last, k.rank}, outputNames[o], score)
	if len(list) == 0 {
		list = cut(w.Normalized, w.spans, make([]Sum, len(w.spans)), scored{k.sentences.start, last, k.rank}, outputNames[o], score)
	}
	for i := range list {
		list[i].Detector = modelName + "/" + outputNames[o]
	}
	return w.report(list, k.from, nil)
}

// capped lowers the linear detector's findings of one output to the score that the text has, and drops what is then too faint.
func capped(list []gatehouse.Finding, o int, most float64) []gatehouse.Finding {
	out := list[:0]
	for _, f := range list {
		if linearOutput(f.Detector) == o && f.Score > most {
			if most < reportFrom {
				continue
			}
			f.Score, f.Severity = most, severity(most)
		}
		out = append(out, f)
	}
	return out
}
