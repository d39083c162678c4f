package telemetry

import (
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/verdict"
)

// describeExchange puts an exchange into its span, by the OpenTelemetry conventions for generative AI where they have a
// word, and tells each decision as the result of an evaluation.
func describeExchange(span trace.Span, x *gatehouse.Exchange) {
	set := func(key, value string) {
		if value != "" {
			span.SetAttributes(attribute.String(key, value))
		}
	}
	set("gatehouse.request_id", x.ID)
	set("gatehouse.surface", x.Surface)
	set("gatehouse.upstream", x.Upstream)
	set("gatehouse.endpoint", clip(x.Endpoint))
	set("gatehouse.verdict", verdict.Verdicts{
		Front:     verdict.Value(x.Outcome(gatehouse.Front)),
		Autonomy:  verdict.Value(x.Outcome(gatehouse.Autonomy)),
		Integrity: verdict.Value(x.Outcome(gatehouse.Integrity)),
		Back:      verdict.Value(x.Outcome(gatehouse.Back)),
	}.String())
	set("gen_ai.provider.name", provider(x.Format))
	set("gen_ai.conversation.id", x.Session)
	set("gen_ai.agent.id", x.Agent)
	set("gen_ai.agent.name", x.AgentName)
	if op := operation(x); op != "" {
		set("gen_ai.operation.name", op)
		set("gen_ai.request.model", clip(x.Model))
		span.SetName(strings.TrimSpace(op + " " + clip(x.Model)))
	}
	if x.Stream {
		span.SetAttributes(attribute.Bool("gen_ai.request.stream", true))
	}
	if x.Usage != (gatehouse.Usage{}) {
		span.SetAttributes(attribute.Int64("gen_ai.usage.input_tokens", x.Usage.Input),
			attribute.Int64("gen_ai.usage.output_tokens", x.Usage.Output))
	}
	if x.Status != 0 {
		span.SetAttributes(attribute.Int("http.response.status_code", x.Status))
	}
	evaluations(span, x)
	switch {
	case x.Cut != "":
		fail(span, x.Cut)
	case x.Status >= http.StatusInternalServerError && x.Error != "":
		fail(span, x.Error)
	case x.Status >= http.StatusInternalServerError:
		fail(span, "upstream_error")
	default:
		set("error.type", x.Error) // what the client did wrong is no failure of the gateway
	}
}

// operation is the kind of exchange in the conventions' words; empty for one that generates nothing or was not read.
func operation(x *gatehouse.Exchange) string {
	switch {
	case len(x.Request) == 0:
		return ""
	case strings.HasSuffix(x.Endpoint, "/embeddings"), strings.HasSuffix(x.Endpoint, ":embedContent"), strings.HasSuffix(x.Endpoint, ":batchEmbedContents"):
		return "embeddings"
	case x.Wordless || x.Request[0].Media == "endpoint":
		return ""
	case x.Endpoint == "/v1/completions":
		return "text_completion"
	case x.Format == "gemini":
		return "generate_content"
	}
	return "chat"
}

// provider is the name that the conventions have for who speaks a format.
func provider(format string) string {
	if format == "gemini" {
		return "gcp.gemini"
	}
	return format
}

func evaluations(span trace.Span, x *gatehouse.Exchange) {
	for _, d := range x.Decisions {
		if d.Mode == gatehouse.Off {
			continue
		}
		label := string(d.Would)
		if d.Analysis != "" {
			label = d.Analysis
		}
		about := []attribute.KeyValue{
			attribute.String("gen_ai.evaluation.name", spanName(d.At)),
			attribute.String("gen_ai.evaluation.score.label", label),
			attribute.String("gatehouse.outcome", string(d.Outcome)),
		}
		if d.Score > 0 {
			about = append(about, attribute.Float64("gen_ai.evaluation.score.value", d.Score))
		}
		if d.Reason != "" {
			about = append(about, attribute.String("gen_ai.evaluation.explanation", d.Reason))
		}
		span.AddEvent("gen_ai.evaluation.result", trace.WithAttributes(about...))
	}
}

// clip keeps names that come from outside to a length that a name has.
func clip(name string) string {
	const most = 256 // bytes
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[:most], "") + "…"
}
