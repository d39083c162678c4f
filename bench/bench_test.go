package bench

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestPercentiles(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	var hundred []time.Duration
	for i := range 100 {
		hundred = append(hundred, ms(100-i))
	}
	cases := []struct {
		desc string
		all  []time.Duration
		want Percentiles
	}{
		{"none", nil, Percentiles{}},
		{"one is all of them", []time.Duration{ms(7)}, Percentiles{ms(7), ms(7), ms(7)}},
		{"nearest rank", hundred, Percentiles{ms(50), ms(90), ms(99)}},
		{"the worst of few is the p99", []time.Duration{ms(1), ms(2), ms(30)}, Percentiles{ms(2), ms(30), ms(30)}},
	}
	for _, c := range cases {
		if got := percentiles(c.all); got != c.want {
			t.Errorf("%s: %v, want %v", c.desc, got, c.want)
		}
	}
}

func TestRatioIsTheMedianOfPairs(t *testing.T) {
	pair := func(floor, gateway time.Duration) Pair {
		return Pair{Floor: Run{CPU: floor}, Gateway: Run{CPU: gateway, Failed: 1}}
	}
	table := Table{Name: "plain", Pairs: []Pair{pair(100, 200), pair(100, 900), pair(10, 25)}}
	if got := table.Ratio(); got != 2.5 {
		t.Errorf("ratio %v", got)
	}
	if got := table.Failed(); got != 3 {
		t.Errorf("failed %v", got)
	}
	var out bytes.Buffer
	if err := table.Print(&out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "2.50 (median of pairs); failed requests: 3") {
		t.Errorf("%s", out.String())
	}
}

func TestReportAnswersUntilTheEnd(t *testing.T) {
	var out bytes.Buffer
	profiled := 0
	err := Report(strings.NewReader("usage\nprofile\nusage\n"), &out, "http://here", func() error { profiled++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3 || lines[0] != `{"url":"http://here"}` || !strings.Contains(lines[1], `"cpu_ns":`) || profiled != 1 {
		t.Errorf("%d profiles, %q", profiled, lines)
	}
}
