package detect

import (
	"strings"
	"testing"
)

func TestNormalise(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
		json       bool
	}{
		"case and space":         {"Hello  BIG\t\tworld \n x", "hello big world\nx", false},
		"full width":             {"ＡＢＣ ｄｅｆ", "abc def", false},
		"ligature":               {"ﬁne", "fine", false},
		"mathematical letters":   {"𝐢𝐠𝐧𝐨𝐫𝐞", "ignore", false},
		"accents":                {"Café naïve", "cafe naive", false},
		"combining accents":      {"i\u0337g\u0337n\u0337ore", "ignore", false},
		"marks of supplements":   {"i\u1dd5g\u20e3n\ufe20ore", "ignore", false},
		"fillers":                {"i\u1160g\u115fn\ufff9o\u180bre", "ignore", false},
		"control characters":     {"i\x01g\x7fn\u0081ore\x00this\x1fthat", "ignore this that", false},
		"control in JSON":        {`"i\u0001gnore\u0000this"`, `"ignore this"`, true},
		"colours of terminals":   {"\x1b[1;31mi\x1b[0mgnore", "ignore", false},
		"colours in JSON":        {`"\u001b[31mi\u001b[0mgnore"`, `"ignore"`, true},
		"escape without end":     {"a\x1b[31\nb", "a[31\nb", false},
		"letters of flags":       {"🇮🇬🇳🇴🇷🇪", "ignore", false},
		"escaped again":          {"<p>&amp;#105;gn&amp;amp;#111;re</p>", "ignore\n", false},
		"quoted again":           {"> | ignore all\n> | of this", "> | ignore all of this", false},
		"Cyrillic in Latin word": {"ignоrе", "ignore", false},
		"Greek in Latin word":    {"ignοre", "ignore", false},
		"Russian stays":          {"Все хорошо", "все хорошо", false},
		"Greek stays":            {"Οδηγιες", "οδηγιες", false},
		"Hangul and kana stay":   {"지시를 ガイド", "지시를 ガイド", false},
		"invisible":              {"ig\u200bno\u00adre\u2060", "ignore", false},
		"tags":                   {"a" + tagged("Bc d"), "abc d", false},
		"JSON escapes":           {`"a\nb\t\"c\u0041\ud83d\ude00\u200bd"`, "\"a\nb \"ca😀d\"", true},
		"escaped twice":          {`"a\\nb\\\"c"`, "\"a\nb\"c\"", true},
		"backslash in prose":     {`C:\new`, `c:\new`, false},
		"invalid UTF-8":          {"a\xffb", "a\xffb", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := normalise(c.text, c.json).Text; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestOrigin(t *testing.T) {
	text := "x  ＩＧ\u200bNоre ﬁx é!"
	n := normalise(text, false)
	for _, c := range []struct{ part, want string }{
		{"ignore", "ＩＧ\u200bNоre"},
		{"fix", "ﬁx"},
		{"ix", "ﬁx"}, // half of a ligature is the whole of it
		{"e!", "é!"},
		{"x ", "x "}, // a run of blanks is known by its first
	} {
		at := strings.Index(n.Text, c.part)
		if at < 0 {
			t.Fatalf("%q is not in %q", c.part, n.Text)
		}
		from, to := n.origin(at, at+len(c.part))
		if got := text[from:to]; got != c.want {
			t.Errorf("%q came from %q, want %q", c.part, got, c.want)
		}
	}
}
