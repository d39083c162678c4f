package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
)

// judgedStore makes a store with these calls, an exchange for each list and an hour between two, from noon on. The first was
// recorded last.
func judgedStore(t *testing.T, exchanges ...[]gatehouse.CallVerdict) (url string) {
	t.Helper()
	url = "sqlite:" + filepath.Join(t.TempDir(), "gatehouse.db")
	s, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	for k := range exchanges {
		i := (k + 1) % len(exchanges)
		r := audit.Record{ID: string(rune('a' + i)), Type: "exchange", Time: time.Date(2026, 3, 4, 12+i, 0, 0, 0, time.UTC),
			Decisions: []gatehouse.Decision{{At: gatehouse.Front}, {At: gatehouse.Autonomy, Calls: exchanges[i]}}}
		if err := s.Append(t.Context(), r, nil, true); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return url
}

func judgedCall(part int, tool string, v gatehouse.Verdict, rule string) gatehouse.CallVerdict {
	c := gatehouse.CallVerdict{Part: part, Tool: tool, Verdict: v, Rule: rule}
	if strings.HasPrefix(rule, "approval") {
		c.Digest = "00"
	}
	return c
}

// recorded is a day of calls.
func recorded(t *testing.T) (url string) {
	return judgedStore(t,
		[]gatehouse.CallVerdict{judgedCall(1, "pay", gatehouse.Allow, "default"), judgedCall(2, "search", gatehouse.Allow, "default")},
		[]gatehouse.CallVerdict{judgedCall(1, "pay", gatehouse.Allow, "default"), judgedCall(1, "pay", gatehouse.Allow, "default")}, // judged again
		[]gatehouse.CallVerdict{judgedCall(1, "pay", gatehouse.Block, "arguments"), judgedCall(2, "http_get", gatehouse.Allow, "default"), judgedCall(3, "pay", gatehouse.Allow, "default")},
		[]gatehouse.CallVerdict{judgedCall(1, "delete_file", gatehouse.Flag, "built-in flag delete_*"), judgedCall(2, "delete_file", gatehouse.Allow, "approval"),
			judgedCall(3, "run", gatehouse.Block, "agent"), judgedCall(4, "run\x1b[31m…", gatehouse.Block, "allow")},
	)
}

const candidate = `tools:
  flag: []
  rules:
    - {tool: pay, verdict: flag}
    - {tool: delete_file, verdict: allow, when: args.path != "/"}
    - {tool: http_get, verdict: block, when: session.tainted}
`

func TestPolicyReplay(t *testing.T) {
	url, policy := recorded(t), file(t, candidate)
	for _, c := range []struct{ name, since, want string }{
		{"all", "2026-03-04", "TOOL         FROM   TO     CALLS  RULE            FIRST                 LAST\n" +
			"delete_file  flag   allow  2      default         2026-03-04T15:00:00Z  2026-03-04T15:00:00Z\n" +
			"pay          allow  flag   3      tools.rules[0]  2026-03-04T12:00:00Z  2026-03-04T14:00:00Z\n" +
			"skipped: http_get, calls: 1, now allow: it depends on tools.rules[2]\n" +
			"skipped: run\uFFFD[31m…, calls: 1, now block: it depends on the rest of the name, which was too long to be kept\n" +
			"calls: 10, replayed: 8, changed: 5, skipped: 2\n"},
		{"the later ones", "2026-03-04T13:30:00+01:00", "TOOL         FROM   TO     CALLS  RULE            FIRST                 LAST\n" +
			"delete_file  flag   allow  2      default         2026-03-04T15:00:00Z  2026-03-04T15:00:00Z\n" +
			"pay          allow  flag   2      tools.rules[0]  2026-03-04T13:00:00Z  2026-03-04T14:00:00Z\n" +
			"skipped: http_get, calls: 1, now allow: it depends on tools.rules[2]\n" +
			"skipped: run\uFFFD[31m…, calls: 1, now block: it depends on the rest of the name, which was too long to be kept\n" +
			"calls: 8, replayed: 6, changed: 4, skipped: 2\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := command(t, "", "policy", "replay", policy, "--since", c.since, "--store", url)
			if got.code != 0 || got.stdout != c.want || got.stderr != "" {
				t.Errorf("got %+v, want\n%s", got, c.want)
			}
		})
	}
	same := file(t, "tools: {rules: []}\n")
	if got := command(t, "", "policy", "replay", same, "--since", "2026-03-04", "--store", url); got.code != 0 ||
		!strings.HasSuffix(got.stdout, "calls: 10, replayed: 9, changed: 0, skipped: 1\n") || strings.Contains(got.stdout, "TOOL") {
		t.Errorf("the policy of the day: got %+v", got)
	}
}

func TestPolicyReplayAsJSON(t *testing.T) {
	got := command(t, "", "policy", "replay", "--json", file(t, candidate), "--since", "2026-03-04", "--config", file(t, "store: "+recorded(t)+"\n"))
	var r struct {
		Since                    time.Time
		Calls, Replayed, Changed int
		Changes                  []map[string]any
		Skipped                  []map[string]any
	}
	if err := json.Unmarshal([]byte(got.stdout), &r); err != nil || got.code != 0 {
		t.Fatalf("got %+v, %v", got, err)
	}
	if r.Since.Day() != 4 || r.Calls != 10 || r.Replayed != 8 || r.Changed != 5 || len(r.Changes) != 2 || len(r.Skipped) != 2 {
		t.Fatalf("got %+v", r)
	}
	if c := r.Changes[1]; c["tool"] != "pay" || c["from"] != "allow" || c["to"] != "flag" || c["calls"] != 3.0 || c["rule"] != "tools.rules[0]" ||
		c["reason"] != "the rule for pay says flag" || c["first"] != "2026-03-04T12:00:00Z" || c["last"] != "2026-03-04T14:00:00Z" {
		t.Errorf("got %v", c)
	}
	if s := r.Skipped[0]; s["tool"] != "http_get" || s["from"] != "allow" || s["to"] != nil || len(s["depends_on"].([]any)) != 1 {
		t.Errorf("got %v", s)
	}
}

func TestPolicyReplayHasNoAnswer(t *testing.T) {
	url, policy := recorded(t), file(t, candidate)
	one := judgedStore(t, []gatehouse.CallVerdict{judgedCall(1, "http_get", gatehouse.Allow, "default")})
	for _, c := range []struct {
		name string
		args []string
		want string // on standard error
	}{
		{"nothing recorded", []string{policy, "--since", "1h", "--store", url}, "no tool call was judged since 2"},
		{"nothing that can be replayed", []string{policy, "--since", "2026-03-04", "--store", one}, "nothing could be replayed"},
		{"no store", []string{policy, "--since", "7d", "--store", "sqlite:" + filepath.Join(t.TempDir(), "x")}, "no database"},
		{"no time", []string{policy, "--store", url}, `required flag(s) "since" not set`},
		{"another time", []string{policy, "--since", "soon", "--store", url}, "--since must be a duration"},
		{"no file", []string{"no-such-file", "--since", "7d", "--store", url}, "no such file"},
		{"a policy that is not valid", []string{file(t, "tools: {rules: [{tool: a, verdict: b}]}\n"), "--since", "7d", "--store", url}, "tools.rules[0].verdict"},
	} {
		got := command(t, "", append([]string{"policy", "replay"}, c.args...)...)
		if got.code != 2 || !strings.Contains(got.stderr, c.want) {
			t.Errorf("%s: got %+v", c.name, got)
		}
	}
}

func TestSinceTime(t *testing.T) {
	now := time.Date(2026, 3, 10, 6, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"12h": "2026-03-09T18:00:00Z", "7d": "2026-03-03T06:00:00Z", "2026-03-01": "2026-03-01T00:00:00Z", "2026-03-01T01:00:00+01:00": "2026-03-01T00:00:00Z",
		"": "", "-1h": "", "0d": "", "1": "", "2026-03": "",
	} {
		got, err := sinceTime(text, now)
		if want == "" && err == nil || want != "" && got.Format(time.RFC3339) != want {
			t.Errorf("%q: got %s, %v, want %q", text, got, err, want)
		}
	}
}
