package redact

import (
	"fmt"
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
)

// parsed is a text that is JSON.
type parsed struct {
	text string
	root rawjson.Value
}

func document(text string) (parsed, bool) {
	root, err := rawjson.Parse([]byte(text), depthMax)
	if err != nil || root.Kind != rawjson.Object && root.Kind != rawjson.Array && root.Kind != rawjson.String {
		return parsed{}, false
	}
	return parsed{text, root}, true
}

// edits are the replacements that leave the document valid. Names that are edited get a number from the second on, because
// equal names in one object would be read differently by different readers.
func (d parsed) edits(findings []gatehouse.Finding, replacement func(gatehouse.Finding) string) []gatehouse.Edit {
	tokens := d.walk(d.root, nil)
	var cuts []cut
	findings = slices.Clone(findings)
	slices.SortStableFunc(findings, func(a, b gatehouse.Finding) int { return a.Start - b.Start })
	for _, f := range findings {
		cuts = append(cuts, d.clip(f, tokens)...)
	}
	names := 0
	return edits(merge(cuts), func(c cut) string {
		if !c.in.text {
			return "0"
		}
		text := replacement(c.Finding)
		if c.in.name {
			if names++; names > 1 {
				text = fmt.Sprintf("%s %d", text, names)
			}
		}
		quoted := rawjson.Quote(text)
		return string(quoted[1 : len(quoted)-1])
	})
}

// token is a stretch of a document that may be replaced: the inside of a string, or a number.
type token struct {
	start, end int
	name       bool // the string is the name of a member
	text       bool // it is a string
	known      int  // of a string: the last place where a rune or escape is known to begin, the start at first
}

// walk lists what may be replaced in a value, in order.
func (d parsed) walk(v rawjson.Value, out []token) []token {
	switch v.Kind {
	case rawjson.String:
		out = append(out, token{start: v.Start + 1, end: v.End - 1, text: true, known: v.Start + 1})
	case rawjson.Number:
		out = append(out, token{start: v.Start, end: v.End})
	case rawjson.Array:
		for _, e := range v.Elems {
			out = d.walk(e, out)
		}
	case rawjson.Object:
		for _, m := range v.Members {
			out = append(out, token{start: m.KeyStart + 1, end: d.stringEnd(m.KeyStart + 1), name: true, text: true, known: m.KeyStart + 1})
			out = d.walk(m.Value, out)
		}
	}
	return out
}

// stringEnd is the offset of the quote that closes the string whose inside begins at byte i.
func (d parsed) stringEnd(i int) int {
	for d.text[i] != '"' {
		if d.text[i] == '\\' {
			i++
		}
		i++
	}
	return i
}

// clip cuts a finding to what may be replaced: one finding for each value it touches. Findings come in order of Start.
func (d parsed) clip(f gatehouse.Finding, tokens []token) []cut {
	var out []cut
	for i := sort.Search(len(tokens), func(i int) bool { return tokens[i].end > f.Start }); i < len(tokens); i++ {
		t := &tokens[i]
		if t.start >= f.End {
			break
		}
		if t.name && (f.Start < t.start || f.End > t.end) {
			continue
		}
		c := cut{Finding: f, in: *t}
		c.Start, c.End = t.start, t.end
		if t.text {
			c.Start, c.End = d.whole(t, max(f.Start, t.start), min(f.End, t.end))
		}
		if c.Start < c.End {
			out = append(out, c)
		}
	}
	return out
}

// whole widens a span inside of a string to whole runes and whole escapes, a surrogate pair being one.
func (d parsed) whole(t *token, start, end int) (int, int) {
	from, to := -1, end
	for i := d.landmark(t, start); i < end; {
		size := d.unit(i)
		if from < 0 && i+size > start {
			from = i
		}
		i += size
		to = i
	}
	if from < 0 {
		return start, start
	}
	t.known = from
	return from, to
}

// landmark is a place at or before byte at where a rune or escape surely begins, near enough that long strings with many
// findings stay linear: where the finding before begins, or behind a stretch without backslashes.
func (d parsed) landmark(t *token, at int) int {
	const reach = 6 // behind its last backslash an escape has five bytes at most
	clear := 0
	for i := at - 1; i >= t.known; i-- {
		if d.text[i] == '\\' {
			clear = 0
			continue
		}
		if clear++; clear > reach && utf8.RuneStart(d.text[i+reach]) {
			return i + reach
		}
	}
	return t.known
}

// unit is the length of the rune or escape that begins at byte i.
func (d parsed) unit(i int) int {
	if d.text[i] != '\\' {
		_, size := utf8.DecodeRuneInString(d.text[i:])
		return size
	}
	if d.text[i+1] != 'u' {
		return 2
	}
	if high := d.text[i+2 : i+4]; high[0]|0x20 == 'd' && (high[1] == '8' || high[1] == '9' || high[1]|0x20 == 'a' || high[1]|0x20 == 'b') {
		return 12 // the parser refuses half a pair
	}
	return 6
}
