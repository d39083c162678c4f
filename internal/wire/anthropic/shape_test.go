package anthropic

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// unreadOf are the paths that a whole answer names.
func unreadOf(t *testing.T, body string) []string {
	t.Helper()
	var r recorder
	if _, err := (Codec{}).Response([]byte(body), &r); err != nil {
		t.Fatal(err)
	}
	return r.unread
}

// unreadIn are the paths that the events of a stream name.
func unreadIn(t *testing.T, events ...string) []string {
	t.Helper()
	var r recorder
	s := Codec{}.Stream(&r)
	for _, data := range events {
		if err := s.Event([]byte("data: "+data+"\n\n"), "", data); err != nil {
			t.Fatal(err)
		}
	}
	return r.unread
}

// ordinary are answers as the documentation of the API shows them, and as other servers of the format send them.
var ordinary = []string{
	`{"id":"msg_013Zva2CMHLNnjNjJJKqJ2EF","type":"message","role":"assistant","model":"claude-sonnet-4-5-20250929","content":[{"type":"text","text":"Hi! My name is Claude.","citations":null}],"stop_reason":"end_turn","stop_sequence":null,"stop_details":null,"container":null,"context_management":{"applied_edits":[{"type":"clear_tool_uses_20250919","cleared_tool_uses":8,"cleared_input_tokens":50000}]},"usage":{"input_tokens":2095,"cache_creation_input_tokens":2051,"cache_read_input_tokens":2051,"cache_creation":{"ephemeral_5m_input_tokens":456,"ephemeral_1h_input_tokens":100},"output_tokens":503,"server_tool_use":{"web_search_requests":0},"service_tier":"standard","inference_geo":"not_available","speed":"fast","iterations":[{"type":"message","input_tokens":1,"output_tokens":2}]}}`,
	`{"id":"msg_01","type":"message","role":"assistant","model":"anthropic/claude-sonnet-4.5","content":[{"type":"thinking","thinking":"Let me analyze this step by step...","signature":"WaUjzkypQ2mUEVM36O2TxuC06KN8xyfbJwyem2dw3URve/op91XWHOEBLLqIOMfFG/UvLEczmEsUjavL=="},{"type":"redacted_thinking","data":"EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlxh0L5L8rLVyIwxtE3rAFBa8cr3qpPkNRj2YfWXGmKDxH4mPnZ5sQ7vB9URj2pLmN3kF8/dW5hR7xJ0aP1oLs9yTcMnKVf2wRpEGjH9XZaBt4UvDcPrQ=="},{"type":"tool_use","id":"toolu_01D7FLrfh4GYq7yT1ULFeyMV","name":"get_weather","input":{"location":"San Francisco, CA"},"caller":{"type":"direct"}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`,
	`{"id":"msg_02","type":"message","role":"assistant","model":"deepseek-chat","content":[{"type":"thinking","thinking":"Well.","signature":"3ea8d1b1-0a5c-4d2b-9d6e-6b9f7b0f3c11"},{"type":"text","text":"Yes."}],"stop_reason":"stop_sequence","stop_sequence":"END","usage":{"input_tokens":1,"output_tokens":1}}`,
	`{"id":"msg_03","type":"message","role":"assistant","model":"claude-sonnet-4-5","container":{"id":"container_011CPR5CNjB747bTd36fQLFk","expires_at":"2025-05-23T21:13:31.749448Z","skills":[{"type":"anthropic","skill_id":"pptx","version":"latest"}]},"content":[{"type":"server_tool_use","id":"srvtoolu_01","name":"bash_code_execution","input":{"command":"ls"},"caller":{"type":"code_execution_20250825","tool_id":"srvtoolu_00"}},{"type":"bash_code_execution_tool_result","tool_use_id":"srvtoolu_01","content":{"type":"bash_code_execution_result","stdout":"a b","stderr":"","return_code":0,"content":[{"type":"bash_code_execution_output","file_id":"file_1"}]}},{"type":"mcp_tool_use","id":"mcptoolu_014","name":"echo","server_name":"example-mcp","input":{"param1":"value1"}},{"type":"mcp_tool_result","tool_use_id":"mcptoolu_014","is_error":false,"content":[{"type":"text","text":"Hello, you"}]},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_a","content":{"type":"web_search_tool_result_error","error_code":"max_uses_exceeded"}}],"stop_reason":"pause_turn","usage":{"input_tokens":1,"output_tokens":1}}`,
	`{"input_tokens":2095,"context_management":{"original_input_tokens":70000}}`,
}

func TestOrdinaryAnswersHaveNothingUnread(t *testing.T) {
	for _, body := range ordinary {
		if got := unreadOf(t, body); len(got) > 0 {
			t.Errorf("%s names %q", body, got)
		}
	}
}

// ordinaryEvents is a stream as the documentation of the API shows it, with what Bedrock adds to its end.
var ordinaryEvents = []string{
	`{"type":"message_start","message":{"id":"msg_1nZdL29xx5MUA1yADyHTEsnR8uuvGzszyY","type":"message","role":"assistant","content":[],"model":"claude-sonnet-4-5-20250929","stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":25,"output_tokens":1,"service_tier":"standard"}}}`,
	`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
	`{"type":"ping"}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"I need to find the GCD","estimated_tokens":12}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pkiMOYds+/w"}}`,
	`{"type":"content_block_stop","index":0}`,
	`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"","citations":[]}}`,
	`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Okay, let us check"}}`,
	`{"type":"content_block_stop","index":1}`,
	`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_01","name":"get_weather","input":{}}}`,
	`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"location\": \"San Francisco, CA\"}"}}`,
	`{"type":"content_block_stop","index":2}`,
	`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":89,"server_tool_use":{"web_search_requests":1}},"context_management":{"applied_edits":[]}}`,
	`{"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":9,"outputTokenCount":12,"invocationLatency":1035,"firstByteLatency":714}}`,
	`[DONE]`,
}

func TestOrdinaryStreamsHaveNothingUnread(t *testing.T) {
	if got := unreadIn(t, ordinaryEvents...); len(got) > 0 {
		t.Errorf("names %q", got)
	}
}

func TestWhatIsUnreadOfAnAnswer(t *testing.T) {
	for _, c := range []struct{ name, doc, want string }{
		{"citations", `{"content":[{"type":"text","text":"a","citations":[{"type":"web_search_result_location","cited_text":"b c","url":"https://a/","title":"t","encrypted_index":"Eo8B","document_index":0}]}]}`,
			"content[].citations[].cited_text content[].citations[].url content[].citations[].title"},
		{"an index with words", `{"content":[{"type":"text","text":"a","citations":[{"encrypted_index":"b c"}]}]}`, "content[].citations[].encrypted_index"},
		{"text beside a text", `{"content":[{"type":"text","text":"a","thinking":"b c"}]}`, "content[].thinking"},
		{"text beside thinking", `{"content":[{"type":"thinking","thinking":"a","text":"b c","signature":""}]}`, "content[].text"},
		{"a signature of words", `{"content":[{"type":"thinking","thinking":"a","signature":"b c"}]}`, "content[].signature"},
		{"data of words", `{"content":[{"type":"redacted_thinking","data":"b c"}]}`, "content[].data"},
		{"beside a call", `{"content":[{"type":"tool_use","id":"t","name":"n","input":{},"caller":{"type":"b c"},"server_name":"s"}]}`, "content[].caller.type content[].server_name"},
		{"a tool named by a text", `{"content":[{"type":"tool_use","id":"t","name":"b c","input":{}}]}`, "content[].name"},
		{"search results", `{"content":[{"type":"web_search_tool_result","tool_use_id":"t","content":[{"type":"web_search_result","title":"t","url":"https://a/","page_age":"April 30, 2025"}]}]}`,
			"content[].content[].url content[].content[].page_age"},
		{"an error with words", `{"content":[{"type":"web_search_tool_result","tool_use_id":"t","content":{"type":"web_search_tool_result_error","error_code":"b c"}}]}`, "content[].content.error_code"},
		{"a caller deep in a result", `{"content":[{"type":"x_tool_result","tool_use_id":"t","content":{"a":[{"caller":{"note":"b c"}}]}}]}`, "content[].content.a[].caller.note"},
		{"a member of a result that is named by a text", `{"content":[{"type":"x_tool_result","tool_use_id":"t","content":{"It is so":1}}]}`, "content[].content.*"},
		{"beside a result", `{"content":[{"type":"x_tool_result","tool_use_id":"t","content":[],"note":"b c"}]}`, "content[].note"},
		{"a block of requests", `{"content":[{"type":"search_result","source":"b c","title":"d","content":[]}]}`, "content[].source content[].title"},
		{"a block that nobody knows", `{"content":[{"type":"poem","verse":"b c"}]}`, ""}, // a part stands for it
		{"why it stopped", `{"content":[],"stop_reason":"refusal","stop_sequence":"b c","stop_details":{"type":"refusal","category":"cyber","explanation":"d"}}`, "stop_sequence stop_details.explanation"},
		{"beside the content", `{"content":[],"note":"b c","usage":{"note":"d"},"container":{"id":"c","name":"e"}}`, "note usage.note container.name"},
		{"an error", `{"type":"error","error":{"type":"overloaded_error","message":"b c"},"request_id":"req_1"}`, "error.message"},
		{"beside a count", `{"input_tokens":1,"note":"b c"}`, "note"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(unreadOf(t, c.doc), " "); got != c.want {
				t.Errorf("names %q, want %q", got, c.want)
			}
		})
	}
}

func TestWhatIsUnreadOfAStream(t *testing.T) {
	const start, text = `{"type":"message_start","message":{"id":"m","content":[]}}`, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	for _, c := range []struct{ name, event, want string }{
		{"a citation", `{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"type":"char_location","cited_text":"b c","document_title":"d"}}}`,
			"content_block_delta.delta.citation.cited_text content_block_delta.delta.citation.document_title"},
		{"beside a delta's text", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a","thinking":"b c"}}`, "content_block_delta.delta.thinking"},
		{"beside a delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"},"note":"b c"}`, "content_block_delta.note"},
		{"a delta that nobody knows", `{"type":"content_block_delta","index":0,"delta":{"type":"poem_delta","verse":"b c"}}`, ""}, // a part stands for it
		{"beside the start of a block", `{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"","citations":[{"title":"b"}]},"note":"c"}`,
			"content_block_start.note content[].citations[].title"},
		{"a result", `{"type":"content_block_start","index":1,"content_block":{"type":"web_search_tool_result","tool_use_id":"t","content":[{"type":"web_search_result","title":"t","url":"https://a/"}]}}`,
			"content[].content[].url"},
		{"beside the end of a block", `{"type":"content_block_stop","index":0,"note":"b c"}`, "content_block_stop.note"},
		{"how a message begins", `{"type":"message_start","message":{"id":"m","content":{"a":"b c"},"note":"d"}}`, "message_start.message.content.a message_start.message.note"},
		{"how it ends", `{"type":"message_delta","delta":{"stop_reason":"b c","stop_details":{"explanation":"d"}},"note":"e"}`,
			"message_delta.delta.stop_reason message_delta.delta.stop_details.explanation message_delta.note"},
		{"a ping", `{"type":"ping","text":"b c"}`, "ping.text"},
		{"an error", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}`, "error.error.message"},
		{"an event that nobody knows", `{"type":"poem","verse":"b c"}`, "poem.verse"},
		{"one whose type is a text", `{"type":"It is so"}`, "*.type"},
		{"no type", `{"verse":"b c"}`, "*.verse"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(unreadIn(t, start, text, c.event), " "); got != c.want {
				t.Errorf("names %q, want %q", got, c.want)
			}
		})
	}
}

func TestAnEventNamedByAText(t *testing.T) {
	for data, want := range map[string][]string{"": {"event"}, "{}": {"event"}, "[DONE]": {"event"}} {
		var r recorder
		if err := (Codec{}).Stream(&r).Event([]byte("event: It is so\ndata: "+data+"\n\n"), "It is so", data); err != nil || !slices.Equal(r.unread, want) {
			t.Errorf("data %q: %q, %v", data, r.unread, err)
		}
	}
}

// What quotes a text that is still to come waits until that is decided.
func TestCitationsWaitForTheirText(t *testing.T) {
	for name, events := range map[string][]string{
		"before": {`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"cited_text":"the word"}}}`},
		"in the beginning": {`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"","citations":[{"cited_text":"the word"}]}}`},
	} {
		t.Run(name, func(t *testing.T) {
			var r recorder
			s := Codec{}.Stream(&r).(wire.Incremental)
			feed := func(events ...string) {
				for _, data := range events {
					if err := s.Event([]byte("data: "+data+"\n\n"), "", data); err != nil {
						t.Fatal(err)
					}
				}
			}
			feed(append([]string{`{"type":"message_start","message":{"id":"m","content":[]}}`}, events...)...)
			feed(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Say the word now"}}`)
			early, err := s.Next(r.parts, func(int) int { return len("Say") }, false)
			if err != nil || strings.Contains(string(early), "the word") {
				t.Errorf("%s, %v", early, err)
			}
			feed(`{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`)
			r.parts[0].Text = "Say [GONE] now"
			late, err := s.Next(r.parts, wire.Free, true)
			if err != nil || strings.Contains(string(late), "the word") || !strings.Contains(string(late), "[GONE]") {
				t.Errorf("%s, %v", late, err)
			}
		})
	}
}
