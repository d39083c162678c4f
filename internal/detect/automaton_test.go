package detect

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// FuzzAutomaton compares with the obvious search.
func FuzzAutomaton(f *testing.F) {
	f.Add("he she his hers", "usHErs\tand his")
	f.Add("a aa aaa", "aaaa")
	f.Add("ab bc abc c", "xabcabc")
	f.Fuzz(func(t *testing.T, list, text string) {
		var words []string
		for _, w := range strings.Fields(list) {
			if w = asciiLower(w); !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
		if len(words) == 0 || len(words) > 50 {
			return
		}
		var got, want []string
		newAutomaton(words).each(text, func(word uint32, end int) bool {
			got = append(got, fmt.Sprint(end, words[word]))
			return true
		})
		folded := asciiLower(text)
		for end := range len(folded) + 1 {
			for _, w := range words {
				if strings.HasSuffix(folded[:end], w) {
					want = append(want, fmt.Sprint(end, w))
				}
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("words %q, text %q: got %q, want %q", words, text, got, want)
		}
	})
}

func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}

func TestAutomatonBlankIsAnyWhiteSpace(t *testing.T) {
	a := newAutomaton([]string{"two words"})
	for _, text := range []string{"two words", "TWO\nWORDS", "two\twords"} {
		if !a.any(text) {
			t.Errorf("not found in %q", text)
		}
	}
	if a.any("twowords") {
		t.Error("found without a blank")
	}
}
