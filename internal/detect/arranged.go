package detect

import "github.com/gatehouse-gateway/gatehouse"

// arranged are findings in some order; equal ones keep theirs. Each detector finds in order, so what is to be sorted is a row of runs, which are
// merged two by two. Findings are large: they are not moved until it is known where to.
func arranged(all []gatehouse.Finding, compare func(a, b *gatehouse.Finding) int) []gatehouse.Finding {
	var ends []int // of runs
	for i := 1; i < len(all); i++ {
		if compare(&all[i-1], &all[i]) > 0 {
			ends = append(ends, i)
		}
	}
	if ends == nil {
		return all
	}
	ends = append(ends, len(all))
	order, merged := make([]int, len(all)), make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	for len(ends) > 1 {
		start, left := 0, ends[:0]
		for k := 0; k < len(ends); k += 2 {
			middle, end := ends[k], ends[min(k+1, len(ends)-1)]
			merge(merged[start:end], order[start:middle], order[middle:end], func(i, j int) bool { return compare(&all[i], &all[j]) <= 0 })
			start, left = end, append(left, end)
		}
		order, merged, ends = merged, order, left
	}
	list := make([]gatehouse.Finding, len(all))
	for i, at := range order {
		list[i] = all[at]
	}
	return list
}

// merge merges two runs, of equals the first before the second.
func merge(out, first, second []int, before func(i, j int) bool) {
	for len(first) > 0 && len(second) > 0 {
		if before(first[0], second[0]) {
			out[0], first = first[0], first[1:]
		} else {
			out[0], second = second[0], second[1:]
		}
		out = out[1:]
	}
	copy(out, first)
	copy(out[len(first):], second)
}
