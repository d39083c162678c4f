package detect

import (
	"regexp/syntax"
	"slices"
	"sort"
	"testing"
	"unicode"
	"unicode/utf8"
)

const (
	// stemLeast is how many letters of a word are a stem, to which an ending may be added. Shorter ones are words, or begin too many.
	stemLeast = 4
	// edgeMost bounds what is enumerated of one expression.
	edgeMost = 4 << 10
)

// TestShortWordsHaveBorders: a match neither ends with one, two or three letters that may be the beginning of a longer word, nor begins with
// as few that may be the end of one. A rule that means such says so with \w* or \S*. This is about Latin letters: others have no \b, and
// in Arabic, Hebrew and Korean particles are parts of words.
func TestShortWordsHaveBorders(t *testing.T) {
	rules, err := loadRules()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		tree, err := syntax.Parse(foldRunes(string(r.Pattern)), syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		for side, list := range map[string][]edge{"begin": edgesOf(tree, false), "end": edgesOf(tree, true)} {
			var short []string
			for _, e := range list {
				if n := len([]rune(e.letters)); n > 0 && n < stemLeast && !e.closed && bordered(e.letters, side == "end") {
					short = append(short, e.letters)
				}
			}
			if sort.Strings(short); len(short) > 0 {
				t.Errorf("%s: a match may %s with %q inside of a word", r.ID, side, slices.Compact(short))
			}
		}
	}
}

// bordered reports whether \b means what it says at the outer letter of an edge.
func bordered(letters string, back bool) bool {
	if back {
		return letters[len(letters)-1] < utf8.RuneSelf
	}
	return letters[0] < utf8.RuneSelf
}

// edge is a beginning or an end of a match: its letters, up to the first sign.
type edge struct {
	letters string
	done    bool // it goes no further
	closed  bool // something tells whether a word ends there, or any letters may follow
}

// edgesOf are those of an expression.
func edgesOf(e *syntax.Regexp, back bool) []edge {
	switch e.Op {
	case syntax.OpLiteral:
		return []edge{literalEdge(e.Rune, back)}
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return classEdges(e)
	case syntax.OpWordBoundary, syntax.OpBeginText, syntax.OpEndText, syntax.OpBeginLine, syntax.OpEndLine:
		return []edge{{done: true, closed: true}}
	case syntax.OpCapture, syntax.OpPlus:
		return edgesOf(e.Sub[0], back)
	case syntax.OpQuest, syntax.OpStar:
		all := edgesOf(e.Sub[0], back)
		if e.Op == syntax.OpStar && len(all) == 1 && all[0].closed {
			return all // it takes all letters that there are
		}
		return append(all, edge{})
	case syntax.OpRepeat:
		if e.Min == 0 {
			return append(edgesOf(e.Sub[0], back), edge{})
		}
		return edgesOf(e.Sub[0], back)
	case syntax.OpAlternate:
		var all []edge
		for _, sub := range e.Sub {
			all = append(all, edgesOf(sub, back)...)
		}
		return onlyOnce(all)
	case syntax.OpConcat:
		all := []edge{{}}
		for i := range e.Sub {
			sub := e.Sub[i]
			if back {
				sub = e.Sub[len(e.Sub)-1-i]
			}
			all = outward(all, edgesOf(sub, back), back)
		}
		return all
	}
	return []edge{{}}
}

// literalEdge is the edge of a text.
func literalEdge(text []rune, back bool) edge {
	var letters []rune
	for i := range text {
		r := text[i]
		if back {
			r = text[len(text)-1-i]
		}
		if !unicode.In(r, unicode.Latin) {
			return edge{inOrder(letters, back), true, false}
		}
		letters = append(letters, r)
	}
	return edge{inOrder(letters, back), len(letters) >= stemLeast, false}
}

func inOrder(letters []rune, back bool) string {
	if back {
		slices.Reverse(letters)
	}
	return string(letters)
}

// classEdges are those of a class of characters: a few letters, or whatever stands there.
func classEdges(e *syntax.Regexp) []edge {
	var all []edge
	for i := 0; e.Op == syntax.OpCharClass && i+1 < len(e.Rune); i += 2 {
		for r := e.Rune[i]; r <= e.Rune[i+1]; r++ {
			if len(all) > 8 {
				return []edge{{done: true, closed: true}}
			}
			all = append(all, literalEdge([]rune{r}, false))
		}
	}
	if len(all) == 0 {
		return []edge{{done: true, closed: true}}
	}
	return all
}

// outward is what lies at an edge, with what lies behind it.
func outward(outer, inner []edge, back bool) []edge {
	var all []edge
	for _, o := range outer {
		if o.done {
			all = append(all, o)
			continue
		}
		for _, i := range inner {
			e := edge{o.letters + i.letters, i.done, i.closed}
			if back {
				e.letters = i.letters + o.letters
			}
			if o.letters != "" {
				e.closed = false // what tells of the other side of a word says nothing of this one
			}
			e.done = e.done || len([]rune(e.letters)) >= stemLeast
			all = append(all, e)
		}
	}
	return onlyOnce(all)
}

func onlyOnce(all []edge) []edge {
	known := map[edge]bool{}
	var out []edge
	for _, e := range all {
		if !known[e] && len(out) < edgeMost {
			known[e] = true
			out = append(out, e)
		}
	}
	return out
}
