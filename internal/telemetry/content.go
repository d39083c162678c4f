package telemetry

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
	"github.com/gatehouse-gateway/gatehouse/internal/redact"
)

const (
	// contentMax bounds the text of one span in bytes, each way: collectors take a few megabytes a batch.
	contentMax = 64 << 10
	// contentTime bounds the search for secrets in it.
	contentTime = 500 * time.Millisecond
	// withheld stands for a text that was not searched to its end.
	withheld = "[not recorded: not searched for secrets in time]"
)

// message is one of gen_ai.input.messages and gen_ai.output.messages, by the schema of the conventions.
type message struct {
	Role  gatehouse.Role `json:"role"`
	Parts []any          `json:"parts"`
}

type textPart struct {
	Type    string `json:"type"` // text, reasoning
	Content string `json:"content"`
}

type callPart struct {
	Type      string `json:"type"` // tool_call
	ID        string `json:"id,omitempty"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type resultPart struct {
	Type     string `json:"type"` // tool_call_response
	ID       string `json:"id,omitempty"`
	Response string `json:"response"`
}

// describeContent puts the texts into the span as they left: to the model once it was called, to the client unless a
// checkpoint stopped the answer. Whatever the checkpoints were told to do with secrets, here they go.
func (p *Probe) describeContent(ctx context.Context, span trace.Span, x *gatehouse.Exchange) {
	if !x.Answered {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, contentTime)
	defer cancel()
	span.SetAttributes(attribute.String("gen_ai.input.messages", p.messages(ctx, x.Request)))
	if x.Stopped() == nil {
		span.SetAttributes(attribute.String("gen_ai.output.messages", p.messages(ctx, x.Response)))
	}
}

// messages are the newest parts that fit, as JSON.
func (p *Probe) messages(ctx context.Context, parts []gatehouse.Part) string {
	list, room := []message{}, contentMax
	for _, part := range slices.Backward(parts) {
		text := part.Text
		if part.Removed {
			text = part.Notice
		}
		if text == "" || part.Kind == gatehouse.Opaque || part.Kind == gatehouse.ToolDef {
			continue
		}
		if room -= len(text); room < 0 {
			break
		}
		list = append(list, message{part.Role, []any{shape(part, p.withoutSecrets(ctx, text))}})
	}
	slices.Reverse(list)
	out, err := json.Marshal(list)
	if err != nil {
		panic(err) // strings always marshal
	}
	return string(out)
}

func shape(p gatehouse.Part, text string) any {
	switch {
	case p.Removed:
		return textPart{"text", text}
	case p.Kind == gatehouse.ToolCall:
		return callPart{"tool_call", p.CallID, clip(p.Tool), text}
	case p.Kind == gatehouse.ToolResult:
		return resultPart{"tool_call_response", p.CallID, text}
	}
	return textPart{string(p.Kind), text}
}

func (p *Probe) withoutSecrets(ctx context.Context, text string) string {
	r := p.scanner.Scan(ctx, detect.Text{Channel: detect.Output, Text: text})
	if !r.Complete {
		return withheld
	}
	secret := slices.DeleteFunc(r.Findings, func(f gatehouse.Finding) bool { return f.Kind != "secret" })
	return gatehouse.Splice(text, redact.Edits(text, secret, redact.Token))
}
