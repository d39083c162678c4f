// Package canonical writes JSON in one form, so that equal documents have equal hashes: RFC 8785, with one difference. A number
// stays the exact decimal that it was written as; RFC 8785 rounds it to a double, and two account numbers of twenty digits
// would become one. Where a double holds the number exactly the bytes are those of RFC 8785.
package canonical

import (
	"crypto/sha256"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
)

// ErrNumber says that a number has an exponent of more than nine digits.
var ErrNumber = errors.New("a number's exponent is too large")

// JSON is the canonical form of a document of at most depth nested arrays and objects. What is no JSON, or ambiguous, is a
// [*rawjson.Error].
func JSON(doc []byte, depth int) ([]byte, error) {
	v, err := rawjson.Parse(doc, depth)
	if err != nil {
		return nil, err
	}
	return appendValue(make([]byte, 0, len(doc)), v, doc)
}

// Digest is SHA-256 of the canonical form.
func Digest(doc []byte, depth int) ([32]byte, error) {
	form, err := JSON(doc, depth)
	if err != nil {
		return [32]byte{}, err
	}
	return sha256.Sum256(form), nil
}

func appendValue(out []byte, v rawjson.Value, doc []byte) ([]byte, error) {
	switch v.Kind {
	case rawjson.Object:
		return appendObject(out, v, doc)
	case rawjson.Array:
		out = append(out, '[')
		for i, e := range v.Elems {
			if i > 0 {
				out = append(out, ',')
			}
			var err error
			if out, err = appendValue(out, e, doc); err != nil {
				return nil, err
			}
		}
		return append(out, ']'), nil
	case rawjson.String:
		return appendString(out, v.Text(doc)), nil
	case rawjson.Number:
		return appendNumber(out, string(v.Raw(doc)))
	}
	return append(out, v.Raw(doc)...), nil // true, false, null
}

// appendObject sorts the members by their names as UTF-16 (RFC 8785, section 3.2.3).
func appendObject(out []byte, v rawjson.Value, doc []byte) ([]byte, error) {
	members := slices.Clone(v.Members)
	slices.SortFunc(members, func(a, b rawjson.Member) int {
		return slices.Compare(utf16.Encode([]rune(a.Key)), utf16.Encode([]rune(b.Key)))
	})
	out = append(out, '{')
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendString(out, m.Key), ':')
		var err error
		if out, err = appendValue(out, m.Value, doc); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

// appendString escapes what must be escaped and nothing else (RFC 8785, section 3.2.2.2).
func appendString(out []byte, s string) []byte {
	out = append(out, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c >= ' ':
			out = append(out, c)
		case strings.IndexByte("\b\t\n\f\r", c) >= 0:
			out = append(out, '\\', "btn.fr"[c-'\b'])
		default:
			out = append(out, '\\', 'u', '0', '0', "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		}
	}
	return append(out, '"')
}

const maxExponentDigits = 9

// appendNumber writes a number as ECMAScript writes numbers (RFC 8785, section 3.2.2.3), but with all of its digits.
func appendNumber(out []byte, text string) ([]byte, error) {
	text, negative := strings.CutPrefix(text, "-")
	mantissa, exponent := text, 0
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		mantissa = text[:at]
		power := strings.TrimPrefix(text[at+1:], "+")
		if len(strings.TrimLeft(strings.TrimPrefix(power, "-"), "0")) > maxExponentDigits {
			return nil, ErrNumber
		}
		var err error
		if exponent, err = strconv.Atoi(power); err != nil {
			return nil, ErrNumber
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return append(out, '0'), nil
	}
	if negative {
		out = append(out, '-')
	}
	// The value is 0.DIGITS × 10^point.
	point := len(whole) + exponent - (len(whole) + len(fraction) - len(digits))
	digits = strings.TrimRight(digits, "0")
	n := len(digits)
	switch {
	case n <= point && point <= 21:
		return append(append(out, digits...), strings.Repeat("0", point-n)...), nil
	case 0 < point && point <= 21:
		return append(append(append(out, digits[:point]...), '.'), digits[point:]...), nil
	case -6 < point && point <= 0:
		return append(append(append(out, "0."...), strings.Repeat("0", -point)...), digits...), nil
	}
	out = append(out, digits[0])
	if n > 1 {
		out = append(append(out, '.'), digits[1:]...)
	}
	out = append(out, 'e')
	if point > 0 {
		out = append(out, '+')
	}
	return strconv.AppendInt(out, int64(point-1), 10), nil
}
