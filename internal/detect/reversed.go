package detect

import (
	"slices"
	"strings"
	"unicode"
)

// reversed decodes a passage that is written backwards: as a whole, or word by word.
func (d *deriver) reversed(s span) {
	text := d.plain.text[s.start:s.end]
	runes := []rune(text)
	words := slices.Clone(runes)
	slices.Reverse(runes)
	if commonWords(string(runes), decodedLeast) < decodedLeast {
		return
	}
	d.whole(howReversed, string(runes), s.start, s.end)
	for i := 0; i < len(words); {
		j := i
		for j < len(words) && unicode.IsLetter(words[j]) {
			j++
		}
		slices.Reverse(words[i:j])
		i = j + 1
	}
	d.whole(howReversed, string(words), s.start, s.end)
}

// turnedLetters are letters that look like others upside down, and those others.
const turnedLetters, uprightLetters = "ɐqɔpǝɟƃɓɥᴉıɾʞןlɯuodbɹsʇnʌʍxʎz", "abcdefgghiijkllmnopqrstuvwxyz"

// turned decodes a passage that is written upside down: last letter first.
func (d *deriver) turned(s span) {
	turned, upright := []rune(turnedLetters), []rune(uprightLetters)
	runes := []rune(strings.ToLower(d.plain.text[s.start:s.end]))
	for i, r := range runes {
		if k := slices.Index(turned, r); k >= 0 {
			runes[i] = upright[k]
		}
	}
	slices.Reverse(runes)
	if said := string(runes); commonWords(said, 2) > 1 {
		d.whole("turned", said, s.start, s.end)
	}
}
