package anthropic

import (
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// What an answer holds beside its text (https://docs.anthropic.com/en/api/messages, .../messages-streaming). Links, titles, quotations
// and explanations have no shape: they are texts, and no part.

// messageShape is the shape of a message around what it says, and of what else a request is answered with: a count of tokens, or an
// error.
func messageShape(content wire.Shape) wire.Shape {
	return wire.Object(map[string]wire.Shape{
		"id": wire.ID, "type": wire.Word, "role": wire.Word, "model": wire.ID,
		"content":     content,
		"stop_reason": wire.Word, "stop_sequence": wire.Word, "stop_details": stopShape,
		"usage": usageShape, "container": containerShape, "context_management": contextShape,
		"provider": wire.ID, // of routers
		"error":    errorShape, "request_id": wire.ID,
	})
}

var (
	typed = wire.Object(map[string]wire.Shape{"type": wire.Word})

	stopShape  = wire.Object(map[string]wire.Shape{"type": wire.Word, "category": wire.Word}) // the explanation is a text
	errorShape = typed                                                                        // the message is a text

	usageShape = wire.Object(map[string]wire.Shape{
		"service_tier": wire.Word, "inference_geo": wire.Word, "speed": wire.Word,
		"cache_creation": createdShape,
		"iterations":     wire.Object(map[string]wire.Shape{"type": wire.Word, "model": wire.ID, "cache_creation": createdShape}),
	})
	createdShape = wire.Object(map[string]wire.Shape{"ephemeral_5m_input_tokens": {}, "ephemeral_1h_input_tokens": {}})

	containerShape = wire.Object(map[string]wire.Shape{
		"id": wire.ID, "expires_at": wire.Time,
		"skills": wire.Object(map[string]wire.Shape{"type": wire.Word, "skill_id": wire.ID, "version": wire.ID}),
	})
	contextShape = wire.Object(map[string]wire.Shape{"applied_edits": typed})

	callerShape = wire.Object(map[string]wire.Shape{"type": wire.Word, "tool_id": wire.ID})
	cacheShape  = wire.Object(map[string]wire.Shape{"type": wire.Word, "ttl": wire.Word})
	quoteShape  = wire.Object(map[string]wire.Shape{"type": wire.Word, "file_id": wire.ID, "encrypted_index": wire.Bytes})
)

// wholeShape is the shape of an answer in one piece. Its blocks have shapes of their own.
var wholeShape = messageShape(wire.Read)

// eventShapes are those of a stream's events, by type. Of all others the type alone is known.
var eventShapes = map[string]wire.Shape{
	"message_start":       wire.Object(map[string]wire.Shape{"type": wire.Word, "message": messageShape(wire.Shape{})}),
	"content_block_start": wire.Object(map[string]wire.Shape{"type": wire.Word, "content_block": wire.Read}), // by its own type
	"content_block_delta": wire.Object(map[string]wire.Shape{"type": wire.Word, "delta": wire.Read}),         // the same
	"message_delta": wire.Object(map[string]wire.Shape{
		"type": wire.Word, "usage": usageShape, "context_management": contextShape,
		"delta": wire.Object(map[string]wire.Shape{
			"stop_reason": wire.Word, "stop_sequence": wire.Word, "stop_details": stopShape, "container": containerShape,
		}),
	}),
	"message_stop": wire.Object(map[string]wire.Shape{
		"type": wire.Word, "amazon-bedrock-guardrailAction": wire.Word,
		"amazon-bedrock-invocationMetrics": wire.Object(map[string]wire.Shape{
			"inputTokenCount": {}, "outputTokenCount": {}, "invocationLatency": {}, "firstByteLatency": {},
			"cacheReadInputTokenCount": {}, "cacheWriteInputTokenCount": {},
		}),
	}),
	"error": wire.Object(map[string]wire.Shape{"type": wire.Word, "error": errorShape, "request_id": wire.ID}),
}

// deltaShapes are those of the deltas that are read. Others are opaque parts.
var deltaShapes = map[string]wire.Shape{
	"text_delta":       wire.Object(map[string]wire.Shape{"type": wire.Word, "text": wire.Read}),
	"input_json_delta": wire.Object(map[string]wire.Shape{"type": wire.Word, "partial_json": wire.Read}),
	"thinking_delta":   wire.Object(map[string]wire.Shape{"type": wire.Word, "thinking": wire.Read}),
	"signature_delta":  wire.Object(map[string]wire.Shape{"type": wire.Word, "signature": wire.Bytes}),
	"citations_delta":  wire.Object(map[string]wire.Shape{"type": wire.Word, "citation": quoteShape}),
}

// blockShapes are those of the content blocks that are read, by type.
var blockShapes = map[string]wire.Shape{
	"text":              wire.Object(map[string]wire.Shape{"type": wire.Word, "text": wire.Read, "citations": quoteShape}),
	"thinking":          wire.Object(map[string]wire.Shape{"type": wire.Word, "thinking": wire.Read, "signature": wire.Bytes}),
	"redacted_thinking": wire.Object(map[string]wire.Shape{"type": wire.Word, "data": wire.Bytes}),
	"tool_use":          callShape(wire.Shape{}),
	"server_tool_use":   callShape(wire.Shape{}),
	"mcp_tool_use":      callShape(wire.ID),

	// Blocks of requests: their texts are read, and yet no answer has them.
	"tool_result": typed, "document": typed, "search_result": typed,
}

func callShape(server wire.Shape) wire.Shape {
	return wire.Object(map[string]wire.Shape{
		"type": wire.Word, "id": wire.ID, "name": wire.ID, "server_name": server, "input": wire.Read, "caller": callerShape,
	})
}

// blockUnread names what nothing reads of a content block.
func blockUnread(b rawjson.Value, doc []byte, to wire.Sink) {
	kind := b.Get("type").Text(doc)
	shape, known := blockShapes[kind]
	switch {
	case known:
	case isResult(kind):
		shape = resultShape
	default:
		return // an opaque part stands for all of it
	}
	shape.Unread(b, doc, nil, func(path string) { to.Unread("content[]." + path) })
}

// unread names what nothing reads of an event.
func (s *stream) unread(e *event, root rawjson.Value) {
	shape, known := eventShapes[e.kind]
	if !known {
		shape = typed
	}
	shape.Unread(root, s.read.doc, nil, func(path string) { s.to.Unread(wire.PathName(e.kind) + "." + path) })
	if e.kind == "content_block_start" {
		blockUnread(root.Get("content_block"), s.read.doc, s.to)
	}
}

// deltaUnread names what nothing reads of a delta.
func (s *stream) deltaUnread(kind string, delta rawjson.Value) {
	if shape, known := deltaShapes[kind]; known {
		shape.Unread(delta, s.read.doc, nil, func(path string) { s.to.Unread("content_block_delta.delta." + path) })
	}
}
