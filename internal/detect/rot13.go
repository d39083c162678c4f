package detect

// decodedLeast is how many common words come out of a passage that is read as encoded. How many it holds as it is does not count: the
// plain text around would hide it.
const decodedLeast = 2

// rot13 decodes a passage in which every letter stands for the one thirteen further on.
func (d *deriver) rot13(s span) {
	text := []byte(d.plain.text[s.start:s.end])
	for i, c := range text {
		text[i] = rotated[c]
	}
	if commonWords(string(text), decodedLeast) < decodedLeast {
		return
	}
	d.add(howRot13, decoding{text, []segment{{0, s.start, s.end, true}}})
}

// rotated is each byte with letters turned into those thirteen further on.
var rotated = func() (all [256]byte) {
	for i := range all {
		c := byte(i) //nolint:gosec // an index of 256
		if all[i] = c; letter(c) {
			base := c&0x20 | 'A'
			all[i] = base + (c-base+13)%26
		}
	}
	return all
}()
