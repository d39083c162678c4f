package encoder

import (
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// isSpace says where words end. Of control characters, three do; the rest are dropped.
func isSpace(r rune) bool {
	if r <= unicode.MaxLatin1 {
		return r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == 0xa0
	}
	return unicode.Is(unicode.White_Space, r)
}

// isDropped is true of control characters and of what is no character.
func isDropped(r rune) bool {
	if r <= unicode.MaxASCII {
		return r < ' ' || r == 0x7f
	}
	return r == unicode.ReplacementChar || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co) && !isNewer(r)
}

// ideographs are the blocks of characters that are words of their own, as the reference implementation lists them.
var ideographs = &unicode.RangeTable{
	R16: []unicode.Range16{{0x3400, 0x4dbf, 1}, {0x4e00, 0x9fff, 1}, {0xf900, 0xfaff, 1}},
	R32: []unicode.Range32{{0x20000, 0x2a6df, 1}, {0x2a700, 0x2b73f, 1}, {0x2b740, 0x2b81f, 1}, {0x2b920, 0x2ceaf, 1}, {0x2f800, 0x2fa1f, 1}},
}

func isIdeograph(r rune) bool { return unicode.Is(ideographs, r) }

func isPunctuation(r rune) bool {
	if r <= unicode.MaxASCII {
		return r > ' ' && r < '0' || r > '9' && r < 'A' || r > 'Z' && r < 'a' || r > 'z' && r < 0x7f
	}
	return unicode.IsPunct(r) && !isNewer(r) || r == canadianChi || r == sharadaSandhi
}

func isAccent(r rune) bool { return unicode.Is(unicode.Mn, r) && !isNewer(r) || r == hanunooPamudpod }

func lower(r rune) rune { return unicode.ToLower(r) }

// Three characters whose category has changed since the reference implementation's tables were made.
const (
	canadianChi     = 0x166d
	hanunooPamudpod = 0x1734
	sharadaSandhi   = 0x111c9
)

// newer covers the accents, punctuation and format characters that Unicode has got since then: to the reference they are
// letters. What else lies in the ranges has the same meaning in both.
var newer = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x061d, 0x061d, 1}, {0x07fd, 0x07fd, 1}, {0x0890, 0x08e2, 1}, {0x09fd, 0x09fe, 1}, {0x0a76, 0x0a76, 1},
		{0x0afa, 0x0aff, 1}, {0x0b55, 0x0b55, 1}, {0x0c04, 0x0c3c, 1}, {0x0c77, 0x0c77, 1}, {0x0c84, 0x0c84, 1},
		{0x0d00, 0x0d00, 1}, {0x0d3b, 0x0d3c, 1}, {0x0d81, 0x0d81, 1}, {0x0eba, 0x0eba, 1}, {0x0ece, 0x0ece, 1},
		{0x180f, 0x1886, 1}, {0x1abf, 0x1ace, 1}, {0x1b7d, 0x1b7e, 1}, {0x1df6, 0x1dfb, 1}, {0x2e43, 0x2e5d, 1},
		{0xa82c, 0xa82c, 1}, {0xa8c5, 0xa8c5, 1}, {0xa8ff, 0xa8ff, 1}, {0xa9bd, 0xa9bd, 1},
	},
	R32: []unicode.Range32{
		{0x10d24, 0x10f89, 1}, {0x11070, 0x11074, 1}, {0x110c2, 0x110cd, 1}, {0x111c9, 0x111c9, 1},
		{0x111cf, 0x111cf, 1}, {0x1123e, 0x11241, 1}, {0x1133b, 0x1133b, 1}, {0x11438, 0x1145e, 1},
		{0x11660, 0x1166c, 1}, {0x116b9, 0x116b9, 1}, {0x1182f, 0x11fff, 1}, {0x12ff1, 0x13455, 1},
		{0x16e97, 0x16f4f, 1}, {0x16fe2, 0x16fe4, 1}, {0x1cf00, 0x1cf46, 1}, {0x1e000, 0x1e4ef, 1},
		{0x1e944, 0x1e95f, 1},
	},
}

func isNewer(r rune) bool { return unicode.Is(newer, r) }

// maxDecomposed is more than the parts of any character's canonical decomposition.
const maxDecomposed = 8

// Hangul syllables decompose by arithmetic: The Unicode Standard, section 3.12.
const (
	hangulBase, hangulEnd        = 0xac00, 0xd7a4
	leadBase, vowelBase, endBase = 0x1100, 0x1161, 0x11a7
	vowels, ends                 = 21, 28
)

// decompose appends the canonical decomposition of r.
func decompose(parts []rune, r rune) []rune {
	if r >= hangulBase && r < hangulEnd {
		i := r - hangulBase
		parts = append(parts, leadBase+i/(vowels*ends), vowelBase+i%(vowels*ends)/ends)
		if end := i % ends; end != 0 {
			parts = append(parts, endBase+end)
		}
		return parts
	}
	d := norm.NFD.PropertiesString(string(r)).Decomposition()
	if d == nil {
		return append(parts, r)
	}
	for _, part := range string(d) {
		parts = append(parts, part)
	}
	return parts
}
