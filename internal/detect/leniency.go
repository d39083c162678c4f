package detect

import (
	"regexp/syntax"
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

// aim is a part of a match that expressions look at, and what says of most that none of them matches there.
type aim struct {
	target string
	words  *automaton // that matches begin with; nil where not all begin with one
	quick  *dfa       // nil: not to be had
}

// newAim makes an aim of expressions.
func newAim(target string, patterns []string, memory *dfaMemory) aim {
	all := "(?:" + strings.Join(patterns, ")|(?:") + ")"
	to := aim{target: target, quick: newDFA(all, memory)}
	tree, err := syntax.Parse(all, syntax.Perl)
	if err != nil || strings.Contains(all, "(?i") { // the Kelvin sign is a k there
		return to
	}
	if words, _ := heads(tree); !slices.ContainsFunc(words, func(word string) bool { return len(word) < nameLeast }) {
		to.words = newAutomaton(words)
	}
	return to
}

// maybe reports whether one of the expressions could match in a text.
func (a *aim) maybe(text string) bool {
	return (a.words == nil || a.words.any(text)) && (a.quick == nil || a.quick.maybe(text))
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
		y.aims = append(y.aims, newAim(target, patterns[target], memory))
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
		if at.maybe(text) && slices.ContainsFunc(y.alike, func(a *allowlist) bool { return a.target == at.target && a.matches(text) }) {
			return true
		}
	}
	return allowed(y.apart, c)
}
