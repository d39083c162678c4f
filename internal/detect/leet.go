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

// leetWord reads a word in leetspeak. It is not ok where that is no common word.
func leetWord(word string) (read [leetLetters]byte, ok bool) {
	ones := 0
	for _, c := range []byte(word) {
		if c == '2' || c == '6' {
			return read, false // they stand for nothing
		}
		if c == '1' || c == '!' || c == '|' {
			ones++
		}
	}
	for _, one := range []byte{'i', 'l'}[:1+min(ones, 1)] {
		for i, c := range []byte(word) {
			read[i] = unleet(c|0x20, one)
			if !letter(c) {
				read[i] = unleet(c, one)
			}
		}
		if common(string(read[:len(word)])) {
			return read, true
		}
	}
	return read, false
}

// leetText reads a line in leetspeak. Numbers stay, but for those that spell a common word.
func leetText(line string) []byte {
	text := []byte(line)
	for i := 0; i < len(text); {
		j, letters := i, 0
		for j < len(text) && text[j] > ' ' && text[j] < 0x80 && text[j] != '"' {
			if letter(text[j]) {
				letters++
			}
			j++
		}
		if letters > 0 || j-i <= leetNumber {
			leetInto(text[i:j], letters > 0)
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
		if read, ok := leetWord(string(word)); ok {
			copy(word, read[:])
			return
		}
	}
	for i, c := range word {
		if letters {
			word[i] = unleet(c, 'i')
		}
	}
}
