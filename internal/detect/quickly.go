package detect

import (
	"regexp"
	"unicode/utf8"
)

// expression is a pattern, and what says quickly of most texts that it does not match.
type expression struct {
	exact *regexp.Regexp
	quick *dfa // nil: without
}

func newExpression(pattern string, memory *dfaMemory) *expression {
	return &expression{regexp.MustCompile(pattern), newDFA(pattern, memory)}
}

// in reports whether the expression matches somewhere in a text.
func (e *expression) in(text string) bool {
	return (e.quick == nil || e.quick.maybe(text)) && e.exact.MatchString(text)
}

// find is the first match and its groups, as package regexp gives them; nil when there is none.
func (e *expression) find(text string) []int {
	if e.quick != nil && !e.quick.maybe(text) {
		return nil
	}
	return e.exact.FindStringSubmatchIndex(text)
}

// matches are the matches in a text, as package regexp finds them, which reads no more of it than it has to.
func (e *expression) matches(text string) [][]int {
	if e.quick == nil {
		return e.exact.FindAllStringIndex(text, -1)
	}
	var all [][]int
	end := 0 // of the last match
	for from := 0; e.quick.maybe(text[from:]); {
		cut := runeBefore(text, from+e.quick.idle(text[from:])) // what stands before a match decides, too
		m := e.exact.FindStringIndex(text[cut:])
		if m == nil {
			break
		}
		if m[0] == m[1] || m[0] == 0 && cut > 0 || cut+m[0] < end {
			return e.exact.FindAllStringIndex(text, -1) // it is empty, takes the cut for the beginning of the text, or was there before
		}
		all = append(all, []int{cut + m[0], cut + m[1]})
		end = cut + m[1]
		from = runeBefore(text, end)
	}
	return all
}

// runeBefore is where the rune before byte i begins; 0 where there is none.
func runeBefore(text string, i int) int {
	_, size := utf8.DecodeLastRuneInString(text[:i])
	return i - size
}
