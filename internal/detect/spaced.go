package detect

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// spacedLeast is how many letters that stand apart make words.
	spacedLeast = 8
	// spacedMost bounds the letters that are put together.
	spacedMost = 4 << 10
	// separators are what letters are set apart by.
	separators = " .-_*|/+,;~:\t\n"
)

// spaced puts letters together that stand apart: i g n o r e, i-g-n-o-r-e. A longer gap, or another, ends a word.
func (d *deriver) spaced(s streak) {
	if s.count < spacedLeast || s.start < d.spacedEnd {
		return
	}
	text := d.plain.text
	_, size := utf8.DecodeRuneInString(text[s.start:])
	gap := separator(text[s.start+size:])
	if gap == "" {
		return
	}
	var b strings.Builder
	letters, longest, word := 0, 0, 0
	at := s.start
	for at < len(text) && b.Len() < spacedMost {
		r, size := utf8.DecodeRuneInString(text[at:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		behind := separator(text[at+size:])
		if behind == "" && at+size < len(text) && wordAfter(text, at+size) {
			break // it begins a word that is written as words are
		}
		b.WriteRune(r)
		if unicode.IsLetter(r) {
			letters++
		}
		word++
		longest = max(longest, word)
		at += size
		if behind == "" {
			break
		}
		if behind != gap {
			b.WriteByte(' ')
			word = 0
		}
		at += len(behind)
	}
	d.spacedEnd = at
	if letters < spacedLeast {
		return
	}
	said := b.String()
	if longest > wordMost {
		said = segmented(said)
	}
	end := s.start + len(strings.TrimRight(text[s.start:at], separators))
	d.whole("spaced", said, s.start, end)
}

// separated reports whether a token is letters with a sign between: i-g-n-o-r-e.
func separated(token string) bool {
	sign := token[1]
	return (sign == '-' || sign == '_' || sign == '/' || sign == '+') && token[3] == sign && token[5] == sign && token[7] == sign
}

// separator is what stands between letters at the beginning of a text.
func separator(text string) string {
	end := 0
	for end < len(text) && end <= separatorMax && strings.IndexByte(separators, text[end]) >= 0 {
		end++
	}
	return text[:end]
}
