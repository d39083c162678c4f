package conformance_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of README.md anew")

// TestCount holds the table of README.md against the cases that there are.
func TestCount(t *testing.T) {
	const begin, end = "<!-- counted by TestCount -->\n", "<!-- end -->\n"
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), begin)
	table, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatal("README.md has no place for the table")
	}
	fresh, runs := counts(t)
	t.Logf("%d runs", runs)
	switch {
	case table == fresh:
	case *update:
		if err := os.WriteFile("README.md", []byte(before+begin+fresh+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("README.md is not what there is: go test ./conformance -run TestCount -update\n%s", fresh)
	}
}

// counts are the numbers of cases by surface, as a table.
func counts(t *testing.T) (table string, runs int) {
	cases, hostile := load(t, "cases"), loadHostile(t)
	var out strings.Builder
	row := func(name string, ordinary, hostile int) {
		fmt.Fprintf(&out, "| `%s` | %d | %d |\n", name, ordinary, hostile)
		runs += ordinary + hostile
	}
	at := map[string]int{}
	for _, s := range targets() {
		for _, c := range hostile {
			if c.plays(s) {
				at[s.name]++
			}
		}
	}
	seen := map[string]bool{}
	for _, s := range append(surfaces(), surface(nil)) {
		name, n := views{}.Name(), 0
		for _, c := range cases {
			switch {
			case c.skip != "":
			case s == nil && views{}.Plays(c) && c.on(name), s != nil && plays(s, c):
				n++
			}
		}
		if s != nil {
			name = s.Name()
		}
		seen[name] = true
		row(name, n, at[name])
	}
	for _, s := range targets() {
		if !seen[s.name] {
			row(s.name, 0, at[s.name])
		}
	}
	return fmt.Sprintf("%d cases and %d hostile ones make %d runs:\n\n| surface | cases | hostile |\n|---|---|---|\n%s", len(cases), len(hostile), runs, out.String()), runs
}
