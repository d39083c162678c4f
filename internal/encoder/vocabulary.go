package encoder

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// continuation marks a piece that goes on with a word.
const continuation = "##"

// vocabulary knows the pieces of words and their numbers.
type vocabulary struct {
	uncased   bool
	ids       map[string]int32 // every piece as the file spells it
	opening   map[string]int32 // pieces that a word may begin with
	following map[string]int32 // pieces that go on with a word, without their mark
	longest   int              // bytes of the longest piece
	unknown   int32
	cls, sep  int32
}

// ID gives the number of a piece as the vocabulary spells it, such as "[SEP]". A text cannot spell a piece in brackets.
func (v *vocabulary) ID(piece string) (int32, bool) {
	id, ok := v.ids[piece]
	return id, ok
}

// readVocabulary reads one piece a line.
func readVocabulary(section []byte, s shape) (vocabulary, error) {
	text := string(section)
	if !utf8.ValidString(text) {
		return vocabulary{}, errors.New("the vocabulary is not UTF-8")
	}
	if !strings.HasSuffix(text, "\n") || strings.Count(text, "\n") != s.pieces {
		return vocabulary{}, fmt.Errorf("the vocabulary has not the %d lines that the header says", s.pieces)
	}
	v := vocabulary{
		uncased:   s.uncased,
		ids:       make(map[string]int32, s.pieces),
		opening:   make(map[string]int32, s.pieces),
		following: make(map[string]int32, s.pieces/4),
	}
	id := int32(0)
	for piece := range strings.SplitSeq(text[:len(text)-1], "\n") {
		if _, twice := v.ids[piece]; twice || piece == "" {
			return vocabulary{}, fmt.Errorf("the vocabulary's line %d is empty or not the first of its kind", id+1)
		}
		v.add(piece, id)
		id++
	}
	for name, at := range map[string]*int32{"[PAD]": new(int32), "[UNK]": &v.unknown, "[CLS]": &v.cls, "[SEP]": &v.sep} {
		var ok bool
		if *at, ok = v.ids[name]; !ok {
			return vocabulary{}, fmt.Errorf("the vocabulary has no %s", name)
		}
	}
	return v, nil
}

func (v *vocabulary) add(piece string, id int32) {
	v.ids[piece] = id
	v.longest = max(v.longest, len(piece))
	if rest, ok := strings.CutPrefix(piece, continuation); ok && rest != "" {
		v.following[rest] = id
	}
	v.opening[piece] = id
}
