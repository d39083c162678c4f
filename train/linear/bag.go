package main

import (
	"math"
	"runtime"
	"sync"

	"github.com/gatehouse-gateway/gatehouse/internal/detect"
	"github.com/gatehouse-gateway/gatehouse/train/rows"
)

// The outputs of the model, in the order of its weights.
const (
	tool = iota
	user
	jail
	outputs
)

var names = [outputs]string{"tool_result", "input", "jailbreak"}

// bag is one text: the sentences of its readings. It is an attack when one of its windows is.
type bag struct {
	rows.Row
	views [][]detect.Sentence
	// payload says, for each sentence of the first reading, whether it belongs to the payload; nil where nobody said.
	payload []bool
	// want is for each output what the text is to it: 1 an attack, -1 none, 0 of no concern.
	want [outputs]int
	// length is that of the text, in characters.
	length int
}

// bags reads the sentences of all rows.
func bags(all []rows.Row) []*bag {
	out := make([]*bag, len(all))
	next := make(chan int)
	var wait sync.WaitGroup
	for range runtime.NumCPU() {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for i := range next {
				out[i] = study(all[i])
			}
		}()
	}
	for i := range all {
		next <- i
	}
	close(next)
	wait.Wait()
	return out
}

func study(r rows.Row) *bag {
	b := &bag{Row: r, want: wants(r), length: length(r.Text)}
	for _, l := range detect.Lessons(detect.Text{Channel: detect.Channel(r.Kind), Text: r.Text}) {
		b.views = append(b.views, l.Sentences)
	}
	b.Text = "" // a gigabyte that nobody reads again
	if len(r.Spans) == 0 {
		return b
	}
	b.payload = make([]bool, len(b.views[0]))
	for i, s := range b.views[0] {
		for _, p := range r.Spans {
			// Half a sentence in the payload is the payload's: it is what would be cut.
			if shared := min(s.End, p[1]) - max(s.Start, p[0]); shared > 0 && (2*shared >= s.End-s.Start || 2*shared >= p[1]-p[0]) {
				b.payload[i] = true
			}
		}
	}
	return b
}

// wants says what a text is to each output. A request that stands in a tool's result may be an attack there and an ordinary request
// where a user makes it; so benign inputs say nothing of tool results. What tools return is pasted into inputs every day, attacks and all.
func wants(r rows.Row) (w [outputs]int) {
	attack := r.Label == 1
	switch {
	case r.Kind == "tool_result" && attack:
		w[tool], w[user] = 1, 1
	case r.Kind == "tool_result":
		w[tool], w[user], w[jail] = -1, -1, -1
	case !attack:
		w[user], w[jail] = -1, -1
	case r.Jailbreak():
		w[tool], w[user], w[jail] = 1, 1, 1
	default:
		w[tool], w[user] = 1, 1
	}
	return w
}

const (
	// fewRows is the number of rows up to which each counts in full. A thousand texts of one template say little more than a hundred.
	fewRows = 200
	// otherKind is what a row of the other kind counts: pasted documents in inputs, attacks on inputs in tool results.
	otherKind = 0.3
	// misleadingWeight is what a benign text counts that was written to mislead: there are few of them, and they teach most.
	misleadingWeight = 4
	// dampAttacks and dampBenign say how fast the weight of a row falls with the size of its source: attacks come from templates.
	dampAttacks, dampBenign = 0.9, 0.25
)

// weigh says what a mistake with each text costs: sources have their say whatever their size, and both sides the same.
func weigh(all []*bag, output int) map[*bag]float64 {
	type side struct {
		hand string
		want int
	}
	count := map[side]float64{}
	for _, b := range all {
		count[side{b.Hand, b.want[output]}]++
	}
	weights, total := map[*bag]float64{}, map[int]float64{}
	for _, b := range all {
		want := b.want[output]
		if want == 0 {
			continue
		}
		w, damp := 1.0, dampBenign
		if want > 0 {
			damp = dampAttacks
		}
		if n := count[side{b.Hand, want}]; n > fewRows {
			w = math.Pow(fewRows/n, damp)
		}
		if (b.Kind == "input") != (output != tool) {
			w *= otherKind
		}
		if b.Misleading() {
			w *= misleadingWeight
		}
		weights[b] = w
		total[want] += w
	}
	for b := range weights {
		weights[b] *= 1000 / total[b.want[output]]
	}
	return weights
}
