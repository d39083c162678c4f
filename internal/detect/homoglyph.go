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
	'ɑ': 'a', 'ɡ': 'g', 'ı': 'i', 'ɩ': 'i', 'ո': 'n', 'օ': 'o', 'ս': 'u', 'հ': 'h', 'ց': 'g', 'ӓ': 'a', 'ӧ': 'o', 'ʏ': 'y',
}

// lookAlike is the Latin letter that a letter looks like.
func lookAlike(r rune) (latin rune, ok bool) {
	if int(r) < len(lookAlikeBytes) {
		latin = rune(lookAlikeBytes[r])
		return latin, latin > 0
	}
	if r < 0x2000 {
		latin, ok = lookAlikes[r]
	}
	return latin, ok
}

// lookAlikeLetters is where Latin, Greek, Cyrillic and Armenian end.
const lookAlikeLetters = 0x590

// lookAlikeBytes is most of lookAlikes, to be found sooner.
var lookAlikeBytes = func() (letters [lookAlikeLetters]byte) {
	for r, latin := range lookAlikes {
		if int(r) < len(letters) {
			letters[r] = byte(latin) //nolint:gosec // ASCII
		}
	}
	return letters
}()

// latinForm is the letter that a small capital, or a white letter on a black field, is: forms that NFKC leaves alone.
func latinForm(r rune) (latin rune, ok bool) {
	const smallCapitals, smallLetters = "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnopqrstuvwyz"
	switch {
	case r < 0x250:
	case r >= 0x1F150 && r <= 0x1F169:
		return 'a' + r - 0x1F150, true
	case r >= 0x1F170 && r <= 0x1F189:
		return 'a' + r - 0x1F170, true
	case r >= 0x1F1E6 && r <= 0x1F1FF: // the letters of flags
		return 'a' + r - 0x1F1E6, true
	case r < 0x2B0, r >= 0x1D00 && r < 0x1D80, r >= 0xA730 && r < 0xA7B0:
		n := 0
		for _, capital := range smallCapitals {
			if capital == r {
				return rune(smallLetters[n]), true
			}
			n++
		}
	}
	return 0, false
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
		if !joins(r) {
			break
		}
		w.from -= size
		w.latin = w.latin || r < utf8.RuneSelf
	}
	for range wordReach {
		r, size := utf8.DecodeRuneInString(text[w.to:])
		if !joins(r) {
			break
		}
		w.to += size
		w.latin = w.latin || r < utf8.RuneSelf
	}
	return w.latin
}

func inWord(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || invisible(r)) }

// joins is what inWord says, sooner.
func joins(r rune) bool {
	if r>>8 < foldPages {
		return foldings[r>>8]().inWord[r&0xFF]
	}
	return inWord(r)
}
