package telemetry

import (
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
)

// TestLabelsAreBounded counts exchanges whose every word is new, as a surface could hand them on that believes its clients.
func TestLabelsAreBounded(t *testing.T) {
	m := newMetrics()
	for i := range 1000 {
		word := fmt.Sprint("word-", i)
		m.exchange(&gatehouse.Exchange{Surface: word, Upstream: word, Error: word, Usage: gatehouse.Usage{Input: 1}, Decisions: []gatehouse.Decision{
			{At: gatehouse.Checkpoint(word), Outcome: gatehouse.Outcome(word)},
			{At: gatehouse.Front, Outcome: gatehouse.Outcome(word),
				Findings: []gatehouse.Finding{{Kind: word, Detector: word + "/x"}},
				Calls:    []gatehouse.CallVerdict{{Verdict: gatehouse.Verdict(word)}},
				Coverage: []gatehouse.Coverage{{Skipped: word}}},
		}}, time.Second, time.Second)
	}
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if n := len(f.Metric); n > 65*6 {
			t.Errorf("%s has %d series", f.GetName(), n)
		}
	}
}
