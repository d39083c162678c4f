package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/verdict"
)

func TestDemoLeaksUntilTheToolResultScan(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if err := demo(t.Context(), &stdout, &stderr, true, true); err != nil {
		t.Fatal(err)
	}
	var plays []play
	if err := json.Unmarshal(stdout.Bytes(), &plays); err != nil {
		t.Fatal(err)
	}
	if len(plays) != 4 {
		t.Fatalf("%d plays, want 4", len(plays))
	}
	for i, p := range plays {
		if len(p.Checkpoints) != i {
			t.Errorf("play %d has checkpoints %v", i, p.Checkpoints)
		}
		if p.Leaked != (i < 3) {
			t.Errorf("play %d: leaked is %v", i, p.Leaked)
		}
		if caught := p.CaughtBy != nil; caught != (i == 3) {
			t.Errorf("play %d: caught_by is set: %v", i, caught)
		}
		if p.Turn != 3 {
			t.Errorf("play %d ended in turn %d, want 3: the page is read in the third request", i, p.Turn)
		}
		if _, err := verdict.ParseStrict(p.Verdict); err != nil {
			t.Errorf("play %d: %v", i, err)
		}
	}
	if last := plays[3]; *last.CaughtBy != "tool-result" || verdict.Parse(last.Verdict).Front != verdict.Enforced {
		t.Errorf("the last play was caught by %s with %s", *last.CaughtBy, last.Verdict)
	}
}
