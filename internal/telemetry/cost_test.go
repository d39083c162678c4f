package telemetry

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/gatehouse-gateway/gatehouse"
)

// silent is a checker that says yes and costs nothing.
type silent struct{}

func (silent) Check(context.Context, *gatehouse.Exchange, gatehouse.Checkpoint) gatehouse.Decision {
	return gatehouse.Decision{}
}

func (silent) Finish(context.Context, *gatehouse.Exchange) error { return nil }

// ordinary is an exchange of a few turns, most of them replayed, in which nothing was found.
func ordinary() *gatehouse.Exchange {
	x := &gatehouse.Exchange{ID: "8f446ed6-ca87-4c1d-aa90-e2bc6e9ef580", Time: time.Now(), Surface: "proxy", Upstream: "openai",
		Format: "openai", Model: "gpt-5-mini", Status: 200, Usage: gatehouse.Usage{Input: 900, Output: 80}}
	for _, at := range []gatehouse.Checkpoint{gatehouse.Front, gatehouse.Autonomy, gatehouse.Integrity, gatehouse.Back, gatehouse.Autonomy} {
		d := gatehouse.Decision{At: at, Mode: gatehouse.Enforce, Verdict: gatehouse.Allow, Would: gatehouse.Allow,
			Outcome: gatehouse.Pass, Took: 50 * time.Microsecond}
		if at == gatehouse.Front {
			d.Coverage = []gatehouse.Coverage{{Skipped: "replayed"}, {Skipped: "replayed"}, {Skipped: "replayed"}, {}}
		}
		x.Decisions = append(x.Decisions, d)
	}
	return x
}

// BenchmarkExchange is what watching adds to one exchange, all three places together.
func BenchmarkExchange(b *testing.B) {
	for name, s := range map[string]*state{
		"off":     {},
		"metrics": {Settings: Settings{Prometheus: true}},
		"spans":   traced(),
	} {
		b.Run(name, func(b *testing.B) { watch(b, s) })
	}
}

func traced() *state {
	p := sdktrace.NewTracerProvider()
	return &state{Settings{Prometheus: true}, p, p.Tracer(scope)}
}

func watch(b *testing.B, s *state) {
	p := New(nil, slog.New(slog.DiscardHandler))
	p.now.Store(s)
	x, checker := ordinary(), p.Checker(silent{})
	transport := p.Transport(empty{})
	handler := p.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		for i := range x.Decisions {
			checker.Check(ctx, x, x.Decisions[i].At)
		}
		if res, err := transport.RoundTrip(r); err == nil {
			res.Body.Close()
		}
		checker.Finish(ctx, x) //nolint:errcheck // it has none
	}))
	r := httptest.NewRequest(http.MethodPost, "/openai/v1/chat/completions", nil)
	w := httptest.NewRecorder()
	b.ReportAllocs()
	for b.Loop() {
		handler.ServeHTTP(w, r)
	}
}

// empty is an upstream that answers nothing at once.
type empty struct{}

func (empty) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

func TestSwitchedOffAllocatesNothing(t *testing.T) {
	for name, s := range map[string]*state{"off": {}, "metrics": {Settings: Settings{Prometheus: true}}} {
		t.Run(name, func(t *testing.T) {
			p := New(nil, slog.New(slog.DiscardHandler))
			p.now.Store(s)
			x, checker := ordinary(), p.Checker(silent{})
			handler := p.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				checker.Check(r.Context(), x, gatehouse.Front)
				checker.Finish(r.Context(), x) //nolint:errcheck // it has none
			}))
			r, w := httptest.NewRequest(http.MethodPost, "/", nil), httptest.NewRecorder()
			if n := testing.AllocsPerRun(100, func() { handler.ServeHTTP(w, r) }); n > 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}
