package responses

import (
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
)

func TestRequestParts(t *testing.T) {
	cases := []struct{ desc, body, want string }{
		{"a text is the user's", `{"input":"hi","instructions":"be kind"}`,
			"system text instructions \"be kind\"\nuser text input \"hi\" latest"},
		{"messages with and without a type, roles that are not known", `{"input":[{"role":"developer","content":"d"},{"type":"message","role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"u"},{"type":"input_file","file_id":"f"},{"type":"new","text":"b"}]},{"role":"critic","content":"c"}]}`,
			`system text input[0].content "d"
user text input[1].content[0] "a" latest
user opaque input[1].content[1] "" media=image latest
user opaque input[1].content[2] "" media=file latest
user opaque input[1].content[3] "" media=new latest
user text input[1].content[3] "b" latest
user text input[2].content "c" latest`},
		{"calls, results and what follows the last turn", `{"input":[{"role":"user","content":"q"},{"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"s"}],"content":[{"type":"reasoning_text","text":"t"}],"encrypted_content":"e"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"},{"type":"refusal","refusal":"n"}]},{"type":"function_call","call_id":"c1","name":"f","namespace":"n","arguments":"{}"},{"type":"custom_tool_call","call_id":"c2","name":"g","input":"i"},{"type":"function_call_output","call_id":"c1","output":"r1"},{"type":"custom_tool_call_output","call_id":"c2","output":[{"type":"input_text","text":"r2"}]}]}`,
			`user text input[0].content "q"
assistant reasoning input[1].encrypted_content "" signed
assistant reasoning input[1].summary[0] "s"
assistant reasoning input[1].content[0] "t"
assistant text input[2].content[0] "a"
assistant text input[2].content[1] "n"
assistant tool_call input[3].arguments "{}" tool=n.f id=c1
assistant tool_call input[4].input "i" tool=g id=c2 media=freeform
tool tool_result input[5].output "r1" tool=n.f id=c1 latest
tool tool_result input[6].output[0] "r2" tool=g id=c2 latest`},
		{"calls whose arguments are members", `{"input":[{"type":"shell_call","call_id":"c1","action":{"commands":["ls"]}},{"type":"shell_call","call_id":"c2","action":{},"environment":{"type":"container_reference"}},{"type":"local_shell_call","call_id":"c3","action":{"command":[]}},{"type":"apply_patch_call","call_id":"c4","operation":{"diff":"d"}},{"type":"computer_call","call_id":"c5","actions":[{"type":"wait"}]},{"type":"computer_call","call_id":"c6","action":{"type":"wait"},"actions":[{"type":"type","text":"x"}]},{"type":"web_search_call","id":"w","action":{"query":"q"}},{"type":"file_search_call","id":"f","queries":["a"],"results":[{"text":"found","filename":"n"}]},{"type":"computer_call_output","call_id":"c5","output":{"type":"computer_screenshot"}}]}`,
			`assistant tool_call input[0].action "{\"commands\":[\"ls\"]}" tool=shell id=c1 media=shell_call
assistant tool_call input[1].action "{}" tool=hosted:shell id=c2 media=shell_call
assistant tool_call input[2].action "{\"command\":[]}" tool=local_shell id=c3 media=local_shell_call
assistant tool_call input[3].operation "{\"diff\":\"d\"}" tool=apply_patch id=c4 media=apply_patch_call
assistant tool_call input[4].action "{\"actions\":[{\"type\":\"wait\"}]}" tool=computer id=c5 media=computer_call
assistant tool_call input[5].action "{\"action\":{\"type\":\"wait\"},\"actions\":[{\"type\":\"type\",\"text\":\"x\"}]}" tool=computer id=c6 media=computer_call
assistant tool_call input[6].action "{\"query\":\"q\"}" tool=hosted:web_search id=w
assistant tool_call input[7].queries "{\"queries\":[\"a\"]}" tool=hosted:file_search id=f
assistant tool_result input[7].results[0].text "found" tool=hosted:file_search id=f
user opaque input[8].output "" media=image latest`},
		{"MCP", `{"input":[{"type":"mcp_list_tools","id":"l","server_label":"s","tools":[{"name":"t","description":"d"}]},{"type":"mcp_call","id":"m","server_label":"s","name":"t","arguments":"{}","output":"o","error":{"type":"http_error","code":1,"message":"e"}},{"type":"mcp_approval_request","id":"q","server_label":"s","name":"t","arguments":"{}"},{"type":"mcp_approval_response","approval_request_id":"q","approve":true}]}`,
			`assistant tool_result input[0].tools[0].description "d" tool=mcp:s/t id=l
assistant tool_call input[1].arguments "{}" tool=mcp:s/t id=m
assistant tool_result input[1].output "o" tool=mcp:s/t id=m
assistant tool_result input[1].error.message "e" tool=mcp:s/t id=m
assistant tool_call input[2].arguments "{}" tool=mcp:s/t id=q media=mcp_approval_request
tool tool_result input[3].reason "" id=q latest`},
		{"what is not known, and what is only named", `{"input":[{"type":"item_reference","id":"x"},{"type":"compaction","encrypted_content":"e"},{"type":"brand_new","text":"t"},{"role":"user","content":"u"}]}`,
			`assistant opaque input[0] "" media=item_reference
assistant opaque input[1] "" media=compaction
assistant opaque input[2] "" media=brand_new
assistant text input[2].text "t"
user text input[3].content "u" latest`},
		{"tools of every kind", `{"input":"a","tools":[{"type":"function","name":"f","description":"d","parameters":{"properties":{"a":{"description":"a b"}}}},{"type":"custom","name":"g"},{"type":"namespace","name":"n","description":"about","tools":[{"type":"function","name":"h"}]},{"type":"mcp","server_label":"s","allowed_tools":["t","u"],"server_description":"sd"},{"type":"mcp","server_label":"s","allowed_tools":{"tool_names":["v"]}},{"type":"mcp","server_label":"s"},{"type":"web_search_preview_2025_03_11"},{"type":"web_search"},{"type":"computer_use_preview"},{"type":"shell","environment":{"type":"container_auto"}},{"type":"shell"},{"type":"local_shell"},{"type":"tool_search","execution":"client"}]}`,
			`user text input "a" latest
system tool_def tools[0].description "d\na b" tool=f
system tool_def tools[1].description "" tool=g
system tool_def tools[2].description "about" tool=n
system tool_def tools[2].tools[0].description "" tool=n.h
system tool_def tools[3].server_description "sd" tool=mcp:s/t
system tool_def tools[3].server_description "" tool=mcp:s/u
system tool_def tools[4].server_description "" tool=mcp:s/v
system tool_def tools[5].server_description "" tool=mcp:s/*
system tool_def tools[6] "" tool=hosted:web_search
system tool_def tools[7] "" tool=hosted:web_search
system tool_def tools[8] "" tool=computer
system tool_def tools[9] "" tool=hosted:shell
system tool_def tools[10] "" tool=shell
system tool_def tools[11] "" tool=local_shell
system tool_def tools[12] "" tool=tool_search`},
		{"a stored prompt and its variables", `{"prompt":{"id":"p","variables":{"city":"Ulm","picture":{"type":"input_image"}}}}`,
			`user opaque prompt "" media=prompt latest
user text prompt.variables.city "Ulm" latest
user opaque prompt.variables.picture "" media=image latest`},
	}
	for _, c := range cases {
		t.Run(c.desc, func(t *testing.T) {
			r, err := Codec{}.Request([]byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if got := shown(r.Parts()); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if got := written(t, r, r.Parts()); got != c.body {
				t.Errorf("without edits: %s", got)
			}
		})
	}
}

func TestRequestEdits(t *testing.T) {
	said := gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.User, Text: "more", Inserted: true}
	result := func(media, text string) gatehouse.Part {
		return gatehouse.Part{Kind: gatehouse.ToolResult, Role: gatehouse.Tool, CallID: "c", Media: media, Text: text, Inserted: true}
	}
	cases := []struct {
		desc, body string
		add        []gatehouse.Part
		want       string
	}{
		{"behind a text", `{"input":"a"}`, []gatehouse.Part{said}, `{"input":"a\n\nmore"}`},
		{"behind a message", `{"input":[{"role":"user","content":"a"},{"role":"developer","content":"b"}]}`, []gatehouse.Part{said},
			`{"input":[{"role":"user","content":"a\n\nmore"},{"role":"developer","content":"b"}]}`},
		{"behind pieces", `{"input":[{"role":"user","content":[]}]}`, []gatehouse.Part{said}, `{"input":[{"role":"user","content":[{"type":"input_text","text":"more"}]}]}`},
		{"without a message of the user", `{"input":[{"type":"function_call_output","call_id":"c","output":"o"}]}`, []gatehouse.Part{said},
			`{"input":[{"type":"function_call_output","call_id":"c","output":"o"},{"role":"user","content":"more"}]}`},
		{"without an input", `{"model":"m"}`, []gatehouse.Part{said}, `{"input":[{"role":"user","content":"more"}],"model":"m"}`},
		{"a result before a text", `{"input":"a"}`, []gatehouse.Part{result("", "no"), said},
			`{"input":[{"call_id":"c","output":"no","type":"function_call_output"},{"role":"user","content":"a\n\nmore"}]}`},
		{"a result before items", `{"input":[{"role":"user","content":"a"}]}`, []gatehouse.Part{result(freeform, "no")},
			`{"input":[{"call_id":"c","output":"no","type":"custom_tool_call_output"},{"role":"user","content":"a"}]}`},
		{"results into nothing", `{"input":[]}`, []gatehouse.Part{result("", "no"), said},
			`{"input":[{"call_id":"c","output":"no","type":"function_call_output"},{"role":"user","content":"more"}]}`},
		{"a result of a shell", `{"input":null}`, []gatehouse.Part{result(kindShellCall, "no")},
			`{"input":[{"call_id":"c","output":[{"outcome":{"exit_code":1,"type":"exit"},"stderr":"no","stdout":""}],"type":"shell_call_output"}]}`},
		{"a refusal of leave", `{}`, []gatehouse.Part{result(kindApprovalRequest, "no")},
			`{"input":[{"approval_request_id":"c","approve":false,"reason":"no","type":"mcp_approval_response"}]}`},
	}
	for _, c := range cases {
		t.Run(c.desc, func(t *testing.T) {
			r, err := Codec{}.Request([]byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if got := written(t, r, append(r.Parts(), c.add...)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestContinuedResponses(t *testing.T) {
	const exchange = "01234567-89ab-4def-8123-456789abcdef"
	first, last := ownID(exchange, ""), ownID(exchange, "resp_1")
	for body, want := range map[string]struct{ sent, keys string }{
		`{"previous_response_id":"resp_1"}`:               {`{"previous_response_id":"resp_1"}`, "resp_1"},
		`{"previous_response_id":"` + first + `"}`:        {`{"previous_response_id":null}`, exchange},
		`{"previous_response_id":"` + last + `"}`:         {`{"previous_response_id":"resp_1"}`, exchange + " resp_1"},
		`{"conversation":"conv_1"}`:                       {`{"conversation":"conv_1"}`, "conv_1"},
		`{"conversation":{"id":"conv_1"}}`:                {`{"conversation":{"id":"conv_1"}}`, "conv_1"},
		`{"previous_response_id":"resp_gatehouse_short"}`: {`{"previous_response_id":"resp_gatehouse_short"}`, "resp_gatehouse_short"},
	} {
		r, err := Codec{}.Request([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		if got := written(t, r, r.Parts()); got != want.sent {
			t.Errorf("%s: sent %s, want %s", body, got, want.sent)
		}
		if got := strings.Join(r.(*request).Keys(), " "); got != want.keys {
			t.Errorf("%s: keys %s, want %s", body, got, want.keys)
		}
	}
}
