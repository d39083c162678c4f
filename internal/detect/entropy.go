package detect

import (
	"math"
	"math/bits"
	"unicode/utf8"
)

// entropy is the Shannon entropy of a text in bits for each byte, as gitleaks computes it: over characters, divided by the
// length in bytes.
func entropy(text string) float64 {
	var counts [utf8.RuneSelf]int
	var stands [utf8.RuneSelf / 64]uint64 // the characters of ASCII that it holds
	var others map[rune]int
	for _, c := range text {
		switch {
		case c < utf8.RuneSelf:
			counts[c]++
			stands[c/64] |= 1 << (c % 64)
		case others == nil:
			others = map[rune]int{c: 1}
		default:
			others[c]++
		}
	}
	sum := 0.0
	for k, set := range stands {
		for ; set > 0; set &= set - 1 {
			sum -= shareOf(counts[64*k+bits.TrailingZeros64(set)], len(text))
		}
	}
	for _, n := range others {
		sum -= shareOf(n, len(text))
	}
	return sum
}

// shareOf is what a character adds to the entropy that stands n times in a text of size bytes.
func shareOf(n, size int) float64 {
	if n < len(shares) && size < len(shares[0]) {
		return shares[n][size]
	}
	share := float64(n) / float64(size)
	return share * math.Log2(share)
}

// shares are what shareOf says of most secrets.
var shares = func() (all [8][128]float64) {
	for n := 1; n < len(all); n++ {
		for size := n; size < len(all[n]); size++ {
			share := float64(n) / float64(size)
			all[n][size] = share * math.Log2(share)
		}
	}
	return all
}()
