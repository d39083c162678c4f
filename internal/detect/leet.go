package detect

// leetLetters bounds words in leetspeak, in bytes.
const leetLetters = 16

// leetLeast is how many words of a line are common ones once their digits are read as letters, before the line is read so.
const leetLeast = 2

// unleet is the letter that a digit or sign stands for in leetspeak; the byte itself where it stands for none. A one is either of two.
func unleet(c, one byte) byte {
	switch c {
	case '0':
		return 'o'
	case '1', '!', '|':
		return one
	case '3':
		return 'e'
	case '4', '@':
		return 'a'
	case '5', '$':
		return 's'
	case '7', '+':
		return 't'
	case '8':
		return 'b'
	case '9':
		return 'g'
	}
	return c
}

// leetReadings are the letters that bytes are read as in the two readings of a one, capitals as small ones.
var leetReadings = func() (all [2][256]byte) {
	for k, one := range []byte{'i', 'l'} {
		for i := range all[k] {
			c := byte(i) //nolint:gosec // an index of 256
			if all[k][i] = unleet(c, one); letter(c) {
				all[k][i] = c | 0x20
			}
		}
	}
	return all
}()

// leetSort says what a byte means for a word.
type leetSort uint8

const (
	leetLetter  leetSort = 1 << iota
	leetChanged          // a reading may have another byte in its place
	leetOne              // one of two letters
	leetNothing          // stands for nothing
)

var leetSorts = func() (sorts [256]leetSort) {
	for i := range sorts {
		c := byte(i) //nolint:gosec // an index of 256
		if letter(c) {
			sorts[i] |= leetLetter
		}
		if leetReadings[0][i] != c {
			sorts[i] |= leetChanged
		}
		if leetReadings[0][i] != leetReadings[1][i] {
			sorts[i] |= leetOne
		}
		if c == '2' || c == '6' {
			sorts[i] |= leetNothing
		}
	}
	return sorts
}()

// leetToken looks at a word with digits in it.
func (d *deriver) leetToken(start, end int) {
	if start < d.lineEnd {
		return
	}
	if _, ok := leetWord(d.plain.text[start:end]); !ok {
		return
	}
	const reach = 48
	d.leet.add(start, end, reach)
	if d.leet.count < leetLeast {
		return
	}
	s := within(d.plain.text, d.leet.start, end, "\n")
	s.start = max(s.start, runeStart(d.plain.text, max(d.lineEnd-passageOverlap, 0)))
	d.lineEnd = s.end
	d.leet = streak{}
	d.add("leet", decoding{leetText(d.plain.text[s.start:s.end]), []segment{{0, s.start, s.end, true}}})
}

// leetWord reads a word in leetspeak, of leetLetters at most. It is not ok where that is no common word.
func leetWord[T string | []byte](word T) (read [leetLetters]byte, ok bool) {
	sorts := leetSort(0)
	for i := range len(word) {
		sorts |= leetSorts[word[i]]
		read[i] = leetReadings[0][word[i]]
	}
	if sorts&leetNothing != 0 {
		return read, false
	}
	if ok = common(string(read[:len(word)])); ok || sorts&leetOne == 0 {
		return read, ok
	}
	for i := range len(word) {
		read[i] = leetReadings[1][word[i]]
	}
	return read, common(string(read[:len(word)]))
}

// leetText reads a line in leetspeak. Numbers stay, but for those that spell a common word.
func leetText(line string) []byte {
	text := []byte(line)
	for i := 0; i < len(text); {
		j, sorts := i, leetSort(0)
		for j < len(text) && text[j] > ' ' && text[j] < 0x80 && text[j] != '"' {
			sorts |= leetSorts[text[j]]
			j++
		}
		if letters := sorts&leetLetter != 0; sorts&leetChanged != 0 && (letters || j-i <= leetNumber) {
			leetInto(text[i:j], letters)
		}
		i = j + 1
	}
	return text
}

// leetNumber is how many digits may spell a word: 70 is "to".
const leetNumber = 3

// leetInto reads one word. A word that is not a common one is read letter by letter only where it has letters.
func leetInto(word []byte, letters bool) {
	end := len(word)
	for end > 0 && (word[end-1] == '!' || word[end-1] == '.' || word[end-1] == ',') {
		end--
	}
	word = word[:end]
	if len(word) <= leetLetters {
		if read, ok := leetWord(word); ok {
			copy(word, read[:])
			return
		}
	}
	for i, c := range word {
		if letters && !letter(c) {
			word[i] = leetReadings[0][c]
		}
	}
}
