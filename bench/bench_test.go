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

func TestRetelling(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	stretch := func(old, cpu int) Stretch { return Stretch{Requests: 10, Old: old << 10, CPU: ms(cpu)} }
	r := Retelling{Conversation: Conversation{Turns: 40, Size: 1024}, Pairs: []RetellingPair{{
		Floor:   []Stretch{stretch(0, 10), stretch(1000, 11), stretch(2000, 12), stretch(3000, 13)},
		Gateway: []Stretch{stretch(0, 20), stretch(1000, 26), stretch(2000, 32), stretch(3000, 38)},
	}}}
	// The last stretch has 3000 KiB more than the first, and takes 25 ms more instead of 10.
	if got := r.Slope(); got != 5*time.Microsecond {
		t.Errorf("a KiB of old text: %v", got)
	}
	if got := r.Whole(); got != ms(70)/6000 {
		t.Errorf("with everything: %v", got)
	}
	var out bytes.Buffer
	if err := r.Print(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"31–40", "300 KiB", "5.00 µs more"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
}

func TestConversationGrows(t *testing.T) {
	c := completion{Messages: []message{{Role: "system", Content: "Help."}}}
	c.ask(100)
	c.Messages = append(c.Messages, message{Role: "assistant", Calls: []call{{ID: "one", Function: function{Arguments: "{}"}}}})
	c.ask(100)
	last := c.Messages[len(c.Messages)-1]
	if c.Messages[1].Role != "user" || last.Role != "tool" || last.CallID != "one" || c.size() != 5+100+2+100 {
		t.Errorf("%+v, %d bytes", c.Messages, c.size())
	}
}
