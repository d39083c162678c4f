package detect

import (
	"encoding/binary"
	"math/bits"
)

// eight are the bytes of a text of eight, the first lowest.
func eight(text string) uint64 {
	_ = text[7]
	return uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
		uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
}

// lettersOf is how many of eight bytes are letters of ASCII before the first that is none. As in [lowerPlain], letters carry into the highest
// bit of their byte and what stands behind them does so again.
func lettersOf(x uint64) uint {
	const each = 0x0101010101010101
	low := (x | 0x20*each) &^ (0x80 * each)
	is := (low + 0x1F*each) &^ (low + 0x05*each) &^ x & (0x80 * each)
	return uint(bits.TrailingZeros64(is^0x80*each)) / 8 //nolint:gosec // not negative
}

// lowerPlain turns the capitals of a text of ASCII into small letters, eight at a time: a byte of 'A' or above carries into its highest
// bit when 0x3F is added, one above 'Z' when 0x25 is.
func lowerPlain(text []byte) {
	const each = 0x0101010101010101
	for len(text) >= 8 {
		x := binary.LittleEndian.Uint64(text)
		capitals := (x + 0x3F*each) &^ (x + 0x25*each) & (0x80 * each)
		binary.LittleEndian.PutUint64(text, x|capitals>>2)
		text = text[8:]
	}
	for i, c := range text {
		if capital(c) {
			text[i] = c | 0x20
		}
	}
}
