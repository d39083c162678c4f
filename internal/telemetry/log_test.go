package telemetry_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"

	"go.opentelemetry.io/otel/trace"

	"github.com/gatehouse-gateway/gatehouse/internal/telemetry"
)

func TestLinesCarryTheTrace(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(telemetry.Logs(slog.NewJSONHandler(&out, nil))).With("request_id", "r")
	ctx := trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}}))
	log.InfoContext(ctx, "in a trace")
	log.Info("outside of one")
	lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	for i, want := range []any{"01000000000000000000000000000000", nil} {
		var line map[string]any
		if err := json.Unmarshal(lines[i], &line); err != nil {
			t.Fatal(err)
		}
		if line["trace_id"] != want || line["request_id"] != "r" {
			t.Errorf("got %s", lines[i])
		}
	}
}
