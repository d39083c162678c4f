package detect

import (
	"sort"
	"strings"
)

// segment says what a part of a decoded text, from at up to the next, stands for in the text that it was decoded from. An exact one
// stands for it byte by byte, another as a whole.
type segment struct {
	at, from, to int
	exact        bool
}

// outer is what a part of a decoded text stands for in the text that it was decoded from: several parts, where it was put together.
func (n *Normalized) outer(s span) []span {
	i := sort.Search(len(n.segments), func(i int) bool { return n.segments[i].at > s.start }) - 1
	var all []span
	for i = max(i, 0); i < len(n.segments) && n.segments[i].at < s.end; i++ {
		g := n.segments[i]
		part := span{g.from, g.to}
		if g.exact {
			part.start += max(s.start-g.at, 0)
			part.end = min(g.to, g.from+s.end-g.at)
		}
		if part.end <= part.start {
			continue // a blank between what was put together
		}
		if k := len(all) - 1; k >= 0 && part.start <= all[k].end && part.start >= all[k].start {
			all[k].end = max(all[k].end, part.end)
		} else {
			all = append(all, part)
		}
	}
	return all
}

// given is what can be cut out of the text that was given, of a part of the original.
func (n *Normalized) given(s span) []span {
	all := n.cuts(s)
	if len(all) == 0 && n.parent == nil {
		return []span{s}
	}
	return all
}

// cuts are the parts of what given tells; none where a part holds nothing but the borders of strings.
func (n *Normalized) cuts(s span) []span {
	all := n.parts(s)
	if n.parent == nil {
		return all
	}
	var outer []span
	for _, part := range all {
		if i, ok := n.solid(part); ok {
			outer = append(outer, n.behindSolid(i)...)
			continue
		}
		for _, o := range n.outer(part) {
			outer = append(outer, n.parent.cuts(o)...)
		}
	}
	return outer
}

// smooth reports whether what can be cut out of the text that was given, of a part of the original, is all that the part stands for: no tags
// and no borders of strings lie in it.
func (n *Normalized) smooth(s span) bool {
	i := sort.Search(len(n.markup), func(i int) bool { return n.markup[i].end > s.start })
	if i < len(n.markup) && n.markup[i].start < s.end || n.json && strings.ContainsAny(n.Original[s.start:s.end], "\"\\") {
		return false
	}
	if n.parent == nil {
		return true
	}
	if _, whole := n.solid(s); whole {
		return true // the same is cut for each part of it
	}
	outer := n.outer(s)
	return len(outer) == 1 && n.parent.smooth(outer[0])
}

// solid is the segment that stands for its part as a whole and holds all of a part of a decoded text; not ok where there is none.
func (n *Normalized) solid(s span) (i int, ok bool) {
	i = max(sort.Search(len(n.segments), func(i int) bool { return n.segments[i].at > s.start })-1, 0)
	g := n.segments[i]
	return i, !g.exact && g.from < g.to && (i+1 == len(n.segments) || s.end <= n.segments[i+1].at)
}

// behindSolid is what can be cut out of the text that was given for a segment. A long one may hold a thousand findings.
func (n *Normalized) behindSolid(i int) []span {
	places, known := n.places[i]
	if !known {
		if n.places == nil {
			n.places = map[int][]span{}
		}
		places = n.parent.cuts(span{n.segments[i].from, n.segments[i].to})
		n.places[i] = places
	}
	return places
}

// nestingMax bounds the tags within tags that are followed to see whether they balance.
const nestingMax = 32

// parts is what can be cut out of the original, of a part of it, so that the markup around stays whole: all of it where the tags in it
// balance, and otherwise the text between them. In JSON it is what lies within strings.
func (n *Normalized) parts(s span) []span {
	all := n.aroundTags(s)
	if n.json {
		all = n.withinStrings(all)
	}
	return all
}

func (n *Normalized) aroundTags(s span) []span {
	i := sort.Search(len(n.markup), func(i int) bool { return n.markup[i].end > s.start })
	j := i
	for j < len(n.markup) && n.markup[j].start < s.end {
		j++
	}
	if i == j || balanced(n.markup[i:j], s) {
		return []span{s}
	}
	var all []span
	at := s.start
	add := func(end int) {
		if strings.TrimSpace(n.Original[at:max(at, end)]) != "" {
			all = append(all, span{at, end})
		}
	}
	for _, m := range n.markup[i:j] {
		add(m.start)
		at = max(at, m.end)
	}
	add(s.end)
	return all
}

// balanced reports whether every element that begins in a part of a text ends in it, and none other does.
func balanced(marks []mark, s span) bool {
	if marks[0].start < s.start || marks[len(marks)-1].end > s.end {
		return false
	}
	var room [nestingMax]uint64
	open := room[:0]
	for _, m := range marks {
		switch m.kind {
		case tagParts:
			return false
		case tagOpens:
			if len(open) == nestingMax {
				return false
			}
			open = append(open, m.name)
		case tagCloses:
			k := len(open) - 1
			if k < 0 || open[k] != m.name {
				return false
			}
			open = open[:k]
		}
	}
	return len(open) == 0
}
