package detect

import (
	"regexp/syntax"
	"slices"
	"strings"
)

const (
	// headsMost and headMost bound what is enumerated of an expression: texts, and bytes of one.
	headsMost, headMost = 128, 48
	// smallRange is how far apart the ends of a range of characters stand at most that are enumerated one by one.
	smallRange = 4
	// endless stands for the length of what has no bound.
	endless = chunkOverlap - 256
)

// heads are the texts that matches of an expression begin with, in lower case. They are whole when no match has more.
func heads(e *syntax.Regexp) (list []string, whole bool) {
	switch e.Op {
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(e.Rune))}, true
	case syntax.OpCharClass:
		return classHeads(e.Rune)
	case syntax.OpCapture:
		return heads(e.Sub[0])
	case syntax.OpQuest:
		list, whole = heads(e.Sub[0])
		return append(list, ""), whole
	case syntax.OpAlternate:
		whole = true
		for _, sub := range e.Sub {
			more, all := heads(sub)
			list, whole = append(list, more...), whole && all
		}
		return list, whole && len(list) <= headsMost
	case syntax.OpConcat:
		return concatHeads(e.Sub)
	case syntax.OpEmptyMatch, syntax.OpWordBoundary, syntax.OpBeginText, syntax.OpBeginLine:
		return []string{""}, true
	}
	return []string{""}, false
}

func concatHeads(parts []*syntax.Regexp) (list []string, whole bool) {
	list = []string{""}
	for _, part := range parts {
		more, all := heads(part)
		if len(list)*len(more) > headsMost {
			return list, false
		}
		var longer []string
		for _, head := range list {
			for _, m := range more {
				longer = append(longer, head+m)
			}
		}
		if list = longer; !all || len(list[0]) > headMost {
			return list, false
		}
	}
	return list, true
}

// classHeads are the members of a small class.
func classHeads(class []rune) (list []string, whole bool) {
	for i := 0; i+1 < len(class); i += 2 {
		if class[i+1]-class[i] > smallRange {
			return []string{""}, false
		}
		for c := class[i]; c <= class[i+1]; c++ {
			if low := strings.ToLower(string(c)); !slices.Contains(list, low) {
				list = append(list, low)
			}
		}
	}
	return list, true
}

// lengths are the least and the most characters of a match; most is endless where there is no bound.
func lengths(e *syntax.Regexp) (least, most int) {
	switch e.Op {
	case syntax.OpLiteral:
		return len(e.Rune), len(e.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1, 1
	case syntax.OpCapture:
		return lengths(e.Sub[0])
	case syntax.OpQuest:
		_, most = lengths(e.Sub[0])
		return 0, most
	case syntax.OpStar:
		return 0, endless
	case syntax.OpPlus:
		least, _ = lengths(e.Sub[0])
		return least, endless
	case syntax.OpRepeat:
		least, most = lengths(e.Sub[0])
		if e.Max < 0 {
			return least * e.Min, endless
		}
		return least * e.Min, min(most*e.Max, endless)
	case syntax.OpConcat:
		for _, sub := range e.Sub {
			l, m := lengths(sub)
			least, most = least+l, min(most+m, endless)
		}
	case syntax.OpAlternate:
		least = endless
		for _, sub := range e.Sub {
			l, m := lengths(sub)
			least, most = min(least, l), max(most, m)
		}
	}
	return least, most
}
