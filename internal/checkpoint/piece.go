package checkpoint

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	// quotedPiece is what stands in quotation marks, with what shows that it is a name in JSON.
	quotedPiece = regexp.MustCompile(`"([^"]+)"(\s*:)?|“([^”]+)”|„([^“]+)“|«([^»]+)»`)
	// labelled is what stands behind a short label: part 2: …, page 1 of 3. …
	labelled = regexp.MustCompile(`^(?:[^:"\n]{1,60}:|\pL+ \d{1,4}(?: \pL+ \d{1,4})?[.)])\s*(\S[\s\S]*)$`)
)

// handed is what a text hands over as a part of something: what it quotes, or what stands behind its label. Empty: nothing.
func handed(text string) string {
	var all []string
	for _, m := range quotedPiece.FindAllStringSubmatch(text, -1) {
		if m[2] == "" {
			all = append(all, strings.Join(m[1:], ""))
		}
	}
	if all != nil {
		return strings.Join(all, " ")
	}
	if m := labelled.FindStringSubmatch(text); m != nil {
		return strings.TrimSpace(m[1])
	}
	return ""
}

// unended reports whether a text stops without an end, so that the next may go on with it.
func unended(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimSpace(text))
	return !strings.ContainsRune(".!?…。！？।\"')]}:`”’»", last)
}

// ended is a text with an end.
func ended(text string) string {
	if unended(text) {
		return text + "."
	}
	return text
}
