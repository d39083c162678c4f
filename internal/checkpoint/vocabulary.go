package checkpoint

import "strings"

// vocabulary is a set of English words in lower case. Expressions of so many alternatives cost more than everything else that
// reads an injected text.
type vocabulary map[string]bool

func words(list string) vocabulary {
	v := vocabulary{}
	for word := range strings.FieldsSeq(list) {
		v[word] = true
	}
	return v
}

// in reports whether one of the words stands in a text, whole and in any case.
func (v vocabulary) in(text string) bool {
	var word [16]byte // longer than any of them
	n := 0
	for i := 0; i <= len(text); i++ {
		if i < len(text) && wordByte(text[i]) {
			if n < len(word) {
				c := text[i]
				if c >= 'A' && c <= 'Z' {
					c += 'a' - 'A'
				}
				word[n] = c
			}
			n++
			continue
		}
		if n > 0 && n <= len(word) && v[string(word[:n])] {
			return true
		}
		n = 0
	}
	return false
}
