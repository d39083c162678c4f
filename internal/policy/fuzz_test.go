package policy_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
)

// FuzzCondition: whatever is written, reading it gives a policy or errors with a path; whatever is called, the policy has an
// answer, a rule and a reason, and gives it twice.
func FuzzCondition(f *testing.F) {
	for _, condition := range written {
		f.Add(strings.ReplaceAll(condition, "%d", "7"), ordinary.Args)
	}
	f.Add(`args.a[0].b == "x" ? origin(args) == "user" : size(args) > 1`, `{"a":[{"b":"x"}]}`)
	f.Add(`args.s.replace(args.s, args.s).indexOf(args.s) == 0`, `{"s":"aaa"}`)
	f.Add(`args.all(k, args.exists(l, k == l))`, `"{\"a\":1,\"b\":2}"`)
	f.Add(`int(args.n) == 1 && string(args.n) == "1"`, `{"n":1e2147483648}`)
	f.Fuzz(func(t *testing.T, condition, args string) {
		for _, verdict := range []gatehouse.Verdict{gatehouse.Allow, gatehouse.Block} {
			p, err := policy.Compile(policy.Tools{Allow: []string{}, Rules: []policy.Rule{{Tool: "pay", Verdict: verdict, When: condition, Unless: "args.stop == true"}}})
			if err != nil {
				if !strings.Contains(err.Error(), "tools.rules[0].when: ") {
					t.Errorf("an error without a path: %v", err)
				}
				return
			}
			call := known(args)
			got := p.Judge(call)
			if got.Verdict == "" || got.Rule == "" || got.Reason == "" {
				t.Errorf("half an answer: %+v", got)
			}
			if again := p.Judge(call); again.Verdict != got.Verdict {
				t.Errorf("got %+v, then %+v", got, again)
			}
			if !utf8.ValidString(got.Reason) {
				t.Errorf("the reason is no text: %q", got.Reason)
			}
		}
	})
}

// TestAddingARule holds for random policies: a rule that is added never makes the answer milder, unless it allows, and
// opens the fence or lifts a built-in flag, or flags, and names a tool outside the fence. And the answer of a policy is
// the strictest of its rules that count.
func TestAddingARule(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	rule := func() policy.Rule {
		return policy.Rule{
			Tool:    pick("pay", "send_email", "*", "send_*", "p?y", "other"),
			Verdict: gatehouse.Verdict(pick("allow", "flag", "block")),
			When:    pick("", "true", "false", "args.n == 5", "args.nope == 5", "origin(args.n) == 'model'"),
			Unless:  pick("", "", "true", "false", "args.n == 6", "args.nope == 5"),
		}
	}
	for range 5000 {
		tools := policy.Tools{Allow: [][]string{nil, {}, {"search"}, {"pay"}}[random.IntN(4)], FlagSet: random.IntN(2) == 0}
		if tools.FlagSet {
			tools.Flag = [][]string{{}, {"p*"}, {"send_email"}}[random.IntN(3)]
		}
		for range random.IntN(4) {
			tools.Rules = append(tools.Rules, rule())
		}
		added := rule()
		more := tools
		more.Rules = append(tools.Rules[:len(tools.Rules):len(tools.Rules)], added)
		call := policy.Call{Tool: pick("pay", "send_email", "search", "delete_x"), Args: `{"n":5}`}

		before, after := compile(t, tools).Judge(call), compile(t, more).Judge(call)
		opens := before.Rule == "allow" && added.Verdict != gatehouse.Block && added.Tool != "*"
		lifts := strings.HasPrefix(before.Rule, "built-in") && added.Verdict == gatehouse.Allow && added.Tool == call.Tool
		if before.Verdict.Stricter(after.Verdict) && !opens && !lifts {
			t.Fatalf("%+v\nto %s\nadding %+v\nturned %+v\ninto %+v", tools, call.Tool, added, before, after)
		}
		for _, r := range more.Rules {
			one := compile(t, policy.Tools{FlagSet: true, Flag: []string{}, Rules: []policy.Rule{r}}).Judge(call)
			if one.Verdict.Stricter(after.Verdict) {
				t.Fatalf("%+v\nto %s\nis %+v, and %+v alone is %+v", more, call.Tool, after, r, one)
			}
		}
	}
}

// TestOrderDoesNotChangeTheVerdict: rules are not read from top to bottom.
func TestOrderDoesNotChangeTheVerdict(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	rules := []policy.Rule{
		{Tool: "pay", Verdict: gatehouse.Allow, When: "args.n == 5"}, {Tool: "pay", Verdict: gatehouse.Flag, When: "args.n > 4"},
		{Tool: "*", Verdict: gatehouse.Block, When: "args.n > 9"}, {Tool: "p*", Verdict: gatehouse.Allow}, {Tool: "p*", Verdict: gatehouse.Flag, Unless: "args.nope == 1"},
	}
	for _, args := range []string{`{"n":5}`, `{"n":1}`, `{"n":10}`, `{"nope":1,"n":1}`, `{}`} {
		want := compile(t, policy.Tools{Allow: []string{}, Rules: rules}).Judge(policy.Call{Tool: "pay", Args: args}).Verdict
		for range 20 {
			random.Shuffle(len(rules), func(i, j int) { rules[i], rules[j] = rules[j], rules[i] })
			if got := compile(t, policy.Tools{Allow: []string{}, Rules: rules}).Judge(policy.Call{Tool: "pay", Args: args}); got.Verdict != want {
				t.Errorf("%s: got %+v, want %s", args, got, want)
			}
		}
	}
}
