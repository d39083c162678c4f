package policy

import (
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// asRegexp is the same pattern, written for another matcher.
func asRegexp(pattern string) *regexp.Regexp {
	quoted := regexp.QuoteMeta(pattern)
	quoted = strings.ReplaceAll(quoted, `\*`, `.*`)
	quoted = strings.ReplaceAll(quoted, `\?`, `.`)
	return regexp.MustCompile(`(?s)\A` + quoted + `\z`)
}

func FuzzGlob(f *testing.F) {
	for _, seed := range [][2]string{
		{"", ""}, {"*", ""}, {"?", ""}, {"a*b*c", "aXbXc"}, {"*ab", "aab"}, {"a?c", "aéc"}, {"*?*", "x"}, {"read_*", "read_file"},
		{"*a*b", "abab"}, {"a.c", "abc"}, {"?é*", "éé"}, {"**", "x"}, {`\*`, `\x`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if len(pattern) > 200 || len(name) > 2000 || !utf8.ValidString(pattern) || !utf8.ValidString(name) {
			return
		}
		if got, want := glob(pattern).match(name), asRegexp(pattern).MatchString(name); got != want {
			t.Errorf("%q against %q: got %v, want %v", pattern, name, got, want)
		}
	})
}

func TestGlobDoesNotExplode(t *testing.T) {
	pattern := glob(strings.Repeat("*a", 60) + "b")
	name := strings.Repeat("a", 20_000)
	start := time.Now()
	if pattern.match(name) {
		t.Error("matched")
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}
