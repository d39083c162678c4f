package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
)

// Checker watches another: a span for each check and for the writing of the record, and everything that is counted, once,
// when the record has been written.
func (p *Probe) Checker(next gatehouse.Checker) gatehouse.Checker { return checker{next, p} }

type checker struct {
	next  gatehouse.Checker
	probe *Probe
}

// Check implements [gatehouse.Checker].
func (c checker) Check(ctx context.Context, x *gatehouse.Exchange, at gatehouse.Checkpoint) gatehouse.Decision {
	tracer := c.probe.now.Load().tracer
	if tracer == nil || !trace.SpanFromContext(ctx).IsRecording() {
		return c.next.Check(ctx, x, at)
	}
	ctx, span := tracer.Start(ctx, spanName(at))
	defer span.End()
	answered := x.Answered
	d := c.next.Check(ctx, x, at)
	describeDecision(span, x, d, answered)
	return d
}

// Follow implements [gatehouse.Early], as far as the other checker does.
func (c checker) Follow(ctx context.Context, x *gatehouse.Exchange) (context.Context, gatehouse.Follower) {
	if early, ok := c.next.(gatehouse.Early); ok {
		return early.Follow(ctx, x)
	}
	return ctx, nil
}

// Finish implements [gatehouse.Checker].
func (c checker) Finish(ctx context.Context, x *gatehouse.Exchange) error {
	s := c.probe.now.Load()
	start := time.Now()
	err := c.record(ctx, x, s.tracer)
	c.probe.tell(ctx, x, s, time.Since(start))
	return err
}

// tell is for those who watch. The record has been written by now, and a panic here must not make another.
func (p *Probe) tell(ctx context.Context, x *gatehouse.Exchange, s *state, record time.Duration) {
	defer func() {
		if v := recover(); v != nil {
			p.log.ErrorContext(ctx, "telemetry", "request_id", x.ID, "error", detect.Panicked(v))
		}
	}()
	if s.Prometheus {
		p.metrics.exchange(x, time.Since(x.Time), record)
	}
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	describeExchange(span, x)
	if s.Content {
		p.describeContent(ctx, span, x)
	}
}

func (c checker) record(ctx context.Context, x *gatehouse.Exchange, tracer trace.Tracer) error {
	if tracer == nil || !trace.SpanFromContext(ctx).IsRecording() {
		return c.next.Finish(ctx, x)
	}
	ctx, span := tracer.Start(ctx, "gatehouse.record")
	defer span.End()
	err := c.next.Finish(ctx, x)
	if err != nil {
		fail(span, "record_not_written")
	}
	return err
}
