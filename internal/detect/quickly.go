package detect

import (
	"regexp"
	"unicode/utf8"
)

// expression is a pattern, and what does most of the work of package regexp in less time.
type expression struct {
	exact *regexp.Regexp
	quick *dfa     // says of most texts that it does not match; nil: without
	found *threads // finds a match in the others; nil where quick is, and where the expression is too long
}

func newExpression(pattern string, memory *dfaMemory) *expression {
	e := &expression{exact: regexp.MustCompile(pattern), quick: newDFA(pattern, memory)}
	if e.quick != nil {
		e.found = newThreads(pattern, &e.quick.classes)
	}
	return e
}

// in reports whether the expression matches somewhere in a text.
func (e *expression) in(text string) bool {
	if e.found == nil {
		return (e.quick == nil || e.quick.maybe(text)) && e.exact.MatchString(text)
	}
	if !e.quick.opens(text) {
		return false
	}
	_, end := e.first(text, 0)
	return end >= 0
}

// first is the first match from byte from on; its end is -1 when there is none.
func (e *expression) first(text string, from int) (at places, end int) {
	if e.quick.anchored { // there is one place to begin at, and mostly a match: the dfa would read it for nothing
		at, end, _ = e.found.find(text, from, from, e.quick)
		return at, end
	}
	for {
		begin, sure := e.quick.candidate(text, from)
		if sure < 0 {
			return at, -1
		}
		if at, end, from = e.found.find(text, begin, sure, nil); end >= 0 || from == len(text) {
			return at, end
		}
		if from == begin {
			_, size := utf8.DecodeRuneInString(text[from:])
			from += size
		}
	}
}

// find is the first match and its groups, as package regexp gives them; nil when there is none.
func (e *expression) find(text string) []int {
	if e.found == nil {
		if e.quick != nil && !e.quick.maybe(text) {
			return nil
		}
		return e.exact.FindStringSubmatchIndex(text)
	}
	if !e.quick.opens(text) {
		return nil
	}
	at, end := e.first(text, 0)
	if end < 0 {
		return nil
	}
	if e.found.groups > groupsMost {
		return e.exact.FindStringSubmatchIndex(text)
	}
	m := make([]int, 2, 2+2*e.found.groups)
	m[0], m[1] = int(at[0]), end
	for _, place := range at[1 : 1+2*e.found.groups] {
		m = append(m, int(place))
	}
	return m
}

// matches are the matches in a text, as package regexp finds them.
func (e *expression) matches(text string) [][]int {
	if e.found == nil {
		return e.exact.FindAllStringIndex(text, -1)
	}
	if !e.quick.opens(text) {
		return nil
	}
	var all [][]int
	for from := 0; from <= len(text); {
		at, end := e.first(text, from)
		if end < 0 {
			break
		}
		if int(at[0]) == end {
			return e.exact.FindAllStringIndex(text, -1) // what is empty counts only where no other match ends
		}
		all = append(all, []int{int(at[0]), end})
		from = end
	}
	return all
}
