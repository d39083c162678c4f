package provenance

import (
	"encoding/json"
	"html"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gatehouse-gateway/gatehouse/internal/deed"
)

const (
	// maxDecoded is how often a text is decoded: JSON within JSON within JSON.
	maxDecoded = 4
	// maxReadings is how many texts one is read as, those that it hides included.
	maxReadings = 6
)

// readings are a text as it stands and as those read it who undo its escapes: of JSON, of HTML, of addresses. Behind those
// that it shows are the ones that it hides.
func readings(text string) (out []string, shown int) {
	if structured(text) {
		text = unescape(divided(text)) // nobody reads JSON with its escapes
	}
	out = []string{text}
	for i := 0; i < len(out) && len(out) < maxDecoded; i++ {
		for _, decode := range [...]func(string) string{unescape, entities, percent} {
			if r := decode(out[i]); len(out) < maxDecoded && r != out[i] {
				out = append(out, r)
			}
		}
	}
	if carried := deed.Carried(text); carried != "" {
		out = append(out, carried)
	}
	hidden := deed.Undisguised(text)
	return append(out, hidden[:min(len(hidden), maxReadings-len(out))]...), len(out)
}

// divided puts a separator in place of the quotes around the strings of a JSON value. A text that is none stays as it is.
func divided(text string) string {
	if !json.Valid([]byte(text)) {
		return text
	}
	out := []byte(text)
	for i := 0; i < len(out); i++ {
		switch out[i] {
		case '\\':
			i++
		case '"':
			out[i] = deed.Separator
		}
	}
	return string(out)
}

// structured reports whether a text begins as JSON does, and not as the line of a log: [INFO].
func structured(text string) bool {
	begin := strings.TrimLeft(text, " \t\r\n")
	if begin == "" || strings.IndexByte(`{["`, begin[0]) < 0 {
		return false
	}
	inner := strings.TrimLeft(begin[1:], " \t\r\n")
	return begin[0] != '[' || inner == "" || strings.IndexByte(`{["]-0123456789tfn`, inner[0]) >= 0
}

func entities(text string) string {
	if i := strings.IndexByte(text, '&'); i < 0 || strings.IndexByte(text[i:], ';') < 0 {
		return text
	}
	return html.UnescapeString(text)
}

// unescape undoes the escapes of JSON strings, wherever they stand.
func unescape(text string) string {
	at := strings.IndexByte(text, '\\')
	if at < 0 {
		return text
	}
	out := append(make([]byte, 0, len(text)), text[:at]...)
	for at < len(text) {
		if text[at] != '\\' || at+1 == len(text) {
			out, at = append(out, text[at]), at+1
			continue
		}
		switch c := text[at+1]; c {
		case 'n', 'r':
			out, at = append(out, '\n'), at+2
		case 't', 'b', 'f':
			out, at = append(out, ' '), at+2
		case '"', '\\', '/':
			out, at = append(out, c), at+2
		case 'u':
			r, size := escaped(text[at:])
			out, at = utf8.AppendRune(out, r), at+size
		default:
			out, at = append(out, '\\'), at+1
		}
	}
	return string(out)
}

// escaped reads \uXXXX, and both halves of a pair. What is none stands for its backslash.
func escaped(text string) (r rune, size int) {
	r, ok := unit(text)
	switch {
	case !ok:
		return '\\', 1
	case utf16.IsSurrogate(r):
		if low, ok := unit(text[6:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 12
			}
		}
		return utf8.RuneError, 6
	}
	return r, 6
}

func unit(text string) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(text[2:6], 16, 16)
	return rune(n), err == nil
}

// percent undoes the escapes of addresses: a%40b.example.
func percent(text string) string {
	at := strings.IndexByte(text, '%')
	if at < 0 {
		return text
	}
	out := append(make([]byte, 0, len(text)), text[:at]...)
	for at < len(text) {
		if text[at] == '%' && at+2 < len(text) {
			if n, err := strconv.ParseUint(text[at+1:at+3], 16, 8); err == nil {
				out, at = append(out, byte(n)), at+3
				continue
			}
		}
		out, at = append(out, text[at]), at+1
	}
	return strings.ToValidUTF8(string(out), "\uFFFD")
}
