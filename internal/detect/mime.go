package detect

import (
	"strings"
	"unicode/utf8"
)

// body is the body of the part of a mail whose header goes on at byte at: from the blank line to the boundary of the next part.
func (d *deriver) body(at int) span {
	text := d.plain.text
	const header = 2 << 10
	start, blank := -1, false
	for i := at; i < min(len(text), at+header); i++ {
		switch c := text[i]; {
		case c == '\n' && blank:
			start = i + 1
		case c == '\n':
			blank = true
		case c > ' ':
			blank = false
		}
		if start >= 0 {
			break
		}
	}
	if start < 0 {
		return span{at, at}
	}
	if end := strings.Index(text[start:], "\n--"); end >= 0 {
		return span{start, start + end}
	}
	return span{start, len(text)}
}

// quotedPrintable decodes a body (RFC 2045, 6.7).
func (d *deriver) quotedPrintable(s span) {
	text := d.plain.text
	var g decoding
	for at := s.start; at < s.end; {
		c, size := d.quotedByte(at, s.end)
		switch {
		case size == 0:
			g.exact(text, at, at+1)
			size = 1
		case c >= 0:
			g.solid(string([]byte{byte(c)}), at, at+size) //nolint:gosec // below 256
		}
		at += size
	}
	d.decodedMail("quoted-printable", g)
}

// quotedByte reads the escape at byte at: a byte, or -1 for a line that goes on. Its size is 0 where there is none.
func (d *deriver) quotedByte(at, end int) (c, size int) {
	text := d.plain.text
	if text[at] != '=' {
		return 0, 0
	}
	rest := text[at+1 : end]
	if len(rest) >= 2 && hexDigits(rest[:2]) {
		return nibble(rest[0])<<4 | nibble(rest[1]), 3
	}
	line := strings.TrimLeft(rest[:min(len(rest), 4)], " \t\r")
	if line != "" && line[0] == '\n' {
		return -1, len(rest[:min(len(rest), 4)]) - len(line) + 2
	}
	return 0, 0
}

func nibble(c byte) int {
	if digit(c) {
		return int(c - '0')
	}
	return int(c|0x20-'a') + 10
}

// decodedMail adds a decoded text of a mail. What is no UTF-8 is read as Latin-1.
func (d *deriver) decodedMail(how string, g decoding) {
	if !utf8.Valid(g.text) {
		g = latin1(g)
	}
	d.add(how, g)
}

func latin1(g decoding) decoding {
	var out decoding
	for i, s := range g.segments {
		end := len(g.text)
		if i+1 < len(g.segments) {
			end = g.segments[i+1].at
		}
		part := g.text[s.at:end]
		s.at, s.exact = len(out.text), s.exact && onlyASCII(part)
		for _, c := range part {
			out.text = utf8.AppendRune(out.text, rune(c))
		}
		out.segments = append(out.segments, s)
	}
	return out
}

func onlyASCII(text []byte) bool {
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

const (
	// encodedWordMax bounds an encoded word, in bytes. RFC 2047 allows 75; not everybody obeys.
	encodedWordMax = 400
	// encodedWordsMax bounds how many in a row are read.
	encodedWordsMax = 64
)

// headerWords is the encoded words in a row that begin at byte at.
func (d *deriver) headerWords(at int) span {
	end := at
	for range encodedWordsMax {
		from := end
		for from < len(d.plain.text) && from-end < separatorMax && d.plain.text[from] <= ' ' {
			from++
		}
		_, _, size := encodedWord(d.plain.text[from:])
		if size == 0 {
			break
		}
		end = from + size
	}
	return span{at, max(end, at+2)}
}

// encodedWords decodes encoded words in a row (RFC 2047).
func (d *deriver) encodedWords(s span) {
	var b []byte
	for rest := d.plain.text[s.start:s.end]; rest != ""; {
		coding, said, size := encodedWord(rest)
		if size == 0 {
			return
		}
		if coding == 'b' {
			b = append(b, unbase64(strings.TrimRight(said, "="))...)
		} else {
			b = append(b, quotedWord(said)...)
		}
		rest = strings.TrimLeft(rest[size:], " \t\r\n")
	}
	var g decoding
	g.solid(string(b), s.start, s.end)
	d.decodedMail("encoded-word", g)
}

// encodedWord reads the encoded word that a text begins with. Its size is 0 where there is none.
func encodedWord(text string) (coding byte, said string, size int) {
	text = text[:min(len(text), encodedWordMax)]
	rest, ok := strings.CutPrefix(text, "=?")
	if !ok {
		return 0, "", 0
	}
	_, rest, ok = strings.Cut(rest, "?")
	if !ok || len(rest) < 2 || rest[1] != '?' || rest[0]|0x20 != 'b' && rest[0]|0x20 != 'q' {
		return 0, "", 0
	}
	coding = rest[0] | 0x20
	said, _, ok = strings.Cut(rest[2:], "?=")
	if !ok || strings.ContainsAny(said, " \n") {
		return 0, "", 0
	}
	return coding, said, len(text) - len(rest) + 2 + len(said) + 2
}

func quotedWord(said string) []byte {
	var b []byte
	for i := 0; i < len(said); i++ {
		switch c := said[i]; {
		case c == '_':
			b = append(b, ' ')
		case c == '=' && i+3 <= len(said) && hexDigits(said[i+1:i+3]):
			b = append(b, byte(nibble(said[i+1])<<4|nibble(said[i+2]))) //nolint:gosec // below 256
			i += 2
		default:
			b = append(b, c)
		}
	}
	return b
}
