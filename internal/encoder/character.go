package encoder

import (
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// isSpace says where words end.
func isSpace(r rune) bool {
	return r == ' ' || r >= '\t' && r <= '\r' || r > unicode.MaxASCII && unicode.Is(unicode.White_Space, r)
}

// isDropped is true of control characters and of what is no character.
func isDropped(r rune) bool {
	if r <= unicode.MaxASCII {
		return r < ' ' || r == 0x7f
	}
	return r == unicode.ReplacementChar || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co)
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
	return unicode.IsPunct(r)
}

func isAccent(r rune) bool { return unicode.Is(unicode.Mn, r) }

func lower(r rune) rune { return unicode.ToLower(r) }

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
