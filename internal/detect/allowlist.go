package detect

import (
	"slices"
	"strings"
	"sync"
)

// candidate is a match that an allowlist may forgive.
type candidate struct{ secret, match, line string }

// allowlist says what is no secret although it looks like one.
type allowlist struct {
	target   string
	both     bool // expressions and stop words must both match
	patterns []string
	words    []string // the stop words, in lower case
	regexes  func() []*expression
	stop     func() *automaton // nil without stop words
}

func allowlists(one *gitleaksAllowlist, more []gitleaksAllowlist, memory *dfaMemory) []*allowlist {
	if one != nil {
		more = append(more, *one)
	}
	var out []*allowlist
	for _, a := range more {
		and := strings.EqualFold(a.Condition, "and")
		if and && len(a.Paths)+len(a.Commits) > 0 || len(a.Regexes)+len(a.StopWords) == 0 {
			continue // it needs a file or a commit, and a text is neither
		}
		both := and && len(a.Regexes) > 0 && len(a.StopWords) > 0
		out = append(out, newAllowlist(a.RegexTarget, both, a.Regexes, a.StopWords, memory))
	}
	return out
}

func newAllowlist(target string, both bool, patterns, stopWords []string, memory *dfaMemory) *allowlist {
	a := &allowlist{target: target, both: both, patterns: patterns}
	a.regexes = sync.OnceValue(func() []*expression {
		var all []*expression
		for _, pattern := range patterns {
			all = append(all, newExpression(pattern, memory))
		}
		return all
	})
	for _, word := range stopWords {
		a.words = append(a.words, strings.ToLower(word))
	}
	if len(stopWords) > 0 {
		a.stop = sync.OnceValue(func() *automaton { return newAutomaton(a.words) })
	}
	return a
}

// publicNames are names of keys and tokens that open nothing: where a list goes on, what a row is found by.
func publicNames(memory *dfaMemory) *allowlist {
	const names = `(?i)(?:idempotency|partition|cache|sort|shard|routing|row|object|lookup|group|composite|dedup|issue|host|ssh)[_.-]?key|` +
		`(?:next|prev|previous|page|paging|pagination|continue|continuation|sync|change|cursor|resume|request|skip|delta|sequence|design|stop|eos|bos|pad)` +
		`[_.-]?(?:page[_.-]?)?token|key[_.-]?combo|shortcut`
	return newAllowlist("match", false, []string{names}, nil, memory)
}

func allowed(lists []*allowlist, c candidate) bool {
	for _, a := range lists {
		if a.allows(c) {
			return true
		}
	}
	return false
}

func (a *allowlist) allows(c candidate) bool {
	stopped := a.stop != nil && a.stop().any(c.secret)
	if stopped != a.both {
		return stopped // one of the two is enough, or one of both is missing
	}
	return a.matches(c.aimed(a.target))
}

// matches reports whether one of the expressions matches in a text.
func (a *allowlist) matches(text string) bool {
	return slices.ContainsFunc(a.regexes(), func(e *expression) bool { return e.in(text) })
}

// aimed is the part of a candidate that expressions with a target look at.
func (c *candidate) aimed(target string) string {
	switch target {
	case "match":
		return c.match
	case "line":
		return c.line
	}
	return c.secret
}

// aboutLine reports whether the list looks at the line around a match.
func (a *allowlist) aboutLine() bool { return a.target == "line" }
