package policy_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
)

// known is a call around which everything is known.
func known(args string) policy.Call {
	return policy.Call{
		Tool: "pay", Args: args,
		Agent:   &policy.Agent{ID: "a-1", Name: "mailer", Account: "acme"},
		Session: &policy.Session{ID: "s-1", Risk: 0.25, Tainted: true, Turns: 3},
		Now:     time.Date(2026, 3, 4, 22, 5, 6, 0, time.FixedZone("", -3600)),
		Origin: func(value any) policy.Origin {
			switch value {
			case "https://bad.example/x", json.Number("12345678901234567890"), json.Number("1.5"):
				return policy.Origin{Source: policy.ToolResult, Tool: "read_page"}
			case "alice@example.com":
				return policy.Origin{Source: policy.User}
			case "ops@example.com":
				return policy.Origin{Source: policy.System}
			}
			return policy.Origin{Source: policy.Model}
		},
	}
}

func TestConditions(t *testing.T) {
	const holds, fails, not = "holds", "fails", "not"
	tests := []struct{ condition, args, want string }{
		{`tool == "pay"`, `{}`, holds},
		{`agent.id == "a-1" && agent.name == "mailer" && agent.account == "acme"`, `{}`, holds},
		{`session.id == "s-1" && session.risk == 0.25 && session.tainted && session.turns == 3`, `{}`, holds},
		{`now == timestamp("2026-03-04T23:05:06Z") && now.getHours() == 23`, `{}`, holds},

		{`args.to.exists(a, !a.endsWith("@example.com"))`, `{"to":["a@example.com"]}`, not},
		{`args.to.exists(a, !a.endsWith("@example.com"))`, `{"to":["a@example.com","a@example.net"]}`, holds},
		{`args.to.exists(a, !a.endsWith("@example.com"))`, `{"to":"a@example.com"}`, fails},
		{`args.to.exists(a, !a.endsWith("@example.com"))`, `{"to":[1]}`, fails},
		{`args.to.exists(a, !a.endsWith("@example.com"))`, `{}`, fails},
		{`args.to.exists(a, !a.endsWith("@example.com"))`, ``, fails},
		{`has(args.to)`, `{}`, not},
		{`args.a.b[1].c == "x"`, `{"a":{"b":[0,{"c":"\u0078"}]}}`, holds},
		{`args["odd key"] == true && args.none == null`, `{"odd key":true,"none":null}`, holds},
		{`args.s.lowerAscii().trim() == "x" && "a-b".split("-").size() == 2`, `{"s":" X "}`, holds},
		{`args.list[5] == 1`, `{"list":[1]}`, fails},
		{`args.a == 1`, `"{\"a\":1}"`, holds},
		{`1 / args.a == 1`, `{"a":0}`, fails},
		{`args.s.matches(args.p)`, `{"s":"a","p":"("}`, fails},
		{`args.s.matches("^" + args.p + "$") && args.s.indexOf(args.p) == 0`, `{"s":"a","p":"a"}`, holds},
		{`args.s.replace("-", "").matches("^[0-9]{4}$") && [args.s].join(",") == "12-34"`, `{"s":"12-34"}`, holds},
		{`"%s is %d".format([args.s, 5]) == "x is 5"`, `{"s":"x"}`, holds},
		{`args.nope || true`, `{}`, holds}, // one side settles it

		{`args.n == 1 && args.n < 1.5 && args.n in [1, 2]`, `{"n":1}`, holds},
		{`args.n == 1`, `{"n":1.0}`, holds},
		{`args.n == 1000`, `{"n":1e3}`, holds},
		{`args.n == 0.1 && type(args.n) == double`, `{"n":1.0e-1}`, holds},
		{`args.n == 0`, `{"n":-0.0}`, holds},
		{`args.n == 9223372036854775807`, `{"n":9223372036854775807}`, holds},
		{`args.n == 9223372036854775808u && args.n > 1`, `{"n":9223372036854775808}`, holds},
		{`args.n == 12345678901234567890u`, `{"n":12345678901234567891}`, not},
		{`args.n == "98765432109876543210"`, `{"n":98765432109876543210}`, holds},
		{`args.n == "98765432109876543210"`, `{"n":98765432109876543211}`, not},
		{`args.n > 100`, `{"n":98765432109876543210}`, fails},
		{`double(args.n) > 100.0`, `{"n":98765432109876543210}`, holds},
		{`args.n == "0.12345678901234567890123"`, `{"n":0.12345678901234567890123}`, holds},
		{`args.n > 0`, `{"n":0.12345678901234567890123}`, fails},
		{`args.n > 0`, `{"n":1e999}`, fails},
		{`args.n > 0`, `{"n":1e-999}`, fails},
		{`args.a == args.b`, `{"a":9007199254740993.0,"b":9007199254740992.0}`, not},

		{`origin(args.v) == "user" && origin_tool(args.v) == ""`, `{"v":"alice@example.com"}`, holds},
		{`origin(args.v) == "system"`, `{"v":"ops@example.com"}`, holds},
		{`origin(args.v) == "tool_result" && origin_tool(args.v) == "read_page"`, `{"v":"https://bad.example/x"}`, holds},
		{`origin(args.v) == "model"`, `{"v":"made up"}`, holds},
		{`origin(args.v) == "tool_result"`, `{"v":12345678901234567890}`, holds},
		{`origin(args.v) == "tool_result"`, `{"v":1.50}`, holds},
		{`origin(args.v) == "tool_result"`, `{"v":["alice@example.com",{"x":["https://bad.example/x"]}]}`, holds},
		{`origin(args.v) == "model"`, `{"v":["alice@example.com","made up"]}`, holds},
		{`origin(args.v) == "user"`, `{"v":["ops@example.com",true,null,"alice@example.com"]}`, holds},
		{`origin(args.v) == "model"`, `{"v":{"https://bad.example/x":true}}`, holds},
		{`origin(args.v) == "model"`, `{"v":[]}`, holds},
		{`args.v.exists(k, origin(k) == "tool_result")`, `{"v":{"https://bad.example/x":true}}`, holds},
		{`origin(args.nope) == "model"`, `{}`, fails},
	}
	for _, test := range tests {
		t.Run(test.condition+" "+test.args, func(t *testing.T) {
			got := func(verdict gatehouse.Verdict) policy.Judgement {
				return compile(t, policy.Tools{Rules: []policy.Rule{{Tool: "pay", Verdict: verdict, When: test.condition}}}).Judge(known(test.args))
			}
			block, allow := got(gatehouse.Block), got(gatehouse.Allow)
			if counts := block.Verdict == gatehouse.Block; counts != (test.want != not) {
				t.Errorf("a block rule: got %+v", block)
			}
			if counts := allow.Rule == "tools.rules[0]"; counts != (test.want == holds) {
				t.Errorf("an allow rule: got %+v", allow)
			}
			for _, j := range []policy.Judgement{block, allow} {
				if says := strings.Contains(j.Reason, "condition failed"); says != (test.want == fails) {
					t.Errorf("the reason does not fit: %s", j.Reason)
				}
			}
		})
	}
}

func TestFreeformTextIsArgsInput(t *testing.T) {
	p := compile(t, policy.Tools{Rules: []policy.Rule{{Tool: "sh", Verdict: gatehouse.Block, When: `args.input.contains("rm -rf")`}}})
	for text, want := range map[string]gatehouse.Verdict{"ls": gatehouse.Allow, "rm -rf /": gatehouse.Block, `{"input":"x"}`: gatehouse.Allow, "\xff": gatehouse.Allow} {
		if got := p.Judge(policy.Call{Tool: "sh", Args: text, Freeform: true}); got.Verdict != want || strings.Contains(got.Reason, "failed") {
			t.Errorf("%q: got %+v, want %s", text, got, want)
		}
	}
}

func TestWhatIsNotKnownFails(t *testing.T) {
	for _, condition := range []string{`agent.id != ""`, `session.risk > 2.0`, `session.tainted`, `session.turns < 0`, `now < timestamp("2000-01-01T00:00:00Z")`} {
		p := compile(t, policy.Tools{Rules: []policy.Rule{{Tool: "pay", Verdict: gatehouse.Flag, When: condition}}})
		if got := p.Judge(policy.Call{Tool: "pay"}); got.Verdict != gatehouse.Flag || !strings.Contains(got.Reason, "not known here") {
			t.Errorf("%s: got %+v", condition, got)
		}
	}
	for _, condition := range []string{`origin(args.v) == "nobody"`, `origin_tool(args.v) == "nobody"`} {
		p := compile(t, policy.Tools{Rules: []policy.Rule{{Tool: "pay", Verdict: gatehouse.Flag, When: condition}}})
		got := p.Judge(policy.Call{Tool: "pay", Args: `{"v":1}`})
		if got.Verdict != gatehouse.Flag || !strings.HasSuffix(got.Reason, "its condition failed: the conversation is not known here") {
			t.Errorf("%s: got %+v", condition, got)
		}
	}
}

func TestReasonsDoNotQuoteArguments(t *testing.T) {
	conditions := []string{`args.nope == 1`, `args.marker.nope`, `int(args.marker) == 1`, `args.marker > 1`, `args[args.marker] == 1`, `timestamp(args.marker) == now`,
		`args.marker.matches(args.pattern)`, `args.marker.charAt(99) == "x"`, `"%d".format([args.marker]) == ""`, `duration(args.marker) > duration("1s")`, `bool(args.marker)`}
	for _, condition := range conditions {
		for _, verdict := range []gatehouse.Verdict{gatehouse.Allow, gatehouse.Block} {
			if strings.HasSuffix(condition, ".nope") {
				condition += " == 1"
			}
			p := compile(t, policy.Tools{Rules: []policy.Rule{{Tool: "pay", Verdict: verdict, When: condition}}})
			got := p.Judge(known(`{"marker":"hunter2","pattern":"(hunter2"}`))
			if !strings.Contains(got.Reason, "condition failed") || strings.Contains(got.Reason, "hunter2") {
				t.Errorf("%s: got %+v", condition, got)
			}
		}
	}
}

func TestHostileArgumentsDoNotHang(t *testing.T) {
	list := `[` + strings.Repeat(`"aaaaaaaa",`, 20_000) + `"b"]`
	args := fmt.Sprintf(`{"list":%s,"deep":{"x":%[1]s},"copy":{"x":%[1]s},"text":%q,"half":%q,"evil":"((a?){20}){20}"}`,
		list, strings.Repeat("a", 1_000_000), strings.Repeat("a", 500_000)+"b")
	conditions := []string{
		`args.list.all(a, args.list.all(b, args.list.exists(c, c != a || c != b)))`,
		`args.list.all(a, !args.text.contains(a + "b"))`,
		`args.list.all(a, origin(args.list) == "model")`,
		`args.list.all(a, args.text.indexOf(args.text) == 0)`,
		`args.list.all(a, args.deep == args.copy)`,
		`args.list.all(a, !(args.deep in [args.copy, args.deep, [args.deep]]) || true)`,
		`args.text.lastIndexOf(args.half) == -1`,
		`args.list.all(a, args.list.map(b, b + a) != args.list)`,
		`args.text.replace("a", args.text).replace("a", args.text) != ""`,
		`args.list.join(args.text) == ""`,
		`args.list.exists(a, args.text.matches(args.evil + a + "b"))`,
		`args.text.matches(args.evil + "b")`,
	}
	for _, condition := range conditions {
		p := compile(t, policy.Tools{Rules: []policy.Rule{{Tool: "pay", Verdict: gatehouse.Flag, When: condition}}})
		start := time.Now()
		got := p.Judge(known(args))
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s: took %v", condition, took)
		}
		if got.Verdict != gatehouse.Flag || !strings.Contains(got.Reason, "too much work") {
			t.Errorf("%s: got %+v", condition, got)
		}
	}
}

// A budget for each condition would be no bound: a policy has hundreds.
func TestTheWorkOfAllConditionsIsBounded(t *testing.T) {
	tests := []struct{ name, condition, args string }{
		{"counted work", `args.list.all(a, args.list.all(b, a != "%d"))`, `{"list":[` + strings.Repeat(`"aaaaaaaa",`, 2_000) + `"b"]}`},
		{"work that is not counted", `args.text.matches(args.pattern + "%d")`,
			fmt.Sprintf(`{"text":%q,"pattern":"(a?){100}"}`, strings.Repeat("a", 500))},
	}
	for _, test := range tests {
		var rules []policy.Rule
		for i := range 200 {
			rules = append(rules, policy.Rule{Tool: "pay", Verdict: gatehouse.Allow, When: fmt.Sprintf(test.condition, i)})
		}
		p := compile(t, policy.Tools{Rules: rules})
		start := time.Now()
		got := p.Judge(known(test.args))
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%s: took %v", test.name, took)
		}
		if got.Rule != "default" || !strings.Contains(got.Reason, "too much work") {
			t.Errorf("%s: got %+v", test.name, got)
		}
	}
}

func TestWrongConditions(t *testing.T) {
	for condition, want := range map[string]string{
		`args.a ==`:                  "Syntax error: mismatched input '<EOF>'",
		`args.a`:                     "must be true or false, and is of type dyn; write … == true",
		`1 + 1`:                      "must be true or false, and is of type int",
		`sesion.risk > 0.5`:          "undeclared reference to 'sesion.risk' (did you mean 'session.risk'?)",
		`session.risk > "high"`:      "found no matching overload for '_>_' applied to '(double, string)'",
		`args.s.matches("(")`:        "invalid matches argument",
		`now > timestamp("someday")`: "invalid timestamp argument",
		`origin(args.a, args.b)`:     "found no matching overload for 'origin' applied to '(dyn, dyn)'",
		strings.Repeat("(", 5000):    "",
		strings.Repeat("a", 20_000):  "expression code point size exceeds limit: size: 20000, limit 10000",
		`args.a.all(x, x.all(y, y.all(z, z.all(w, w == 1))))`: "comprehension exceeds nesting limit",
	} {
		_, err := policy.Compile(policy.Tools{Rules: []policy.Rule{{Tool: "x", Verdict: gatehouse.Flag, When: condition}}})
		if err == nil || !strings.HasPrefix(err.Error(), "tools.rules[0].when: "+want) {
			t.Errorf("%.80s: got %.300v, want %s", condition, err, want)
		}
	}
}
