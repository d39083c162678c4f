package completions

import (
	"strings"

	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// answerShape is what an answer, or a chunk, holds that is no text: by the API's reference, and by what other servers add that speak the
// format. Any other text is named in the coverage, as nothing reads it.
var answerShape = wire.Object(map[string]wire.Shape{
	"id": wire.ID, "object": wire.Word, "model": wire.ID, "system_fingerprint": wire.ID, "service_tier": wire.Word, "request_id": wire.ID,
	"obfuscation": wire.ID, // random letters that hide how long a chunk is
	"error":       wire.Object(map[string]wire.Shape{"type": wire.Word, "code": wire.Word, "param": wire.ID, "status": wire.Word}),
	"prompt_filter_results": wire.Object(map[string]wire.Shape{
		"content_filter_results": filterShape, "content_filter_result": filterShape,
	}),
	"choices": wire.Object(map[string]wire.Shape{
		"text": wire.Read, "finish_reason": wire.Word, "native_finish_reason": wire.Word, "stop_reason": wire.Word, "matched_stop": wire.Word,
		"content_filter_results": filterShape, "content_filter_result": filterShape,
		"logprobs": wire.Object(map[string]wire.Shape{ // the codec holds the tokens against the text
			"tokens": wire.Read, "top_logprobs": wire.Read,
			"content": wire.Object(map[string]wire.Shape{ // llama.cpp, as in chats
				"token": wire.Read, "top_logprobs": wire.Object(map[string]wire.Shape{"token": wire.Read}),
			}),
		}),
	}),
})

// filterShape is what Azure says of a text, by category.
var filterShape = wire.Object(map[string]wire.Shape{
	"hate": gradeShape, "self_harm": gradeShape, "sexual": gradeShape, "violence": gradeShape,
	"custom_blocklists": wire.Object(map[string]wire.Shape{"id": wire.ID, "details": wire.Object(map[string]wire.Shape{"id": wire.ID})}),
	"error":             wire.Object(map[string]wire.Shape{"code": wire.Word}),
})

var gradeShape = wire.Object(map[string]wire.Shape{"severity": wire.Word})

// unread tells the sink where the log probabilities of a choice tell another text than its own, and reports whether they do.
func (c choice) unread(doc []byte, to wire.Sink) (strange bool) {
	const path = "choices[].logprobs"
	if !c.logprobs.Exists() {
		return false
	}
	if c.logprobs.Kind != rawjson.Object {
		to.Unread(path)
		return true
	}
	text := c.text.Text(doc)
	tokens, top := c.logprobs.Get("tokens"), c.logprobs.Get("top_logprobs")
	if strange = !spelled(tokens, doc, text); strange {
		to.Unread(path + ".tokens")
	}
	if others(tokens, top, doc) {
		to.Unread(path + ".top_logprobs")
	}
	own, beside := wire.Logprobs(c.logprobs.Get("content"), doc, text)
	if !own {
		to.Unread(path + ".content")
	}
	if beside {
		to.Unread(path + ".content[].top_logprobs")
	}
	return strange || !own
}

// spelled reports whether tokens, one behind the other, stand in the text like that.
func spelled(tokens rawjson.Value, doc []byte, text string) bool {
	if tokens.Exists() && tokens.Kind != rawjson.Array {
		return false
	}
	var told strings.Builder
	for _, t := range tokens.Elems {
		if t.Kind > rawjson.String {
			return false
		}
		told.WriteString(t.Text(doc))
	}
	return strings.Contains(text, told.String())
}

// others reports whether the likeliest tokens in the place of each are any but itself.
func others(tokens, top rawjson.Value, doc []byte) bool {
	if top.Exists() && top.Kind != rawjson.Array {
		return true
	}
	for i, likely := range top.Elems {
		if likely.Exists() && likely.Kind != rawjson.Object {
			return true
		}
		for _, m := range likely.Members {
			if i >= len(tokens.Elems) || m.Key != tokens.Elems[i].Text(doc) || m.Value.Kind >= rawjson.String {
				return true
			}
		}
	}
	return false
}
