package checkpoint

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
)

// scannerFunc is a scanner in a test.
type scannerFunc func(ctx context.Context, t detect.Text) detect.Result

func (f scannerFunc) Scan(ctx context.Context, t detect.Text) detect.Result { return f(ctx, t) }

// partly reads everything, but for the transformer, which reads nothing.
func partly(why string) scannerFunc {
	return func(_ context.Context, t detect.Text) detect.Result {
		return detect.Result{Complete: true, Scanned: len(t.Text), Detectors: []string{"patterns"},
			Partial: []gatehouse.Partial{{Detector: "model", Of: 3, Why: why}}}
	}
}

func TestWhatTheTransformerHasNotReadIsCovered(t *testing.T) {
	e, _ := observing(t)
	e.Scanner = partly("busy")
	e.Use(e.settings.Load())
	x, _ := play(t, e, nil, turn{user: "hello"})
	for _, c := range x.Decisions[0].Coverage {
		if c.Skipped == "" && !slices.Equal(c.Partial, []gatehouse.Partial{{Detector: "model", Of: 3, Why: "busy"}}) {
			t.Errorf("coverage %+v", c)
		}
	}
}

// TestAHurriedTextIsNewAgain plays a turn whose texts the transformer had no time for, and then the same with time.
func TestAHurriedTextIsNewAgain(t *testing.T) {
	for why, replayed := range map[string]bool{"deadline": false, "busy": false, "cancelled": false, "worst": true, "sure": true, "absent": true} {
		e, _ := observing(t)
		e.Scanner = partly(why)
		e.Use(e.settings.Load())
		x, _ := play(t, e, nil, turn{user: "hello"})
		if err := e.Finish(t.Context(), x); err != nil {
			t.Fatal(err)
		}
		x, _ = play(t, e, nil, turn{user: "hello"})
		for _, p := range x.Request {
			if p.Kind == gatehouse.Text && p.Replayed != replayed {
				t.Errorf("%s: replayed is %v", why, p.Replayed)
			}
		}
	}
}

// TestTheOthersHaveTheirHalfOfTheTime says that a client that leaves, or half of the time, ends the transformer's work and no other.
func TestTheOthersHaveTheirHalfOfTheTime(t *testing.T) {
	e, _ := observing(t)
	gone, leave := context.WithCancel(t.Context())
	e.Scanner = scannerFunc(func(ctx context.Context, text detect.Text) detect.Result {
		leave()
		if ctx.Err() != nil {
			t.Error("the others stop when the client leaves")
		}
		if end, ok := ctx.Deadline(); !ok || time.Until(end) < 15*time.Second {
			t.Errorf("the others have until %v", end)
		}
		return detect.Result{Complete: true, Scanned: len(text.Text)}
	})
	e.Use(e.settings.Load())
	x := &gatehouse.Exchange{ID: "id", Time: time.Now()}
	x.Ask(gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.User, Text: "hello", Latest: true})
	if d := e.Check(gone, x, gatehouse.Front); d.Failed {
		t.Errorf("%+v", d)
	}
}

func TestTheTransformerCanBeOff(t *testing.T) {
	e, _ := observing(t)
	s := *e.settings.Load()
	s.WithoutModel = true
	before := e.settings.Load().decidedUnder
	e.Use(&s)
	if s.decidedUnder == before {
		t.Error("texts that were decided without the transformer count as decided with it")
	}
	x, _ := play(t, e, nil, turn{user: "hello"})
	for _, c := range x.Decisions[0].Coverage {
		for _, d := range c.Detectors {
			if d == "model" {
				t.Error("it ran")
			}
		}
	}
}
