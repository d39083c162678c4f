package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gatehouse-gateway/gatehouse/internal/detect"
)

// settings are what a training run depends on besides its texts.
type settings struct {
	Epochs int     `json:"epochs"` // passes over the texts; a third as many follow once the features are chosen
	Rate   float64 `json:"rate"`   // AdaGrad's step
	Shrink float64 `json:"shrink"` // what is left of each weight after an epoch
	Hands  int     `json:"hands"`  // a feature that fewer hands have is none
	Kept   int     `json:"kept"`   // features that are kept
	Seed   uint64  `json:"seed"`
}

// model is one output before its weights are rounded.
type model struct {
	weights []float64 // by number of the feature
	known   []bool    // features that count
	bias    float64
}

// learner is one training run. It takes the best window of each text for the text (multiple-instance learning, Andrews et al. 2003): of an
// attack the best that is mostly payload, of an ordinary text the best there is, which is the one that would be the false positive.
type learner struct {
	settings
	model
	output int
	order  []*bag
	cost   map[*bag]float64
	square []float64 // AdaGrad's sums of squares (Duchi et al. 2011)
	seen   []int32   // texts that have a feature
	bias2  float64
	random *rand.Rand
	sums   []detect.Sum
}

// learn trains one output.
func learn(all []*bag, features, output int, s settings) *model {
	l := &learner{settings: s, output: output, cost: weigh(all, output), square: make([]float64, features)}
	l.random = rand.New(rand.NewPCG(s.Seed, uint64(output))) //nolint:gosec // reproducible on purpose
	l.weights, l.bias = make([]float64, features), -1
	for _, b := range all {
		if b.want[output] != 0 {
			l.order = append(l.order, b)
		}
	}
	l.spread(features)
	l.run(0, s.Epochs)
	l.choose()
	l.run(s.Epochs, s.Epochs/3)
	return &l.model
}

// spread finds the features that enough hands have.
func (l *learner) spread(features int) {
	last, hands := make([]int32, features), make([]uint8, features)
	l.seen, l.known = make([]int32, features), make([]bool, features)
	inText := make([]int32, features)
	order := slices.Clone(l.order)
	slices.SortStableFunc(order, func(a, b *bag) int { return cmp.Compare(a.Hand, b.Hand) })
	hand, name := int32(0), ""
	for k, b := range order {
		if b.Hand != name {
			hand, name = hand+1, b.Hand
		}
		for _, view := range b.views {
			for _, s := range view {
				for _, f := range s.Features {
					if last[f] != hand {
						last[f] = hand
						hands[f] = min(hands[f]+1, 255)
					}
					if inText[f] != int32(k)+1 { //nolint:gosec // fewer than two billion texts
						inText[f] = int32(k) + 1 //nolint:gosec // fewer than two billion texts
						l.seen[f]++
					}
				}
			}
		}
	}
	for f, n := range hands {
		l.known[f] = int(n) >= l.Hands
	}
}

// run makes passes over the texts; the weights are the mean of those after the later half of the passes.
func (l *learner) run(from, passes int) {
	mean, means := make([]float64, len(l.weights)), 0
	for epoch := range passes {
		l.random.Shuffle(len(l.order), func(i, j int) { l.order[i], l.order[j] = l.order[j], l.order[i] })
		for _, b := range l.order {
			if b.want[l.output] > 0 {
				l.attack(b, from+epoch)
			} else {
				l.ordinary(b, from+epoch)
			}
		}
		if 2*epoch >= passes {
			means++
			for i, w := range l.weights {
				mean[i] += w
			}
		}
		for i := range l.weights {
			l.weights[i] *= l.Shrink
		}
	}
	for i := range mean {
		l.weights[i] = mean[i] / float64(max(means, 1))
	}
}

// choose keeps the features that matter most: by weight, and by how many texts they stand in.
func (l *learner) choose() {
	type ranked struct {
		feature int
		value   float64
	}
	var all []ranked
	for f, w := range l.weights {
		if l.known[f] {
			all = append(all, ranked{f, math.Abs(w) * math.Sqrt(float64(l.seen[f]))})
		}
	}
	slices.SortFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.feature, b.feature))
	})
	for i, r := range all {
		if i >= l.Kept {
			l.known[r.feature], l.weights[r.feature] = false, 0
		}
	}
}

// window is a stretch of sentences of one reading.
type window struct {
	view, first, last int
	sum               float64
}

// each calls see for all windows of a text.
func (m *model) each(b *bag, sums *[]detect.Sum, see func(w window)) {
	for v, view := range b.views {
		*sums = (*sums)[:0]
		for _, s := range view {
			var sum detect.Sum
			for _, f := range s.Features {
				sum.Mark ^= (f + 1) * 0x9E3779B1
				if m.known[f] {
					sum.Weight += m.weights[f]
					sum.Known++
				}
			}
			*sums = append(*sums, sum)
		}
		for i := range view {
			detect.Windows(*sums, i, func(first, last int, sum float64) { see(window{v, first, last, sum + m.bias}) })
		}
	}
}

// attack learns from the window of an attack that is mostly payload, and from the best one that is none of it.
func (l *learner) attack(b *bag, epoch int) {
	best, other, n := window{sum: math.Inf(-1)}, window{sum: math.Inf(-1)}, 0
	l.each(b, &l.sums, func(w window) {
		if b.payload != nil && w.view == 0 {
			in := 0
			for _, p := range b.payload[w.first : w.last+1] {
				if p {
					in++
				}
			}
			if in == 0 && w.sum > other.sum {
				other = w
			}
			if in == 0 || 2*in < w.last-w.first+1 {
				return
			}
		}
		n++
		if epoch == 0 && l.random.IntN(n) == 0 || epoch > 0 && w.sum > best.sum {
			best = w
		}
	})
	l.step(b, best, 1)
	if epoch > 0 {
		l.step(b, other, 0)
	}
}

// ordinary learns from the window of an ordinary text that looks worst, and at first from any.
func (l *learner) ordinary(b *bag, epoch int) {
	best, other, n := window{sum: math.Inf(-1)}, window{sum: math.Inf(-1)}, 0
	l.each(b, &l.sums, func(w window) {
		n++
		if epoch < 2 && l.random.IntN(n) == 0 {
			other = w
		}
		if w.sum > best.sum {
			best = w
		}
	})
	l.step(b, other, 0)
	l.step(b, best, 0)
}

// step moves the weights of a window's features towards what the window is.
func (l *learner) step(b *bag, w window, want float64) {
	if math.IsInf(w.sum, -1) {
		return
	}
	slope := 1/(1+math.Exp(-w.sum)) - want
	if math.Abs(slope) < 1e-4 {
		return
	}
	slope *= l.cost[b]
	sentences := b.views[w.view][w.first : w.last+1]
	known := 0
	for _, s := range sentences {
		for _, f := range s.Features {
			if l.known[f] {
				known++
			}
		}
	}
	const damp = 1e-4 // keeps the first steps of rare features small
	l.bias2 += slope * slope
	l.bias -= 0.1 * l.Rate * slope / math.Sqrt(l.bias2+damp)
	g := slope / detect.Size(known)
	for _, s := range sentences {
		for _, f := range s.Features {
			if l.known[f] {
				l.square[f] += g * g
				l.weights[f] -= l.Rate * g / math.Sqrt(l.square[f]+damp)
			}
		}
	}
}
