package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPolicyCheck(t *testing.T) {
	if got := command(t, "", "policy", "check", "../../docs/policy/gatehouse.yaml"); got.code != 0 || !strings.HasSuffix(got.stdout, ": valid\n") || got.stderr != "" {
		t.Errorf("the example of the documentation: got %+v", got)
	}
	bad := file(t, "tools:\n  rules:\n    - {tool: pay, verdict: flag, when: args.amount > 100 && session.tained}\n    - {tool: '', verdict: deny}\n")
	got := command(t, "", "policy", "check", bad)
	want := bad + ":3:68: tools.rules[0].when: undeclared reference to 'session.tained' (did you mean 'session.tainted'?)\n" +
		bad + ":4: tools.rules[1].tool: must name a tool\n" + bad + ":4: tools.rules[1].verdict: must be allow, flag or block\n"
	if got.code != 1 || got.stdout != want || got.stderr == "" {
		t.Errorf("got %+v, want\n%s", got, want)
	}
	if got := command(t, "", "policy", "check", bad, "--json"); got.code != 1 || !strings.Contains(got.stdout, `"line":3,"column":68,`) {
		t.Errorf("as JSON: got %+v", got)
	}
	if got := command(t, "", "policy", "check", file(t, "listen: :1\n")); got.code != 0 || !strings.Contains(got.stderr, "says nothing of tools") {
		t.Errorf("without a policy: got %+v", got)
	}
	if got := command(t, "", "policy", "check", "no-such-file"); got.code != 2 {
		t.Errorf("no file: got %+v", got)
	}
}

func TestPolicyTestRunsTheExamples(t *testing.T) {
	got := command(t, "", "policy", "test", "../../docs/policy")
	if got.code != 0 || !strings.HasSuffix(got.stdout, "failed: 0\n") || strings.Count(got.stdout, "\nok ") < 10 || !strings.Contains(got.stderr, "gatehouse.yaml: not a case file") {
		t.Errorf("got %+v", got)
	}
}

func TestPolicyTest(t *testing.T) {
	const tools = "tools:\n  rules:\n    - {tool: pay, verdict: flag, when: args.n != 12345678901234567890u}\n    - {tool: sh, verdict: block, when: args.input == \"x\"}\n" +
		"    - {tool: at, verdict: flag, when: 'now.getHours() > 12'}\n    - {tool: who, verdict: flag, when: 'agent.id != \"\" || session.turns != 0 || session.risk != 0.0'}\n"
	tests := []struct {
		name, calls, stdout string
		code                int
	}{
		{"a case that passes", "  - {name: one, tool: pay, args: {n: 12345678901234567890}, want: allow}\n", "ok    cases: one\npassed: 1, failed: 0\n", 0},
		{"a case that fails", "  - {name: one, tool: pay, args: {n: 12345678901234567891}, want: allow}\n",
			"FAIL  cases: one\n      FILE:8: got flag by tools.rules[0] (the rule for pay says flag), want allow\npassed: 0, failed: 1\n", 1},
		{"the wrong rule", "  - {tool: pay, args: {}, want: flag, rule: 'tools.rules[1]'}\n",
			"FAIL  cases: call 1 to pay\n      FILE:8: got flag by tools.rules[0] (the rule for pay says flag, and counts because its condition failed: it asks for something that is not there), want flag by tools.rules[1]\npassed: 0, failed: 1\n", 1},
		{"freeform text", "  - {name: a, tool: sh, freeform: x, want: block}\n", "ok    cases: a\npassed: 1, failed: 0\n", 0},
		{"arguments as the model wrote them", "  - {name: a, tool: sh, args: '{\"a\":1,\"a\":1}', want: block, rule: arguments}\n", "ok    cases: a\npassed: 1, failed: 0\n", 0},
		{"no arguments", "  - {name: a, tool: search, want: allow, rule: default}\n", "ok    cases: a\npassed: 1, failed: 0\n", 0},
		{"a time that is given", "  - {name: a, tool: at, context: {now: 2026-03-04T10:00:00Z}, want: allow}\n", "ok    cases: a\npassed: 1, failed: 0\n", 0},
		{"a time that is not", "  - {name: a, tool: at, want: flag}\n", "ok    cases: a\npassed: 1, failed: 0\n", 0},
		{"an agent and a session that are not given", "  - {name: a, tool: who, want: allow}\n", "ok    cases: a\npassed: 1, failed: 0\n", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "cases.yaml")
			write(t, path, tools+"calls:\n"+test.calls)
			got := command(t, "", "policy", "test", path)
			if want := strings.ReplaceAll(test.stdout, "FILE", path); got.stdout != want || got.code != test.code {
				t.Errorf("got %+v, want\n%s", got, want)
			}
			var results []caseResult
			if got := command(t, "", "policy", "test", "--json", path); json.Unmarshal([]byte(got.stdout), &results) != nil || len(results) != 1 || results[0].OK != (test.code == 0) {
				t.Errorf("as JSON: got %+v", got)
			}
		})
	}
}

func TestPolicyTestRefusesWhatItDoesNotUnderstand(t *testing.T) {
	for name, text := range map[string]string{
		"no calls":             "policy: x\n",
		"no policy":            "calls: []\n",
		"two policies":         "policy: x\ntools: {}\ncalls: []\n",
		"an unknown key":       "tools: {}\ncalls: []\ncall: []\n",
		"an unknown call key":  "tools: {}\ncalls: [{tool: a, want: allow, wants: block}]\n",
		"another word":         "tools: {}\ncalls: [{tool: a, want: redact}]\n",
		"nothing wanted":       "tools: {}\ncalls: [{tool: a}]\n",
		"an unknown context":   "tools: {}\ncalls: [{tool: a, want: allow, context: {session: {taint: true}}}]\n",
		"a risk above one":     "tools: {}\ncalls: [{tool: a, want: allow, context: {session: {risk: 7}}}]\n",
		"an unknown source":    "tools: {}\ncalls: [{tool: a, want: allow, context: {origins: [{value: x, source: web}]}}]\n",
		"a value of many":      "tools: {}\ncalls: [{tool: a, want: allow, context: {origins: [{value: [x], source: user}]}}]\n",
		"args and text":        "tools: {}\ncalls: [{tool: a, want: allow, args: {}, freeform: x}]\n",
		"args within args":     "tools: {}\ncalls: [{tool: a, want: allow, args: &a {b: *a}}]\n",
		"a policy not there":   "policy: no-such-file\ncalls: []\n",
		"not YAML":             "calls: [\n",
		"a directory of none":  "",
		"a list in its place":  "- calls\n",
		"calls that are a map": "tools: {}\ncalls: {a: b}\n",
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "cases.yml"), text)
		if got := command(t, "", "policy", "test", dir); got.code != 2 || got.stdout != "" || got.stderr == "" {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	path := filepath.Join(t.TempDir(), "cases.yaml")
	write(t, path, "name: x\ntools:\n\n  rules: [{tool: a, verdict: b}]\ncalls: []\n")
	if got := command(t, "", "policy", "test", path); got.code != 1 || !strings.Contains(got.stderr, path+":4: tools.rules[0].verdict: ") {
		t.Errorf("a policy that is not valid: got %+v", got)
	}
}

func TestGateKnowsTheContext(t *testing.T) {
	const policy = "../../docs/policy/gatehouse.yaml"
	args := []string{"gate", "--policy", policy, "--tool", "http_get", "--args", `{"url":"https://example.org/x"}`}
	if got := command(t, "", args...); got.code != 0 || !strings.HasPrefix(got.stdout, "allow\n") {
		t.Errorf("without a context: got %+v", got)
	}
	got := command(t, "", append(args, "--context", `{"session":{"tainted":true},"origins":[{"value":"https://example.org/x","source":"tool_result","tool":"read_page"}]}`)...)
	if got.code != 1 || !strings.HasPrefix(got.stdout, "block\nrule: tools.rules[2]\n") {
		t.Errorf("with one: got %+v", got)
	}
	for _, bad := range []string{`[]`, `{"session":{"risky":1}}`, `{"now":"soon"}`, `{`} {
		if got := command(t, "", append(args, "--context", bad)...); got.code != 2 || got.stdout != "" || !strings.Contains(got.stderr, "--context: ") {
			t.Errorf("%s: got %+v", bad, got)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
