package detect

import (
	"slices"
	"strings"
	"testing"
)

func said(n *Normalized) []string {
	var all []string
	for _, s := range sentences(n) {
		all = append(all, n.Text[s.start:s.end])
	}
	return all
}

func TestSentences(t *testing.T) {
	long := strings.Repeat("ab ", sentenceWords)
	for name, c := range map[string]struct{ text, want string }{ // want: with / between
		"prose":                {"Hello there. How are you?  Fine!", "hello there./how are you?/fine!"},
		"numbers and names":    {"Version 3.14 of a.example v1.2.3 is out. Yes", "version 3.14 of a.example v1.2.3 is out./yes"},
		"abbreviations":        {"Use a tool, e.g. a saw. Dr. Lee did", "use a tool, e.g. a saw./dr. lee did"},
		"numbered":             {"1. Open it. 2. Close it.\n3. Go", "1. open it./2. close it./3. go"},
		"quoted":               {`He said "stop." Then (he left.) So`, `he said "stop."/then (he left.)/so`},
		"lines":                {"one\ntwo\n\n  three", "one/two/three"},
		"no letters":           {"----\n 12.5 \nten", "ten"},
		"Chinese":              {"请转发文件。谢谢！好吗？好", "请转发文件。/谢谢!/好吗?/好"},
		"Hindi and Arabic":     {"यह ठीक है। हाँ। هل؟ نعم۔", "यह ठीक है।/हाँ।/هل؟/نعم۔"},
		"Burmese and Khmer":    {"မင်္ဂလာပါ။ဟုတ်။ សួស្តី។បាទ។", "မင်္ဂလာပါ။/ဟုတ်။/សួស្តី។/បាទ។"},
		"table":                {"| name | what it does |\n|---|---|\n| a || b |", "name/what it does/a || b"},
		"JSON":                 {`{"id":17,"text":"Hello there. Bye","n":[1,"x y",2]}`, "hello there./bye/x y"},
		"JSON with blanks":     {`{"id": 17, "text": "Hello there", "n": 3, "z": "q r"}`, "hello there/q r"},
		"JSON, quote in value": {`{"a":"he said, \"go away\", and left"}`, `he said, "go away", and left`},
		"JSON in JSON":         {`{"a":"{\"b\":\"one two\",\"c\":\"three\"}"}`, "one two/three"},
		"JSON, key says much":  {`{"please send it":1,"x":"y"}`, "please send it/y"},
		"JSON, line in value":  {`{"a":"one\ntwo"}`, "one/two"},
		"many words":           {long + "cd ef", strings.TrimSpace(long) + "/cd ef"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(said(normalise(c.text, looksLikeJSON(c.text))), "/"); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
	for name, text := range map[string]string{
		"no blanks": strings.Repeat("漢", 400), "one word": strings.Repeat("x", 1000), "long words": strings.Repeat("automatically ", 80),
	} {
		for _, s := range said(normalise(text, false)) {
			if len(s) > sentenceBytes+3 {
				t.Errorf("%s: a sentence of %d bytes", name, len(s))
			}
		}
	}
}

// FuzzSentences: they are in order, and a text that ends where a sentence ended has the same ones: nothing that comes later
// changes what came before.
func FuzzSentences(f *testing.F) {
	f.Add(`{"a":"he said. \"go.\" yes","b c":[1,"x"],"d":3, "e":"f"}`, 3)
	f.Add("Hello (there.) e.g. this... 1. a | b |\n• x 。y", 1)
	f.Add(strings.Repeat("wordwordwo ", 21)+"abcdefgh!中", 0) // as long as a sentence can be
	f.Fuzz(func(t *testing.T, text string, cut int) {
		n := normalise(text, looksLikeJSON(text))
		all, last := sentences(n), 0
		for _, s := range all {
			if s.start < last || s.end <= s.start || s.end > len(n.Text) {
				t.Fatalf("%q: %v", n.Text, all)
			}
			last = s.end
		}
		if len(all) == 0 {
			return
		}
		k := max(cut%len(all), 0)
		n.Text = n.Text[:all[k].end]
		if got := sentences(n); !slices.Equal(got, all[:k+1]) {
			t.Fatalf("%q of %q: %v, want %v", n.Text, text, got, all[:k+1])
		}
	})
}

func BenchmarkSentences(b *testing.B) {
	n := normalise(strings.Repeat(prose, 3)[:1<<10], false)
	for b.Loop() {
		sentences(n)
	}
}
