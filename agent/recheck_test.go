package agent_test

import (
	"errors"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/agent"
)

// What was let through before the process ended is asked about again, however small the tool budget is.
func TestNoCallRunsOnAnOldWord(t *testing.T) {
	for _, c := range []struct {
		desc   string
		human  gatehouse.Verdict // of the call before it
		policy gatehouse.Verdict // that the tool has by now
		did    string
	}{
		{"the one before it waits", "", gatehouse.Block, ""},
		{"the one before it is refused", gatehouse.Block, gatehouse.Block, ""},
		{"the one before it is refused, and it may run", gatehouse.Block, gatehouse.Allow, "search b {}"},
		{"the one before it takes the budget", gatehouse.Allow, gatehouse.Block, "send_email a {}"},
	} {
		t.Run(c.desc, func(t *testing.T) {
			var kept *agent.State
			g, w := &gate{}, &world{}
			cfg := agent.Config{Checker: g, Tools: w.tools(), Prompt: "go", MaxToolCalls: 1,
				Model: &play{answers: []agent.Answer{calls(agent.Call{ID: "a", Tool: "send_email"}, agent.Call{ID: "b", Tool: "search"})}},
				Save: func(s *agent.State) error {
					if len(s.Steps) == 0 {
						return nil
					}
					kept = reread(t, s)
					return errors.New("the process ends")
				}}
			if _, err := agent.Run(t.Context(), cfg); err == nil || kept == nil || w.did() != "" {
				t.Fatalf("%v, did %s", err, w.did())
			}
			cfg.Save = nil
			cfg.Tools["search"] = w.tool("found", c.policy)
			if c.human != "" {
				g.decide("a", c.human)
			}
			if _, err := agent.Resume(t.Context(), cfg, kept); err != nil || w.did() != c.did {
				t.Errorf("%v, did %q", err, w.did())
			}
		})
	}
}

// One answer of the gate is for one call: a run in which two bear the same id was not written here.
func TestTwoOpenCallsOfOneId(t *testing.T) {
	c := agent.Call{ID: "a", Tool: "send_email"}
	s := &agent.State{Version: 1, ID: "r", Session: "s", Status: agent.Paused, Entries: []agent.Entry{{Message: agent.Message{Role: gatehouse.User, Text: "go"}}},
		Steps: []agent.Step{{Call: c, State: agent.Held}, {Call: c, State: agent.Held}}}
	g, w := &gate{}, &world{}
	g.decide("a", gatehouse.Allow)
	_, err := agent.Resume(t.Context(), agent.Config{Checker: g, Model: &play{}, Tools: w.tools()}, s)
	if !errors.Is(err, agent.ErrConfig) || w.did() != "" {
		t.Errorf("%v, did %q", err, w.did())
	}
}
