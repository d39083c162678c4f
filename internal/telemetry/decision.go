package telemetry

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/gatehouse-gateway/gatehouse"
)

// eventsMax bounds the events of one span: a text can hold thousands of findings.
const eventsMax = 32

// spanName is what the checkpoints are called in traces; two of them have names from elsewhere.
func spanName(at gatehouse.Checkpoint) string {
	switch at {
	case gatehouse.Autonomy:
		return "policy.evaluate"
	case gatehouse.Integrity:
		return "aip.integrity_check"
	}
	return "safe_house." + string(at)
}

// describeDecision puts what a checkpoint said into its span. answered says which side of the model it stood on.
func describeDecision(span trace.Span, x *gatehouse.Exchange, d gatehouse.Decision, answered bool) {
	stage := "request"
	if answered {
		stage = "response"
	}
	span.SetAttributes(
		attribute.String("gatehouse.checkpoint", string(d.At)),
		attribute.String("gatehouse.stage", stage),
		attribute.String("gatehouse.mode", string(d.Mode)),
		attribute.String("gatehouse.verdict", string(d.Verdict)),
		attribute.String("gatehouse.would", string(d.Would)),
		attribute.String("gatehouse.outcome", string(d.Outcome)),
		attribute.Bool("gatehouse.stop", d.Stop),
		attribute.Int("gatehouse.edits_count", len(d.Edits)),
	)
	if d.Rule != "" {
		span.SetAttributes(attribute.String("gatehouse.rule", d.Rule))
	}
	switch d.At {
	case gatehouse.Autonomy:
		describePolicy(span, x, d)
	case gatehouse.Integrity:
		describeIntegrity(span, x, d)
	default:
		describeProtection(span, d)
	}
	if d.Failed {
		fail(span, "checkpoint_failed")
	}
}

func describeProtection(span trace.Span, d gatehouse.Decision) {
	span.SetAttributes(
		attribute.String("safe_house.verdict", string(d.Verdict)),
		attribute.Float64("safe_house.score", d.Score),
		attribute.Int("safe_house.finding_count", len(d.Findings)),
	)
	if worst := severest(d.Findings); worst != "" {
		span.SetAttributes(attribute.String("safe_house.severity", string(worst)))
	}
	for _, f := range first(d.Findings) {
		span.AddEvent("safe_house.finding", trace.WithAttributes(
			attribute.String("safe_house.kind", f.Kind),
			attribute.String("safe_house.pattern_type", f.Type),
			attribute.String("safe_house.source", f.Detector),
			attribute.String("safe_house.severity", string(f.Severity)),
			attribute.Float64("safe_house.score", f.Score),
		))
	}
}

func describePolicy(span trace.Span, x *gatehouse.Exchange, d gatehouse.Decision) {
	blocked, flagged := 0, 0
	for _, c := range d.Calls {
		switch c.Verdict {
		case gatehouse.Block:
			blocked++
		case gatehouse.Flag:
			flagged++
		default:
			continue
		}
		if blocked+flagged <= eventsMax {
			span.AddEvent("policy.violation", trace.WithAttributes(
				attribute.String("policy.verdict", string(c.Verdict)),
				attribute.String("policy.rule", c.Rule),
				attribute.String("gen_ai.tool.name", clip(c.Tool)),
				attribute.String("gen_ai.tool.call.id", clip(c.CallID)),
			))
		}
	}
	span.SetAttributes(
		attribute.String("policy.agent_id", x.Agent),
		attribute.String("policy.verdict", policyVerdict(d.Would)),
		attribute.Int("policy.violations_count", blocked),
		attribute.Int("policy.warnings_count", flagged),
		attribute.String("policy.context", "gateway"),
		attribute.String("policy.enforcement_mode", string(d.Mode)),
		attribute.Int64("policy.duration_ms", d.Took.Milliseconds()),
	)
}

// policyVerdict says a verdict in the words of policy evaluation: pass, warn, fail.
func policyVerdict(v gatehouse.Verdict) string {
	switch v {
	case gatehouse.Block:
		return "fail"
	case gatehouse.Flag:
		return "warn"
	}
	return "pass"
}

func describeIntegrity(span trace.Span, x *gatehouse.Exchange, d gatehouse.Decision) {
	span.SetAttributes(
		attribute.String("aip.integrity.verdict", d.Analysis),
		attribute.Bool("aip.integrity.proceed", d.Analysis != "boundary_violation"),
		attribute.Int("aip.integrity.concerns_count", len(d.Findings)),
		attribute.String("aip.integrity.agent_id", x.Agent),
		attribute.String("aip.integrity.session_id", x.Session),
		attribute.Int64("aip.integrity.analysis_duration_ms", d.Took.Milliseconds()),
	)
	for _, f := range first(d.Findings) {
		span.AddEvent("aip.concern", trace.WithAttributes(
			attribute.String("aip.concern.category", f.Type),
			attribute.String("aip.concern.severity", string(f.Severity)),
		))
	}
}

func first(findings []gatehouse.Finding) []gatehouse.Finding {
	return findings[:min(len(findings), eventsMax)]
}

func severest(findings []gatehouse.Finding) gatehouse.Severity {
	var worst gatehouse.Severity
	for _, f := range findings {
		switch {
		case f.Severity == gatehouse.Critical:
			return f.Severity
		case f.Severity == gatehouse.Warn, worst == "":
			worst = f.Severity
		}
	}
	return worst
}

// fail marks a span as failed. The code is one of ours: an error's own text could quote anything.
func fail(span trace.Span, code string) {
	span.SetAttributes(attribute.String("error.type", code))
	span.SetStatus(codes.Error, code)
}
