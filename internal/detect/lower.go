package detect

import "encoding/binary"

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
