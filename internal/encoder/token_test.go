package encoder

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func fewTokens(t testing.TB) *Model { return smallModel(t, poolCLS, "portable") }

// spell writes tokens as the vocabulary spells them.
func spell(m *Model, tokens []Token) string {
	names := map[int32]string{}
	for piece, id := range m.ids {
		names[id] = piece
	}
	var pieces []string
	for _, t := range tokens {
		pieces = append(pieces, names[t.ID])
	}
	return strings.Join(pieces, " ")
}

func TestTokens(t *testing.T) {
	m := fewTokens(t)
	cases := []struct{ desc, text, want string }{
		{"the longest piece first", "Wording", "word ##ing"},
		{"a word that cannot be cut to its end", "wordx the", "[UNK] the"},
		{"punctuation stands alone", "the.word!", "the . word !"},
		{"accents fall", "thé", "the"},
		{"a piece in brackets is not spelled", "[SEP]", "[ sep ]"},
		{"a continuation is not spelled", "##s", "[UNK] [UNK] [UNK]"},
		{"control characters vanish", "th\x00\u200be", "the"},
		{"what is not UTF-8 vanishes", "th\xffe", "the"},
		{"nothing", "", ""},
	}
	for _, c := range cases {
		if got := spell(m, m.Tokens(c.text, 100)); got != c.want {
			t.Errorf("%s: %s, not %s", c.desc, got, c.want)
		}
	}
}

func TestTokensStopAtTheirLimit(t *testing.T) {
	m := fewTokens(t)
	for limit := range 5 {
		if got := m.Tokens("words words", limit); len(got) != min(limit, 4) {
			t.Errorf("limit %d: %d tokens", limit, len(got))
		}
	}
}

func TestEveryCharacterHasTheClassThatTheReferenceGivesIt(t *testing.T) {
	// Made of a comparison with the reference on every character. It changes with the language's Unicode tables: then
	// compare anew (train/transformer/golden/characters.py), extend newer, and write the numbers that come out.
	want := map[string]int{"space": 22, "dropped": 137681, "punctuation": 726, "accent": 1567, "ideograph": 81264}
	got := map[string]int{}
	for r := rune(0); r <= utf8.MaxRune; r++ {
		switch {
		case isSpace(r):
			got["space"]++
		case isDropped(r):
			got["dropped"]++
		case isIdeograph(r):
			got["ideograph"]++
		case isPunctuation(r):
			got["punctuation"]++
		case isAccent(r):
			got["accent"]++
		}
	}
	for class, n := range want {
		if got[class] != n {
			t.Errorf("%d characters of class %s, not %d", got[class], class, n)
		}
	}
}

// A text that is made to cost much still costs linear time.
func TestTokensOfHostileTextsAreQuick(t *testing.T) {
	data, err := os.ReadFile("testdata/pieces.txt")
	if err != nil {
		t.Fatal(err)
	}
	v, err := readVocabulary(data, shape{pieces: bytes.Count(data, []byte("\n")), uncased: true})
	if err != nil {
		t.Fatal(err)
	}
	m := &Model{vocabulary: v}
	for _, unit := range []string{strings.Repeat("a", 99) + "\u4dff ", strings.Repeat("z", 101), "e" + strings.Repeat("\u0301", 500), "\u0390", "\ud55c", "\ufb2c"} {
		text := strings.Repeat(unit, 1<<18/len(unit))
		start := time.Now()
		m.Tokens(text, math.MaxInt)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%d bytes of %q took %v", len(text), unit[:3], took)
		}
	}
}

func FuzzTokens(f *testing.F) {
	m := fewTokens(f)
	for _, text := range []string{"Wording, unable.", "[SEP] ##s", "\u0390\u4e2d\ud55c\xff", strings.Repeat("a", 101)} {
		f.Add(text, 100)
	}
	f.Fuzz(func(t *testing.T, text string, limit int) {
		last := 0
		tokens := m.Tokens(text, limit)
		if len(tokens) > max(limit, 0) {
			t.Fatalf("%d tokens, more than %d", len(tokens), limit)
		}
		for _, token := range tokens {
			if token.Start >= token.End || token.End > len(text) || token.Start < last || int(token.ID) >= m.pieces {
				t.Fatalf("token %v after %d in a text of %d bytes", token, last, len(text))
			}
			if name := spell(m, []Token{token}); name == "[SEP]" || name == "[CLS]" || name == "[PAD]" {
				t.Fatalf("a text has spelled %s", name)
			}
			last = token.Start
		}
	})
}
