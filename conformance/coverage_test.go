package conformance_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
)

// checkCoverage looks whether a record says of each part, once, by which detectors of which version it was read, or why by none.
func checkCoverage(t *testing.T, r audit.Record) {
	t.Helper()
	times, last, back := map[int]int{}, -1, false
	for _, d := range r.Decisions {
		if d.At != gatehouse.Front && d.At != gatehouse.Back {
			continue
		}
		back = back || d.At == gatehouse.Back
		for _, c := range d.Coverage {
			if len(c.Detectors) == 0 && c.Skipped == "" {
				t.Errorf("%s: part %d was not read, and nothing says why", d.At, c.Part)
			}
			for _, name := range c.Detectors {
				if !strings.Contains(name, "@") {
					t.Errorf("%s: no version of %s", d.At, name)
				}
			}
			for id := c.Part; id < c.Part+max(c.Parts, 1); id++ {
				times[id]++
				last = max(last, id)
			}
		}
	}
	for _, c := range r.Content {
		for id := c.Part; id < c.Part+max(c.Parts, 1); id++ {
			if id > last && !back { // of an answer that back did not reach
				continue
			}
			if times[id] != 1 {
				t.Errorf("part %d (%s) is covered %d times", id, c.Path, times[id])
			}
		}
	}
}

// checkContent looks whether each text that is new in a turn has reached the checkpoints as a part of its own.
func checkContent(t *testing.T, db *store.Store, format string, c *testcase, i int, r audit.Record) {
	t.Helper()
	turn := &c.turns[i]
	if _, own := turn.raw[format]["request.json"]; own || format == "completions" || len(r.Content) == 0 {
		return
	}
	key, err := db.ContentKey(t.Context(), r.Agent)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, p := range r.Content {
		found[p.HMAC] = true
	}
	said := map[string]bool{"": true}
	for j := range i {
		for _, text := range c.turns[j].conversation.texts(format) {
			said[text] = true
		}
	}
	for _, text := range turn.conversation.texts(format) {
		if !said[text] && !found[hex.EncodeToString(audit.ContentHMAC(key, text))] {
			t.Errorf("no part has the text %.40q", text)
		}
	}
}

// texts are those that reach the gateway as they are. Gemini's results of tools are JSON, which it wraps.
func (c conversation) texts(format string) []string {
	out := []string{c.System}
	for _, m := range c.Messages {
		if m.Role == "tool" && format == "gemini" {
			continue
		}
		out = append(out, m.Text)
		for _, p := range m.Parts {
			out = append(out, p.Text)
		}
	}
	for _, tool := range c.Tools {
		if !tool.Hosted {
			out = append(out, tool.said())
		}
	}
	return out
}
