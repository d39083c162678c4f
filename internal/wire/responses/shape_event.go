package responses

import "github.com/gatehouse-gateway/gatehouse/internal/wire"

// eventShapes are those of the events that carry something. Others tell of progress, and have [anEvent] alone.
var eventShapes = map[string]wire.Shape{
	"response.output_item.added": anEvent(members{"item": wire.Read}), // see itemShapes
	"response.output_item.done":  anEvent(members{"item": wire.Read}),

	"response.content_part.added":           anEvent(members{"part": pieceShape}),
	"response.content_part.done":            anEvent(members{"part": pieceShape}),
	"response.reasoning_part.added":         anEvent(members{"part": pieceShape}), // vLLM
	"response.reasoning_part.done":          anEvent(members{"part": pieceShape}),
	"response.reasoning_summary_part.added": anEvent(members{"part": pieceShape}),
	"response.reasoning_summary_part.done":  anEvent(members{"part": pieceShape}),

	"response.output_text.delta":            anEvent(members{"delta": wire.Text, "logprobs": logprobShape}),
	"response.output_text.done":             anEvent(members{"text": wire.Text, "logprobs": logprobShape}),
	"response.output_text.annotation.added": anEvent(members{"annotation": annotationShape}),
	"response.refusal.delta":                anEvent(members{"delta": wire.Text}),
	"response.refusal.done":                 anEvent(members{"refusal": wire.Text}),
	"response.reasoning_text.delta":         anEvent(members{"delta": wire.Text}),
	"response.reasoning_text.done":          anEvent(members{"text": wire.Text}),
	"response.reasoning_summary_text.delta": anEvent(members{"delta": wire.Text}),
	"response.reasoning_summary_text.done":  anEvent(members{"text": wire.Text}),

	"response.function_call_arguments.delta":    anEvent(members{"delta": wire.Text}),
	"response.function_call_arguments.done":     anEvent(members{"arguments": wire.Text, "name": wire.ID}),
	"response.mcp_call_arguments.delta":         anEvent(members{"delta": wire.Text}),
	"response.mcp_call_arguments.done":          anEvent(members{"arguments": wire.Text, "name": wire.ID}),
	"response.custom_tool_call_input.delta":     anEvent(members{"delta": wire.Text}),
	"response.custom_tool_call_input.done":      anEvent(members{"input": wire.Text}),
	"response.code_interpreter_call_code.delta": anEvent(members{"delta": wire.Text}),
	"response.code_interpreter_call_code.done":  anEvent(members{"code": wire.Text}),

	"response.shell_call_command.added":        anEvent(members{"command": wire.Text}),
	"response.shell_call_command.delta":        anEvent(members{"delta": wire.Text}),
	"response.shell_call_command.done":         anEvent(members{"command": wire.Text}),
	"response.shell_call_output_content.delta": anEvent(members{"delta": wire.Object(members{"stdout": wire.Text, "stderr": wire.Text})}),
	"response.shell_call_output_content.done":  anEvent(members{"output": wire.Object(members{"stdout": wire.Text, "stderr": wire.Text, "outcome": outcome})}),
	"error": anEvent(members{"code": wire.Word, "param": wire.Word, "error": wire.Object(members{"type": wire.Word, "code": wire.Word, "param": wire.Word})}),
}

var outcome = wire.Object(members{"type": wire.Word, "exit_code": {}})

// anEvent is an event: what all of them may have, and its own.
func anEvent(own members) wire.Shape {
	return with(members{"type": wire.Word, "sequence_number": {}, "item_id": wire.ID, "output_index": {}, "content_index": {}, "summary_index": {},
		"annotation_index": {}, "command_index": {}, "call_id": wire.ID, "obfuscation": wire.Read}, own) // of padding see view.unread
}

// Shapes of events that no rule knows: of their progress, of the text that is taken of one, and of one that tells of a response.
var (
	progress  = anEvent(nil)
	newDelta  = anEvent(members{"delta": wire.Text, "logprobs": logprobShape})
	newText   = anEvent(members{"text": wire.Text, "logprobs": logprobShape})
	lifeCycle = anEvent(members{"response": wire.Read}) // see responseShape
)
