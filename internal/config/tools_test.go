package config

import (
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
)

func TestConditionsAreRead(t *testing.T) {
	got := parse(t, `tools:
  rules:
    - {tool: send_email, verdict: allow, when: 'args.to.all(a, a.endsWith("@example.com"))'}
    - tool: pay
      verdict: flag
      when: args.amount > 100
      unless: |
        agent.name == "treasurer" &&
        !session.tainted
`).Tools.Rules
	want := []policy.Rule{
		{Tool: "send_email", Verdict: gatehouse.Allow, When: `args.to.all(a, a.endsWith("@example.com"))`, Line: 3,
			WhenAt: policy.Position{Line: 3, Column: 49, Escaped: "'"}},
		{Tool: "pay", Verdict: gatehouse.Flag, When: "args.amount > 100", Unless: "agent.name == \"treasurer\" &&\n!session.tainted\n", Line: 4,
			WhenAt: policy.Position{Line: 6, Column: 13}, UnlessAt: policy.Position{Line: 8}},
	}
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Errorf("got %+v\nwant %+v", got, want[i])
		}
	}
}

func TestConditionsComeBack(t *testing.T) {
	t.Setenv("DOMAIN", "example.com")
	before := parse(t, `tools: {rules: [{tool: "*", verdict: block, when: 'args.a.matches("^[$]{1,2}x: #y$") || args.b == "$${X}"', unless: 'args.c == "@${DOMAIN}"'}]}`)
	printed := string(before.Masked())
	after := parse(t, printed).Tools.Rules[0]
	if b := before.Tools.Rules[0]; after.When != b.When || after.Unless != b.Unless || !strings.Contains(b.Unless, "@example.com") || !strings.Contains(b.When, `"${X}"`) {
		t.Errorf("read %+v, printed\n%s", b, printed)
	}
}
