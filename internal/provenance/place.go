package provenance

import "strings"

// Place says where a text holds a value as it is written, letters of ASCII in either case, or else its nearest part: byte offsets.
// It is for showing people a value that an [Origin] names the text of; what the text writes otherwise is not found.
func Place(text, value string) (start, end int, ok bool) {
	said := folded(text)
	for _, one := range candidates(strings.TrimSpace(value)) {
		if one = folded(one); one == "" {
			continue
		}
		if i := strings.Index(said, one); i >= 0 {
			return i, i + len(one), true
		}
	}
	return 0, 0, false
}

// candidates are a value, and what a part of it may be found by.
func candidates(value string) []string {
	out := append([]string{value}, parts(value)...)
	if len(value) > maxWhole {
		return out
	}
	for _, one := range Identifiers(value) {
		out = append(append(out, one), parts(one)...)
	}
	return out
}

// folded is a text with its ASCII letters in lower case, so that every byte stays where it is.
func folded(text string) string {
	out := []byte(text)
	for i, c := range out {
		if c >= 'A' && c <= 'Z' {
			out[i] = c | 0x20
		}
	}
	return string(out)
}
