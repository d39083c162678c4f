package detect

import (
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// readable is decoded bytes as text, up to the first that are none. It is empty where they are something else.
func readable(b []byte) string {
	const least = 8
	if text := wide16(b); text != "" {
		return text
	}
	good, letters := printable(b), 0
	for _, r := range string(b[:good]) {
		if unicode.IsLetter(r) || r == ' ' {
			letters++
		}
	}
	if good < least || good < len(b)/2 || letters*3 < utf8.RuneCount(b[:good]) {
		return ""
	}
	return string(b[:good])
}

// printable is how many bytes at the beginning are characters that can be read. One that is cut off at the end counts.
func printable(b []byte) int {
	good := 0
	for good < len(b) {
		r, size := utf8.DecodeRune(b[good:])
		if r == utf8.RuneError && size <= 1 && utf8.FullRune(b[good:]) || unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' {
			break
		}
		good += size
	}
	return good
}

// wide16 is the text of bytes in UTF-16 that is mostly ASCII; empty where they are something else.
func wide16(b []byte) string {
	if len(b) < 8 || len(b)%2 > 0 || b[0] != 0 && b[1] != 0 || b[2] != 0 && b[3] != 0 {
		return ""
	}
	low := 0
	if b[0] == 0 {
		low = 1
	}
	if odd(uint16(b[low])|uint16(b[1-low])<<8) || odd(uint16(b[2+low])|uint16(b[3-low])<<8) {
		return "" // too little would be readable
	}
	plain := 0
	for i := 0; i < len(b); i += 2 {
		if b[i+1-low] == 0 && b[i+low] < utf8.RuneSelf {
			plain++
		}
	}
	if plain*plainShare < len(b)/2 {
		return ""
	}
	units := make([]uint16, 0, len(b)/2)
	for i := 0; i < len(b); i += 2 {
		units = append(units, uint16(b[i+low])|uint16(b[i+1-low])<<8)
	}
	return readable([]byte(string(utf16.Decode(units))))
}

// plainShare is how many units of UTF-16 there may be for each of ASCII: languages with other letters set blanks, too.
const plainShare = 8

// odd reports whether a unit of UTF-16 is a control character that no text holds.
func odd(unit uint16) bool {
	return unit > 0 && unit < ' ' && unit != '\n' && unit != '\r' && unit != '\t' || unit >= 0x7F && unit < 0xA0
}
