package main

import (
	"cmp"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/gatehouse-gateway/gatehouse/internal/detect"
)

// judged is a text with what a model says of it that has not seen its group: for each of a few penalties, the highest sum.
type judged struct {
	*bag
	sums [len(penalties)]float64
}

// penalties are tried for windows that stand late in a text.
var penalties = [...]float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8}

// parallel is how many models are trained at once; each needs about a gigabyte.
const parallel = 2

// outOfFold judges all texts of an output by models that have not seen their groups: whole groups go to one of the folds.
func outOfFold(all []*bag, features, output int, group func(*bag) string, folds int) []judged {
	place := assign(all, output, group, folds)
	found := make([][]judged, folds)
	var wait sync.WaitGroup
	limit := make(chan struct{}, parallel)
	for fold := range folds {
		wait.Add(1)
		limit <- struct{}{}
		go func() {
			defer func() { <-limit; wait.Done() }()
			var train, rest []*bag
			for _, b := range all {
				switch {
				case place[group(b)] == fold:
					rest = append(rest, b)
				case b.Hand != "made":
					train = append(train, b)
				}
			}
			m := learn(train, features, output, chosen)
			for _, b := range rest {
				if b.want[output] != 0 {
					found[fold] = append(found[fold], m.judge(b))
				}
			}
		}()
	}
	wait.Wait()
	return slices.Concat(found...)
}

// judge is what a model says of a text.
func (m *model) judge(b *bag) judged {
	j := judged{bag: b}
	for i := range j.sums {
		j.sums[i] = math.Inf(-1)
	}
	var sums []detect.Sum
	m.each(b, &sums, func(w window) {
		late := detect.Lateness(w.last)
		for i, p := range penalties {
			j.sums[i] = max(j.sums[i], w.sum-p*late)
		}
	})
	return j
}

// assign spreads groups over folds: the largest first, each to the fold that has least of its sort.
func assign(all []*bag, output int, group func(*bag) string, folds int) map[string]int {
	type size struct{ attacks, rest int }
	sizes := map[string]*size{}
	for _, b := range all {
		g := group(b)
		if sizes[g] == nil {
			sizes[g] = &size{}
		}
		switch b.want[output] {
		case 1:
			sizes[g].attacks++
		case -1:
			sizes[g].rest++
		}
	}
	var order []string
	for g := range sizes {
		order = append(order, g)
	}
	slices.SortFunc(order, func(a, b string) int {
		return cmp.Or(cmp.Compare(sizes[b].attacks, sizes[a].attacks), cmp.Compare(sizes[b].rest, sizes[a].rest), cmp.Compare(a, b))
	})
	place, load := map[string]int{}, make([]size, folds)
	for _, g := range order {
		best := 0
		for f := range load {
			if sizes[g].attacks > 0 && load[f].attacks < load[best].attacks || sizes[g].attacks == 0 && load[f].rest < load[best].rest {
				best = f
			}
		}
		place[g] = best
		load[best].attacks += sizes[g].attacks
		load[best].rest += sizes[g].rest
	}
	return place
}

// byRow puts rows into groups without regard to what they are: the random split.
func byRow(b *bag) string {
	h := fnv.New32a()
	h.Write([]byte(b.Source + b.ID)) //nolint:errcheck // never fails
	return strconv.Itoa(int(h.Sum32() % 50))
}
