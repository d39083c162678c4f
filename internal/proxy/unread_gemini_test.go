package proxy_test

import (
	"fmt"
	"strings"
	"testing"
)

// geminiOf is an answer in one document, and in a stream whose other events say ordinary things.
func geminiOf(name, doc, at string) slip {
	return slip{name: name, whole: doc, at: at, events: []string{
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"Hi. "}]},"index":0}]}`, doc,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":" bye."}]},"finishReason":"STOP","index":0}]}`,
	}}
}

// geminiPart is such an answer of one part.
func geminiPart(name, part, at string) slip {
	return geminiOf(name, `{"candidates":[{"content":{"role":"model","parts":[`+part+`]},"index":0}]}`, at)
}

// geminiBeside is such an answer with more beside its content.
func geminiBeside(name, more, at string) slip {
	return geminiOf(name, `{"candidates":[{"content":{"role":"model","parts":[{"text":"abc "}]},"index":0,`+more+`}]}`, at)
}

// geminiAhead tells of a text that comes in the next event.
func geminiAhead(name, candidate string) slip {
	return slip{name: name, events: []string{`{"candidates":[{"index":0,` + candidate + `}]}`,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"x $S y "}]},"finishReason":"STOP","index":0}]}`}}
}

func TestGeminiLetsNothingSlipPast(t *testing.T) {
	half, rest := secret[:18], secret[18:]
	var escaped strings.Builder
	for _, c := range secret {
		fmt.Fprintf(&escaped, `\u%04x`, c)
	}
	const said = `"content":{"role":"model","parts":[{"text":"Hi. "}]},`
	slips := []slip{
		geminiPart("text", `{"text":"x $S y "}`, ""),
		geminiPart("two parts", `{"text":"`+half+`"},{"text":"`+rest+`"}`, ""),
		geminiPart("a thought", `{"text":"$S","thought":true}`, ""),
		geminiPart("code", `{"executableCode":{"language":"PYTHON","code":"$S"}}`, ""),
		geminiPart("the language of code", `{"executableCode":{"language":"$S","code":"a"}}`, "candidates[].content.parts[].executable_code.language"),
		geminiPart("beside code", `{"executableCode":{"language":"PYTHON","code":"a","foo":"$S"}}`, "candidates[].content.parts[].executable_code.foo"),
		geminiPart("what code says", `{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"$S"}}`, ""),
		geminiPart("what became of code", `{"codeExecutionResult":{"outcome":"$S","output":"a"}}`, "candidates[].content.parts[].code_execution_result.outcome"),
		geminiPart("the type of data", `{"inlineData":{"mimeType":"$S","data":"AAAA"}}`, "candidates[].content.parts[].inlineData"),
		geminiPart("arguments", `{"functionCall":{"name":"lookup","args":{"a":{"b":["$S"]}}}}`, ""),
		geminiPart("arguments with escapes", `{"functionCall":{"name":"lookup","args":{"a":"`+escaped.String()+`"}}}`, ""),
		geminiPart("beside arguments", `{"functionCall":{"name":"lookup","args":{},"foo":"$S"}}`, "candidates[].content.parts[].function_call.foo"),
		geminiPart("a tool's name", `{"functionCall":{"name":"lookup_$S","args":{}}}`, "").letting("names of tools are what the gate judges, and no text"),
		geminiPart("a signature", `{"text":"a","thoughtSignature":"$S"}`, "candidates[].content.parts[].thought_signature"),
		geminiPart("a signature in small letters", `{"text":"a","thought_signature":"$S"}`, "candidates[].content.parts[].thought_signature"),
		geminiPart("of a video", `{"text":"a","videoMetadata":{"a":"$S"}}`, "candidates[].content.parts[].video_metadata.a"),
		geminiPart("beside a text", `{"text":"a","foo":"$S"}`, "candidates[].content.parts[].foo"),
		geminiOf("beside the parts", `{"candidates":[{"content":{"role":"model","foo":"$S","parts":[{"text":"a"}]},"index":0}]}`, "candidates[].content.foo"),
		geminiOf("in capitals", `{"candidates":[{"content":{"role":"model","Parts":[{"text":"$S"}],"parts":[{"text":"a"}]},"index":0}]}`, "candidates[].content.parts"),
		geminiBeside("why it stopped", `"finishMessage":"$S"`, "candidates[].finish_message"),
		geminiBeside("why it stopped, in small letters", `"finish_message":"$S"`, "candidates[].finish_message"),
		geminiBeside("citations", `"citationMetadata":{"citationSources":[{"uri":"$S","title":"$S"}]}`, "candidates[].citation_metadata.citation_sources[].uri"),
		geminiBeside("grounding", `"groundingMetadata":{"webSearchQueries":["$S"]}`, "candidates[]"),
		geminiBeside("links", `"urlContextMetadata":{"urlMetadata":[{"retrievedUrl":"https://a/$S"}]}`, "candidates[]"),
		geminiBeside("grounding that is a string", `"groundingMetadata":"$S"`, "candidates[]"),
		geminiBeside("tokens", `"logprobsResult":{"chosenCandidates":[{"token":"$S"}]}`, "candidates[].logprobs_result.chosen_candidates"),
		geminiBeside("tokens that were not chosen", `"logprobsResult":{"chosenCandidates":[{"token":"abc "}],"topCandidates":[{"candidates":[{"token":"$S"}]}]}`,
			"candidates[].logprobs_result.top_candidates"),
		geminiOf("tokens of a text that is cut", `{"candidates":[{"content":{"role":"model","parts":[{"text":"x $S y "}]},"index":0,
			"logprobsResult":{"chosenCandidates":[{"token":"x $S y "}],"topCandidates":[{"candidates":[{"token":"x $S y "}]}]}}]}`, ""),
		geminiBeside("beside the content", `"foo":"$S"`, "candidates[].foo"),
		geminiBeside("another text", `"output":"$S"`, "candidates[].output"),
		geminiBeside("ratings", `"safetyRatings":[{"category":"$S"}]`, "candidates[].safety_ratings[].category"),
		geminiOf("the prompt", `{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]},"index":0}],"promptFeedback":{"blockReasonMessage":"$S"}}`, "prompt_feedback.block_reason_message"),
		geminiOf("at the root", `{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]},"index":0}],"foo":"$S"}`, "foo"),
		geminiOf("in the counts", `{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]},"index":0}],"usageMetadata":{"foo":"$S"}}`, "usage_metadata.foo"),
		geminiOf("of the model", `{"modelStatus":{"message":"$S"}}`, "model_status.message"),
		geminiOf("an answer's id", `{"responseId":"$S"}`, "").letting("an identifier"),
		geminiOf("an error", `{"error":{"code":503,"message":"$S","status":"UNAVAILABLE"}}`, "error.message"),
		geminiAhead("citations ahead", said+`"citationMetadata":{"citationSources":[{"title":"$S"}]}`),
		geminiAhead("citations ahead of all text", `"citationMetadata":{"citationSources":[{"title":"$S"}]}`),
		geminiAhead("tokens ahead", said+`"logprobsResult":{"chosenCandidates":[{"token":"$S"}]}`),
		geminiAhead("tokens ahead of all text", `"logprobsResult":{"chosenCandidates":[{"token":"$S"}]}`),
		geminiAhead("supports ahead", said+`"groundingMetadata":{"groundingSupports":[{"segment":{"text":"$S"}}]}`),
	}
	const path = "/gemini/v1beta/models/m"
	for _, stream := range []string{":streamGenerateContent?alt=sse", ":streamGenerateContent"} {
		t.Run(stream, func(t *testing.T) {
			noneSlipsPast(t, path+":generateContent", path+stream, func(bool) []byte { return geminiBody("hello") }, slips)
		})
	}
	noneSlipsPast(t, path+":countTokens", "", func(bool) []byte { return geminiBody("hello") }, []slip{
		{name: "beside a count", whole: `{"totalTokens":3,"foo":"$S"}`, at: "foo"},
	})
}
