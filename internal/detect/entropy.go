package detect

import "math"

// entropy is the Shannon entropy of a text in bits for each byte, as gitleaks computes it: over characters, divided by the
// length in bytes.
func entropy(text string) float64 {
	counts := map[rune]int{}
	for _, c := range text {
		counts[c]++
	}
	sum := 0.0
	for _, n := range counts {
		share := float64(n) / float64(len(text))
		sum -= share * math.Log2(share)
	}
	return sum
}
