package session

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"testing"
	"unicode"
)

// plainDense is what dense writes, letter by letter.
func plainDense(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}

func TestDense(t *testing.T) {
	texts := []string{"", " ", "a", "one two  three\n\tfour five six seven", "eightchr nine", "12345678", "1234567 ", "\x00\x01\x1f \x7f end",
		"caf\u00e9 \u00a0 na\u00efve\u2003wide", "\u3000\u65e5\u672c\u8a9e \u3000 text", "bad \xff\xfe bytes \xc3",
		strings.Repeat("word and another, ", 400), strings.Repeat("x", 5000), strings.Repeat("\u00e9 ", 3000), strings.Repeat(" ", 5000)}
	for _, text := range texts {
		checkDense(t, text)
		checkDense(t, "a"+text)
		checkDense(t, text+" end")
	}
}

// FuzzDense compares with the plain way. Texts of one turn run together, wherever they are split.
func FuzzDense(f *testing.F) {
	f.Add("one two\u00a0three \xff")
	f.Fuzz(func(t *testing.T, text string) { checkDense(t, text) })
}

func checkDense(t *testing.T, text string) {
	t.Helper()
	r := &Resolver{Key: []byte("key")}
	want := hmac.New(sha256.New, r.Key)
	want.Write([]byte(plainDense(text)))
	w := r.fields()
	w.dense(text)
	if d := w.sum(); !bytes.Equal(d[:], want.Sum(nil)) {
		t.Errorf("%.60q is written otherwise", text)
	}
	split := r.fields()
	for _, r := range text {
		split.dense(string(r))
	}
	if split.sum() != w.sum() {
		t.Errorf("%.60q in pieces is another", text)
	}
}

func TestFieldsAreApart(t *testing.T) {
	r := &Resolver{Key: []byte("key")}
	long := strings.Repeat("long ", 2000)
	want := hmac.New(sha256.New, r.Key)
	for _, field := range []string{"text", "", long} {
		want.Write(binary.BigEndian.AppendUint32(nil, uint32(len(field))))
		want.Write([]byte(field))
	}
	if d := r.keyed("text", "", long); !bytes.Equal(d[:], want.Sum(nil)) {
		t.Error("fields are written otherwise")
	}
	if r.keyed("a", "bc") == r.keyed("ab", "c") {
		t.Error("fields run into each other")
	}
	w := r.fields()
	w.field("one")
	c := w.clone()
	w.field("two")
	c.field("two")
	if w.sum() != c.sum() || w.sum() != r.keyed("one", "two") {
		t.Error("a clone goes on otherwise")
	}
}
