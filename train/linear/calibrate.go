package main

import (
	"cmp"
	"log"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/gatehouse-gateway/gatehouse/internal/detect"
)

// rates are the scores that stand for shares of ordinary texts whose score is as high: warn, quarantine and block are 1 %, 0.5 % and 0.2 %.
var rates = []struct{ share, score float64 }{
	{0.9, 0.01}, {0.5, 0.05}, {0.2, 0.15}, {0.1, 0.22}, {0.05, 0.3}, {0.02, 0.45}, {0.01, 0.6}, {0.005, 0.8}, {0.002, 0.95}, {0.0005, 0.98},
}

// curve is the way from sums to scores.
type curve struct {
	penalty float64
	choice  int // of the penalty
	knots   []detect.Knot
}

// calibrate finds the penalty for late windows, and the sums that stand for scores. Inputs have two outputs, each of which may raise half of the false alarms.
func calibrate(all []judged, output int) curve {
	return fit(all, output, balance(all, output))
}

func fit(all []judged, output, choice int) curve {
	c := curve{penalty: penalties[choice], choice: choice}
	share := 1.0
	if output != tool {
		share = 0.5
	}
	for _, r := range rates {
		knot := detect.Knot{Sum: threshold(all, output, choice, r.share*share), Score: r.score}
		if n := len(c.knots); n > 0 && knot.Sum <= c.knots[n-1].Sum {
			knot.Sum = c.knots[n-1].Sum + 1e-3
		}
		c.knots = append(c.knots, knot)
	}
	last := c.knots[len(c.knots)-1]
	c.knots = append(c.knots, detect.Knot{Sum: last.Sum + 3, Score: 1})
	return c
}

// balance is the penalty with which most attacks of left-out hands are found at the threshold of warn.
func balance(all []judged, output int) int {
	best, most := 0, 0.0
	for choice := range penalties {
		cut := threshold(all, output, choice, 0.01)
		type count struct{ n, hit float64 }
		by := map[string]count{}
		for _, j := range all {
			if j.want[output] < 1 || !j.native(output) {
				continue
			}
			c := by[j.Hand]
			c.n++
			if j.sums[choice] > cut {
				c.hit++
			}
			by[j.Hand] = c
		}
		mean, hands := 0.0, 0.0
		for _, hand := range slices.Sorted(maps.Keys(by)) {
			if c := by[hand]; c.n >= leastRows {
				mean += c.hit / c.n
				hands++
			}
		}
		mean /= max(hands, 1)
		log.Printf("%s: penalty %.2f: mean recall %.3f", names[output], penalties[choice], mean)
		if mean > most {
			best, most = choice, mean
		}
	}
	return best
}

// misled is how many times as many texts that were written to mislead may be suspected as ordinary ones.
const misled = 3

// threshold is the sum that so large a share of the ordinary texts has, and misled times as large a one of those that mislead; of those in
// English alone, which has most rows to learn from, and therefore the highest sums.
func threshold(all []judged, output, choice int, share float64) float64 {
	cut := quantile(benignSums(all, output, choice, (*bag).Ordinary), share)
	return max(cut, quantile(benignSums(all, output, choice, func(b *bag) bool { return b.Misleading() && b.Lang == "en" }), min(misled*share, 1)))
}

// benignSums are the sums of benign texts, descending.
func benignSums(all []judged, output, choice int, keep func(*bag) bool) []float64 {
	var sums []float64
	for _, j := range all {
		if j.Label == 0 && j.native(output) && keep(j.bag) {
			sums = append(sums, j.sums[choice])
		}
	}
	slices.SortFunc(sums, func(a, b float64) int { return cmp.Compare(b, a) })
	return sums
}

// quantile is the sum that a share of the sums, which descend, lie above.
func quantile(sums []float64, share float64) float64 {
	if len(sums) == 0 {
		return 0
	}
	return sums[min(int(share*float64(len(sums))), len(sums)-1)]
}

// score is the score of a sum.
func (c *curve) score(sum float64) float64 {
	h := detect.Head{Knots: c.knots}
	return h.Score(sum)
}

func length(text string) int { return utf8.RuneCountInString(text) }
