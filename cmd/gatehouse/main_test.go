package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/gatehouse-gateway/gatehouse/internal/detect"
)

// ran is what a command line did.
type ran struct {
	stdout, stderr string
	code           int
}

func command(t *testing.T, stdin string, args ...string) ran {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), args, strings.NewReader(stdin), &stdout, &stderr)
	return ran{stdout.String(), stderr.String(), code}
}

// file writes a file for one test and returns its path.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBadUsageExitsTwo(t *testing.T) {
	for _, args := range [][]string{
		{"nope"}, {"--nope"}, {"version", "x"}, {"version", "--nope"}, {"config", "nope"}, {"config", "check"}, {"config", "check", "no-such-file"},
		{"gate"}, {"gate", "--tool", "x"}, {"gate", "--policy", "no-such-file", "--tool", "x"},
		{"scan", "a", "b"}, {"scan", "no-such-file"}, {"scan", "--kind", "nope"}, {"scan", "--detectors", "nope"},
		{"scan", "--detectors", "crystal-ball"},
	} {
		got := command(t, "", args...)
		if got.code != 2 || got.stderr == "" || got.stdout != "" {
			t.Errorf("%v: got %+v, want 2 and words on standard error alone", args, got)
		}
	}
}

func TestEveryCommandHasAnExample(t *testing.T) {
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		if cmd.Name() == "help" {
			return
		}
		if cmd.Example == "" {
			t.Errorf("%s has none", cmd.CommandPath())
		}
		args := append(strings.Fields(cmd.CommandPath())[1:], "--help")
		if got := command(t, "", args...); got.code != 0 || got.stderr != "" || !strings.Contains(got.stdout, "Examples:") {
			t.Errorf("%v: got %+v", args, got)
		}
		for _, sub := range cmd.Commands() {
			look(sub)
		}
	}
	look(rootCommand())
}

func TestVersion(t *testing.T) {
	if got := command(t, "", "version"); got.code != 0 || !strings.Contains(got.stdout, "detectors "+detect.FullVersion()) {
		t.Errorf("got %+v", got)
	}
	var b build
	got := command(t, "", "version", "--json")
	if err := json.Unmarshal([]byte(got.stdout), &b); err != nil || b.Version == "" || b.Commit == "" || b.Detectors != detect.FullVersion() {
		t.Errorf("got %+v, %v", got, err)
	}
}
