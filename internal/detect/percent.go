package detect

import "strings"

// addressReach bounds what is read of an address to either side of an escape, in bytes.
const addressReach = 1 << 10

// addresses is the words of a text that hold percent escapes (RFC 3986, 2.1), each on a line of its own and with the escapes undone:
// the value of a parameter, and the name before it.
func addresses(text string) unescaped {
	var u unescaped
	var out []byte
	done := 0
	for i := strings.IndexByte(text, '%'); i >= 0; {
		from, to := i, i+1
		if percentEscape(text, i) > 0 {
			for from > max(done, i-addressReach) && text[from-1] > ' ' {
				from--
			}
			for to < min(len(text), i+addressReach) && text[to] > ' ' {
				to++
			}
			out = u.decode(out, text, from, to)
			done = to
		}
		next := strings.IndexByte(text[to:], '%')
		if next < 0 {
			break
		}
		i = to + next
	}
	if len(out) > 0 {
		u.text, u.origin = string(out), append(u.origin, int32(done)) //nolint:gosec // chunks are short
	}
	return u
}

// decode adds a word of a text and the end of a line.
func (u *unescaped) decode(out []byte, text string, from, to int) []byte {
	for at := from; at < to; at++ {
		u.origin = append(u.origin, int32(at)) //nolint:gosec // chunks are short
		if c := percentEscape(text, at); c > 0 {
			out = append(out, c)
			at += 2
			continue
		}
		out = append(out, text[at])
	}
	u.origin = append(u.origin, int32(to)) //nolint:gosec // chunks are short
	return append(out, '\n')
}

// percentEscape is the printable character of ASCII that the escape at byte i stands for; 0 where there is none.
func percentEscape(text string, i int) byte {
	if i+3 > len(text) || text[i] != '%' || !hexDigit(text[i+1]) || !hexDigit(text[i+2]) {
		return 0
	}
	if c := hexValue(text[i+1])<<4 | hexValue(text[i+2]); c > ' ' && c < 0x7F {
		return c
	}
	return 0
}

// hexValue is the value of a hexadecimal digit.
func hexValue(c byte) byte {
	if digit(c) {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}
