package detect

import (
	"slices"
	"strings"
)

// leniency is all allowlists that go for a rule, asked as one. Each has expressions of its own, a dozen and more together, that hardly any
// secret matches: one dfa of all that look at the same part of a match says so in one pass, and one automaton knows all stop words.
type leniency struct {
	alike []*allowlist // expressions or stop words are enough, and these may be asked together
	apart []*allowlist
	stop  *automaton // nil without stop words
	aims  []aim
}

// aim is a part of a match that expressions look at, and what says of most that none of them matches there; nil: nothing does.
type aim struct {
	target string
	quick  *dfa
}

func newLeniency(lists []*allowlist, memory *dfaMemory) *leniency {
	y := &leniency{}
	var words, targets []string
	patterns := map[string][]string{}
	for _, a := range lists {
		if a.both {
			y.apart = append(y.apart, a)
			continue
		}
		y.alike, words = append(y.alike, a), append(words, a.words...)
		if !slices.Contains(targets, a.target) {
			targets = append(targets, a.target)
		}
		patterns[a.target] = append(patterns[a.target], a.patterns...)
	}
	if len(words) > 0 {
		y.stop = newAutomaton(words)
	}
	for _, target := range targets {
		y.aims = append(y.aims, aim{target, newDFA("(?:"+strings.Join(patterns[target], ")|(?:")+")", memory)})
	}
	return y
}

// allows reports whether one of the lists has a match.
func (y *leniency) allows(c candidate) bool {
	if y.stop != nil && y.stop.any(c.secret) {
		return true
	}
	for i := range y.aims {
		at := &y.aims[i]
		text := c.aimed(at.target)
		if (at.quick == nil || at.quick.maybe(text)) && slices.ContainsFunc(y.alike, func(a *allowlist) bool { return a.target == at.target && a.matches(text) }) {
			return true
		}
	}
	return allowed(y.apart, c)
}
