package policy_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
)

func TestReplayJudge(t *testing.T) {
	const some = "args.n > 1"
	rule := func(tool string, v gatehouse.Verdict, when string) policy.Rule {
		return policy.Rule{Tool: tool, Verdict: v, When: when}
	}
	rules := func(r ...policy.Rule) policy.Tools { return policy.Tools{Rules: r} }
	fenced := func(r ...policy.Rule) policy.Tools { return policy.Tools{Allow: []string{"search"}, Rules: r} }
	tests := []struct {
		name    string
		tools   policy.Tools
		tool    string
		verdict gatehouse.Verdict
		rule    string
		open    string
	}{
		{"nothing written", policy.Tools{}, "pay", gatehouse.Allow, "default", ""},
		{"a built-in flag", policy.Tools{}, "send_email", gatehouse.Flag, "built-in flag send_email", ""},
		{"a rule", rules(rule("pay", gatehouse.Block, "")), "pay", gatehouse.Block, "tools.rules[0]", ""},
		{"the fence", fenced(), "pay", gatehouse.Block, "allow", ""},
		{"no name", policy.Tools{}, "", gatehouse.Block, "tool", ""},
		{"a conditional flag", rules(rule("pay", gatehouse.Flag, some)), "pay", "", "", "tools.rules[0]"},
		{"a conditional flag of another tool", rules(rule("pay", gatehouse.Flag, some)), "search", gatehouse.Allow, "default", ""},
		{"a conditional flag that can only say it again", rules(rule("*", gatehouse.Flag, some), rule("pay", gatehouse.Flag, "")), "pay", gatehouse.Flag, "tools.rules[1]", ""},
		{"a conditional block beside a flag", rules(rule("pay", gatehouse.Flag, ""), rule("p*", gatehouse.Block, some)), "pay", "", "", "tools.rules[1]"},
		{"a conditional allow that changes nothing", rules(rule("pay", gatehouse.Allow, some)), "pay", gatehouse.Allow, "default", ""},
		{"a conditional allow that lifts", rules(rule("send_email", gatehouse.Allow, some)), "send_email", "", "", "tools.rules[0]"},
		{"a conditional allow that opens the fence", fenced(rule("pay", gatehouse.Allow, some)), "pay", "", "", "tools.rules[0]"},
		{"a conditional flag that names its tool", fenced(rule("pay", gatehouse.Flag, some)), "pay", "", "", "tools.rules[0]"},
		{"a conditional flag for everything names none", fenced(rule("*", gatehouse.Flag, some)), "pay", gatehouse.Block, "allow", ""},
		{"several", fenced(rule("pay", gatehouse.Allow, some), rule("pay", gatehouse.Block, some)), "pay", "", "", "tools.rules[1] tools.rules[0]"},
		{"provenance", policy.Tools{Provenance: gatehouse.Flag}, "pay", "", "", "provenance"},
		{"provenance that can only say it again", policy.Tools{Provenance: gatehouse.Flag}, "send_email", gatehouse.Flag, "built-in flag send_email", ""},
		{"provenance that blocks", policy.Tools{Provenance: gatehouse.Block}, "send_email", "", "", "provenance"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, open := compile(t, test.tools).Replay().Judge(test.tool)
			if got.Verdict != test.verdict || got.Rule != test.rule || strings.Join(open, " ") != test.open {
				t.Errorf("got %+v, %v, want %s by %s, open %s", got, open, test.verdict, test.rule, test.open)
			}
		})
	}
}

// TestReplayIsTheGate compares the replay with the gate for policies at random: where it is certain, the gate says the same
// whatever the conditions are; where it is not, the conditions decide.
func TestReplayIsTheGate(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same policies each time
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	globs := []string{"pay", "send_email", "search", "*", "pa?", "send_*"}
	certain, open := 0, 0
	for range 3000 {
		var tools policy.Tools
		for range random.IntN(3) {
			tools.Flag, tools.FlagSet = append(tools.Flag, pick(globs...)), true
		}
		if random.IntN(2) == 0 {
			tools.Allow = []string{pick(globs...)}
		}
		conditions := random.IntN(4)
		for i := range conditions {
			tools.Rules = append(tools.Rules, policy.Rule{Tool: pick(globs...), Verdict: gatehouse.Verdict(pick("allow", "flag", "block")), When: fmt.Sprintf("args.c%d == true", i)})
		}
		for range random.IntN(2) {
			tools.Rules = append(tools.Rules, policy.Rule{Tool: pick(globs...), Verdict: gatehouse.Verdict(pick("allow", "flag", "block"))})
		}
		p := compile(t, tools)
		for _, tool := range []string{"pay", "send_email", "search"} {
			var all []policy.Judgement
			for bits := range 1 << conditions {
				var args []string
				for i := range conditions {
					args = append(args, fmt.Sprintf(`"c%d":%v`, i, bits>>i&1 == 1))
				}
				all = append(all, p.Judge(policy.Call{Tool: tool, Args: "{" + strings.Join(args, ",") + "}"}))
			}
			other := slices.ContainsFunc(all, func(j policy.Judgement) bool { return j.Verdict != all[0].Verdict })
			got, depends := p.Replay().Judge(tool)
			if other != (len(depends) > 0) || !other && got.Verdict != all[0].Verdict {
				t.Fatalf("%+v: %s: got %+v, %v, and the gate says %+v", tools, tool, got, depends, all)
			}
			if !other && !slices.ContainsFunc(all, func(j policy.Judgement) bool { return j == got }) {
				t.Fatalf("%+v: %s: got %+v, which the gate never says: %+v", tools, tool, got, all)
			}
			if other {
				open++
			} else {
				certain++
			}
		}
	}
	if certain < 1000 || open < 1000 {
		t.Errorf("%d certain, %d open: too few of a kind", certain, open)
	}
}
