package detect

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/gatehouse-gateway/gatehouse"
)

// The weights and what goes with them, as train/linear writes them.
var (
	//go:embed weights/linear.bin
	linearWeights []byte
	//go:embed weights/linear.json
	linearHead []byte
)

// The outputs of the linear detector.
const (
	outputTool = iota // instructions in what a tool returned
	outputUser        // injection in what a user wrote
	outputJail        // talking the model out of its rules
	outputs
)

// outputNames name the outputs in linear.json and in findings.
var outputNames = [outputs]string{"tool_result", "input", "jailbreak"}

// linear is a logistic regression over hashed words and parts of words. It scores windows of one to four sentences; the highest counts.
type linear struct {
	outputs [outputs]output
	attacks talkWords
	spare   sync.Pool // of *reader
}

// output is one output's weights and the way from its sums to scores.
type output struct {
	Head
	weights *Weights
}

// Head is what goes with the weights of one output.
type Head struct {
	Bias float64 `json:"bias"`
	// Unit is what one step of a weight is worth.
	Unit float64 `json:"unit"`
	// Penalty is what a window's sum loses each time its distance from the text's start doubles: in a long text, one window in many
	// is high by chance. What stands behind a window does not change its score.
	Penalty float64 `json:"penalty"`
	// Knots give sums their scores, ascending; between them the line is straight.
	Knots []Knot `json:"knots"`
}

// Knot is a sum and its score.
type Knot struct {
	Sum   float64 `json:"sum"`
	Score float64 `json:"score"`
}

func newLinear() (*linear, error) {
	var heads map[string]Head
	if err := json.Unmarshal(linearHead, &heads); err != nil {
		return nil, err
	}
	if len(linearWeights) != outputs*4*Buckets {
		return nil, fmt.Errorf("%d bytes of weights, not %d", len(linearWeights), outputs*4*Buckets)
	}
	l := &linear{attacks: newTalkWords(attacks()), spare: sync.Pool{New: func() any { return new(reader) }}}
	for i, name := range outputNames {
		head, ok := heads[name]
		if !ok || len(head.Knots) < 2 {
			return nil, fmt.Errorf("no output %s", name)
		}
		w := new(Weights)
		for k := range w {
			w[k] = binary.LittleEndian.Uint32(linearWeights[4*(i*Buckets+k):])
		}
		l.outputs[i] = output{head, w}
	}
	return l, nil
}

func (*linear) Name() string { return "linear" }

// reportFrom is the score from which an injection is told of; the thresholds of policy decide what is done about it.
const reportFrom = 0.5

// Detect implements [Detector]: the best window, whatever its score, and all others from reportFrom on that share no sentence with a
// better one.
func (l *linear) Detect(ctx context.Context, t Text, n *Normalized) []gatehouse.Finding {
	if t.Channel == Output || len(n.Text) == 0 || ctx.Err() != nil {
		return nil
	}
	r := l.reader(t.Channel)
	r.weigh(n, r.cut(n))
	return l.findings(n, r)
}

// findings are what a reader has read of, one output after the other. It reads the next text then.
func (l *linear) findings(n *Normalized, r *reader) []gatehouse.Finding {
	defer l.spare.Put(r)
	var all []gatehouse.Finding
	for i, k := range r.which {
		o := &l.outputs[k]
		chosen := o.chosen(r.sums[i], &r.best)
		if len(chosen) > 0 {
			n.best[k], n.weighed[k] = chosen[0].sum, true
		}
		for _, c := range chosen {
			score := o.Score(c.sum)
			if score > mentionMax && l.mentioned(n.Text[r.spans[c.first].start:r.spans[c.last].end]) {
				score = mentionMax
			}
			all = append(all, cut(n, r.spans, r.sums[i], c, outputNames[k], score)...)
		}
	}
	return all
}

// mentioned reports whether a window quotes something and says that somebody attacks.
func (l *linear) mentioned(window string) bool { return quoted(window) && l.attacks.in(window) }

// scored is a window of sentences and its sum.
type scored struct {
	first, last int
	sum         float64
}

// chosen are the windows from reportFrom on, the best first, that share no sentence; the best alone when none is so high.
func (o *output) chosen(sums []Sum, spare *[]scored) []scored {
	if len(sums) == 0 {
		return nil
	}
	best := slices.Grow((*spare)[:0], len(sums))[:len(sums)]
	*spare = best
	for i := range sums {
		late := 0.0
		if o.Penalty > 0 {
			late = o.Penalty * Lateness(i)
		}
		Windows(sums, i, func(first, last int, sum float64) {
			if s := sum*o.Unit + o.Bias - late; first == last || s > best[last].sum {
				best[last] = scored{first, last, s}
			}
		})
	}
	top := 0
	for i := range best {
		if best[i].sum > best[top].sum {
			top = i
		}
	}
	if o.Score(best[top].sum) < reportFrom {
		return best[top : top+1]
	}
	best = slices.DeleteFunc(best, func(c scored) bool { return o.Score(c.sum) < reportFrom })
	slices.SortStableFunc(best, func(a, b scored) int { return cmp.Compare(b.sum, a.sum) })
	var out []scored
	taken := make([]bool, len(sums))
	for _, c := range best {
		if len(out) == windowsMax {
			break
		}
		if slices.Contains(taken[c.first:c.last+1], true) {
			continue
		}
		for k := c.first; k <= c.last; k++ {
			taken[k] = true
		}
		out = append(out, c)
	}
	return out
}

// windowsMax bounds the windows of one text that are told of, one by one.
const windowsMax = 64

// leastShare is the share of the weight of a window's heaviest sentence that another has to have to be cut with it.
const leastShare = 0.15

// cut are the findings of one window: a span for each stretch of its sentences that stand side by side, without those that add little.
func cut(n *Normalized, spans []span, sums []Sum, c scored, name string, score float64) []gatehouse.Finding {
	var all []gatehouse.Finding
	kind := "instruction"
	if name == outputNames[outputJail] {
		kind = "jailbreak"
	}
	most := 0.0
	for _, s := range sums[c.first : c.last+1] {
		most = max(most, s.Weight)
	}
	side := false
	for k := c.first; k <= c.last; k++ {
		if sums[k].Weight < leastShare*most && c.first < c.last {
			side = false
			continue
		}
		from, to := n.origin(spans[k].start, fenced(n.Text, spans[k].end))
		if last := len(all) - 1; side && from >= all[last].End && strings.TrimSpace(n.Original[all[last].End:from]) == "" {
			all[last].End = to
			continue
		}
		side = true
		all = append(all, gatehouse.Finding{
			Kind: "injection", Type: kind, Detector: "linear/" + name, Score: score, Severity: severity(score), Start: from, End: to,
		})
	}
	for i := range all {
		s := paired(n.Original, span{all[i].Start, all[i].End})
		all[i].Start, all[i].End = s.start, s.end
	}
	return all
}

// blockMax bounds a block of code that is cut with the sentence before it, in bytes.
const blockMax = 4 << 10

// fenced is the end of what belongs to a sentence that ends at byte i: of the block of code that follows at once, which an order to run it
// is nothing without.
func fenced(text string, i int) int {
	const fence = "```"
	rest := text[i:min(len(text), i+blockMax)]
	inner, ok := strings.CutPrefix(strings.TrimLeft(rest, " \n:"), fence)
	if !ok {
		return i
	}
	end := strings.Index(inner, fence)
	if end < 0 {
		return i
	}
	return i + len(rest) - len(inner) + end + len(fence)
}

// Score is the score of a sum.
func (h *Head) Score(sum float64) float64 { return scoreOf(h.Knots, sum) }

// scoreOf is the score that knots give a sum.
func scoreOf(k []Knot, sum float64) float64 {
	if sum <= k[0].Sum {
		return k[0].Score
	}
	for i := 1; i < len(k); i++ {
		if sum < k[i].Sum {
			share := (sum - k[i-1].Sum) / (k[i].Sum - k[i-1].Sum)
			return k[i-1].Score + share*(k[i].Score-k[i-1].Score)
		}
	}
	return k[len(k)-1].Score
}

const (
	// windowSentences and windowKnown bound a window: four sentences, and about 200 words.
	windowSentences, windowKnown = 4, 2000
	// smooth keeps the sums of short windows small.
	smooth = 24
)

// Sum is what a sentence weighs: the sum of the weights of its features, and how many of them have one.
type Sum struct {
	Weight float64
	Known  int
	// Mark is the same for sentences of the same features.
	Mark uint32
}

// Windows calls see for each window that ends with sentence last, with the sum of its weights by the root of how many they are. Words that
// the model does not know say nothing, so that they do not water down the others; and what is said again says nothing more.
func Windows(sums []Sum, last int, see func(first, last int, sum float64)) {
	sum, known := 0.0, 0
	for first := last; first >= 0 && last-first < windowSentences; first-- {
		if !saidAgain(sums[first : last+1]) {
			sum += sums[first].Weight
			known += sums[first].Known
		}
		if known > windowKnown && first < last {
			return
		}
		see(first, last, sum/Size(known))
	}
}

// saidAgain reports whether the first of some sentences reads the same as another.
func saidAgain(sums []Sum) bool {
	for i := 1; i < len(sums); i++ {
		if sums[i].Mark == sums[0].Mark {
			return true
		}
	}
	return false
}

// Size is what the sum of so many weights is divided by.
func Size(known int) float64 { return math.Sqrt(float64(known + smooth)) }

// Lateness is how often the distance of a sentence from the start of its text has doubled, from the eighth on, and four times at most: nobody
// hides an attack by what stands before it.
func Lateness(sentence int) float64 { return lateness[min(sentence, len(lateness)-1)] }

var lateness = func() (late [121]float64) {
	for i := range late {
		late[i] = math.Log2(1 + float64(i)/8)
	}
	return late
}()
