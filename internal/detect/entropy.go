package detect

import (
	"math"
	"unicode/utf8"
)

// entropy is the Shannon entropy of a text in bits for each byte, as gitleaks computes it: over characters, divided by the
// length in bytes.
func entropy(text string) float64 {
	var counts [utf8.RuneSelf]int
	var others map[rune]int
	for _, c := range text {
		switch {
		case c < utf8.RuneSelf:
			counts[c]++
		case others == nil:
			others = map[rune]int{c: 1}
		default:
			others[c]++
		}
	}
	sum := 0.0
	add := func(n int) {
		if n > 0 {
			share := float64(n) / float64(len(text))
			sum -= share * math.Log2(share)
		}
	}
	for _, n := range &counts {
		add(n)
	}
	for _, n := range others {
		add(n)
	}
	return sum
}
