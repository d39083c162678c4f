package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// leastRows is how many rows a source has to have to be judged by itself.
const leastRows = 150

// reporter writes what models say of texts that they have not seen.
type reporter struct {
	w        io.Writer
	texts    []*bag
	features int
	folds    int
	heads    [outputs]curve
}

func (r *reporter) write(cases [outputs][]judged, wanted []int) {
	fmt.Fprintf(r.w, "# The linear detector on texts it has not seen\n\nWritten by `go run ./train/linear -report`; train/README.md says how. Recall is that of attacks whose score is above that of 99 %% of\n"+
		"ordinary texts of the same kind, none of which the judging model has seen either; 95 %% intervals (Wilson).\n")
	for _, o := range wanted {
		name := names[o]
		choice := r.heads[o].choice
		fmt.Fprintf(r.w, "\n## Output `%s`\n\n", name)
		r.alarms(cases[o], o)
		fmt.Fprintf(r.w, "\nLeft out by hand or corpus, %d folds:\n\n", r.folds)
		r.table(cases[o], o, choice, byHand, leastRows)
		r.hard(cases[o], o, choice)
		for _, cut := range cuts {
			if o == jail || o == user && !cut.inputs {
				continue // too few rows of that sort
			}
			fmt.Fprintf(r.w, "\nLeft out by %s, five folds:\n\n", cut.name)
			r.table(outOfFold(r.texts, r.features, o, cut.group, 5), o, choice, cut.group, cut.least)
		}
		if o == jail {
			continue
		}
		fmt.Fprintf(r.w, "\nRandom split, five folds (what over-fitting hides):\n\n")
		r.table(outOfFold(r.texts, r.features, o, byRow, 5), o, choice, byHand, leastRows)
	}
}

// cuts are what texts are left out by besides hands.
var cuts = []struct {
	name   string
	group  func(*bag) string
	least  int
	inputs bool
}{
	{"attack family", func(b *bag) string { return b.Family + b.Attack }, 60, false},
	{"carrier", func(b *bag) string { return b.Carrier }, 60, false},
	{"language", func(b *bag) string { return b.Lang }, 40, true},
}

// table is the recall by group.
func (r *reporter) table(all []judged, output, choice int, group func(*bag) string, least int) {
	cut := quantile(benignSums(all, output, choice, (*bag).Ordinary), 0.01)
	type count struct{ n, hit int }
	by := map[string]*count{}
	for _, j := range all {
		if j.want[output] < 1 || !j.native(output) {
			continue
		}
		g := group(j.bag)
		if by[g] == nil {
			by[g] = &count{}
		}
		by[g].n++
		if j.sums[choice] > cut {
			by[g].hit++
		}
	}
	var order []string
	for g, c := range by {
		if g != "" && c.n >= least {
			order = append(order, g)
		}
	}
	slices.Sort(order)
	fmt.Fprintf(r.w, "| | attacks | recall at 1 %% FPR |\n|---|---|---|\n")
	mean := 0.0
	for _, g := range order {
		c := by[g]
		low, high := wilson(c.hit, c.n)
		mean += float64(c.hit) / float64(c.n) / float64(len(order))
		fmt.Fprintf(r.w, "| %s | %d | %.2f (%.2f–%.2f) |\n", strings.ReplaceAll(g, "|", "/"), c.n, float64(c.hit)/float64(c.n), low, high)
	}
	fmt.Fprintf(r.w, "| **mean of %d** | | **%.3f** |\n", len(order), mean)
}

// alarms are the false alarms at the shipped thresholds: scores are fitted on one half of the ordinary sources and tried on the other.
func (r *reporter) alarms(all []judged, output int) {
	half := func(b *bag) bool { return b.Hand != "" && strings.Count(b.Hand, "")%2 == 0 }
	var parts [2][]judged
	for _, j := range all {
		k := 0
		if half(j.bag) {
			k = 1
		}
		parts[k] = append(parts[k], j)
	}
	fmt.Fprintf(r.w, "False alarms per 1,000 ordinary texts of left-out sources; scores fitted on half of the sources and tried on the other half:\n\n| threshold | texts | per 1,000 | 95 %% interval |\n|---|---|---|---|\n")
	for _, t := range []float64{0.6, 0.8, 0.95} {
		n, hit := 0, 0
		for k := range parts {
			c := fit(parts[1-k], output, r.heads[output].choice)
			for _, j := range parts[k] {
				if j.Ordinary() && j.native(output) {
					n++
					if c.score(j.sums[c.choice]) >= t {
						hit++
					}
				}
			}
		}
		low, high := wilson(hit, n)
		fmt.Fprintf(r.w, "| %.2f | %d | %.1f | %.1f–%.1f |\n", t, n, 1000*float64(hit)/float64(max(n, 1)), 1000*low, 1000*high)
	}
}

// hard are the false alarms among texts written to mislead: twins of attacks, trigger words in honest text.
func (r *reporter) hard(all []judged, output, choice int) {
	c := r.heads[output]
	n, hit := 0, [3]int{}
	for _, j := range all {
		if j.Label != 0 || j.Ordinary() || !j.native(output) || j.Hand == "made" {
			continue
		}
		n++
		for i, t := range []float64{0.6, 0.8, 0.95} {
			if c.score(j.sums[choice]) >= t {
				hit[i]++
			}
		}
	}
	fmt.Fprintf(r.w, "\nHard negatives of left-out hands: %d; at warn %s %%, at quarantine %s %%, at block %s %%.\n", n, percent(hit[0], n), percent(hit[1], n), percent(hit[2], n))
}

// wilson is the 95 % interval of a share (Wilson 1927).
func wilson(hit, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	const z = 1.959964
	p, m := float64(hit)/float64(n), float64(n)
	mid, half := p+z*z/(2*m), z*math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return (mid - half) / (1 + z*z/m), (mid + half) / (1 + z*z/m)
}
