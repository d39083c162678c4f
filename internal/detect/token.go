package detect

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is the next token of a [Sieve]: what stands between two blanks, or a sign of a script that is written without any.
type token struct {
	end   int
	kind  tokenKind
	names bool // what follows may be assigned to a name before it
}

// tokenKind says what a token may be a part of.
//
// A match of no detector begins in a plain token. Numbers of people and accounts have digits; addresses of mail and machines
// have an at-sign, dots or colons; secrets have digits, signs or many letters, except for passwords, which are assigned to a
// name; keys in PEM begin with five hyphens. An encoding of them is long or has digits or signs, too; one with single letters
// or pairs of digits, apart, has many of these; odd letters stand for others.
type tokenKind byte

const (
	plainToken tokenKind = iota
	weakToken            // a letter alone, or a number of two digits: several of them may be a match
	oddToken             // may be a match, or a part of one
)

const (
	// weakMost is how many weak tokens in a row may be a match: a telephone number in pairs has four.
	weakMost = 3
	// wordLetters is the letters of a long word, and mixedLetters those of one with capitals in it.
	wordLetters, mixedLetters = 20, 11
	// passwordLeast is how many letters an assigned value has that is looked at although it is a word.
	passwordLeast = 8
)

// token reads the token that begins where all before is known. It is not ok while that is not complete.
func (v *Sieve) token(last bool) (t token, ok bool) {
	text := v.buf[v.at-v.base:]
	if len(text) == 0 {
		return t, false
	}
	n, odd := 0, false
	for n < len(text) && text[n] > ' ' && n < heldEver {
		if text[n] < utf8.RuneSelf {
			n++
			continue
		}
		if !utf8.FullRune(text[n:]) && !last {
			return t, false
		}
		r, size := utf8.DecodeRune(text[n:])
		if !spelled(r) {
			if n > 0 {
				return v.complete(text[:n], odd), true
			}
			kind := plainToken
			if oddRune(r) {
				kind = oddToken
			}
			return token{end: v.at + size, kind: kind}, true
		}
		odd = odd || oddRune(r)
		n += size
	}
	if n == len(text) && !last && n < heldEver {
		if k := v.eagerly(); k > 0 && v.from < 0 {
			v.decided = max(v.decided, v.at+k)
		}
		return t, false
	}
	return v.complete(text[:n], odd), true
}

// complete classifies a token.
func (v *Sieve) complete(text []byte, odd bool) token {
	if k := v.eagerly(); k > 0 && v.from < 0 {
		v.decided = max(v.decided, v.at+min(k, len(text)))
	}
	t := token{end: v.at + len(text), kind: kindOf(text, v.valued)}
	if odd {
		t.kind = oddToken
	}
	word := bare(text)
	t.names = strings.IndexByte(":=|>", text[len(text)-1]) >= 0 || string(word) == "is" || v.valued && len(word) == 0
	return t
}

// edges are the signs that stand around words.
var edges = func() (is [256]bool) {
	for _, c := range []byte("\"'.,;:!?()[]{}*_~`<>#|-/=+$%&") {
		is[c] = true
	}
	return is
}()

// bare is a token without the signs around it.
func bare(text []byte) []byte {
	for len(text) > 0 && edges[text[0]] {
		text = text[1:]
	}
	for len(text) > 0 && edges[text[len(text)-1]] {
		text = text[:len(text)-1]
	}
	return text
}

func kindOf(text []byte, valued bool) tokenKind {
	word := bare(text)
	if bytes.Contains(text, []byte("-----")) || len(word) == 0 && bytes.IndexByte(text, '.') >= 0 && bytes.IndexByte(text, '-') >= 0 {
		return oddToken
	}
	if len(word) == 0 {
		return plainToken
	}
	letters, capitals, digits := 0, 0, 0
	for i, c := range word {
		switch {
		case digit(c):
			digits++
		case capital(c):
			if letters++; i > 0 {
				capitals++
			}
		case letter(c), c >= utf8.RuneSelf:
			letters++
		case c != '\'' && c != '-':
			return oddToken
		}
	}
	switch {
	case digits > 2 || digits > 0 && letters > 0, len(word) > wordLetters:
		return oddToken
	case digits > 0 || len(word) == 1:
		return weakToken
	case capitals > 0 && len(word) > mixedLetters, valued && letters >= passwordLeast:
		return oddToken
	}
	return plainToken
}

// spelled reports whether a rune is of a script whose words stand between blanks.
func spelled(r rune) bool { return r < 0x530 && unicode.In(r, unicode.Letter, unicode.Mn) }

// oddRune reports whether a rune stands for another, or is not seen: what machines read may be spelled with it.
func oddRune(r rune) bool {
	switch {
	case r == utf8.RuneError, r >= 0x250 && r < 0x2B0, r >= 0xFF01 && r <= 0xFF5E, r >= 0x1D400 && r < 0x1D800, r >= 0x2460 && r < 0x2500,
		r >= 0x1F100 && r < 0x1F1E6, r >= 0x2100 && r < 0x2150, r >= 0xE0000, r == 0x1DD, r >= 0x1D00 && r < 0x1DC0, r >= 0x2070 && r < 0x20A0:
		return true
	}
	return unicode.In(r, unicode.Cf, unicode.Co)
}

// pemState is how much of a key in PEM (RFC 7468) has gone by.
type pemState byte

const (
	outsidePEM pemState = iota
	insidePEM
	lastLineOfPEM
)

// after is the state behind a token.
func (s pemState) after(token []byte) pemState {
	switch {
	case bytes.Contains(token, []byte("-----END")):
		return lastLineOfPEM
	case bytes.Contains(token, []byte("-----BEGIN")):
		return insidePEM
	case s == lastLineOfPEM && bytes.Contains(token, []byte("-----")):
		return outsidePEM
	}
	return s
}
