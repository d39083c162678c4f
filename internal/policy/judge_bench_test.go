package policy_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
)

// written are conditions as operators write them; none holds for the call of the benchmark, so each is worked out.
var written = []string{
	`args.to.exists(a, !a.endsWith("@example.com"))`,
	`origin(args.url) == "tool_result" && session.tainted`,
	`args.amount > %d`,
	`session.risk > 0.9 || session.turns > 1%d`,
	`has(args.cc) && size(args.cc) > %d`,
	`args.subject.contains("password %d")`,
	`!(agent.name in ["mailer", "helper %d"])`,
	`args.body.matches("INV-[0-9]{5,}%d")`,
	`now.getHours() < 6 && args.amount > %d`,
	`!args.url.startsWith("https://")`,
}

// manyRules are n flag rules with a condition each, and others for other tools.
func manyRules(n int) policy.Tools {
	t := policy.Tools{}
	for i := range n {
		condition := written[i%len(written)]
		if slices.Contains([]byte(condition), '%') {
			condition = fmt.Sprintf(condition, 1000+i)
		}
		t.Rules = append(t.Rules, policy.Rule{Tool: "send_message", Verdict: gatehouse.Flag, When: condition})
		t.Rules = append(t.Rules, policy.Rule{Tool: fmt.Sprintf("other_%d", i), Verdict: gatehouse.Block, When: condition})
	}
	return t
}

var ordinary = policy.Call{
	Tool: "send_message",
	Args: `{"to":["alice@example.com","bob@example.com"],"subject":"Minutes of Tuesday","url":"https://example.com/minutes/17",` +
		`"amount":120.5,"body":"Dear both, please find the minutes of our meeting under the address above. Best regards, Carol"}`,
	Agent:   &policy.Agent{ID: "a1", Name: "mailer", Account: "acme"},
	Session: &policy.Session{ID: "s1", Risk: 0.2, Turns: 3},
	Now:     time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC),
	Origin:  func(any) policy.Origin { return policy.Origin{Source: policy.User} },
}

func BenchmarkJudge(b *testing.B) {
	for _, n := range []int{0, 40, 200} {
		b.Run(fmt.Sprintf("%d conditions", n), func(b *testing.B) { benchmark(b, manyRules(n)) })
	}
	b.Run("200 loops", func(b *testing.B) {
		t := policy.Tools{}
		for i := range 200 {
			t.Rules = append(t.Rules, policy.Rule{Tool: "send_message", Verdict: gatehouse.Flag, When: fmt.Sprintf(`args.to.exists(a, a.endsWith("@%d.example.org"))`, i)})
		}
		benchmark(b, t)
	})
}

// benchmark also reports the median, which is what is promised.
func benchmark(b *testing.B, t policy.Tools) {
	p, err := policy.Compile(t)
	if err != nil {
		b.Fatal(err)
	}
	if j := p.Judge(ordinary); j.Verdict != gatehouse.Allow {
		b.Fatalf("got %+v, want a call that no condition holds for", j)
	}
	b.ReportAllocs()
	took := make([]time.Duration, 0, 1<<20)
	for b.Loop() {
		start := time.Now()
		p.Judge(ordinary)
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2]), "p50-ns")
	b.ReportMetric(float64(took[len(took)*99/100]), "p99-ns")
}
