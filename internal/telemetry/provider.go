package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"runtime/debug"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// scope names the instrumentation in every span.
const scope = "github.com/gatehouse-gateway/gatehouse"

// newProvider delivers spans to the collector at a base URL, in the background. The standard environment variables hold for
// what the configuration leaves open: OTEL_EXPORTER_OTLP_HEADERS, OTEL_TRACES_SAMPLER, OTEL_RESOURCE_ATTRIBUTES and so on.
func newProvider(base string, log *slog.Logger) (*sdktrace.TracerProvider, error) {
	ctx := context.Background() // nothing is sent yet
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(strings.TrimRight(base, "/")+"/v1/traces"))
	if err != nil {
		return nil, fmt.Errorf("make exporter: %w", err)
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "gatehouse"), attribute.String("service.version", version())),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("describe this process: %w", err)
	}
	return sdktrace.NewTracerProvider(sdktrace.WithBatcher(logged{exporter, log}), sdktrace.WithResource(about)), nil
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// logged says in the log what the collector did not take; the SDK's own way is a handler for the whole process.
type logged struct {
	sdktrace.SpanExporter
	log *slog.Logger
}

func (l logged) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := l.SpanExporter.ExportSpans(ctx, spans); err != nil {
		l.log.Warn("spans were not delivered", "spans", len(spans), "error", cause(err))
	}
	return nil
}

// cause leaves out the address, which the operator knows and where keys can stand.
func cause(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
