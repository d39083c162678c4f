package proxy_test

import (
	"strings"
	"testing"
)

// textWith is a choice of legacy completions with these members, whole and in a stream.
func textWith(name, members, named string) planted {
	return planted{name: name, named: named, whole: `{"choices":[{"index":0,` + members + `,"finish_reason":"stop"}]}`,
		events: []string{`{"choices":[{"index":0,` + members + `}]}`, `{"choices":[{"index":0,"text":"","finish_reason":"stop"}]}`, "[DONE]"}}
}

func TestCompletionsLetNothingPassUnnamed(t *testing.T) {
	root := textWith("at the root", `"text":"x y "`, "content")
	root.whole = strings.Replace(root.whole, "{", `{"content":"$S",`, 1)
	root.events[0] = strings.Replace(root.events[0], "{", `{"content":"$S",`, 1)
	noPlants(t, "/openai/v1/completions", marshal(object{"model": "m", "prompt": "hello"}), []planted{
		textWith("text", `"text":"x $S y "`, ""),
		textWith("beside the text", `"text":"x y ","foo":"$S"`, "choices[].foo"),
		textWith("a delta", `"text":"x y ","delta":{"content":"$S"}`, "choices[].delta"),
		textWith("a message", `"text":"x y ","message":{"content":"$S"}`, "choices[].message"),
		root,
		textWith("log probabilities of the text", `"text":"x $S y ","logprobs":{"tokens":["x ","$S"," y "],"top_logprobs":[{"x ":0},{"$S":0}]}`, ""),
		textWith("log probabilities of another text", `"text":"x y ","logprobs":{"tokens":["$S"]}`, "choices[].logprobs.tokens"),
		textWith("a token beside another", `"text":"x y ","logprobs":{"tokens":["x"],"top_logprobs":[{"$S":0}]}`, "choices[].logprobs.top_logprobs"),
		textWith("log probabilities as in chats", `"text":"x y ","logprobs":{"content":[{"token":"$S"}]}`, "choices[].logprobs.content"),
		{name: "log probabilities ahead of the text", events: []string{`{"choices":[{"index":0,"text":"","logprobs":{"tokens":["$S"]}}]}`,
			`{"choices":[{"index":0,"text":"x $S y "}]}`, `{"choices":[{"index":0,"text":"","finish_reason":"stop"}]}`, "[DONE]"}},
		{name: "an error", named: "error.message", whole: `{"error":{"message":"$S"}}`, events: []string{`{"error":{"message":"$S"}}`, "[DONE]"}},
	})
}

func TestEmbeddingsLetNothingPassUnnamed(t *testing.T) {
	noPlants(t, "/openai/v1/embeddings", marshal(object{"model": "m", "input": "hello"}), []planted{
		{name: "at the root", named: "foo", whole: `{"data":[{"embedding":[0.5]}],"foo":"$S"}`},
		{name: "a text in place of numbers", named: "data[].embedding", whole: `{"data":[{"embedding":"$S"}]}`},
		{name: "texts among numbers", named: "data[].embedding[]", whole: `{"data":[{"embedding":[0.5,"$S"]}]}`},
		{name: "beside the numbers", named: "data[].text", whole: `{"data":[{"embedding":[0.5],"text":"$S"}]}`},
	})
}
