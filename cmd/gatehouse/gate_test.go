package main

import (
	"strings"
	"testing"
)

func TestGate(t *testing.T) {
	policy := file(t, "tools:\n  allow: [search, send_email]\n")
	tests := []struct {
		name, tool, args, first string
		code                    int
	}{
		{"allowed", "search", `{"q":"x"}`, "allow", 0},
		{"flagged", "send_email", "", "flag", 0},
		{"blocked", "delete_all", "{}", "block", 1},
		{"blocked for its arguments", "search", `{"q":1,"q":2}`, "block", 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := command(t, "", "gate", "--policy", policy, "--tool", test.tool, "--args", test.args)
			if first, _, _ := strings.Cut(got.stdout, "\n"); first != test.first || got.code != test.code || got.stderr != "" {
				t.Errorf("got %+v, want %s and %d", got, test.first, test.code)
			}
		})
	}
	got := command(t, "", "gate", "--policy", policy, "--tool", "write", "--json")
	if want := `{"tool":"write","verdict":"block","rule":"allow","reason":"not on the allow list"}` + "\n"; got.stdout != want || got.code != 1 {
		t.Errorf("got %+v, want %s", got, want)
	}
	if got := command(t, "", "gate", "--policy", file(t, "tools: {nope: 1}"), "--tool", "x"); got.code != 2 || got.stdout != "" {
		t.Errorf("a bad policy: got %+v", got)
	}
}
