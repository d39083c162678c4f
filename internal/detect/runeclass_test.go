package detect

import (
	"testing"
	"unicode"
)

// TestClassesByPage are those that are searched for.
func TestClassesByPage(t *testing.T) {
	for _, pattern := range []string{`a|é|世界`, `[а-яё]+\b`, `(?i)k`, `\p{Han}|[\x{1F600}-\x{1F64F}]`, `[^\x{80}-\x{7FF}]`, `.`} {
		c := newDFA(pattern, &dfaMemory{limit: 1 << 20}).classes
		for r := rune(0); r <= unicode.MaxRune; r++ {
			if got, want := c.of(r), c.search(r); got != want {
				t.Fatalf("%s: %U is of class %d, not %d", pattern, r, got, want)
			}
		}
	}
}
