package proxy_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/checkpoint"
	"github.com/gatehouse-gateway/gatehouse/internal/fake"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
	"github.com/gatehouse-gateway/gatehouse/verdict"
)

var modes = map[gatehouse.Mode]verdict.Value{gatehouse.Off: "pass", gatehouse.Observe: "observed", gatehouse.Nudge: "nudged", gatehouse.Enforce: "enforced"}

// would is what the checkpoint's last decision were without modes.
func would(g *gateway, a answer, at gatehouse.Checkpoint) gatehouse.Verdict {
	var w gatehouse.Verdict
	for _, d := range g.record(a).Decisions {
		if d.At == at {
			w = d.Would
		}
	}
	return w
}

func TestFrontModes(t *testing.T) {
	eachWay(t, func(t *testing.T, d door, stream bool) {
		for mode, want := range modes {
			g := start(t, options{script: says("fine"), settings: func(s *checkpoint.Settings) { s.Protection = mode }})
			a := g.ask(d, stream, user(attack))
			if got := a.verdict(t).Front; got != want || a.status != 200 {
				t.Errorf("%s: %d, front=%s", mode, a.status, got)
			}
			wantWould := gatehouse.Block
			if mode == gatehouse.Off {
				wantWould = gatehouse.Allow
			}
			if got := would(g, a, gatehouse.Front); got != wantWould {
				t.Errorf("%s: would %s", mode, got)
			}
			calls := g.received()
			if stopped := len(calls) == 0; stopped != (mode == gatehouse.Enforce) {
				t.Fatalf("%s: %d calls", mode, len(calls))
			}
			if mode == gatehouse.Enforce {
				if !strings.Contains(a.body, a.header.Get("X-Mnemom-Request-Id")) || !strings.Contains(a.body, map[string]string{"openai": "content_filter", "anthropic": "refusal"}[d.name]) {
					t.Errorf("stopped with %s", a.body)
				}
				continue
			}
			if nudged := strings.Contains(string(calls[0].Body), "Gateway notice"); nudged != (mode == gatehouse.Nudge) {
				t.Errorf("%s: the model was told: %s", mode, calls[0].Body)
			}
			if mode != gatehouse.Nudge && string(calls[0].Body) != string(d.body(stream, user(attack))) {
				t.Errorf("%s: the model got %s", mode, calls[0].Body)
			}
		}
	})
}

func TestBackModes(t *testing.T) {
	eachWay(t, func(t *testing.T, d door, stream bool) {
		for mode, want := range modes {
			g := start(t, options{script: says("The key is " + secret + "."), settings: func(s *checkpoint.Settings) { s.Protection = mode }})
			a := g.ask(d, stream, user("hello"))
			if got := a.verdict(t).Back; got != want || a.status != 200 {
				t.Errorf("%s: %d, back=%s", mode, a.status, got)
			}
			if redacted := strings.Contains(a.body, "REDACTED]"); redacted != (mode == gatehouse.Enforce) {
				t.Errorf("%s: %s", mode, a.body)
			}
			if nudged := strings.Contains(a.body, "Gateway notice"); nudged != (mode == gatehouse.Nudge) {
				t.Errorf("%s: %s", mode, a.body)
			}
			if got := would(g, a, gatehouse.Back); (got == gatehouse.Redact) != (mode != gatehouse.Off) {
				t.Errorf("%s: would %s", mode, got)
			}
		}
	})
}

func TestAutonomyModes(t *testing.T) {
	eachWay(t, func(t *testing.T, d door, stream bool) {
		for mode, want := range modes {
			g := start(t, options{
				script:   func(fake.Request) fake.Turn { return fake.Turn{Calls: []fake.Call{{Name: "rm", Args: `{"path":"/"}`}}} },
				tools:    policy.Tools{Rules: []policy.Rule{{Tool: "rm", Verdict: gatehouse.Block}}},
				settings: func(s *checkpoint.Settings) { s.Autonomy = mode },
			})
			a := g.ask(d, stream, user("hello"))
			if got := a.verdict(t).Autonomy; got != want || a.status != 200 {
				t.Errorf("%s: %d, autonomy=%s", mode, a.status, got)
			}
			if gone := !strings.Contains(a.body, `"rm"`); gone != (mode == gatehouse.Enforce) {
				t.Errorf("%s: %s", mode, a.body)
			}
			if nudged := strings.Contains(a.body, "Gateway notice"); nudged != (mode == gatehouse.Nudge) {
				t.Errorf("%s: %s", mode, a.body)
			}
			if got := would(g, a, gatehouse.Autonomy); (got == gatehouse.Block) != (mode != gatehouse.Off) {
				t.Errorf("%s: would %s", mode, got)
			}
		}
	})
}

func TestIntegrityModes(t *testing.T) {
	words := map[gatehouse.Mode]string{gatehouse.Off: "disabled", gatehouse.Observe: "boundary_violation", gatehouse.Nudge: "boundary_violation", gatehouse.Enforce: "boundary_violation"}
	eachWay(t, func(t *testing.T, d door, stream bool) {
		for mode, want := range modes {
			g := start(t, options{
				script: func(fake.Request) fake.Turn {
					return fake.Turn{Reasoning: attack, Text: "Well then", Calls: []fake.Call{{Name: "look", Args: `{}`}}}
				},
				settings: func(s *checkpoint.Settings) { s.Integrity = mode },
			})
			a := g.ask(d, stream, user("hello"))
			if got := a.verdict(t).Integrity; got != want || a.header.Get("X-Aip-Verdict") != words[mode] {
				t.Errorf("%s: integrity=%s, %s", mode, got, a.header.Get("X-Aip-Verdict"))
			}
			if kept := strings.Contains(a.body, `"look"`) && strings.Contains(a.body, "Well"); kept != (mode != gatehouse.Enforce) {
				t.Errorf("%s: %s", mode, a.body)
			}
			if got := would(g, a, gatehouse.Integrity); (got == gatehouse.Block) != (mode != gatehouse.Off) {
				t.Errorf("%s: would %s", mode, got)
			}
		}
	})
}

func TestBlockWithError(t *testing.T) {
	eachWay(t, func(t *testing.T, d door, stream bool) {
		g := start(t, options{settings: func(s *checkpoint.Settings) { s.BlockWithError = true }})
		a := g.ask(d, stream, user(attack))
		if a.status != 403 || !strings.Contains(a.body, "safe_house_blocked") || a.verdict(t).Front != "enforced" {
			t.Errorf("%d %s", a.status, a.body)
		}
		if r := g.record(a); r.Status != 403 || r.Error != "safe_house_blocked" || len(g.received()) > 0 {
			t.Errorf("record: %d %s", r.Status, r.Error)
		}
	})
}
