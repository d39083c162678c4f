package telemetry

import (
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Handler watches the surfaces: it takes up the caller's trace and opens the span of the exchange. Without a collector it
// only passes requests on.
func (p *Probe) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s := p.now.Load(); s.tracer != nil && !plain(r) {
			follow(s.tracer, next, w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// follow serves one exchange inside of its span, which ends however the exchange does.
func follow(tracer trace.Tracer, next http.Handler, w http.ResponseWriter, r *http.Request) {
	ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	method := method(r)
	ctx, span := tracer.Start(ctx, method, trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(attribute.String("http.request.method", method)))
	defer span.End()
	next.ServeHTTP(w, r.WithContext(ctx))
}

// plain reports whether a request is no exchange: a probe of health, a scrape, or a preflight.
func plain(r *http.Request) bool {
	return r.URL.Path == metricsPath || strings.HasPrefix(r.URL.Path, "/health/") ||
		r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}

// method is the request's, or _OTHER for one that nobody has heard of: clients may not make up names of spans.
func method(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return r.Method
	}
	return "_OTHER"
}
