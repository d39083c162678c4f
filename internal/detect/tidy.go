package detect

import (
	"cmp"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
)

// tidy sorts findings and drops what says nothing new: of several of one kind with one span the highest score stays, and
// findings of one rule that overlap (a text that was seen in two chunks, say) become one.
func tidy(all []gatehouse.Finding) []gatehouse.Finding {
	if len(all) < 2 {
		return all
	}
	all = sorted(all)
	out := all[:0]
	last := map[string]int{} // rule → index in out
	for _, f := range all {
		if i := len(out) - 1; i >= 0 && out[i].Kind == f.Kind && out[i].Start == f.Start && out[i].End == f.End {
			continue
		}
		if i, ok := last[f.Detector]; ok && f.Start < out[i].End {
			out[i].End = max(out[i].End, f.End)
			out[i].Score = max(out[i].Score, f.Score)
			continue
		}
		last[f.Detector] = len(out)
		out = append(out, f)
	}
	return out
}

// sorted are findings in order of their places, of several at one place the highest score first.
func sorted(all []gatehouse.Finding) []gatehouse.Finding {
	return arranged(all, func(a, b *gatehouse.Finding) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(b.Score, a.Score), strings.Compare(a.Detector, b.Detector))
	})
}
