package telemetry

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
)

// Logs adds the ids of the context's span to every line, as trace_id and span_id; lines outside of a trace stay as they are.
func Logs(next slog.Handler) slog.Handler { return logs{next} }

type logs struct{ slog.Handler }

func (l logs) Handle(ctx context.Context, r slog.Record) error {
	if s := trace.SpanContextFromContext(ctx); s.IsValid() {
		r.AddAttrs(slog.String("trace_id", s.TraceID().String()), slog.String("span_id", s.SpanID().String()))
	}
	return l.Handler.Handle(ctx, r)
}

func (l logs) WithAttrs(attrs []slog.Attr) slog.Handler { return logs{l.Handler.WithAttrs(attrs)} }

func (l logs) WithGroup(name string) slog.Handler { return logs{l.Handler.WithGroup(name)} }
