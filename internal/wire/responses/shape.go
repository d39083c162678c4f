package responses

import (
	"maps"

	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// The shapes of the format say where an answer may hold text: what stands elsewhere is in no part, and is told as unread. They are those
// of https://platform.openai.com/docs/api-reference/responses, and of what Azure, vLLM and OpenRouter add. Titles, links and names of files
// are texts: nobody but their author has chosen them.

type members = map[string]wire.Shape

// with is an object that has these members and those of a base.
func with(base, own members) wire.Shape {
	all := maps.Clone(base)
	maps.Copy(all, own)
	return wire.Object(all)
}

// alike are members of one shape.
func alike(shape wire.Shape, names ...string) members {
	all := members{}
	for _, name := range names {
		all[name] = shape
	}
	return all
}

// responseShape is that of a response object. Its items have theirs, and for what it repeats of the request see [echo].
var responseShape = with(alike(wire.Read, repeated[:]...), members{
	"id": wire.ID, "object": wire.Word, "created_at": {}, "completed_at": {}, "status": wire.Word, "background": {}, "model": wire.ID,
	"output": wire.Read, "output_text": wire.Text,
	"error":              wire.Object(members{"code": wire.Word, "type": wire.Word, "param": wire.Word}),
	"incomplete_details": wire.Object(members{"reason": wire.Word}),
	"usage":              wire.Object(members{"input_tokens": {}, "output_tokens": {}, "total_tokens": {}}),
	"conversation":       wire.Object(members{"id": wire.ID}), "previous_response_id": wire.ID,
	"service_tier": wire.Word, "truncation": wire.Word, "prompt_cache_retention": wire.Word,
	"billing": wire.Object(members{"payer": wire.Word}),
	"content_filters": wire.Object(members{"source_type": wire.Word, "content_filter_results": wire.Object(alike(filtered, // Azure
		"hate", "self_harm", "sexual", "violence", "jailbreak", "profanity", "indirect_attack", "protected_material_text", "protected_material_code"))}),
})

var filtered = wire.Object(members{"filtered": {}, "detected": {}, "severity": wire.Word})

// listShape is that of a list of stored items.
var listShape = wire.Object(members{"object": wire.Word, "data": wire.Read, "first_id": wire.ID, "last_id": wire.ID, "has_more": {}})

// itemShapes are those of the items that are known. Of others an opaque part tells.
var itemShapes = map[string]wire.Shape{
	kindMessage:   anItem(members{"role": wire.Word, "phase": wire.Word, "content": pieceShape.OrText()}),
	kindReasoning: anItem(members{"summary": pieceShape.OrText(), "content": pieceShape.OrText(), "encrypted_content": wire.Read, "format": wire.Word, "signature": wire.Bytes}), // those two: OpenRouter

	kindFunctionCall:    anItem(members{"name": wire.ID, "namespace": wire.ID, "arguments": wire.Text}),
	kindCustomCall:      anItem(members{"name": wire.ID, "namespace": wire.ID, "input": wire.Text}),
	kindApprovalRequest: anItem(members{"name": wire.ID, "server_label": wire.ID, "arguments": wire.Text}),
	kindShellCall:       anItem(members{"action": wire.Read, "environment": wire.Object(members{"type": wire.Word, "container_id": wire.ID})}),
	kindLocalShellCall:  anItem(members{"action": wire.Read}),
	kindPatchCall:       anItem(members{"operation": wire.Read}),
	kindComputerCall:    anItem(members{"action": wire.Read, "actions": wire.Read, "pending_safety_checks": check}),
	"tool_search_call":  anItem(members{"arguments": wire.Read, "execution": wire.Word}),

	"web_search_call":       anItem(members{"action": wire.Read, "results": wire.Read}),
	"file_search_call":      anItem(members{"queries": wire.Read, "results": wire.Read}),
	"code_interpreter_call": anItem(members{"code": wire.Text, "container_id": wire.ID, "outputs": wire.Read}),
	"image_generation_call": anItem(members{"revised_prompt": wire.Text, "result": wire.Read, "action": wire.Word, "background": wire.Word,
		"output_format": wire.Word, "quality": wire.Word, "size": wire.Word, "moderation": wire.Word, "model": wire.ID}),
	"mcp_call": anItem(members{"name": wire.ID, "server_label": wire.ID, "approval_request_id": wire.ID, "arguments": wire.Text,
		"output": wire.Read, "error": wire.Read}),
	"mcp_list_tools": anItem(members{"server_label": wire.ID, "error": wire.Read, "tools": wire.Object(members{"name": wire.ID,
		"description": wire.Text, "annotations": wire.Object(members{"readOnlyHint": {}, "destructiveHint": {}, "idempotentHint": {}, "openWorldHint": {}})})}),
	"program":        anItem(members{"code": wire.Text, "fingerprint": wire.ID}),
	"program_output": anItem(members{"result": wire.Text}),

	"function_call_output":    anItem(members{"name": wire.ID, "namespace": wire.ID, "output": pieceShape.OrText()}),
	"custom_tool_call_output": anItem(members{"name": wire.ID, "namespace": wire.ID, "output": pieceShape.OrText()}),
	"local_shell_call_output": anItem(members{"output": pieceShape.OrText()}),
	"apply_patch_call_output": anItem(members{"output": pieceShape.OrText()}),
	"shell_call_output":       anItem(members{"output": wire.Read, "max_output_length": {}}),
	"computer_call_output":    anItem(members{"output": wire.Read, "acknowledged_safety_checks": check}),
	"mcp_approval_response":   anItem(members{"approval_request_id": wire.ID, "approve": {}, "reason": wire.Text}),
	"additional_tools":        anItem(members{"role": wire.Word, "tools": offerShape}),
	"tool_search_output":      anItem(members{"execution": wire.Word, "tools": offerShape}),
	"compaction_trigger":      anItem(nil),
	"configuration_update":    anItem(nil),
}

// anItem is an item: what all of them have, and its own.
func anItem(own members) wire.Shape {
	return with(members{"id": wire.ID, "type": wire.Word, "object": wire.Word, "status": wire.Word, "call_id": wire.ID, "created_by": wire.ID,
		"agent": wire.Object(members{"agent_name": wire.ID}), "caller": wire.Object(members{"type": wire.Word, "caller_id": wire.ID})}, own)
}

// check is why a human shall look at what a computer does.
var check = wire.Object(members{"id": wire.ID, "code": wire.Word})

// pieceShape is that of content. Of other types an opaque part tells.
var pieceShape = wire.Kinds(map[string]wire.Shape{
	"output_text": textual("text"), "input_text": textual("text"), "text": textual("text"), "summary_text": textual("text"), "reasoning_text": textual("text"),
	"refusal": textual("refusal"), "": wire.Read,
})

func textual(member string) wire.Shape {
	return wire.Object(members{"type": wire.Word, member: wire.Text, "annotations": annotationShape, "logprobs": logprobShape})
}

// annotationShape is that of what points at a source. What stands there is somebody else's.
var annotationShape = wire.Object(members{"type": wire.Word, "index": {}, "start_index": {}, "end_index": {}, "file_id": wire.ID, "container_id": wire.ID})

// logprobShape is that of log probabilities; whether their tokens are those of the text, [field.spelled] knows.
var logprobShape = wire.Object(members{"token": wire.Text, "logprob": {}, "bytes": {},
	"top_logprobs": wire.Object(members{"token": wire.Text, "logprob": {}, "bytes": {}})})

// offerShape is that of a tool that is offered to the model. Nobody reads schemas and grammars.
var offerShape = offer(offer(wire.Shape{}))

func offer(inner wire.Shape) wire.Shape {
	tool := members{"type": wire.Word, "name": wire.ID, "description": wire.Text, "strict": {}, "defer_loading": {},
		"format": wire.Object(members{"type": wire.Word, "syntax": wire.Word})}
	return wire.Kinds(map[string]wire.Shape{
		"function": wire.Object(tool), "custom": wire.Object(tool), "namespace": with(tool, members{"tools": inner}),
		"mcp": wire.Object(members{"type": wire.Word, "server_label": wire.ID, "server_description": wire.Text, "connector_id": wire.ID,
			"require_approval": wire.Word, "allowed_tools": wire.Object(members{"tool_names": wire.ID})}),
		"": wire.Object(members{"type": wire.Word, "execution": wire.Word}),
	})
}

// structural are members of a result that name or place something: an edit would break the result, so they are not read.
var structural = members{
	"type": wire.Word, "code": wire.Word, "id": wire.ID, "file_id": wire.ID, "vector_store_id": wire.ID, "container_id": wire.ID,
	"created_by": wire.ID, "score": {}, "filename": {}, "url": {},
}

// unfinished is a call that is begun, whose end tells what it is.
var unfinished = wire.Object(members{"type": wire.Word})
