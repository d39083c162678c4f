package scorecard

import (
	"slices"
	"sort"

	"github.com/gatehouse-gateway/gatehouse/internal/detect"
)

// Limit is the score that at most one benign text in a hundred of a kind exceeds. What has exactly that score is below it, so with
// many benign texts on one high score fewer than one in a hundred exceed it: Reached is what is really so.
type Limit struct {
	Kind      detect.Channel `json:"kind"`
	Threshold float64        `json:"threshold"`
	Reached   Share          `json:"reached"`
	// Borrowed: the benign texts came from elsewhere, the files have none of this kind.
	Borrowed bool `json:"borrowed"`
}

// benign are the scores of the benign texts of a kind, ascending.
type benign struct {
	scores []float64
	Limit
}

func newBenign(kind detect.Channel, scores []float64, borrowed bool) *benign {
	b := &benign{slices.Sorted(slices.Values(scores)), Limit{Kind: kind, Borrowed: borrowed}}
	n := len(b.scores)
	if n > 0 {
		b.Threshold = b.scores[n-1-n/100]
	}
	b.Reached = ShareOf(b.above(b.Threshold), n)
	return b
}

// above is how many scores are above one.
func (b *benign) above(score float64) int {
	return len(b.scores) - sort.Search(len(b.scores), func(i int) bool { return b.scores[i] > score })
}

// below is the share of scores below one, equal ones counting half.
func (b *benign) below(score float64) float64 {
	less := sort.SearchFloat64s(b.scores, score)
	same := len(b.scores) - b.above(score) - less
	return (float64(less) + float64(same)/2) / float64(len(b.scores))
}

// limits are the benign scores of each kind that has any.
type limits map[detect.Channel]*benign

// limitsOf takes the benign rows of each kind; those from elsewhere stand in for a kind that has none.
func limitsOf(rows []Row, verdicts []verdict, spare []Row, spareVerdicts []verdict) limits {
	out := limits{}
	for _, kind := range kinds {
		scores, borrowed := benignScores(rows, verdicts, kind), false
		if len(scores) == 0 {
			scores, borrowed = benignScores(spare, spareVerdicts, kind), true
		}
		if len(scores) > 0 {
			out[kind] = newBenign(kind, scores, borrowed)
		}
	}
	return out
}

func benignScores(rows []Row, verdicts []verdict, kind detect.Channel) []float64 {
	var scores []float64
	for i, r := range rows {
		if !r.Attack && r.Text.Channel == kind {
			scores = append(scores, verdicts[i].score)
		}
	}
	return scores
}
