package detect

import (
	"context"
	"strings"
	"testing"
)

func set(t testing.TB, names ...string) *Set {
	t.Helper()
	s, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	if len(names) > 0 {
		if s, err = s.Only(names...); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestRuleExamples runs every example and counter-example of every injection rule.
func TestRuleExamples(t *testing.T) {
	rules, err := parseRules(injectionRules)
	if err != nil {
		t.Fatal(err)
	}
	p, err := newPatterns()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range rules {
		if seen[r.ID] {
			t.Errorf("%s: the id is used twice", r.ID)
		}
		seen[r.ID] = true
		if len(r.Examples) == 0 || len(r.CounterExamples) == 0 {
			t.Errorf("%s: needs examples and counter-examples", r.ID)
		}
		channel := ToolResult
		if !r.on(channel) {
			channel = Input
		}
		hit := func(text string) bool {
			for _, f := range p.Detect(context.Background(), Text{Channel: channel, Text: text}, normalise(text, false)) {
				if f.Detector == "patterns/"+r.ID {
					return true
				}
			}
			return false
		}
		for _, text := range r.Examples {
			if !hit(text) {
				t.Errorf("%s: not found in %q", r.ID, text)
			}
		}
		for _, text := range r.CounterExamples {
			if hit(text) {
				t.Errorf("%s: found in %q", r.ID, text)
			}
		}
	}
}

func TestRulesAreRefused(t *testing.T) {
	for name, doc := range map[string]string{
		"unknown field": "- {id: a, description: d, type: t, score: 1, literals: [x], pattern: x, colour: red}",
		"no literal":    "- {id: a, description: d, type: t, score: 1, pattern: x}",
		"score":         "- {id: a, description: d, type: t, score: 2, literals: [x], pattern: x}",
		"reach":         "- {id: a, description: d, type: t, score: 1, literals: [x], pattern: x, reach: page}",
	} {
		if _, err := parseRules([]byte(doc)); err == nil {
			t.Errorf("%s: accepted %s", name, strings.TrimSpace(doc))
		}
	}
}
