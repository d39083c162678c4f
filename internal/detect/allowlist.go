package detect

import (
	"strings"
	"sync"
)

// candidate is a match that an allowlist may forgive.
type candidate struct{ secret, match, line string }

// allowlist says what is no secret although it looks like one.
type allowlist struct {
	target  string
	both    bool // expressions and stop words must both match
	regexes func() []*expression
	stop    func() *automaton // nil without stop words
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
		list := &allowlist{target: a.RegexTarget, both: and && len(a.Regexes) > 0 && len(a.StopWords) > 0}
		list.regexes = sync.OnceValue(func() []*expression {
			var all []*expression
			for _, pattern := range a.Regexes {
				all = append(all, newExpression(pattern, memory))
			}
			return all
		})
		if len(a.StopWords) > 0 {
			list.stop = sync.OnceValue(func() *automaton {
				var words []string
				for _, word := range a.StopWords {
					words = append(words, strings.ToLower(word))
				}
				return newAutomaton(words)
			})
		}
		out = append(out, list)
	}
	return out
}

// publicNames are names of keys and tokens that open nothing: where a list goes on, what a row is found by.
func publicNames(memory *dfaMemory) *allowlist {
	const names = `(?i)(?:idempotency|partition|cache|sort|shard|routing|row|object|lookup|group|composite|dedup|issue|host|ssh)[_.-]?key|` +
		`(?:next|prev|previous|page|paging|pagination|continue|continuation|sync|change|cursor|resume|request|skip|delta|sequence|design|stop|eos|bos|pad)` +
		`[_.-]?(?:page[_.-]?)?token|key[_.-]?combo|shortcut`
	return &allowlist{target: "match", regexes: sync.OnceValue(func() []*expression { return []*expression{newExpression(names, memory)} })}
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
	target := c.secret
	switch a.target {
	case "match":
		target = c.match
	case "line":
		target = c.line
	}
	for _, e := range a.regexes() {
		if e.in(target) {
			return true
		}
	}
	return false
}

// aboutLine reports whether the list looks at the line around a match.
func (a *allowlist) aboutLine() bool { return a.target == "line" }
