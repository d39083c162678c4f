package responses

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// Answers as the API, and servers that speak its format, give them.
func TestOrdinaryAnswersAreRead(t *testing.T) {
	for name, body := range map[string]string{
		"text": `{"id":"resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b","object":"response","created_at":1741476542,"completed_at":1741476544,"status":"completed","background":false,
			"billing":{"payer":"developer"},"error":null,"incomplete_details":null,"instructions":null,"max_output_tokens":null,"max_tool_calls":null,"model":"gpt-4.1-2025-04-14",
			"output":[{"type":"message","id":"msg_67ccd2bf17f0819081ff3bb2cf6508e6","status":"completed","role":"assistant","phase":"final_answer","content":[{"type":"output_text",
			"text":"In a peaceful grove beneath a silver moon, a unicorn named Lumina discovered a hidden pool.","annotations":[],"logprobs":[]}]}],
			"parallel_tool_calls":true,"previous_response_id":null,"prompt_cache_key":null,"prompt_cache_retention":"in-memory","reasoning":{"effort":"medium","summary":"detailed"},"safety_identifier":null,
			"service_tier":"default","store":true,"temperature":1.0,"text":{"format":{"type":"text"},"verbosity":"medium"},"tool_choice":"auto","tools":[{"type":"web_search","filters":null,
			"search_context_size":"medium","user_location":{"type":"approximate","city":null}}],"top_logprobs":0,"top_p":1.0,"truncation":"disabled",
			"usage":{"input_tokens":36,"input_tokens_details":{"cached_tokens":0},"output_tokens":87,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":123},"user":null,"metadata":{}}`,
		"reasoning and a call": `{"id":"resp_1","model":"o3","output":[{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"**Looking up** the weather."}],
			"content":[{"type":"reasoning_text","text":"It is Paris."}],"encrypted_content":"gAAAAABo2TA+/w==","status":null},
			{"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"location\":\"Paris, France\"}","call_id":"call_unLAR8MvFNptuiZK6K6HCy5k","name":"get_current_weather"},
			{"id":"ctc_1","type":"custom_tool_call","status":"completed","call_id":"call_2","name":"code_exec","input":"print(\"hello\")"}]}`,
		"tools of the provider": `{"id":"resp_1","output":[{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"good news today","sources":[{"type":"url","url":"https://a.example/b c"}]}},
			{"id":"fs_1","type":"file_search_call","status":"completed","queries":["deep research"],"results":null},
			{"id":"ci_1","type":"code_interpreter_call","status":"completed","code":"print(1 + 1)","container_id":"cntr_1","outputs":[{"type":"logs","logs":"2\n"}]},
			{"id":"ig_1","type":"image_generation_call","status":"completed","background":"opaque","output_format":"png","quality":"medium","result":"iVBORw0KGgo=","revised_prompt":"A gray tabby cat.","size":"1024x1536"},
			{"id":"cu_1","type":"computer_call","call_id":"call_1","action":{"type":"click","button":"left","x":1,"y":2},"pending_safety_checks":[],"status":"completed"},
			{"id":"sh_1","type":"shell_call","call_id":"call_2","action":{"commands":["ls -l"],"timeout_ms":120000},"environment":{"type":"container_reference","container_id":"cntr_1"},"status":"completed","created_by":"user_1"},
			{"id":"ap_1","type":"apply_patch_call","call_id":"call_3","operation":{"type":"update_file","path":"lib/fib.py","diff":"@@ -1 +1 @@"},"status":"completed"},
			{"id":"ls_1","type":"local_shell_call","call_id":"call_4","action":{"type":"exec","command":["ls"],"env":{}},"status":"completed"},
			{"id":"mcpr_1","type":"mcp_approval_request","arguments":"{}","name":"roll","server_label":"dmcp"},
			{"id":"mcp_1","type":"mcp_call","approval_request_id":"mcpr_1","arguments":"{}","error":null,"name":"roll","output":"You rolled 4.","server_label":"dmcp","status":"completed"}]}`,
		"an end before its time":  `{"id":"resp_1","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]}`,
		"log probabilities":       `{"id":"resp_1","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi you","annotations":[],"logprobs":[{"token":"Hi","bytes":[72,105],"logprob":-0.1,"top_logprobs":[{"token":"Hi","bytes":[72,105],"logprob":-0.1}]},{"token":" you","bytes":[32],"logprob":0,"top_logprobs":[]}]}]}]}`,
		"Azure":                   `{"id":"resp_1","output":[],"content_filters":[{"blocked":false,"source_type":"prompt","content_filter_raw":[],"content_filter_results":{"jailbreak":{"detected":false,"filtered":false},"hate":{"filtered":false,"severity":"safe"}},"content_filter_offsets":{"start_offset":0,"end_offset":5,"check_offset":0}}]}`,
		"text of a message alone": `{"id":"resp_1","output_text":"","output":[{"role":"assistant","content":"Hello, you."},{"type":"reasoning","summary":[],"content":null}]}`,
	} {
		var made recorder
		if _, err := (Codec{}).Response([]byte(body), &made); err != nil || len(made.unread) > 0 {
			t.Errorf("%s: unread %q, %v", name, made.unread, err)
		}
	}
	for name, stream := range map[string]string{
		"half of a letter": events(`response.output_text.delta "output_index":0,"content_index":0,"delta":" 😀","logprobs":[{"token":"bytes: \\xf0\\x9f"},{"token":"bytes:\\x98\\x80"}]`),
		"padding":          events(`response.output_text.delta "output_index":0,"content_index":0,"item_id":"msg_1","delta":"ok","logprobs":[],"obfuscation":"UhEfsZjZrAcLxBp"`),
		"log probabilities": events(`response.output_text.delta "output_index":0,"content_index":0,"delta":"Hi","logprobs":[{"token":"Hi","logprob":-0.1,"bytes":[72,105],"top_logprobs":[]}]`,
			`response.output_text.done "output_index":0,"content_index":0,"text":"Hi","logprobs":[{"token":"Hi","logprob":-0.1}]`),
		"progress": events(`response.output_item.added "output_index":0,"item":{"id":"ws_1","type":"web_search_call","status":"in_progress","action":{"type":"search"}}`,
			`response.web_search_call.in_progress "output_index":0,"item_id":"ws_1"`, `response.web_search_call.searching "output_index":0,"item_id":"ws_1"`, `response.web_search_call.completed "output_index":0,"item_id":"ws_1"`,
			`response.output_item.done "output_index":0,"item":{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"good news"}}`),
		"a shell of the provider": events(`response.output_item.added "output_index":0,"item":{"id":"s","type":"shell_call","call_id":"c","action":{"commands":[]}}`,
			`response.shell_call_command.added "output_index":0,"command_index":0,"command":""`, `response.shell_call_command.delta "output_index":0,"command_index":0,"delta":"ls -l","obfuscation":"xyz"`,
			`response.shell_call_command.done "output_index":0,"command_index":0,"command":"ls -l"`, `response.output_item.done "output_index":0,"item":{"id":"s","type":"shell_call","call_id":"c","action":{"commands":["ls -l"]}}`,
			`response.shell_call_output_content.delta "output_index":1,"command_index":0,"delta":{"stdout":"a file"}`,
			`response.shell_call_output_content.done "output_index":1,"command_index":0,"output":[{"stdout":"a file","stderr":"","outcome":{"type":"exit","exit_code":0}}]`),
		"vLLM": events(`response.reasoning_part.added "output_index":0,"content_index":0,"item_id":"","part":{"type":"reasoning_text","text":""}`,
			`response.reasoning_text.delta "output_index":0,"content_index":0,"item_id":"","delta":"It is so."`, `response.reasoning_part.done "output_index":0,"content_index":0,"part":{"type":"reasoning_text","text":"It is so."}`),
		"a new kind of text": events(`response.audio.transcript.delta "delta":"a b"`, `response.audio.transcript.done "text":"a b"`),
		"keepalive":          events(`keepalive`),
	} {
		var made recorder
		if _, err := play(&made, stream); err != nil || len(made.unread) > 0 {
			t.Errorf("%s: unread %q, %v", name, made.unread, err)
		}
	}
}

// What the gateway writes itself is an answer that it reads.
func TestOwnAnswersAreRead(t *testing.T) {
	for _, stream := range []string{"false", "true"} {
		r, err := Codec{}.Request([]byte(`{"model":"m","input":"hello","previous_response_id":"resp_1","stream":` + stream + `}`))
		if err != nil {
			t.Fatal(err)
		}
		stopped, _ := Codec{}.Stopped(r, wire.Notice{RequestID: "0b1f6c9e-6f0e-4c54-9d0c-5a0c9a3f8a11", Text: "It was stopped."})
		released, _, err := Codec{}.Released(r, []wire.Call{{Tool: "send_email", Arguments: `{"to":"a b"}`}, {Tool: "run", Arguments: "a b", Freeform: true}}, "0b1f6c9e")
		if err != nil {
			t.Fatal(err)
		}
		for _, body := range [][]byte{stopped, released} {
			var made recorder
			if stream == "true" {
				_, err = play(&made, string(body))
			} else {
				_, err = Codec{}.Response(body, &made)
			}
			if err != nil || len(made.unread) > 0 || len(made.parts) == 0 {
				t.Errorf("unread %q of %s: %v", made.unread, body, err)
			}
		}
	}
}

func TestStoredListsNameWhatTheyDoNotRead(t *testing.T) {
	for body, want := range map[string]string{
		`{"object":"list","data":[{"id":"msg_1","type":"message","role":"user","status":"completed","content":[{"type":"input_text","text":"Tell me."}]}],"first_id":"msg_1","last_id":"msg_1","has_more":false}`:                                     "",
		`{"object":"list","data":[{"type":"function_call_output","call_id":"a","output":[{"type":"input_text","text":"a b"}]},{"type":"message","role":"user","content":"a b"}]}`:                                                                     "",
		`{"data":[{"type":"message","role":"user","foo":"a b","content":[]}],"note":"a b"}`:                                                                                                                                                           "data[].foo note",
		`{"data":[{"type":"reasoning","summary":[],"encrypted_content":"a b"}]}`:                                                                                                                                                                      "data[].encrypted_content",
		`{"data":[{"type":"file_search_call","results":[{"filename":"a b"},{"filename":"c d"}]}]}`:                                                                                                                                                    "data[].results[].filename",
		`{"data":[{"type":"program_output","result":{"a":"b c"}},{"type":"configuration_update","a":"b c"}]}`:                                                                                                                                         "data[].result.a data[].a",
		`{"data":[{"type":"tool_search_output","tools":[{"type":"namespace","name":"n","description":"d e","tools":[{"type":"function","name":"f","description":"d e","parameters":{"type":"object","properties":{"a":{"description":"b c"}}}}]}]}]}`: "data[].tools[].tools[].parameters",
	} {
		var made recorder
		if _, err := (Items{}).Response([]byte(body), &made); err != nil || strings.Join(made.unread, " ") != want {
			t.Errorf("unread %q, want %q, %v: %s", made.unread, want, err, body)
		}
	}
}

// What an answer repeats of its request is known, and what it only pretends to repeat is not.
func TestEchoes(t *testing.T) {
	asked := `{"model":"m","input":"hello","instructions":"Talk like a pirate.","metadata":{"Topic":"A demo"},"tools":[{"type":"function","name":"get","description":"Gets it all.",
		"parameters":{"type":"object","properties":{"maxItems":{"type":"number","description":"How many."}}}}]}`
	for _, c := range []struct{ name, response, want string }{
		{"all of it", `"instructions":"Talk like a pirate.","metadata":{"Topic":"A demo"},"tool_choice":"auto","tools":[{"type":"function","strict":true,"description":"Gets it all.","name":"get",
			"parameters":{"properties":{"maxItems":{"type":"number","description":"How many."}},"type":"object","additionalProperties":false,"required":["maxItems"]}}]`, ""},
		{"instructions that were not given", `"instructions":"Talk like a cook."`, "instructions"},
		{"instructions of a prompt", `"instructions":[{"type":"message","role":"developer","content":[{"type":"input_text","text":"Talk like a cook."}]}]`, "instructions"},
		{"a description that was not given", `"tools":[{"type":"function","name":"get","description":"Gets nothing."}]`, "tools"},
		{"a name that was not given", `"metadata":{"Another Topic":1}`, "metadata"},
		{"what is not repeated", `"input":"hello you"`, "input"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Codec{}.Request([]byte(asked))
			if err != nil {
				t.Fatal(err)
			}
			body := `{"id":"resp_1","output":[],` + c.response + `}`
			codec := r.(*request).Answers(Codec{})
			var whole, streamed, stored recorder
			if _, err := codec.Response([]byte(body), &whole); err != nil || strings.Join(whole.unread, " ") != c.want {
				t.Errorf("unread %q, want %q, %v", whole.unread, c.want, err)
			}
			s := codec.Stream(&streamed)
			if err := s.Event(nil, "", `{"type":"response.created","response":`+body+`}`); err != nil || !slices.Equal(streamed.unread, whole.unread) {
				t.Errorf("unread of a stream %q, want %q, %v", streamed.unread, c.want, err)
			}
			if _, err := (Stored{}).Response([]byte(body), &stored); err != nil || len(stored.unread) == 0 {
				t.Errorf("unread of a stored response %q, %v", stored.unread, err)
			}
		})
	}
}

func BenchmarkUnread(b *testing.B) {
	v, err := readEvent([]byte(`{"type":"response.output_text.delta","sequence_number":12,"item_id":"msg_68d9303fe7fc819ea999bda43617404203aa6e5a972b3b23","output_index":0,"content_index":0,"delta":" word","logprobs":[],"obfuscation":"4FZhoGBnjNs"}`), "")
	if err != nil {
		b.Fatal(err)
	}
	to := &recorder{}
	b.ReportAllocs()
	for b.Loop() {
		v.unread(nil, to)
	}
}
