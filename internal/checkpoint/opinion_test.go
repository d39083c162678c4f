package checkpoint

import (
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
)

// Providers number the alternatives of an answer as they like. An edit for one that is not there could not be written.
func TestEditsNameTheChoicesThatThereAre(t *testing.T) {
	x := &gatehouse.Exchange{Answered: true, Response: []gatehouse.Part{
		{ID: 1, Kind: gatehouse.Reasoning, Choice: 3, Text: "r"},
		{ID: 2, Kind: gatehouse.Text, Choice: 1, Text: "a"},
		{ID: 3, Kind: gatehouse.Text, Choice: 1, Text: "b"},
	}}
	for name, edits := range map[string][]gatehouse.Edit{"nudge": nudges(x, "warning"), "intervention": intervention(x)} {
		t.Run(name, func(t *testing.T) {
			inserted := 0
			for _, e := range edits {
				if e.Op == gatehouse.Insert {
					inserted++
				}
				if e.Op == gatehouse.Insert && e.Choice != 1 && e.Choice != 3 {
					t.Errorf("text for choice %d", e.Choice)
				}
				if e.Op == gatehouse.Replace && e.Text == "" {
					t.Errorf("part %d is left empty", e.Part)
				}
			}
			if inserted == 0 {
				t.Error("nothing was inserted")
			}
		})
	}
	if got := nudges(&gatehouse.Exchange{}, "warning"); len(got) != 1 || got[0].Choice != 0 {
		t.Errorf("without a response: %+v", got)
	}
}
