package policy_test

import (
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
)

// All tools of a server at once may be one that a rule is meant for.
func TestServersAreJudgedWhole(t *testing.T) {
	for pattern, refused := range map[string]bool{"mcp:mail/send": true, "mcp:mail/*": true, "mcp:*": true, "mcp:ma*": true,
		"mcp:docs/*": false, "mcp:mailbox/*": false, "send": false, "*_email": false} {
		for _, v := range []gatehouse.Verdict{gatehouse.Block, gatehouse.Flag} {
			p, err := policy.Compile(policy.Tools{Rules: []policy.Rule{{Tool: pattern, Verdict: v}}})
			if err != nil {
				t.Fatal(err)
			}
			if got := p.JudgeDeclared("mcp:mail/*"); (got.Verdict == v) != refused {
				t.Errorf("%s: %+v", pattern, got)
			}
		}
		p, err := policy.Compile(policy.Tools{FlagSet: true, Flag: []string{pattern}})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.JudgeDeclared("mcp:mail/*"); (got.Verdict == gatehouse.Flag) != refused {
			t.Errorf("flag %s: %+v", pattern, got)
		}
	}
	p, err := policy.Compile(policy.Tools{Rules: []policy.Rule{{Tool: "mcp:mail/send", Verdict: gatehouse.Block, When: "args.to == 'x'"}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.JudgeDeclared("mcp:mail/*"); got.Verdict != gatehouse.Allow {
		t.Errorf("a condition that nobody can work out: %+v", got)
	}
}

// To write the built-in flags down changes nothing: a rule that names the tool lifts them.
func TestBuiltinFlagsWrittenDown(t *testing.T) {
	written, err := policy.Compile(policy.Tools{FlagSet: true, Flag: []string{"send_email", "delete_*", "transfer_*", "wipe_*"}, Rules: []policy.Rule{
		{Tool: "send_email", Verdict: gatehouse.Flag, When: `args.to.exists(a, !a.endsWith("@example.com"))`},
		{Tool: "send_email", Verdict: gatehouse.Allow, When: `args.to.all(a, a.endsWith("@example.com"))`},
		{Tool: "wipe_disk", Verdict: gatehouse.Allow}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tool, args string
		want       gatehouse.Verdict
	}{
		{"send_email", `{"to":["a@example.com"]}`, gatehouse.Allow},
		{"send_email", `{"to":["a@example.com","b@evil.test"]}`, gatehouse.Flag},
		{"mcp__gmail__send_email", `{"to":["a@example.com"]}`, gatehouse.Flag},
		{"delete_file", `{}`, gatehouse.Flag},
		{"wipe_disk", `{}`, gatehouse.Flag}, // the operator's own flag is not lifted
	} {
		if got := written.Judge(policy.Call{Tool: c.tool, Args: c.args}); got.Verdict != c.want {
			t.Errorf("%s %s: %+v", c.tool, c.args, got)
		}
	}
}
