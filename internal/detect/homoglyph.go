package detect

import (
	"unicode"
	"unicode/utf8"
)

// lookAlikes are Cyrillic, Greek and other letters that readers take for Latin ones, with the Latin letter in lower case
// (a part of Unicode Technical Standard 39, confusables.txt). Full-width and mathematical letters need no entry: NFKC
// folds them.
var lookAlikes = map[rune]rune{
	'а': 'a', 'А': 'a', 'В': 'b', 'Ь': 'b', 'с': 'c', 'С': 'c', 'ԁ': 'd', 'е': 'e', 'Е': 'e', 'ё': 'e', 'Ё': 'e',
	'ғ': 'f', 'ԍ': 'g', 'һ': 'h', 'Н': 'h', 'і': 'i', 'І': 'i', 'ї': 'i', 'Ї': 'i', 'ӏ': 'l', 'Ӏ': 'l', 'ј': 'j', 'Ј': 'j',
	'к': 'k', 'К': 'k', 'М': 'm', 'м': 'm', 'п': 'n', 'о': 'o', 'О': 'o', 'р': 'p', 'Р': 'p', 'ԛ': 'q', 'г': 'r',
	'ѕ': 's', 'Ѕ': 's', 'т': 't', 'Т': 't', 'у': 'y', 'У': 'y', 'ү': 'y', 'ѵ': 'v', 'ԝ': 'w', 'х': 'x', 'Х': 'x', 'ᴢ': 'z',
	'α': 'a', 'Α': 'a', 'Β': 'b', 'β': 'b', 'ϲ': 'c', 'ε': 'e', 'Ε': 'e', 'Η': 'h', 'η': 'n', 'ι': 'i', 'Ι': 'i', 'ϳ': 'j',
	'κ': 'k', 'Κ': 'k', 'Μ': 'm', 'Ν': 'n', 'ν': 'v', 'ο': 'o', 'Ο': 'o', 'ρ': 'p', 'Ρ': 'p', 'τ': 't', 'Τ': 't',
	'υ': 'u', 'Υ': 'y', 'χ': 'x', 'Χ': 'x', 'Ζ': 'z', 'γ': 'y', 'ω': 'w',
	'ɑ': 'a', 'ɡ': 'g', 'ı': 'i', 'ɩ': 'i', 'ո': 'n', 'օ': 'o', 'ս': 'u', 'հ': 'h', 'ց': 'g', 'ӓ': 'a', 'ӧ': 'o', 'ʏ': 'y', 'ʀ': 'r',
}

// wordReach bounds how far a word is read: longer ones are no words.
const wordReach = 64

// word remembers the word that was looked at last, so that a word is read once however many of its letters ask.
type word struct {
	from, to int
	latin    bool
}

// mixed reports whether the word around byte at of a text holds ASCII letters. Only such words are folded: text that is
// really Russian or Greek stays what it is.
func (w *word) mixed(text string, at int) bool {
	if at >= w.from && at < w.to {
		return w.latin
	}
	w.from, w.to, w.latin = at, at, false
	for range wordReach {
		r, size := utf8.DecodeLastRuneInString(text[:w.from])
		if !inWord(r) {
			break
		}
		w.from -= size
		w.latin = w.latin || r < utf8.RuneSelf
	}
	for range wordReach {
		r, size := utf8.DecodeRuneInString(text[w.to:])
		if !inWord(r) {
			break
		}
		w.to += size
		w.latin = w.latin || r < utf8.RuneSelf
	}
	return w.latin
}

func inWord(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || invisible(r)) }
