package detect

import (
	"math/rand"
	"regexp/syntax"
	"strings"
)

// sampler makes texts that expressions match.
type sampler struct{ *rand.Rand }

// runMax bounds how far a repetition that has no bound goes beyond its least.
const runMax = 12

// text is one text of an expression. What only bounds a match, such as \b or $, adds nothing.
func (s sampler) text(e *syntax.Regexp) string {
	var b strings.Builder
	s.write(&b, e)
	return b.String()
}

func (s sampler) write(b *strings.Builder, e *syntax.Regexp) {
	switch e.Op {
	case syntax.OpLiteral:
		for _, r := range e.Rune {
			if e.Flags&syntax.FoldCase != 0 && s.Intn(2) == 0 {
				r = []rune(strings.ToLower(string(r)))[0]
			}
			b.WriteRune(r)
		}
	case syntax.OpCharClass:
		b.WriteRune(s.member(e.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte((alnum + "....")[s.Intn(len(alnum)+4)])
	case syntax.OpAlternate:
		s.write(b, e.Sub[s.Intn(len(e.Sub))])
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range e.Sub {
			s.write(b, sub)
		}
	case syntax.OpQuest:
		s.repeat(b, e.Sub[0], 0, 1)
	case syntax.OpStar:
		s.repeat(b, e.Sub[0], 0, runMax)
	case syntax.OpPlus:
		s.repeat(b, e.Sub[0], 1, 1+runMax)
	case syntax.OpRepeat:
		most := e.Max
		if most < 0 || most > e.Min+8*runMax {
			most = e.Min + 8*runMax
		}
		s.repeat(b, e.Sub[0], e.Min, most)
	}
}

func (s sampler) repeat(b *strings.Builder, e *syntax.Regexp, least, most int) {
	for range least + s.Intn(most-least+1) {
		s.write(b, e)
	}
}

// member is one printable ASCII character of a class, a letter or digit for choice: what a negated class leaves is wide.
func (s sampler) member(class []rune) rune {
	var common, all []rune
	for c := ' '; c <= '~'; c++ {
		for i := 0; i+1 < len(class); i += 2 {
			if class[i] <= c && c <= class[i+1] {
				all = append(all, c)
				if strings.ContainsRune(alnum, c) {
					common = append(common, c)
				}
			}
		}
	}
	switch {
	case len(common) > 0 && (len(common) == len(all) || s.Intn(8) > 0):
		return common[s.Intn(len(common))]
	case len(all) > 0:
		return all[s.Intn(len(all))]
	}
	return class[0]
}

// pick is one of several.
func (s sampler) pick(list ...string) string { return list[s.Intn(len(list))] }

// of is a random text of so many letters.
func (s sampler) of(letters string, size int) string {
	b := make([]byte, size)
	for i := range b {
		b[i] = letters[s.Intn(len(letters))]
	}
	return string(b)
}
