// Package telemetry watches exchanges: spans over OTLP, metrics for Prometheus, and the trace id in log lines. It promises
// that no text of an exchange, no key and no token gets into any of them, unless content is asked for, and never a secret
// even then. It decides nothing and changes nothing but the trace context of upstream requests. What cannot be delivered is
// dropped: watching never holds an exchange up.
package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/gatehouse-gateway/gatehouse/internal/detect"
	"github.com/gatehouse-gateway/gatehouse/internal/surface"
)

// Settings are what an operator decides about telemetry.
type Settings struct {
	OTLP       string // base URL of a collector that speaks OTLP over HTTP; empty: no spans
	Prometheus bool   // whether /metrics answers and anything is counted
	Content    bool   // whether spans hold the texts as they left, without secrets
}

// Scanner finds secrets in texts; a *detect.Set is one.
type Scanner interface {
	Scan(ctx context.Context, t detect.Text) detect.Result
}

// Probe watches the exchanges of one gateway, at three places: [Probe.Handler] around the surfaces, [Probe.Checker] around
// the checkpoints, [Probe.Transport] around the way to the upstreams. It is itself the surface of GET /metrics.
type Probe struct {
	Allow func(*surface.Call) error // who may read the metrics; nil: everybody. Set before the first use

	scanner Scanner
	log     *slog.Logger
	metrics *metrics

	now   atomic.Pointer[state]
	using sync.Mutex
}

// state is what settings come to. Without an address for spans there is no tracer.
type state struct {
	Settings
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

// New makes a probe that does nothing until [Probe.Use]. The scanner takes secrets out of content.
func New(scanner Scanner, log *slog.Logger) *Probe {
	p := &Probe{scanner: scanner, log: log, metrics: newMetrics()}
	p.now.Store(&state{})
	return p
}

// Use makes the probe work by these settings from now on. An error means that nothing has changed.
func (p *Probe) Use(s Settings) error {
	p.using.Lock()
	defer p.using.Unlock()
	old := p.now.Load()
	next := &state{s, old.provider, old.tracer}
	if s.OTLP == old.OTLP {
		p.now.Store(next)
		return nil
	}
	next.provider, next.tracer = nil, nil
	if s.OTLP != "" {
		var err error
		if next.provider, err = newProvider(s.OTLP, p.log); err != nil {
			return fmt.Errorf("telemetry.otlp: %w", err)
		}
		next.tracer = next.provider.Tracer(scope)
	}
	p.now.Store(next)
	if old.provider != nil {
		go shutDown(old.provider) // it may wait for a collector that is gone
	}
	return nil
}

// Close delivers the spans that still wait, as far as the collector takes them within a few seconds.
func (p *Probe) Close() {
	p.using.Lock()
	defer p.using.Unlock()
	if s := p.now.Swap(&state{}); s.provider != nil {
		shutDown(s.provider)
	}
}

func shutDown(provider *sdktrace.TracerProvider) {
	const patience = 3 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	provider.Shutdown(ctx) //nolint:errcheck // spans are lost then, which the exporter has logged
}
