// Package checkpoint decides. Its four checkpoints say what they think of an exchange and know nothing of modes; the engine
// asks them, applies the mode, turns failures into decisions, and writes the record. Surfaces reach it as a
// gatehouse.Checker and in no other way.
package checkpoint

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
	"github.com/gatehouse-gateway/gatehouse/internal/keep"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

// Scanner finds things in texts; *detect.Set is one.
type Scanner interface {
	Scan(ctx context.Context, t detect.Text) detect.Result
}

// Ledger keeps the records; the store is one.
type Ledger interface {
	// Ready says why a record could not be written now.
	Ready(ctx context.Context) error
	// Append writes a record and what its session remembers, together. With durable it returns once both are safe.
	Append(ctx context.Context, r audit.Record, u *session.Update, durable bool) error
	// ContentKey is the agent's own key for content hashes.
	ContentKey(ctx context.Context, agentID string) ([]byte, error)
}

// Engine is the gatehouse.Checker of this process. Its fields are set before its first use.
type Engine struct {
	Scanner   Scanner
	Detectors string // version of the detector set
	Ledger    Ledger
	Sessions  *session.Resolver
	Approvals Approvals // nil: flagged calls are withheld for good
	Memory    *Memory   // nil: every text is read, and every decision looked up, anew
	Log       *slog.Logger

	settings atomic.Pointer[Settings]
}

// Use makes the engine decide by these settings from now on.
func (e *Engine) Use(s *Settings) {
	s.scanner, s.scannedBy, s.decidedUnder = e.Scanner, e.Detectors, s.epoch(e.Detectors)
	if set, ok := e.Scanner.(*detect.Set); ok && s.WithoutModel {
		s.scanner = set.Inline()
		s.scannedBy = set.Inline().Version()
	}
	e.settings.Store(s)
}

// Check implements [gatehouse.Checker].
func (e *Engine) Check(ctx context.Context, x *gatehouse.Exchange, at gatehouse.Checkpoint) gatehouse.Decision {
	s, start := e.under(ctx, x), time.Now()
	d := gatehouse.Decision{At: at, Mode: s.mode(at), Verdict: gatehouse.Allow, Would: gatehouse.Allow, Outcome: gatehouse.Pass}
	o, err := e.ask(ctx, x, at, s)
	if err == nil && at == gatehouse.Autonomy && e.await(ctx, x, o, s) {
		s = e.settings.Load() // a human took time: the policy may be another now, and its block wins
		d.Mode = s.mode(at)
		o, err = e.ask(ctx, x, at, s)
	}
	if err != nil {
		e.fail(&d, x, s, err)
	} else {
		o.under(&d, x)
	}
	if d.Stop && !d.Failed {
		switch x.Status = http.StatusOK; {
		case endpoint(x): // there is no shape of an answer that could say it
			x.Status, x.Error = http.StatusForbidden, "uninspected_endpoint"
		case s.BlockWithError, x.Wordless:
			x.Status, x.Error = http.StatusForbidden, "safe_house_blocked"
		}
	}
	d.Took = time.Since(start)
	x.Decisions = append(x.Decisions, d)
	x.Apply(d.Edits)
	if at == gatehouse.Front && !d.Stop {
		e.remind(ctx, x, s)
		e.supply(ctx, x)
	}
	return d
}

// endpoint reports whether the exchange is one that no codec reads: all of it is one opaque part.
func endpoint(x *gatehouse.Exchange) bool {
	return len(x.Request) == 1 && x.Request[0].Kind == gatehouse.Opaque && x.Request[0].Media == "endpoint"
}

// ask runs one checkpoint within its time. Whatever goes wrong in it comes back as an error.
func (e *Engine) ask(ctx context.Context, x *gatehouse.Exchange, at gatehouse.Checkpoint, s *Settings) (o opinion, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = detect.Panicked(p)
		}
	}()
	if at == gatehouse.Front {
		// Without a place for the record nothing may happen that would need one.
		if err := e.Ledger.Ready(ctx); err != nil {
			return opinion{}, fmt.Errorf("audit store: %w", err)
		}
		if x.Doubt != "" {
			return opinion{}, fmt.Errorf("%s could not be read", x.Doubt)
		}
		if err := e.recall(ctx, x, s); err != nil {
			return opinion{}, fmt.Errorf("recall session: %w", err)
		}
	}
	if s.mode(at) == gatehouse.Off {
		return opinion{analysis: "disabled", coverage: skipped(x, at, "off")}, nil
	}
	if x.Cut == "stream_buffer" && x.Answered {
		return opinion{}, fmt.Errorf("the response is larger than limits.stream_buffer")
	}
	// The transformer stops when the client leaves, or at half of the time: what it has not read, faster detectors have.
	model, stop := context.WithTimeout(ctx, s.ScanTime/2)
	defer stop()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.patience(at))
	defer cancel()
	ctx = detect.WhileModel(ctx, model)
	look := look{scanner: e.scanner(x, s), version: e.Detectors, sessions: e.Sessions, s: s, x: x, follower: followed(ctx, x), approvals: e.Approvals, enforcing: s.mode(at) == gatehouse.Enforce}
	switch at {
	case gatehouse.Front:
		return front(ctx, look)
	case gatehouse.Autonomy:
		return autonomy(ctx, look)
	case gatehouse.Integrity:
		return integrity(ctx, look)
	case gatehouse.Back:
		return back(ctx, look)
	}
	return opinion{}, fmt.Errorf("no checkpoint %q", at)
}

// scanner is the one for the texts of an exchange: it remembers what it has seen for the same agent. Agents of one credential
// share their part of the memory, and so do all those of which nobody has said yet that they are somebody.
func (e *Engine) scanner(x *gatehouse.Exchange, s *Settings) Scanner {
	if e.Memory == nil || x.Agent == "" {
		return s.scanner
	}
	o := keep.Owner{Member: x.Agent}
	if x.Known {
		o.Party = cmp.Or(x.AgentCredential, x.Agent)
	}
	return e.Memory.findings.For(o, s.scannedBy, s.scanner)
}

// fail is the decision of a checkpoint that could not decide.
func (e *Engine) fail(d *gatehouse.Decision, x *gatehouse.Exchange, s *Settings, cause error) {
	e.Log.Error("checkpoint failed", "request_id", x.ID, "checkpoint", d.At, "open", s.OpenOnError[d.At], "error", cause)
	d.Failed, d.Would, d.Rule = true, gatehouse.Block, "on_error"
	d.Reason = "the checkpoint could not decide"
	d.Coverage = skipped(x, d.At, "error")
	if d.At == gatehouse.Integrity {
		d.Analysis = "error"
	}
	d.Advisories = []gatehouse.Advisory{{Source: "gatehouse.error", Severity: gatehouse.Critical,
		Text: fmt.Sprintf("the %s checkpoint could not decide", d.At)}}
	if s.OpenOnError[d.At] {
		d.Outcome = gatehouse.Observed
		return
	}
	d.Verdict, d.Outcome, d.Stop = gatehouse.Block, gatehouse.Enforced, true
	x.Status, x.Error = http.StatusServiceUnavailable, "checkpoint_unavailable"
}
