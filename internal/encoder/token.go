package encoder

import "unicode/utf8"

// maxWord is how many characters a word may have before it is one unknown piece, as in the reference tokenizer. It bounds
// the time that a word takes.
const maxWord = 100

// Token is a piece of a word, and the bytes of the text that it stands for.
type Token struct {
	ID         int32
	Start, End int
}

// Tokens cuts a text into the pieces of the reference tokenizer (BERT's basic tokenizer, then WordPiece), and stops after
// limit of them. There is no [CLS] and no [SEP] among them, whatever the text spells.
func (m *Model) Tokens(text string, limit int) []Token {
	c := cutter{vocabulary: &m.vocabulary, limit: limit}
	for at := 0; at < len(text) && len(c.tokens) < limit; {
		r, size := utf8.DecodeRuneInString(text[at:])
		c.read(r, at, at+size)
		at += size
	}
	c.flush()
	return c.tokens
}

// cutter collects a word's characters in the form that the vocabulary knows, then cuts it into pieces.
type cutter struct {
	*vocabulary
	limit  int
	tokens []Token

	word  []byte
	marks []mark // of the word's characters, no more than maxWord
	count int    // of the word's characters
	first int    // where the word begins in the text
	last  int    // and ends
}

// mark is where a character of a word lies: in the word, and in the text.
type mark struct{ at, start, end int }

// read takes one character of the text, which lies from start to end.
func (c *cutter) read(r rune, start, end int) {
	switch {
	case isSpace(r):
		c.flush()
	case isDropped(r):
	case r < utf8.RuneSelf:
		c.put(r, start, end)
	case isIdeograph(r):
		c.flush()
		c.putFolded(r, start, end)
		c.flush()
	default:
		c.putFolded(r, start, end)
	}
}

// putFolded takes a character apart from its accents.
func (c *cutter) putFolded(r rune, start, end int) {
	if !c.uncased {
		c.put(r, start, end)
		return
	}
	var buffer [maxDecomposed]rune
	for _, part := range decompose(buffer[:0], r) {
		if !isAccent(part) {
			c.put(part, start, end)
		}
	}
}

// put adds a character to the word; punctuation is a word of its own.
func (c *cutter) put(r rune, start, end int) {
	if c.uncased {
		r = lower(r)
	}
	if !isPunctuation(r) {
		c.add(r, start, end)
		return
	}
	c.flush()
	c.add(r, start, end)
	c.flush()
}

func (c *cutter) add(r rune, start, end int) {
	if c.count == 0 {
		c.first = start
	}
	c.last = end
	c.count++
	if c.count <= maxWord {
		c.marks = append(c.marks, mark{len(c.word), start, end})
		c.word = utf8.AppendRune(c.word, r)
	}
}

// flush ends the word: the longest piece that it begins with, then the longest that goes on, and so to its end. When
// there is none, all of it is unknown.
func (c *cutter) flush() {
	if c.count == 0 {
		return
	}
	before := len(c.tokens)
	if c.count > maxWord || !c.cut() {
		c.tokens = append(c.tokens[:before], Token{c.unknown, c.first, c.last})
	}
	if len(c.tokens) > c.limit {
		c.tokens = c.tokens[:c.limit]
	}
	c.word, c.marks, c.count = c.word[:0], c.marks[:0], 0
}

func (c *cutter) cut() bool {
	pieces := c.opening
	for from := 0; from < len(c.marks); pieces = c.following {
		to, id := c.longestPiece(pieces, from)
		if to == from {
			return false
		}
		c.tokens = append(c.tokens, Token{id, c.marks[from].start, c.marks[to-1].end})
		from = to
	}
	return true
}

// longestPiece finds the longest piece that the word's characters after from begin with, and where it ends.
func (c *cutter) longestPiece(pieces map[string]int32, from int) (to int, id int32) {
	start := c.marks[from].at
	for to = len(c.marks); to > from; to-- {
		end := len(c.word)
		if to < len(c.marks) {
			end = c.marks[to].at
		}
		if end-start > c.longest {
			continue
		}
		if id, ok := pieces[string(c.word[start:end])]; ok {
			return to, id
		}
	}
	return from, 0
}
