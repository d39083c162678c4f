package openai

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
)

func TestOrdinaryAnswersAreRead(t *testing.T) {
	for name, body := range map[string]string{
		"OpenAI":           `{"id":"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT","object":"chat.completion","created":1741569952,"model":"gpt-4.1-2025-04-14","choices":[{"index":0,"message":{"role":"assistant","content":"Hello! How can I assist you today?","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":19,"completion_tokens":10,"total_tokens":29,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}},"service_tier":"default","system_fingerprint":null}`,
		"OpenAI, a call":   `{"id":"chatcmpl-abc123","object":"chat.completion","created":1699896916,"model":"gpt-4o-mini","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_abc123","type":"function","function":{"name":"get_current_weather","arguments":"{\n\"location\": \"Boston, MA\"\n}"}}]},"logprobs":null,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":82}}`,
		"OpenAI, logprobs": `{"choices":[{"index":0,"message":{"role":"assistant","content":"Hello! \ud83d\ude00"},"logprobs":{"content":[{"token":"Hello","logprob":-0.31725305,"bytes":[72,101,108,108,111],"top_logprobs":[]},{"token":"!","logprob":-0.02380986,"bytes":[33],"top_logprobs":[{"token":"!","logprob":-0.02380986,"bytes":[33]}]},{"token":" \\xf0\\x9f","logprob":-1,"bytes":[32,240,159]},{"token":"\\x98\\x80","logprob":-1,"bytes":[152,128]}],"refusal":null},"finish_reason":"stop"}]}`,
		"OpenAI, stored":   `{"object":"chat.completion","id":"chatcmpl-abc123","model":"gpt-4o-2024-08-06","created":1738960610,"request_id":"req_ded8ab984ec4bf840f37566c1011c417","tool_choice":null,"usage":{"total_tokens":31},"seed":4944116822809979520,"top_p":1.0,"temperature":1.0,"presence_penalty":0.0,"frequency_penalty":0.0,"system_fingerprint":"fp_50cad350e4","input_user":null,"service_tier":"default","tools":null,"metadata":{},"choices":[{"index":0,"message":{"content":"Circuits","role":"assistant","tool_calls":null,"function_call":null},"finish_reason":"stop","logprobs":null}],"response_format":null}`,
		"Azure":            `{"id":"chatcmpl-6v7mkQj980V1yBec6ETrKPRqFjNw9","object":"chat.completion","created":1679072642,"model":"gpt-35-turbo","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{"custom_blocklists":{"filtered":false,"details":[{"filtered":false,"id":"list-1"}]},"hate":{"filtered":false,"severity":"safe"},"jailbreak":{"filtered":false,"detected":false},"self_harm":{"filtered":false,"severity":"safe"}}}],"choices":[{"index":0,"message":{"role":"assistant","content":"Yes"},"finish_reason":"stop","content_filter_results":{"protected_material_text":{"detected":false,"filtered":false},"violence":{"filtered":false,"severity":"very_low"}}}]}`,
		"OpenRouter":       `{"id":"gen-1736000000-abcDEF","provider":"Google AI Studio","model":"google/gemini-2.5-pro","object":"chat.completion","created":1,"choices":[{"logprobs":null,"finish_reason":"stop","native_finish_reason":"STOP","index":0,"message":{"role":"assistant","content":"a","refusal":null,"reasoning":"b"}}],"usage":{"prompt_tokens":1,"cost":0.0001,"is_byok":false,"cost_details":{"upstream_inference_cost":null}}}`,
		"vLLM":             `{"id":"chatcmpl-5d1c","object":"chat.completion","created":1,"model":"Qwen/Qwen3-8B","choices":[{"index":0,"message":{"role":"assistant","content":"a","refusal":null,"annotations":null,"audio":null,"function_call":null,"tool_calls":[],"reasoning_content":null,"reasoning":"b"},"logprobs":null,"finish_reason":"stop","stop_reason":null,"token_ids":null}],"service_tier":null,"system_fingerprint":null,"usage":{"prompt_tokens":1},"prompt_logprobs":null,"prompt_token_ids":null,"kv_transfer_params":null}`,
		"SGLang":           `{"id":"9f2c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop","matched_stop":151645}],"metadata":{"weight_version":"default"}}`,
		"llama.cpp":        `{"choices":[{"finish_reason":"stop","index":0,"message":{"role":"assistant","content":"a"}}],"created":1,"model":"gpt-3.5-turbo","system_fingerprint":"b6250-e92d53b29","object":"chat.completion","usage":{"completion_tokens":1},"id":"chatcmpl-x","timings":{"prompt_n":1,"prompt_per_token_ms":1.2,"predicted_per_second":3}}`,
		"Ollama":           `{"id":"chatcmpl-756","object":"chat.completion","created":1,"model":"llama3.2:latest","system_fingerprint":"fp_ollama","choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`,
		"Groq":             `{"id":"chatcmpl-f51b","object":"chat.completion","created":1,"model":"llama3-8b","choices":[{"index":0,"message":{"role":"assistant","content":"a"},"logprobs":null,"finish_reason":"stop"}],"usage":{"queue_time":0.03},"usage_breakdown":{"models":[{"model":"llama3-8b","usage":{"total_time":1}}]},"system_fingerprint":"fp_179b0f92c9","x_groq":{"id":"req_01jbd6g2qdfw2adyrt2az8hz4w"},"service_tier":"on_demand"}`,
		"DeepSeek":         `{"id":"930c60df","object":"chat.completion","created":1,"model":"deepseek-reasoner","choices":[{"index":0,"message":{"role":"assistant","content":"a","reasoning_content":"b"},"logprobs":{"content":[{"token":"a","logprob":0,"bytes":[97],"top_logprobs":[]}],"reasoning_content":[{"token":"b"}]},"finish_reason":"stop"}],"usage":{"prompt_cache_hit_tokens":0},"system_fingerprint":"fp_8802369eaa_prod0425fp8"}`,
		"LiteLLM":          `{"id":"chatcmpl-1","choices":[{"finish_reason":"tool_calls","index":0,"message":{"content":"a","role":"assistant","tool_calls":[{"index":0,"function":{"arguments":"{}","name":"f"},"id":"toolu_01","type":"function","provider_specific_fields":{"thought_signature":"CiQB0e2Kb0=="}}],"function_call":null}}],"usage":{"prompt_tokens_details":{"cached_tokens":null,"cache_creation_token_details":{"ephemeral_5m_input_tokens":1,"ephemeral_1h_input_tokens":0}},"cache_creation_input_tokens":1}}`,
		"Vertex":           `{"choices":[{"finish_reason":"tool_calls","index":0,"message":{"role":"assistant","tool_calls":[{"extra_content":{"google":{"thought_signature":"CiQB0e2Kb0/+"}},"function":{"arguments":"{}","name":"f"},"id":"function-call-1","type":"function"}]}}],"created":1,"id":"2026-11-22|11:49:51.1|8.1.1.1|-1","model":"google/gemini-3","object":"chat.completion","system_fingerprint":"","usage":{"extra_properties":{"google":{"traffic_type":"ON_DEMAND"}}}}`,
		"Bedrock":          `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"openai.gpt-oss-20b-1:0","service_tier":"default","choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}],"amazon-bedrock-guardrailAction":"NONE"}`,
	} {
		t.Run(name, func(t *testing.T) {
			var sink recorder
			if _, err := (Codec{}).Response([]byte(body), &sink); err != nil {
				t.Fatal(err)
			}
			if len(sink.unread) > 0 {
				t.Errorf("unread: %q", sink.unread)
			}
		})
	}
}

func TestOrdinaryChunksAreRead(t *testing.T) {
	var sink recorder
	play(t, &sink, events(
		`{"id":"","object":"","created":0,"model":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{"hate":{"filtered":false,"severity":"safe"}}}],"choices":[]}`,
		`{"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"gpt-4o-mini","system_fingerprint":"fp_44709d6fcb","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"obfuscation":"aB3dE5fG7h"}`,
		`{"id":"chatcmpl-123","object":"chat.completion.chunk","model":"mistral-small-latest","choices":[{"index":0,"delta":{"content":"Hello"},"logprobs":{"content":[{"token":"Hel","bytes":[72,101,108]},{"token":"lo"}],"refusal":null},"content_filter_offsets":{"check_offset":0},"content_filter_results":{}}],"p":"abcdefgh"}`,
		`{"id":"chatcmpl-123","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"f","arguments":""}}]}}]}`,
		`{"id":"chatcmpl-123","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]},"message":{"role":"assistant","content":""}}]}`,
		`{"id":"chatcmpl-123","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls","usage":{"prompt_tokens":1}}],"x_groq":{"id":"req_01","usage":{"queue_time":0.1}}}`,
		`{"id":"chatcmpl-123","choices":[],"usage":{"prompt_tokens":1}}`, done))
	if len(sink.unread) > 0 {
		t.Errorf("unread: %q", sink.unread)
	}
}

func TestUnread(t *testing.T) {
	for _, c := range []struct {
		name, choice string
		want         []string // $M stands for message or delta
	}{
		{"read", `"$M":{"content":"a","refusal":"b","reasoning":"c"}`, nil},
		{"an unknown string", `"$M":{"content":"a","foo":"b"}`, []string{"choices[].$M.foo"}},
		{"an object, which is an opaque part", `"$M":{"content":"a","foo":{"b":"c"},"images":[{"image_url":{"url":"d"}}]}`, nil},
		{"a string beside an opaque part", `"$M":{"foo":{"b":"c"},"bar":"d"}`, []string{"choices[].$M.bar"}},
		{"annotations", `"$M":{"content":"a","annotations":[{"url":"b"}]}`, []string{"choices[].$M.annotations"}},
		{"items", `"$M":{"content":[{"type":"text","text":"a","refusal":"b","x":1},{"type":"refusal","refusal":"c","text":"d"},{"type":"reference","text":"e","ids":["f"]}]}`,
			[]string{"choices[].$M.content[].refusal", "choices[].$M.content[].text"}},
		{"beside an item that is opaque", `"$M":{"content":[{"type":"image_url","image_url":"a"},{"type":"text","text":"a","foo":"b"}]}`, []string{"choices[].$M.content[].foo"}},
		{"calls", `"$M":{"tool_calls":[{"index":0,"id":"a b","type":"function","foo":"c","function":{"name":"f","arguments":"{}","input":"d"}}]}`,
			[]string{"choices[].$M.tool_calls[].id", "choices[].$M.tool_calls[].foo", "choices[].$M.tool_calls[].function.input"}},
		{"the older kind of call", `"$M":{"function_call":{"name":"f","arguments":"{}","foo":"a"}}`, []string{"choices[].$M.function_call.foo"}},
		{"in the choice", `"$M":{},"text":"a","foo":{"b":"c"},"error":{"code":1,"message":"d"}`, []string{"choices[].text", "choices[].foo", "choices[].error"}},
		{"log probabilities", `"$M":{"content":"a"},"logprobs":{"content":[{"token":"b"}],"refusal":[{"token":"c"}]}`,
			[]string{"choices[].logprobs.content", "choices[].logprobs.refusal"}},
		{"log probabilities that are a list", `"$M":{"content":"a"},"logprobs":[{"content":[{"token":"b"}]}]`, []string{"choices[].logprobs"}},
		{"log probabilities that are an object", `"$M":{"content":"a"},"logprobs":{"content":{"token":"b"}}`, []string{"choices[].logprobs.content"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, as := range []string{"message", "delta"} {
				fill := func(text string) string { return strings.ReplaceAll(text, "$M", as) }
				var sink recorder
				body := fill(`{"choices":[{"index":0,` + c.choice + `}]}`)
				if as == "delta" {
					play(t, &sink, events(body))
				} else if _, err := (Codec{}).Response([]byte(body), &sink); err != nil {
					t.Fatal(err)
				}
				var want []string
				for _, path := range c.want {
					want = append(want, fill(path))
				}
				if !slices.Equal(sink.unread, want) {
					t.Errorf("%s: unread %q, want %q", as, sink.unread, want)
				}
			}
		})
	}
}

// What quotes a text waits until all of the text is decided, and goes with an edit of it.
func TestNextHoldsWhatQuotesTheText(t *testing.T) {
	for _, quote := range []string{
		`"delta":{"annotations":[{"title":"secret"}]}`, `"delta":{"content":""},"logprobs":{"content":[{"token":"secret"}]}`,
	} {
		var sink recorder
		s := Codec{}.Stream(&sink).(*stream)
		take := func(data string) {
			t.Helper()
			if err := s.Event([]byte("data: "+data+"\n\n"), "", data); err != nil {
				t.Fatal(err)
			}
		}
		next := func(free int, last bool) string {
			t.Helper()
			out, err := s.Next(sink.parts, func(int) int { return free }, last)
			if err != nil {
				t.Fatal(err)
			}
			return string(out)
		}
		take(`{"choices":[{"index":0,` + quote + `}]}`)
		take(delta(`{"content":"my secret"}`, "null"))
		if out := next(len("my secret"), false); out != "" {
			t.Fatalf("%s has left before its text was decided: %s", quote, out)
		}
		sink.parts[0] = edited(sink.parts[0], "my s3cr3t")
		if out := next(gatehouse.Everything, true); !strings.Contains(out, "my s3cr3t") || strings.Contains(out, "secret") {
			t.Errorf("%s: %s", quote, out)
		}
		s = Codec{}.Stream(&sink).(*stream)
		sink.parts = nil
		take(`{"choices":[{"index":0,` + quote + `}]}`)
		take(delta(`{"content":"my secret"}`, "null"))
		if out := next(gatehouse.Everything, false); !strings.Contains(out, quote) || s.Held() > 0 {
			t.Errorf("where nothing will touch the text, %s is held: %s", quote, out)
		}
	}
}

func edited(p gatehouse.Part, text string) gatehouse.Part {
	p.Was, p.Text, p.Edited = p.Text, text, true
	return p
}

// A quote may leave while the text that it quotes waits behind another choice: what is known to go of the text goes of the quote.
func TestNextEditsQuotesAheadOfTheText(t *testing.T) {
	for _, quote := range []string{
		`"delta":{"role":"assistant","annotations":[{"title":"secret"}]}`, `"delta":{"content":""},"logprobs":{"content":[{"token":"secret"}]}`,
	} {
		var sink recorder
		s := Codec{}.Stream(&sink).(*stream)
		for _, data := range []string{
			`{"choices":[{"index":0,` + quote + `}]}`, `{"choices":[{"index":1,"delta":{"content":"wait"}}]}`, delta(`{"content":"my secret"}`, "null"),
		} {
			if err := s.Event([]byte("data: "+data+"\n\n"), "", data); err != nil {
				t.Fatal(err)
			}
		}
		sink.parts[1] = edited(sink.parts[1], "my s3cr3t")
		out, err := s.Next(sink.parts, func(part int) int { return part * gatehouse.Everything }, false)
		if err != nil || s.sent != 1 || strings.Contains(string(out), "secret") {
			t.Errorf("%v, %d events: %s", err, s.sent, out)
		}
	}
}
