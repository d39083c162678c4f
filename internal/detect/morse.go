package detect

import "strings"

// morseCode is the letters and digits with their signs (ITU-R M.1677).
const morseCode = "a.- b-... c-.-. d-.. e. f..-. g--. h.... i.. j.--- k-.- l.-.. m-- n-. o--- p.--. q--.- r.-. s... t- u..- v...- w.-- x-..- " +
	"y-.-- z--.. 1.---- 2..--- 3...-- 4....- 5..... 6-.... 7--... 8---.. 9----. 0-----"

var morseLetters = func() map[string]byte {
	letters := map[string]byte{}
	for _, entry := range strings.Fields(morseCode) {
		letters[entry[1:]] = entry[0]
	}
	return letters
}()

// morseLeast is how many letters in Morse code are tried as text.
const morseLeast = 10

// morse decodes dots and dashes. Words end at slashes, bars and wider gaps.
func (d *deriver) morse(s span) {
	if s.end-s.start < 3*morseLeast {
		return
	}
	var b strings.Builder
	letters := 0
	code := strings.NewReplacer("/", "   ", "|", "   ", "\n", "   ").Replace(d.plain.text[s.start:s.end])
	for word := range strings.SplitSeq(code, "  ") {
		for sign := range strings.FieldsSeq(word) {
			c, ok := morseLetters[sign]
			if !ok {
				return
			}
			b.WriteByte(c)
			letters++
		}
		b.WriteByte(' ')
	}
	if said := b.String(); letters >= morseLeast && commonWords(said, 1) > 0 {
		d.whole("morse", strings.Join(strings.Fields(said), " "), s.start, s.end)
	}
}
