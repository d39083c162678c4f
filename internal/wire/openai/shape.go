package openai

import "github.com/gatehouse-gateway/gatehouse/internal/wire"

// What an answer holds that is no text, by the API's reference of the object chat.completion and of its chunks, and by what other servers
// add that speak the format. Any other text is named in the coverage, as nothing reads it: citations, search results, messages of errors.
// Members that hold numbers and nothing else need no entry, unless their names have more than small letters in them.
var (
	answerShape = rootShape("message", "delta")
	chunkShape  = rootShape("delta", "message")

	// messageShape is of messages and deltas. Members that are not in it and hold an object or a list are opaque parts.
	messageShape = wire.Object(map[string]wire.Shape{
		"role": wire.Word, "name": wire.ID, "tool_call_id": wire.ID,
		"content": wire.Read, // see itemShape
		"refusal": wire.Read, "reasoning": wire.Read, "reasoning_content": wire.Read,
		"tool_calls": wire.Object(map[string]wire.Shape{
			"id": wire.ID, "type": wire.Word,
			"function":                 wire.Object(map[string]wire.Shape{"name": wire.ID, "arguments": wire.Read}),
			"custom":                   wire.Object(map[string]wire.Shape{"name": wire.ID, "input": wire.Read}),
			"extra_content":            wire.Object(map[string]wire.Shape{"google": signatureShape}), // Gemini
			"provider_specific_fields": signatureShape,                                               // LiteLLM
		}),
		"function_call": wire.Object(map[string]wire.Shape{"name": wire.ID, "arguments": wire.Read}),
	})
	signatureShape = wire.Object(map[string]wire.Shape{"thought_signature": wire.Bytes})

	// itemShape is of the items of a content that is a list.
	itemShape = wire.Kinds(map[string]wire.Shape{
		"text":    wire.Object(map[string]wire.Shape{"type": wire.Word, "text": wire.Read}),
		"refusal": wire.Object(map[string]wire.Shape{"type": wire.Word, "refusal": wire.Read}),
		"":        wire.Read, // an opaque part each, whatever text it has
	})
)

// rootShape is an answer whose choices have messages under the name own. Some servers announce the role under both names.
func rootShape(own, other string) wire.Shape {
	filtered := filterShape()
	usage := usageShape()
	return wire.Object(map[string]wire.Shape{
		"id": wire.ID, "object": wire.Word, "model": wire.ID, "system_fingerprint": wire.ID, "service_tier": wire.Word, "usage": usage,
		"obfuscation": wire.ID, "p": wire.ID, // random letters that hide how long a chunk is: OpenAI, Mistral
		"request_id":                     wire.ID,   // OpenAI's stored completions; Zhipu
		"provider":                       wire.Read, // OpenRouter; see isProvider
		"prompt_filter_results":          wire.Object(map[string]wire.Shape{"content_filter_results": filtered}),
		"x_groq":                         wire.Object(map[string]wire.Shape{"id": wire.ID, "usage": usage}),
		"usage_breakdown":                wire.Object(map[string]wire.Shape{"models": wire.Object(map[string]wire.Shape{"model": wire.ID, "usage": usage})}),
		"metadata":                       wire.Object(map[string]wire.Shape{"weight_version": wire.ID}), // SGLang
		"amazon-bedrock-guardrailAction": wire.Word,
		"error":                          wire.Object(map[string]wire.Shape{"type": wire.Word, "code": wire.Word, "param": wire.ID, "status": wire.Word}),
		"choices": wire.Object(map[string]wire.Shape{
			own:             wire.Read, // see messageShape
			other:           wire.Object(map[string]wire.Shape{"role": wire.Word}),
			"finish_reason": wire.Word, "native_finish_reason": wire.Word, "stop_reason": wire.Word, "matched_stop": wire.Word,
			"usage": usage, "content_filter_results": filtered, "content_filter_result": filtered,
			"logprobs": wire.Object(map[string]wire.Shape{
				"content": tokensShape(), "refusal": tokensShape(), "reasoning_content": tokensShape(), // DeepSeek
			}),
		}),
	})
}

// usageShape is of what was used: numbers, but for a few words.
func usageShape() wire.Shape {
	cached := wire.Object(map[string]wire.Shape{"ephemeral_5m_input_tokens": {}, "ephemeral_1h_input_tokens": {}}) // Anthropic's, behind LiteLLM
	return wire.Object(map[string]wire.Shape{
		"cache_creation": cached,
		"prompt_tokens_details": wire.Object(map[string]wire.Shape{
			"cache_creation": cached, "cache_creation_token_details": cached, "cache_type": wire.Word,
		}),
		"service_tier": wire.Word, "search_context_size": wire.Word,
		"extra_properties": wire.Object(map[string]wire.Shape{"google": wire.Object(map[string]wire.Shape{"traffic_type": wire.Word})}),
	})
}

// filterShape is of what Azure says of a text, by category.
func filterShape() wire.Shape {
	graded := wire.Object(map[string]wire.Shape{"severity": wire.Word})
	return wire.Object(map[string]wire.Shape{
		"hate": graded, "self_harm": graded, "sexual": graded, "violence": graded,
		"custom_blocklists": wire.Object(map[string]wire.Shape{"id": wire.ID, "details": wire.Object(map[string]wire.Shape{"id": wire.ID})}),
		"error":             wire.Object(map[string]wire.Shape{"code": wire.Word}),
	})
}

// tokensShape is of log probabilities, whose tokens the codec holds against the text.
func tokensShape() wire.Shape {
	return wire.Object(map[string]wire.Shape{
		"token": wire.Read, "top_logprobs": wire.Object(map[string]wire.Shape{"token": wire.Read}),
	})
}

// isProvider reports whether a text may be the name of a company, such as Google AI Studio.
func isProvider(text string) bool {
	const longest = 24 // bytes
	for _, c := range []byte(text) {
		if c > 'z' || c < 'a' && c != ' ' && c != '.' && c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return len(text) <= longest
}
