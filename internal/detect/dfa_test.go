package detect

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// FuzzDFA holds what the quick answer leaves of the work against package regexp.
func FuzzDFA(f *testing.F) {
	f.Add(`\bab{1,3}c\b`, "x abbc y")
	f.Add(`(?:^|\n)\s?[ae]$`, "b\na")
	f.Add(`(?:[^.\n]{0,4}é|世\S*)+\B`, "aé世界")
	f.Add(`(?i)k[^k]`, "Kx")
	f.Add(`\A(?:(a|ab)(c|bcd))`, "abcd abc")
	f.Add(`(a){2}|(?:b*?|(b))\b`, "aa bb")
	f.Add(`(?:a{0,3}(b)?){1,2}(?:c|$)`, "aabab")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 40 || len(text) > 200 {
			return
		}
		exact, err := regexp.Compile(pattern)
		if err != nil {
			return
		}
		e := newExpression(pattern, &dfaMemory{limit: 1 << 20})
		for range 2 { // the second time the states are there
			if want, got := exact.FindAllStringIndex(text, -1), e.matches(text); fmt.Sprint(want) != fmt.Sprint(got) {
				t.Errorf("%q in %q: %v, want %v", pattern, text, got, want)
			}
			if want, got := exact.FindStringSubmatchIndex(text), e.find(text); fmt.Sprint(want) != fmt.Sprint(got) {
				t.Errorf("%q finds %v in %q, not %v", pattern, got, text, want)
			}
			if want, got := exact.MatchString(text), e.in(text); want != got {
				t.Errorf("%q in %q: %v", pattern, text, got)
			}
		}
	})
}

// TestDFAIsExactWithoutCounts: what counts no repetitions is decided as package regexp does.
func TestDFAIsExactWithoutCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // texts of a test
	for _, pattern := range []string{`\bab\b`, `^a`, `a$`, `(?:^|\n)b`, `a\Bb`, `[^a]é+`, `(?m)^a$`, `世|a.b`, `(?:a|ab)(?:c|bcd)`} {
		exact, d := regexp.MustCompile(pattern), newDFA(pattern, &dfaMemory{limit: 1 << 20})
		for range 3000 {
			var b strings.Builder
			for range rng.IntN(8) {
				b.WriteString([]string{"a", "b", "c", "d", " ", "\n", "é", "世", "\xff"}[rng.IntN(9)])
			}
			if text := b.String(); exact.MatchString(text) != d.maybe(text) {
				t.Errorf("%s on %q: the dfa says %v", pattern, text, d.maybe(text))
			}
		}
	}
}

// TestRulesLoseNothingToTheDFA cuts texts that rules match into windows at random and compares with package regexp.
func TestRulesLoseNothingToTheDFA(t *testing.T) {
	rules, err := loadRules()
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, r := range rules {
		for _, text := range append(r.Examples, r.CounterExamples...) {
			texts = append(texts, normalise(text, false).Text)
		}
	}
	rng := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // texts of a test
	matches := 0
	for _, r := range rules {
		e := r.compiled()
		if e.quick == nil {
			t.Errorf("%s has no dfa", r.ID)
			continue
		}
		own := len(r.Examples)
		for k := range 60 {
			text := texts[rng.IntN(len(texts))]
			if k < 3*own {
				text = normalise(r.Examples[k%own], false).Text
			}
			text += "\n" + texts[rng.IntN(len(texts))]
			text = text[rng.IntN(min(len(text), 9)):]
			want, got := e.exact.FindAllStringIndex(text, -1), e.matches(text)
			if matches += len(want); fmt.Sprint(want) != fmt.Sprint(got) {
				t.Errorf("%s in %q: %v, want %v", r.ID, text, got, want)
			}
		}
	}
	if matches < len(rules) {
		t.Errorf("only %d matches: the texts no longer test anything", matches)
	}
}

// TestDFAIsBounded makes expressions need more states than they may have together, from several goroutines.
func TestDFAIsBounded(t *testing.T) {
	const pattern = `(?:a|b)*a(?:a|b)(?:a|b)(?:a|b)(?:a|b)(?:a|b)(?:a|b)(?:a|b)(?:a|b)(?:a|b)c`
	memory := &dfaMemory{limit: 64 << 10}
	one, two, exact := newDFA(pattern, memory), newDFA(pattern, memory), regexp.MustCompile(pattern)
	var all sync.WaitGroup
	for seed := range uint64(4) {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(seed, 5)) //nolint:gosec // texts of a test
			for range 300 {
				text := make([]byte, 200)
				for i := range text {
					text[i] = "aaabbb c"[rng.IntN(8)]
				}
				if exact.Match(text) && (!one.maybe(string(text)) || !two.maybe(string(text))) {
					t.Errorf("%q: no", text)
				}
			}
		})
	}
	all.Wait()
	bytes := 0
	for _, d := range memory.all {
		if table := d.table.Load(); table != nil {
			bytes += table.bytes()
			for i := range table.used {
				if s := table.states[i].Load(); s != nil {
					bytes += stateBytes + 8*len(s.insts)
				}
			}
		}
	}
	if bytes > memory.limit+32<<10 {
		t.Errorf("the states take %d bytes, the limit is %d", bytes, memory.limit)
	}
}
