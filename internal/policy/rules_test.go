package policy_test

import (
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
)

// The call of this table is pay with {"n": 5}; a condition on args.none fails.
func TestConditionalRules(t *testing.T) {
	const allow, flag, block = gatehouse.Allow, gatehouse.Flag, gatehouse.Block
	rule := func(verdict gatehouse.Verdict, when, unless string) policy.Rule {
		return policy.Rule{Tool: "pay", Verdict: verdict, When: when, Unless: unless}
	}
	open := func(r ...policy.Rule) policy.Tools { return policy.Tools{Rules: r} }
	fenced := func(r ...policy.Rule) policy.Tools { return policy.Tools{Allow: []string{"search"}, Rules: r} }
	flagged := func(r ...policy.Rule) policy.Tools { // of a tool that is flagged without being written down
		for i := range r {
			r[i].Tool = "send_email"
		}
		return policy.Tools{Rules: r}
	}
	yes, no, broken := "args.n == 5", "args.n == 6", "args.none == 1"
	tests := []struct {
		name    string
		tools   policy.Tools
		verdict gatehouse.Verdict
		rule    string
	}{
		{"when it holds", open(rule(block, yes, "")), block, "tools.rules[0]"},
		{"when it does not", open(rule(block, no, "")), allow, "default"},
		{"when it fails, a block counts", open(rule(block, broken, "")), block, "tools.rules[0]"},
		{"when it fails, a flag counts", open(rule(flag, broken, "")), flag, "tools.rules[0]"},
		{"when it fails, an allow does not count", open(rule(allow, broken, "")), allow, "default"},
		{"unless it holds", open(rule(block, "", yes)), allow, "default"},
		{"unless it does not", open(rule(block, "", no)), block, "tools.rules[0]"},
		{"unless it fails, a block counts", open(rule(block, "", broken)), block, "tools.rules[0]"},
		{"unless it fails, an allow does not count", open(rule(allow, "", broken)), allow, "default"},
		{"both", open(rule(block, yes, no)), block, "tools.rules[0]"},
		{"both, and the exception", open(rule(block, yes, yes)), allow, "default"},
		{"an exception settles a failed when", open(rule(block, broken, yes)), allow, "default"},
		{"a when settles a failed exception", open(rule(block, no, broken)), allow, "default"},
		{"a failed when is no exception", open(rule(block, broken, no)), block, "tools.rules[0]"},
		{"a failed exception is none", open(rule(block, yes, broken)), block, "tools.rules[0]"},

		{"the strictest of those that hold", open(rule(allow, yes, ""), rule(flag, yes, ""), rule(block, no, "")), flag, "tools.rules[1]"},
		{"a failed block is the strictest", open(rule(allow, yes, ""), rule(flag, yes, ""), rule(block, broken, "")), block, "tools.rules[2]"},
		{"the first of equals that holds", open(rule(flag, no, ""), rule(flag, yes, ""), rule(flag, "", "")), flag, "tools.rules[1]"},

		{"an allow opens the fence when it holds", fenced(rule(allow, yes, "")), allow, "tools.rules[0]"},
		{"and does not when it does not", fenced(rule(allow, no, "")), block, "allow"},
		{"and does not when it fails", fenced(rule(allow, broken, "")), block, "allow"},
		{"another one may", fenced(rule(allow, no, ""), rule(allow, yes, "")), allow, "tools.rules[1]"},
		{"a flag names its tool while it holds", fenced(rule(flag, yes, "")), flag, "tools.rules[0]"},
		{"and while it does not", fenced(rule(flag, no, "")), allow, "default"},
		{"and when it fails, it flags", fenced(rule(flag, broken, "")), flag, "tools.rules[0]"},
		{"a block names nothing", fenced(rule(block, no, "")), block, "allow"},
		{"a flag outside an opened fence", fenced(policy.Rule{Tool: "*", Verdict: flag}, rule(allow, yes, "")), flag, "tools.rules[0]"},
		{"a flag outside a closed fence", fenced(policy.Rule{Tool: "*", Verdict: flag}, rule(allow, no, "")), block, "allow"},

		{"an allow lifts the built-in flag when it holds", flagged(rule(allow, yes, "")), allow, "tools.rules[0]"},
		{"and does not when it does not", flagged(rule(allow, no, "")), flag, "built-in flag send_email"},
		{"and does not when it fails", flagged(rule(allow, broken, "")), flag, "built-in flag send_email"},
		{"a second one lifts", flagged(rule(allow, no, ""), rule(allow, yes, "")), allow, "tools.rules[1]"},
		{"an allow lifts no flag rule", flagged(rule(allow, yes, ""), rule(flag, yes, "")), flag, "tools.rules[1]"},
		{"a glob that holds does not, a name behind it does", policy.Tools{Rules: []policy.Rule{
			{Tool: "send_*", Verdict: allow, When: yes}, {Tool: "send_email", Verdict: allow, When: yes}}}, allow, "tools.rules[0]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tool := "pay"
			if len(test.tools.Rules) > 0 && test.tools.Rules[len(test.tools.Rules)-1].Tool == "send_email" {
				tool = "send_email"
			}
			got := compile(t, test.tools).Judge(policy.Call{Tool: tool, Args: `{"n":5}`})
			if got.Verdict != test.verdict || got.Rule != test.rule {
				t.Errorf("got %s by %q (%s), want %s by %q", got.Verdict, got.Rule, got.Reason, test.verdict, test.rule)
			}
		})
	}
}

// Before there is a call, nobody knows whether a condition will hold.
func TestDeclaredToolsKnowNoConditions(t *testing.T) {
	rules := func(verdict gatehouse.Verdict) []policy.Rule {
		return []policy.Rule{{Tool: "hosted:web_search", Verdict: verdict, When: "true"}, {Tool: "send_email", Verdict: verdict, Unless: "false"}}
	}
	fence := []string{"search"}
	tests := []struct {
		name  string
		tools policy.Tools
		tool  string
		want  gatehouse.Verdict
	}{
		{"a block does not refuse", policy.Tools{Rules: rules(gatehouse.Block)}, "hosted:web_search", gatehouse.Allow},
		{"a flag does not flag", policy.Tools{Rules: rules(gatehouse.Flag)}, "hosted:web_search", gatehouse.Allow},
		{"a flag opens no fence", policy.Tools{Allow: fence, Rules: rules(gatehouse.Flag)}, "hosted:web_search", gatehouse.Block},
		{"an allow opens no fence", policy.Tools{Allow: fence, Rules: rules(gatehouse.Allow)}, "hosted:web_search", gatehouse.Block},
		{"an allow lifts no built-in flag", policy.Tools{Rules: rules(gatehouse.Allow)}, "send_email", gatehouse.Flag},
	}
	for _, test := range tests {
		if got := compile(t, test.tools).JudgeDeclared(test.tool); got.Verdict != test.want {
			t.Errorf("%s: got %+v, want %s", test.name, got, test.want)
		}
	}
}
