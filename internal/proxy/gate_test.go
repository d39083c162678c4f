package proxy_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/fake"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
)

var threeCalls = fake.Turn{Calls: []fake.Call{
	{ID: "call_a", Name: "search", Args: `{"q":"fjord"}`},
	{ID: "call_b", Name: "send_email", Args: `{"to":"x@example.com"}`},
	{ID: "call_c", Name: "rm", Args: `{"path":"/"}`},
}}

func TestParallelCalls(t *testing.T) {
	finish := map[bool]map[string]string{
		true:  {"openai": `"finish_reason":"tool_calls"`, "anthropic": `"stop_reason":"tool_use"`},
		false: {"openai": `"finish_reason":"stop"`, "anthropic": `"stop_reason":"end_turn"`},
	}
	eachWay(t, func(t *testing.T, d door, stream bool) {
		for _, keep := range []bool{true, false} {
			rules := []policy.Rule{{Tool: "rm", Verdict: gatehouse.Block}}
			if !keep {
				rules = append(rules, policy.Rule{Tool: "search", Verdict: gatehouse.Block})
			}
			g := start(t, options{script: func(fake.Request) fake.Turn { return threeCalls }, tools: policy.Tools{Rules: rules}})
			a := g.ask(d, stream, user("hello"))
			if a.status != 200 || a.verdict(t).Autonomy != "enforced" {
				t.Errorf("%d %s", a.status, a.header.Get("X-Mnemom-Verdict"))
			}
			if strings.Contains(a.body, "call_a") != keep || strings.Contains(a.body, "call_b") || strings.Contains(a.body, "call_c") {
				t.Errorf("keep=%v: %s", keep, a.body)
			}
			if !strings.Contains(a.body, "send_email was withheld") || !strings.Contains(a.body, "rm was refused") {
				t.Errorf("no notice: %s", a.body)
			}
			if !strings.Contains(a.body, finish[keep][d.name]) {
				t.Errorf("keep=%v: not %s: %s", keep, finish[keep][d.name], a.body)
			}
			var judged []gatehouse.CallVerdict
			for _, decision := range g.record(a).Decisions {
				judged = append(judged, decision.Calls...)
			}
			if len(judged) != 3 || judged[1].Verdict != gatehouse.Flag || judged[2].Verdict != gatehouse.Block {
				t.Errorf("judged %+v", judged)
			}
		}
	})
}

func withTools(d door, stream bool, tools ...object) []byte {
	return marshal(object{"model": "m", "max_tokens": 100, "stream": stream, "messages": []object{user("hello")}, "tools": tools})
}

func TestDeclaredTool(t *testing.T) {
	declared := map[string]object{
		"openai":    {"type": "function", "function": object{"name": "rm", "description": "remove", "parameters": object{"type": "object"}}},
		"anthropic": {"name": "rm", "description": "remove", "input_schema": object{"type": "object"}},
	}
	eachWay(t, func(t *testing.T, d door, stream bool) {
		g := start(t, options{script: says("fine"), tools: policy.Tools{Rules: []policy.Rule{{Tool: "rm", Verdict: gatehouse.Block}}}})
		a := g.send("POST", d.path, withTools(d, stream, declared[d.name]))
		if a.status != 200 || a.verdict(t).Autonomy != "pass" || !a.advises("autonomy.policy") {
			t.Errorf("%d %s %s", a.status, a.header.Get("X-Mnemom-Verdict"), a.header.Get("X-Mnemom-Advisory"))
		}
	})
}

func TestHostedTool(t *testing.T) {
	d := doors[1]
	for _, stream := range []bool{false, true} {
		g := start(t, options{tools: policy.Tools{Rules: []policy.Rule{{Tool: "hosted:*", Verdict: gatehouse.Block}}}})
		a := g.send("POST", d.path, withTools(d, stream, object{"type": "web_search_20250305", "name": "web_search"}))
		if a.verdict(t).Autonomy != "enforced" || len(g.received()) > 0 || !strings.Contains(a.body, "autonomy checkpoint") {
			t.Errorf("%d %s: %s", a.status, a.header.Get("X-Mnemom-Verdict"), a.body)
		}
	}
}
