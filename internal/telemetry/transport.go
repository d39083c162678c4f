package telemetry

import (
	"errors"
	"io"
	"net/http"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Transport watches the way to the upstreams: the trace goes on there, and a span lasts until the answer has been read.
func (p *Probe) Transport(next http.RoundTripper) http.RoundTripper { return transport{next, p} }

type transport struct {
	next  http.RoundTripper
	probe *Probe
}

// RoundTrip implements [http.RoundTripper].
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	tracer := t.probe.now.Load().tracer
	if tracer == nil || !trace.SpanContextFromContext(r.Context()).IsValid() {
		return t.next.RoundTrip(r)
	}
	method := method(r)
	ctx, span := tracer.Start(r.Context(), method, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("http.request.method", method),
		attribute.String("server.address", r.URL.Hostname()),
		attribute.Int("server.port", port(r)),
	))
	r = r.Clone(ctx) // a transport may not change the request it was given
	r.Header.Del("Traceparent")
	r.Header.Del("Tracestate") // goes with the caller's parent, which is not ours
	propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(r.Header))
	res, err := t.next.RoundTrip(r)
	if err != nil {
		fail(span, "no_answer")
		span.End()
		return nil, err
	}
	span.SetAttributes(attribute.Int("http.response.status_code", res.StatusCode))
	if res.StatusCode >= http.StatusBadRequest {
		fail(span, strconv.Itoa(res.StatusCode))
	}
	res.Body = &answer{res.Body, span}
	return res, nil
}

func port(r *http.Request) int {
	if n, err := strconv.Atoi(r.URL.Port()); err == nil {
		return n
	}
	if r.URL.Scheme == "http" {
		return 80
	}
	return 443
}

// answer ends the span when its reader is done with it.
type answer struct {
	io.ReadCloser
	span trace.Span
}

func (a *answer) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		fail(a.span, "broken_off")
	}
	return n, err
}

// Write writes to an upstream that has switched protocols.
func (a *answer) Write(p []byte) (int, error) {
	if out, ok := a.ReadCloser.(io.Writer); ok {
		return out.Write(p)
	}
	return 0, errors.ErrUnsupported
}

func (a *answer) Close() error {
	defer a.span.End()
	return a.ReadCloser.Close()
}
