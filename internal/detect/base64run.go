package detect

import (
	"encoding/base64"
	hexadecimal "encoding/hex"
	"strings"
)

const (
	// encodedLeast is the length from which a token is tried as base64, in characters.
	encodedLeast = 20
	// hexLeast is the length from which one is tried as hexadecimal digits.
	hexLeast = 24
	// encodedProbe is how much of a run is decoded to see whether it is text.
	encodedProbe = 24
)

// base64 decodes the run that begins with a token, over line ends, and returns where it ends (RFC 4648, both alphabets). What stands
// before a slash may be a path.
func (d *deriver) base64(start, end int) int {
	text := d.plain.text
	if start == 0 && d.n.depth == 0 {
		start = phase(text[:end]) // a chunk may begin within a run
	}
	if !probes(text[start:end]) {
		slash := start + strings.LastIndexByte(text[start:end], '/') + 1
		if end-slash < encodedLeast || !probes(text[slash:end]) {
			return end
		}
		start = slash
	}
	digits := []byte(text[start:end])
	for last := start; ; {
		from := d.lineOfBase64(last, end)
		if from < 0 {
			break
		}
		for end = from; end < len(text) && tokenKinds[text[end]] != 0; end++ {
		}
		last = from
		digits = append(digits, text[from:end]...)
	}
	for k := 0; k < 2 && byteAt(text, end) == '='; k++ {
		end++
	}
	if said := readable(unbase64(string(digits))); said != "" {
		d.whole("base64", said, start, end)
	}
	return end
}

// phase is where the first whole group of digits begins in a run whose beginning may lie in the chunk before; 0 where none is found.
func phase(run string) int {
	const digits = 4 // of a group
	for i := range min(digits, len(run)) {
		if probes(run[i:]) {
			return i
		}
	}
	return 0
}

// probes reports whether a run begins as text in base64 does.
func probes(run string) bool {
	b := unbase64(run[:min(encodedProbe, len(run))/4*4])
	return printable(b) == len(b) && len(b) > 0 || wide16(b[:len(b)/2*2]) != ""
}

// lineOfBase64 is where a run goes on that ends at the end of a line; -1 where it does not.
func (d *deriver) lineOfBase64(start, end int) int {
	text := d.plain.text
	const least, indent = 20, 8
	if end-start < least {
		return -1
	}
	i, ended := end, false
	for ; i < len(text) && i-end < indent && strings.IndexByte(" \t\r\n>", text[i]) >= 0; i++ {
		ended = ended || text[i] == '\n'
	}
	if !ended || i == len(text) || tokenKinds[text[i]] == 0 {
		return -1
	}
	to := i
	for to < len(text) && tokenKinds[text[to]] != 0 {
		to++
	}
	if c := byteAt(text, to); c != 0 && c != '=' && c != '\n' && c != ' ' && c != '\r' && c != '"' {
		return -1
	}
	if c := byteAt(text, to); c == ' ' && byteAt(text, to+1) != '\n' {
		return -1
	}
	return i
}

// standardDigits turns the digits of addresses into those of mail (RFC 4648, sections 4 and 5).
var standardDigits = strings.NewReplacer("-", "+", "_", "/")

// unbase64 decodes digits, up to the last whole byte.
func unbase64(digits string) []byte {
	if strings.ContainsAny(digits, "-_") {
		digits = standardDigits.Replace(digits)
	}
	if len(digits)%4 == 1 {
		digits = digits[:len(digits)-1]
	}
	b, err := base64.RawStdEncoding.DecodeString(digits)
	if err != nil {
		return nil
	}
	return b
}

// hex decodes the digits start..end.
func (d *deriver) hex(start, end int) {
	digits := d.plain.text[start:end]
	if len(digits)%2 == 1 {
		return
	}
	var probe [hexLeast / 2]byte
	if _, err := hexadecimal.Decode(probe[:], []byte(digits[:hexLeast])); err != nil || printable(probe[:]) < len(probe)-1 {
		return
	}
	if b, err := hexadecimal.DecodeString(digits); err == nil {
		if said := readable(b); said != "" {
			d.whole("hex", said, start, end)
		}
	}
}

// pairsLeast is how many hexadecimal bytes in a row are tried as text.
const pairsLeast = 8

// hexPairs decodes bytes that are written one by one: 69 67 6e, 0x69, 0x67.
func (d *deriver) hexPairs(s streak) {
	if s.count < pairsLeast {
		return
	}
	var b []byte
	text := d.plain.text[s.start:s.end]
	for i := 0; i+1 < len(text); {
		if text[i] == '0' && text[i+1]|0x20 == 'x' || !hexDigits(text[i:i+2]) {
			i++
			if i < len(text) && text[i]|0x20 == 'x' {
				i++
			}
			continue
		}
		one, _ := hexadecimal.DecodeString(text[i : i+2]) // they are digits
		b = append(b, one...)
		i += 2
	}
	if said := readable(b); said != "" {
		d.whole("hex", said, s.start, s.end)
	}
}

func hexDigits(text string) bool {
	for _, c := range []byte(text) {
		if tokenKinds[c]&notHex != 0 || tokenKinds[c] == 0 {
			return false
		}
	}
	return true
}

// bitsLeast is how many bytes in binary are tried as text.
const bitsLeast = 8

// binary decodes bytes that are written as zeros and ones.
func (d *deriver) binary(s streak) {
	if s.count < bitsLeast {
		return
	}
	var b []byte
	bits, n := byte(0), 0
	for _, c := range []byte(d.plain.text[s.start:s.end]) {
		if c != '0' && c != '1' {
			continue
		}
		if bits, n = bits<<1|(c-'0'), n+1; n == 8 {
			b, bits, n = append(b, bits), 0, 0
		}
	}
	if said := readable(b); said != "" {
		d.whole("binary", said, s.start, s.end)
	}
}
