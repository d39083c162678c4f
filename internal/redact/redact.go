// Package redact turns findings into edits: spans that overlap become one, and JSON stays JSON. It decides nothing about
// what is to go and what stands in its place.
package redact

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gatehouse-gateway/gatehouse"
)

// depthMax is how deep JSON may nest and still be edited as JSON. Deeper texts are edited as plain text.
const depthMax = 512

// Edits are the replacements that take the findings' spans out of a text, sorted and free of overlaps, their Part that of
// the findings. Where spans overlap, one edit covers them all with the replacement for the most severe finding, the higher
// score among equals. Offsets that do not fit the text are cut to it.
//
// When the text is a JSON object, array or string, it stays one: inside of strings the content alone is replaced, in values
// as far as the span goes; names are touched only by a finding that lies wholly inside of them; a number becomes 0; true,
// false and null stay. Replacements are escaped as JSON wants it.
func Edits(text string, findings []gatehouse.Finding, replacement func(gatehouse.Finding) string) []gatehouse.Edit {
	if len(findings) == 0 {
		return nil
	}
	if doc, ok := document(text); ok {
		return doc.edits(findings, replacement)
	}
	var fit []gatehouse.Finding
	for _, f := range findings {
		f.Start, f.End = max(f.Start, 0), min(f.End, len(text))
		if f.Start < f.End {
			f.Start, f.End = runes(text, f.Start, f.End)
			fit = append(fit, f)
		}
	}
	return Spans(fit, replacement)
}

// Spans are what [Edits] are of a text that is no JSON, where it is known of the findings that they lie in the text and begin
// and end with whole runes: of a text that still grows, say.
func Spans(findings []gatehouse.Finding, replacement func(gatehouse.Finding) string) []gatehouse.Edit {
	cuts := make([]cut, len(findings))
	for i, f := range findings {
		cuts[i] = cut{Finding: f}
	}
	return edits(merge(cuts), func(c cut) string { return replacement(c.Finding) })
}

// cut is a finding whose span is what goes, and in JSON the token that it lies in.
type cut struct {
	gatehouse.Finding
	in token
}

// runes widens a span to whole runes.
func runes(text string, start, end int) (int, int) {
	for start > 0 && !utf8.RuneStart(text[start]) {
		start--
	}
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}
	return start, end
}

// merge makes one cut of those that overlap: the span of all, the rest from the worst.
func merge(cuts []cut) []cut {
	sort.SliceStable(cuts, func(i, j int) bool { return cuts[i].Start < cuts[j].Start })
	var out []cut
	for _, c := range cuts {
		last := len(out) - 1
		if last < 0 || c.Start >= out[last].End {
			out = append(out, c)
			continue
		}
		start, end := out[last].Start, max(out[last].End, c.End)
		if worse(c.Finding, out[last].Finding) {
			out[last] = c
		}
		out[last].Start, out[last].End = start, end
	}
	return out
}

func worse(a, b gatehouse.Finding) bool {
	if a.Severity != b.Severity {
		return rank(a.Severity) > rank(b.Severity)
	}
	return a.Score > b.Score
}

func rank(s gatehouse.Severity) int {
	switch s {
	case gatehouse.Critical:
		return 2
	case gatehouse.Warn:
		return 1
	}
	return 0
}

// edits writes the replacements. Neighbours with one text need it only once.
func edits(cuts []cut, text func(cut) string) []gatehouse.Edit {
	var out []gatehouse.Edit
	for _, c := range cuts {
		e := gatehouse.Edit{Part: c.Part, Op: gatehouse.Replace, Start: c.Start, End: c.End, Text: text(c)}
		if last := len(out) - 1; last >= 0 && out[last].End == e.Start && out[last].Text == e.Text {
			out[last].End = e.End
			continue
		}
		out = append(out, e)
	}
	return out
}

// Whole reports whether nothing but white space and punctuation remains of a text when the edits' spans are gone: it was
// payload only. Of JSON, names and numbers count as something that remains.
func Whole(text string, edits []gatehouse.Edit) bool {
	if len(edits) == 0 {
		return false
	}
	gone := make([]gatehouse.Edit, 0, len(edits))
	for _, e := range edits {
		e.Text = ""
		gone = append(gone, e)
	}
	return strings.IndexFunc(gatehouse.Splice(text, gone), func(r rune) bool {
		return !unicode.IsSpace(r) && !unicode.IsPunct(r) && !unicode.IsSymbol(r) && !unicode.Is(unicode.Cf, r)
	}) < 0
}
