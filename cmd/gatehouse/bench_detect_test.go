package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/scorecard"
)

// labelled are 30 rows: ten attacks in tool results, ten benign tool results and ten benign prompts, two of them hard.
func labelled() string {
	var b strings.Builder
	for i := range 10 {
		carrier := fmt.Sprintf("Meeting %d moved to the small room.", i)
		fmt.Fprintf(&b, `{"id":"a%d","text":"%s %s","label":1,"kind":"tool_result","lang":"en","payload":"%s"}`+"\n", i, carrier, injection, injection)
		fmt.Fprintf(&b, `{"id":"b%d","text":"%s","label":0,"kind":"tool_result","lang":"en"}`+"\n", i, carrier)
		fmt.Fprintf(&b, `{"id":"c%d","text":"What is %d times %d?","label":0,"hard":%v}`+"\n", i, i, i, i < 2)
	}
	return b.String()
}

func measured(t *testing.T, args ...string) scorecard.Scorecard {
	t.Helper()
	got := command(t, "", append([]string{"bench", "detect", "--json"}, args...)...)
	var c scorecard.Scorecard
	if err := json.Unmarshal([]byte(got.stdout), &c); err != nil || got.code != 0 {
		t.Fatalf("%v: got %+v, %v", args, got, err)
	}
	return c
}

func TestBenchDetect(t *testing.T) {
	path := file(t, labelled())
	c := measured(t, path, path) // a file that is named twice is read once
	if c.Rows != 30 || c.Attacks != 10 || c.Benign != 20 || c.Hard != 2 || len(c.Tables) != 3 || c.Times == nil || len(c.Times.Stages) < 4 {
		t.Fatalf("got %+v", c)
	}
	all := c.Tables[0].Groups
	if len(all) != 1 || all[0].Recall.Count != 10 || all[0].Recall.Of != 10 || all[0].False.Warn.Count != 0 || all[0].Overdefence.Of != 2 {
		t.Errorf("by set: %+v", all)
	}
	if cut := all[0].Repair; cut.Cut.Rows != 10 || cut.Cut.Share < 0.5 || cut.Kept.Share < 0.5 {
		t.Errorf("cut: %+v", cut)
	}
	if stages := c.Tables[2]; stages.By != "stage" || stages.Groups[0].Name != "patterns" || stages.Groups[len(stages.Groups)-1].Name != "all" {
		t.Errorf("stages: %+v", stages)
	}
	if c := measured(t, path, "--limit", "7", "--times=false", "--by", "kind,lang"); c.Rows != 7 || len(c.Tables) != 2 || c.Times != nil {
		t.Errorf("a sample without times: %+v", c)
	}
	if c := measured(t, path, "--detectors", "secrets"); c.Tables[0].Groups[0].Recall.Count != 0 || c.Tables[0].Groups[0].Recall.Of != 10 {
		t.Errorf("without patterns: %+v", c.Tables[0].Groups)
	}
}

func TestBenchDetectReadsFilesByTheirPurpose(t *testing.T) {
	attacks := file(t, `{"text":"`+injection+`","label":1}`)
	benign := file(t, `{"text":"hello","label":0}`)
	c := measured(t, attacks, "--threshold-from", benign, "--threshold-from", attacks)
	if c.Rows != 1 || len(c.Limits) != 1 || !c.Limits[0].Borrowed || c.Limits[0].Reached.Of != 1 || c.Tables[0].Groups[0].Recall.Count != 1 {
		t.Errorf("thresholds from elsewhere: %+v", c)
	}
	if c := measured(t, attacks, benign, "--hard", benign); c.Rows != 2 || c.Hard != 1 {
		t.Errorf("hard: %+v", c)
	}
}

func TestBenchDetectPrintsTables(t *testing.T) {
	got := command(t, "", "bench", "detect", file(t, labelled()))
	for _, want := range []string{
		"30 rows: 10 attacks, 20 benign, of which 2 hard negatives", "thresholds at 1 % FPR\n", "attacks by kind\n",
		"false positives by stage, of 1,000 benign texts\n", "what is cut out of tool results, by set\n", "time of each stage", "note: tool_result: fewer than 100",
	} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("no %q in\n%s", want, got.stdout)
		}
	}
	if got.code != 0 || got.stderr != "measuring: 30 rows\n" {
		t.Errorf("got %d, %q", got.code, got.stderr)
	}
}

func TestBenchDetectRefuses(t *testing.T) {
	good, empty := file(t, labelled()), file(t, "\n")
	bad := file(t, `{"text":"hello","label":0}`+"\n"+`{"text":"marker","label":"marker"}`)
	for _, c := range []struct{ args, want string }{
		{"", "at least one file"},
		{"no-such-file", "no-such-file"},
		{bad, bad + ": line 2: label is of the wrong type"},
		{good + " --threshold-from " + bad, "line 2"},
		{good + " --hard " + bad, "line 2"},
		{empty, "no rows"},
		{good + " --by set,nope", "none of set"},
		{good + " --limit -1", "--limit"},
		{good + " --detectors nope", "nope"},
	} {
		got := command(t, "", append([]string{"bench", "detect"}, strings.Fields(c.args)...)...)
		if got.code != 2 || got.stdout != "" || !strings.Contains(got.stderr, c.want) || strings.Contains(got.stderr, "marker") {
			t.Errorf("%s: got %+v", c.args, got)
		}
	}
}
