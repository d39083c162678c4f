package detect

import (
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

const (
	// openingLeast is the least, in bytes, of words that are looked for instead of the matches that begin with them.
	openingLeast = 3
	// openingFrom is the length, in bytes, from which a text is searched for such words before a dfa reads it: an automaton goes through a
	// long text four times as fast, and costs too much memory for a short one to gain by it.
	openingFrom = 512
)

// opening is the words that matches of an expression begin with; nil where there are other matches. Most long texts hold none of them.
func opening(e *syntax.Regexp) func() *automaton {
	if !cased(e) {
		return nil
	}
	var words []string
	list, _ := heads(e)
	for _, head := range list {
		if len(head) < openingLeast {
			return nil
		}
		if head = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ").Replace(head); !slices.Contains(words, head) {
			words = append(words, head)
		}
	}
	return sync.OnceValue(func() *automaton { return newAutomaton(words) })
}

// cased reports whether an automaton, which knows the cases of ASCII alone, finds the heads of an expression wherever they match: k is the
// Kelvin sign as well where case does not count, and a character that is none is one that others stand for.
func cased(e *syntax.Regexp) bool {
	if e.Flags&syntax.FoldCase != 0 {
		return false
	}
	alone := func(c rune) bool { return c < utf8.RuneSelf || c != utf8.RuneError && unicode.ToLower(c) == c }
	switch e.Op {
	case syntax.OpLiteral:
		for _, c := range e.Rune {
			if !alone(c) {
				return false
			}
		}
	case syntax.OpCharClass:
		for i := 0; i+1 < len(e.Rune); i += 2 {
			for c := e.Rune[i]; c <= min(e.Rune[i+1], e.Rune[i]+smallRange); c++ {
				if !alone(c) {
					return false
				}
			}
		}
	}
	return !slices.ContainsFunc(e.Sub, func(sub *syntax.Regexp) bool { return !cased(sub) })
}
