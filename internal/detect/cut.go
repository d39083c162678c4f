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
	all := n.parts(s)
	if n.parent == nil {
		return all
	}
	var outer []span
	for _, part := range all {
		for _, o := range n.outer(part) {
			outer = append(outer, n.parent.given(o)...)
		}
	}
	return outer
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
	if len(all) == 0 {
		return []span{s}
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

// withinStrings leaves the quotation marks that end strings of JSON out of spans, and the keys between them.
func (n *Normalized) withinStrings(list []span) []span {
	var all []span
	for _, s := range list {
		q := n.quote(s.start, s.end)
		if q.start == s.end {
			all = append(all, s)
			continue
		}
		inside := n.endsString(q.end)
		at := s.start
		for at < s.end {
			if inside && q.start > at && (q.start == s.end || n.behind(q.end) != ':') {
				all = append(all, span{at, q.start})
			}
			at = q.end
			q = n.quote(at, s.end)
			inside = !inside
		}
	}
	return all
}

// quote is the next quotation mark from byte at on that ends or begins a string, with the backslashes before it where it is one of
// JSON within JSON. Without one it is empty, at end.
func (n *Normalized) quote(at, end int) span {
	lead := at
	for i := at; i < end; i++ {
		switch n.Original[i] {
		case '\\':
		case '"':
			if !escaped(n.Original, i) {
				return span{i, i + 1}
			}
			if structural(n.Original, i) {
				return span{lead, i + 1}
			}
			lead = i + 1
		default:
			lead = i + 1
		}
	}
	return span{end, end}
}

// endsString reports whether a quotation mark that ends before byte i ends a string and not begins one.
func (n *Normalized) endsString(i int) bool {
	c := n.behind(i)
	return c == 0 || c == ',' || c == ':' || c == '}' || c == ']'
}

// behind is the first character from byte i on that is no white space; 0 at the end.
func (n *Normalized) behind(i int) byte {
	for ; i < len(n.Original); i++ {
		if c := n.Original[i]; c > ' ' {
			return c
		}
	}
	return 0
}
