package checkpoint

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

// Finish implements [gatehouse.Checker]: it writes the record of the exchange and what its session remembers, at once.
func (e *Engine) Finish(ctx context.Context, x *gatehouse.Exchange) error {
	s := e.settings.Load()
	err := e.finish(ctx, x, s)
	if err == nil {
		return nil
	}
	// The client hears of it as of a checkpoint that could not decide.
	d := gatehouse.Decision{At: gatehouse.Front, Mode: s.mode(gatehouse.Front), Verdict: gatehouse.Allow, Outcome: gatehouse.Pass}
	e.fail(&d, x, s, err)
	x.Decisions = append(x.Decisions, d)
	if s.OpenOnError[gatehouse.Front] {
		return nil
	}
	return err
}

// Record writes the record of what was done beside any exchange. Unlike Finish it never lets a failure pass: the deed and its record
// are kept together or not at all.
func (e *Engine) Record(ctx context.Context, x *gatehouse.Exchange) error {
	return e.finish(ctx, x, e.settings.Load())
}

func (e *Engine) finish(ctx context.Context, x *gatehouse.Exchange, s *Settings) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = detect.Panicked(p)
		}
	}()
	r, err := e.record(ctx, x)
	if err != nil {
		return err
	}
	u := e.update(ctx, x, s)
	durable := s.Durability == "all" || s.Durability == "decisions" && (!x.AllPass() || weighty(x, u))
	if err := e.Ledger.Append(ctx, r, u, durable); err != nil {
		return fmt.Errorf("append record: %w", err)
	}
	return nil
}

// weighty reports whether an exchange that passed adds something to its session that must not be lost.
func weighty(x *gatehouse.Exchange, u *session.Update) bool {
	return u != nil && (len(u.Results) > 0 && x.Surface != "proxy" ||
		slices.ContainsFunc(u.Evidence, func(e session.Evidence) bool { return e.Adds() > 0 }))
}

// clip keeps names that come from outside to a length that a name has.
func clip(name string) string {
	const most = 256 // bytes; the longest model and tool names of providers have half of that
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[:most], "") + "…"
}

func (e *Engine) record(ctx context.Context, x *gatehouse.Exchange) (audit.Record, error) {
	r := audit.Record{
		ID: x.ID, Type: "exchange", Time: x.Time.UTC(), Agent: x.Agent, Session: x.Session, Surface: x.Surface,
		Account: x.Account, Key: x.Key, Event: x.Event,
		Upstream: x.Upstream, Endpoint: x.Endpoint, Model: clip(x.Model), Stream: x.Stream, Analysis: x.Analysis(),
		Decisions: make([]gatehouse.Decision, len(x.Decisions)), Usage: x.Usage, Status: x.Status, Error: x.Error, Took: time.Since(x.Time),
		Detectors: e.Detectors, Verdicts: map[string]string{}, Timings: map[string]int64{},
	}
	if x.Event != nil {
		r.Type = "event"
	}
	for _, at := range gatehouse.Checkpoints {
		r.Verdicts[string(at)] = string(x.Outcome(at))
	}
	for i, d := range x.Decisions {
		r.Timings[string(d.At)] += d.Took.Nanoseconds()
		d.Coverage = abridged(d.Coverage)
		r.Decisions[i] = d
	}
	if x.Agent == "" {
		return r, nil
	}
	key, err := e.Ledger.ContentKey(ctx, x.Agent)
	if err != nil {
		return r, fmt.Errorf("content key: %w", err)
	}
	r.Content = e.content(x, key)
	return r, nil
}
