package detect

import (
	"cmp"
	"sort"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
)

const genericRule = "generic-api-key"

// specific drops findings of the generic rule that a rule with a name for them covers.
func specific(all []gatehouse.Finding) []gatehouse.Finding {
	if len(all) < 2 {
		return all
	}
	all = arranged(all, func(a, b *gatehouse.Finding) int {
		if (a.Type == genericRule) != (b.Type == genericRule) {
			if b.Type == genericRule {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.Start, b.Start), strings.Compare(a.Type, b.Type))
	})
	out := all[:0]
	named := 0
	for _, f := range all {
		if f.Type != genericRule {
			named++
		} else if overlaps(out[:named], f) {
			continue
		}
		out = append(out, f)
	}
	return out
}

// longestSecret is as long as a finding can be: a key in PEM.
const longestSecret = 16 << 10

// overlaps reports whether f overlaps one of the findings, which are sorted by Start.
func overlaps(list []gatehouse.Finding, f gatehouse.Finding) bool {
	i := sort.Search(len(list), func(i int) bool { return list[i].Start >= f.End })
	for i--; i >= 0; i-- {
		if list[i].End > f.Start {
			return true
		}
		if list[i].Start+longestSecret < f.Start {
			return false
		}
	}
	return false
}
