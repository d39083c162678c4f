package scorecard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
)

// reader scores a text by the number that it begins with.
type reader struct {
	factor float64
	watch  func(string, time.Duration)
}

func (r reader) Scan(_ context.Context, t detect.Text) detect.Result {
	var score float64
	if _, err := fmt.Sscan(t.Text, &score); err != nil {
		panic(err)
	}
	if r.watch != nil {
		r.watch("read", 2*time.Millisecond)
		r.watch("think", time.Millisecond)
		r.watch("think", time.Millisecond)
		if score == 0.95 {
			r.watch("wonder", 206*2*time.Millisecond) // at one text of many
		}
	}
	out := detect.Result{Score: r.factor * score, Complete: !strings.HasSuffix(t.Text, "…")}
	if at := strings.Index(t.Text, "payload"); at >= 0 {
		out.Findings = []gatehouse.Finding{{Kind: "injection", Score: out.Score, Start: at, End: at + 4}}
	}
	return out
}

// run measures 200 benign prompts that score 0.000 to 0.199, four attacks among them, and two poisoned tool results.
func run() *Run {
	r := &Run{Scanner: reader{factor: 1}, Thresholds: Thresholds{Warn: 0.15, Quarantine: 0.5, Block: 0.9}, By: Dimensions()}
	add := func(kind detect.Channel, attack bool, lang, text string) *Row {
		row := Row{Attack: attack, Set: "s", Lang: lang, Text: detect.Text{Channel: kind, Text: text}}
		row.Payload = locate(text, "payload")
		r.Rows = append(r.Rows, row)
		return &r.Rows[len(r.Rows)-1]
	}
	for i := range 200 {
		add(detect.Input, false, "en", fmt.Sprintf("%.3f", float64(i)/1000)).Hard = i%10 == 0
	}
	for _, score := range []string{"0.197", "0.198", "0.6", "0.95"} {
		add(detect.Input, true, "de", score)
	}
	add(detect.ToolResult, true, "de", "0.7 read payload")
	add(detect.ToolResult, true, "fr", "0.1 payload in it…")
	r.Rows[200].Lost = true
	return r
}

func group(t *testing.T, c *Scorecard, by, name string, kind detect.Channel) Group {
	t.Helper()
	for _, table := range c.Tables {
		for _, g := range table.Groups {
			if table.By == by && g.Name == name && g.Kind == kind {
				return g
			}
		}
	}
	t.Fatalf("no group %s of %s", name, by)
	return Group{}
}

func TestMeasure(t *testing.T) {
	r := run()
	r.Stages = []Stage{{"half", reader{factor: 0.5}}}
	c, err := r.Measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c.Rows != 206 || c.Attacks != 6 || c.Benign != 200 || c.Hard != 20 || len(c.Limits) != 1 || c.Times != nil {
		t.Errorf("got %+v", c)
	}
	input := group(t, c, "kind", "input", "")
	if input.Limit.Threshold != 0.197 || input.Limit.Reached.Count != 2 {
		t.Errorf("limit %+v", input.Limit)
	}
	for what, got := range map[string]struct {
		share     Share
		count, of int
	}{
		"recall: ties are below":        {input.Recall, 3, 4},
		"caught at warn":                {input.Caught.Warn, 4, 4},
		"caught at quarantine":          {input.Caught.Quarantine, 2, 4},
		"caught at block":               {input.Caught.Block, 1, 4},
		"false at warn":                 {input.False.Warn, 50, 200},
		"false at quarantine":           {input.False.Quarantine, 0, 200},
		"above the limit":               {input.Above, 2, 200},
		"over-defence":                  {input.Overdefence, 5, 20},
		"a language has its kind's":     {group(t, c, "lang", "de", "").Recall, 3, 4},
		"a kind without benign has no":  {group(t, c, "kind", "tool_result", "").Recall, 0, 0},
		"a stage has its own threshold": {group(t, c, "stage", "half", "input").Recall, 3, 4},
		"a stage has the shipped ones":  {group(t, c, "stage", "half", "input").Caught.Warn, 2, 4},
		"all stages":                    {group(t, c, "stage", "all", "input").Caught.Warn, 4, 4},
	} {
		if got.share.Count != got.count || got.share.Of != got.of {
			t.Errorf("%s: got %d of %d, want %d of %d", what, got.share.Count, got.share.Of, got.count, got.of)
		}
	}
	if want := (197.5 + 198.5 + 200 + 200) / 800; !near(input.AUC, want) {
		t.Errorf("AUC %v, want %v", input.AUC, want)
	}
	cut := group(t, c, "kind", "tool_result", "").Repair
	if cut.Cut.Chars != 4 || cut.Cut.Of != 14 || cut.CutDetected.Chars != 4 || cut.CutDetected.Of != 7 || cut.Kept.Chars != cut.Kept.Of {
		t.Errorf("repair %+v", cut)
	}
	notes := strings.Join(c.Notes, "\n")
	for _, want := range []string{"tool_result: no benign texts", "more findings than one text may have: 1.", "does not stand in their text: 1."} {
		if !strings.Contains(notes, want) {
			t.Errorf("no note %q in %q", want, notes)
		}
	}
}

func TestThresholdFromElsewhere(t *testing.T) {
	r := run()
	for _, kind := range kinds { // the files' own benign prompts go first
		r.Spare = append(r.Spare, Row{Text: detect.Text{Channel: kind, Text: "0.65"}})
	}
	c, err := r.Measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := group(t, c, "kind", "tool_result", ""); got.Recall.Count != 1 || got.Recall.Of != 2 || !got.Limit.Borrowed || got.Benign != 0 {
		t.Errorf("got %+v", got)
	}
	if got := group(t, c, "kind", "input", ""); got.Limit.Borrowed || got.Limit.Threshold != 0.197 {
		t.Errorf("got %+v", got.Limit)
	}
}

func TestTimes(t *testing.T) {
	r := run()
	r.Rows = append(r.Rows, Row{Text: detect.Text{Channel: detect.Input, Text: "0.1 " + strings.Repeat("x", 20<<10)}})
	r.Watched = func(watch func(string, time.Duration)) Scanner { return reader{factor: 1, watch: watch} }
	c, err := r.Measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s := c.Times.Sizes; len(s) != 4 || s[0].Texts != 206 || s[1].Texts != 0 || s[2].Texts != 1 || s[2].Scan.P99 <= 0 {
		t.Errorf("sizes %+v", s)
	}
	stages := c.Times.Stages
	if len(stages) != 3 || stages[0].Stage != "read" || stages[1].Stage != "think" || stages[1].Share < 0.33 || stages[1].Share > 0.34 {
		t.Fatalf("stages %+v", stages)
	}
	if rare := stages[2].Sizes[0]; rare.P99 != 0 {
		t.Errorf("a stage at one text of many: %+v", rare)
	}
	if want, got := 2000/(20+4.0/1024), stages[1].Sizes[2].P50; !near(got, want) {
		t.Errorf("got %v µs/KiB, want %v", got, want)
	}
}

func TestMeasureEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := run().Measure(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestPrintIsTheSameEachTime(t *testing.T) {
	var texts [2]bytes.Buffer
	for i := range texts {
		r := run()
		r.Rows[0].Family = "evil\tname\x1b[31m"
		c, err := r.Measure(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Print(&texts[i]); err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(c); err != nil {
			t.Error(err)
		}
	}
	got := texts[0].String()
	if got != texts[1].String() {
		t.Error("two runs differ")
	}
	if strings.Contains(got, "\x1b") || strings.Contains(got, "evil\tname") {
		t.Error("a name from outside is printed as it is")
	}
	for _, want := range []string{
		"206 rows: 6 attacks, 200 benign, of which 20 hard negatives",
		"input  200     0.1970     1.0 % (0.3–3.6)\n",
		"attacks by kind\n", "75.0 % (30.1–95.4)", "28.6 % (", "25.0 % (11.2–46.9)", "250.0 (≤ 314.3)",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
