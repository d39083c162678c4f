package detect

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzUnescape: what a document's string says comes out of it, and every byte knows where it stood.
func FuzzUnescape(f *testing.F) {
	f.Add("one\ntwo\t\"three\" \u00e9 \U0001F600 \x00 <4>")
	f.Add(`\`)
	f.Add("a\\u00")
	f.Fuzz(func(t *testing.T, text string) {
		said := strings.ReplaceAll(strings.ToValidUTF8(text, ""), `\`, "")
		doc, err := json.Marshal(said)
		if err != nil {
			t.Fatal(err)
		}
		blank := func(r rune) rune {
			if r < ' ' && r != '\n' {
				return ' '
			}
			return r
		}
		if got, want := unescape(string(doc)).text, `"`+strings.Map(blank, said)+`"`; got != want {
			t.Errorf("%s: got %q, want %q", doc, got, want)
		}
		u := unescape(text)
		if len(u.origin) != len(u.text)+1 || int(u.origin[len(u.text)]) != len(text) {
			t.Fatalf("%q: %d places for %d bytes", text, len(u.origin), len(u.text))
		}
		for i := range u.text {
			if from := u.origin[i]; u.width(i) < 0 || u.width(i) == 1 && text[from] != u.text[i] {
				t.Fatalf("%q: byte %d of %q is not at %d", text, i, u.text, from)
			}
		}
	})
}
