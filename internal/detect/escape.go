package detect

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// percentLeast is how many escapes a run has before it is decoded.
	percentLeast = 3
	// percentReach bounds the run to either side of the first, in bytes.
	percentReach = 2 << 10
)

// percent decodes the run around the percent sign at byte i, as addresses have it (RFC 3986, 2.1; forms write blanks as plus).
func (d *deriver) percent(i int) {
	text := d.plain.text
	if i+3 > len(text) || !hexDigits(text[i+1:i+3]) {
		return
	}
	from, to := i, i
	for from > max(d.percents, i-percentReach) && valueByte(text[from-1]) {
		from--
	}
	for to < min(len(text), i+percentReach) && valueByte(text[to]) {
		to++
	}
	d.percents = to
	g := d.blank()
	count := 0
	for at := from; at < to; {
		c := text[at]
		switch {
		case c == '+':
			g.solid(" ", at, at+1)
			count++
		case c == '%' && at+3 <= to && hexDigits(text[at+1:at+3]):
			b, _ := strconv.ParseUint(text[at+1:at+3], 16, 8) // they are digits
			g.solid(string([]byte{byte(b)}), at, at+3)
			at += 2
			count++
		default:
			g.exact(text, at, at+1)
		}
		at++
	}
	if count >= percentLeast && utf8.Valid(g.text) {
		d.add("percent", g)
	}
	d.spare = g
}

// valueByte reports whether a byte can stand in a value, or a segment of a path, of an address.
func valueByte(c byte) bool {
	return c > ' ' && c < 0x7F && strings.IndexByte("\"'<>`\\()=&?/;#", c) < 0
}

// programEscapes is how a view was made of the escapes of a program.
const programEscapes = "escapes"

// escapes decodes the escapes of programs in a line: \x41, \u0041, \u{41}.
func (d *deriver) escapes(s span) {
	text := d.plain.text
	g := d.blank()
	for at := s.start; at < s.end; {
		lead := at
		for lead+1 < s.end && text[lead+1] == '\\' && text[lead] == '\\' {
			lead++ // escapes within strings of JSON are escaped, and are not cut through
		}
		r, size := programEscape(text[lead:s.end])
		if size == 0 {
			end := lead + 1
			for end < s.end && text[end] != '\\' {
				end++
			}
			g.exact(text, at, end)
			at = end
			continue
		}
		g.solid(string(r), at, lead+size)
		at = lead + size
	}
	d.add(programEscapes, g)
	d.spare = g
}

// programEscape reads the escape that a text begins with; its size is 0 where there is none.
func programEscape(text string) (r rune, size int) {
	if len(text) < 4 || text[0] != '\\' {
		return 0, 0
	}
	digits := text[2:]
	switch {
	case text[1] == 'x' && hexDigits(digits[:2]):
		digits, size = digits[:2], 4
	case text[1] == 'u' && digits[0] == '{':
		end := strings.IndexByte(digits[:min(len(digits), 8)], '}')
		if end < 2 || !hexDigits(digits[1:end]) {
			return 0, 0
		}
		digits, size = digits[1:end], end+3
	case text[1] == 'u' && len(digits) >= 4 && hexDigits(digits[:4]):
		digits, size = digits[:4], 6
	default:
		return 0, 0
	}
	n, err := strconv.ParseUint(digits, 16, 21)
	if err != nil {
		return 0, 0
	}
	return rune(n), size //nolint:gosec // 21 bits
}
