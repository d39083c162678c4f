package scorecard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode/utf16"
)

// Span is a stretch of a text, in bytes.
type Span struct{ Start, End int }

var errSpans = errors.New("spans is no list of [start, end] or {start, end}, in characters of the text")

// spans reads a row's own spans. They count characters (Unicode code points), as data sets do.
func spans(text string, raw json.RawMessage) ([]Span, error) {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return nil, nil
	}
	var pairs [][]int
	if json.Unmarshal(raw, &pairs) != nil {
		var named []struct{ Start, End *int }
		if json.Unmarshal(raw, &named) != nil {
			return nil, errSpans
		}
		pairs = nil
		for _, n := range named {
			if n.Start == nil || n.End == nil {
				return nil, errSpans
			}
			pairs = append(pairs, []int{*n.Start, *n.End})
		}
	}
	return inBytes(text, pairs)
}

// inBytes turns pairs of characters into spans of bytes, in order and apart.
func inBytes(text string, pairs [][]int) ([]Span, error) {
	places := make([]int, 0, len(text)+1) // character → byte
	for i := range text {
		places = append(places, i)
	}
	places = append(places, len(text))
	var out []Span
	for _, p := range pairs {
		if len(p) != 2 || p[0] < 0 || p[0] > p[1] || p[1] >= len(places) {
			return nil, errSpans
		}
		if p[0] < p[1] {
			out = append(out, Span{places[p[0]], places[p[1]]})
		}
	}
	return apart(out), nil
}

// apart sorts spans and makes one of those that overlap or touch.
func apart(all []Span) []Span {
	slices.SortFunc(all, func(a, b Span) int { return a.Start - b.Start })
	out := all[:0]
	for _, s := range all {
		if last := len(out) - 1; last >= 0 && s.Start <= out[last].End {
			out[last].End = max(out[last].End, s.End)
			continue
		}
		out = append(out, s)
	}
	return out
}

// locate finds a payload wherever it stands in a text: as it is, in one line, or as JSON or HTML would write it.
func locate(text, payload string) []Span {
	for _, written := range writings(payload) {
		var out []Span
		for at := 0; ; {
			i := strings.Index(text[at:], written)
			if i < 0 {
				break
			}
			out = append(out, Span{at + i, at + i + len(written)})
			at += i + len(written)
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// writings are the ways in which composers of rows put a payload into a carrier.
func writings(payload string) []string {
	escaped := html.EscapeString(payload)
	return []string{
		payload, strings.ReplaceAll(payload, "\n", " "),
		inJSON(payload), inASCII(inJSON(payload)),
		escaped, strings.NewReplacer("&#34;", "&quot;", "&#39;", "&#x27;").Replace(escaped), strings.ReplaceAll(payload, `"`, "&quot;"),
	}
}

// inJSON is the inside of the string that JSON makes of a text.
func inJSON(text string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(text) != nil {
		return text
	}
	return strings.TrimSuffix(strings.TrimSuffix(b.String(), "\n"), `"`)[1:]
}

// inASCII escapes what is not ASCII, as many writers of JSON do.
func inASCII(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < 0x80 {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}
