package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
)

// auditedStore makes a store with two records.
func auditedStore(t *testing.T) (url string) {
	t.Helper()
	url = "sqlite:" + filepath.Join(t.TempDir(), "gatehouse.db")
	s, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []audit.Record{
		{ID: "one", Agent: "mnm-a", Status: 200, Verdicts: map[string]string{"front": "pass", "autonomy": "pass", "integrity": "pass", "back": "pass"}},
		{ID: "two", Status: 403, Verdicts: map[string]string{"front": "enforced", "autonomy": "pass", "integrity": "pass", "back": "pass"},
			Decisions: []gatehouse.Decision{{At: gatehouse.Front}, {At: gatehouse.Front, Reason: "tool \x1b[31mred"}}},
	} {
		r.Time = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
		if err := s.Append(t.Context(), r, nil, true); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return url
}

// runAudit executes the command and returns its standard output and its exit code.
func runAudit(ctx context.Context, args ...string) (stdout string, code int, err error) {
	cmd := auditCommand()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&bytes.Buffer{})
	cmd.SetArgs(args)
	err = cmd.ExecuteContext(ctx)
	var exit exitError
	switch {
	case errors.As(err, &exit):
		code = exit.code
	case err != nil:
		code = 2
	}
	return out.String(), code, err
}

func TestAuditTail(t *testing.T) {
	url := auditedStore(t)
	one := "2026-01-02T03:04:05Z  one  mnm-a  front=pass; autonomy=pass; integrity=pass; back=pass  200\n"
	two := "2026-01-02T03:04:05Z  two  -  front=enforced; autonomy=pass; integrity=pass; back=pass  403  tool \uFFFD[31mred\n"
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"all", nil, one + two},
		{"the last", []string{"-n", "1"}, two},
		{"none", []string{"-n", "0"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, code, err := runAudit(t.Context(), append([]string{"tail", "--store", url}, c.args...)...)
			if out != c.want || code != 0 {
				t.Errorf("got %q, %d, %v\nwant %q", out, code, err, c.want)
			}
		})
	}
	out, _, _ := runAudit(t.Context(), "tail", "--json", "--store", url)
	if lines := strings.Split(out, "\n"); len(lines) != 3 || !strings.HasPrefix(lines[0], `{"id":"one"`) {
		t.Errorf("--json: %q", out)
	}
	ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	if out, code, err := runAudit(ctx, "tail", "--follow", "--store", url); out != one+two || code != 0 {
		t.Errorf("--follow, interrupted: %q, %d, %v", out, code, err)
	}
}

func TestAuditVerify(t *testing.T) {
	url := auditedStore(t)
	export := filepath.Join(t.TempDir(), "audit.jsonl")
	if _, code, err := runAudit(t.Context(), "export", export, "--store", url); code != 0 {
		t.Fatal(err)
	}
	piped, _, _ := runAudit(t.Context(), "export", "--store", url)
	raw, err := os.ReadFile(export)
	if err != nil || string(raw) != piped {
		t.Fatalf("the file differs from standard output: %v", err)
	}
	if _, code, _ := runAudit(t.Context(), "export", export, "--store", url); code != 2 {
		t.Errorf("an export was overwritten: %d", code)
	}

	write := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	lines := strings.SplitAfter(piped, "\n")
	for _, c := range []struct {
		name string
		args []string
		code int
		want string // in standard output, or in the error
	}{
		{"a store that holds", []string{"--store", url}, 0, "ok: 2 records, head "},
		{"an export that holds", []string{export}, 0, "ok: 2 records, head "},
		{"an export that holds, for a program", []string{export, "--json"}, 0, `{"ok":true,"records":2,"head":"`},
		{"an edited export", []string{write("edited", strings.Replace(piped, `"status":403`, `"status":200`, 1))}, 1, "record 2 (id two): the record was edited"},
		{"an export without its head", []string{write("cut", lines[0])}, 1, "record 2 (id unknown): the export has no head line"},
		{"an export that is not there", []string{filepath.Join(t.TempDir(), "x")}, 2, "no such file"},
		{"a store that is not there", []string{"--store", "sqlite:" + filepath.Join(t.TempDir(), "x")}, 2, "no database"},
		{"another kind of store", []string{"--store", "mysql://x"}, 2, "unknown kind of store"},
		{"a file that is no database", []string{"--store", "sqlite:" + write("notes", strings.Repeat("notes, not a database\n", 100))}, 1, "damaged"},
		{"two stores", []string{"--store", url, "--config", "x"}, 2, "none of the others can be"},
		{"too much", []string{"a", "b"}, 2, "accepts at most 1"},
		{"a configuration that is not there", []string{"--config", filepath.Join(t.TempDir(), "x")}, 2, "no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, code, err := runAudit(t.Context(), append([]string{"verify"}, c.args...)...)
			if err != nil {
				if out != "" {
					t.Errorf("%q on standard output", out)
				}
				out = err.Error()
			}
			if code != c.code || !strings.Contains(out, c.want) {
				t.Errorf("exit %d, %q, want %d, %q", code, out, c.code, c.want)
			}
		})
	}
}

// A program reads from the report which record does not hold, and from the exit code that one does not.
func TestAuditVerifyJSONOfABrokenChain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cut.jsonl")
	if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, code, err := runAudit(t.Context(), "verify", "--json", path)
	var got struct {
		OK      bool
		Records int64
		Broken  *struct {
			Seq    int64
			Reason string
		}
	}
	if bad := json.Unmarshal([]byte(out), &got); bad != nil || err == nil || code != 1 {
		t.Fatalf("exit %d, %q, %v, %v", code, out, err, bad)
	}
	if got.OK || got.Records != 0 || got.Broken == nil || got.Broken.Seq != 1 || got.Broken.Reason == "" {
		t.Errorf("%s", out)
	}
}

func TestAuditCommandsExplainThemselves(t *testing.T) {
	all := append(auditCommand().Commands(), auditCommand())
	for _, c := range all {
		if c.Long == "" || c.Example == "" {
			t.Errorf("%s has no Long or no Example", c.Name())
		}
	}
}
