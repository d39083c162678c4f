package gemini

import (
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

func TestRequestParts(t *testing.T) {
	cases := []struct {
		desc, body string
		want       []string
	}{
		{"a text", `{"contents":[{"role":"user","parts":[{"text":"a\n\u00e9"}]}]}`, []string{`user text contents[0].parts[0].text "a\né" latest`}},
		{"no role", `{"contents":[{"parts":[{"text":"a"}]}]}`, []string{`user text contents[0].parts[0].text "a" latest`}},
		{"objects for lists", `{"system_instruction":{"parts":{"text":"s"}},"contents":{"parts":{"text":"a"}}}`, []string{
			`system text systemInstruction.parts[0].text "s"`, `user text contents[0].parts[0].text "a" latest`}},
		{"turns", `{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"b"}]},{"role":"user","parts":[{"text":"c"}]},{"role":"model","parts":[{"text":"d"}]}]}`, []string{
			`user text contents[0].parts[0].text "a"`, `assistant text contents[1].parts[0].text "b"`,
			`user text contents[2].parts[0].text "c" latest`, `assistant text contents[3].parts[0].text "d"`}},
		{"a role that nobody knows", `{"contents":[{"role":"oracle","parts":[{"text":"a"}]}]}`, []string{`user text contents[0].parts[0].text "a" latest`}},
		{"thoughts", `{"contents":[{"role":"model","parts":[{"text":"t","thought":true},{"text":"u","thought":true,"thoughtSignature":"cw=="},{"thought":true,"thought_signature":"cw=="},{"text":"b","thoughtSignature":"cw=="}]}]}`, []string{
			`assistant reasoning contents[0].parts[0].text "t"`, `assistant reasoning contents[0].parts[1].text "u" signed`,
			`assistant reasoning contents[0].parts[2] "" signed`, `assistant text contents[0].parts[3].text "b"`}},
		{"what a user calls a thought", `{"contents":[{"role":"user","parts":[{"text":"t","thought":true}]}]}`, []string{`user text contents[0].parts[0].text "t" latest`}},
		{"calls and results", `{"contents":[{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{"a": 1.50}}},{"function_call":{"name":"g"}}]},{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{"result":"r"}}},{"function_response":{"name":"g","response":{"a":"b","n":1.50}}}]}]}`, []string{
			`assistant tool_call contents[0].parts[0].functionCall.args "{\"a\": 1.50}" tool=f id=1`,
			`assistant tool_call contents[0].parts[1].functionCall.args "" tool=g`,
			`tool tool_result contents[1].parts[0].functionResponse.response.result "r" tool=f id=1 latest`,
			`tool tool_result contents[1].parts[1].functionResponse.response "{\"a\":\"b\",\"n\":1.50}" tool=g latest`}},
		{"wrapped results", `{"contents":[{"role":"function","parts":[{"functionResponse":{"name":"f","response":{"output":{"a":"b"}}}},{"functionResponse":{"name":"f","response":{"content":["x"]}}},{"functionResponse":{"name":"f","response":{"result":1}}},{"functionResponse":{"name":"f"}}]}]}`, []string{
			`tool tool_result contents[0].parts[0].functionResponse.response.output "{\"a\":\"b\"}" tool=f latest`,
			`tool tool_result contents[0].parts[1].functionResponse.response.content "[\"x\"]" tool=f latest`,
			`tool tool_result contents[0].parts[2].functionResponse.response "{\"result\":1}" tool=f latest`}},
		{"media", `{"contents":[{"parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}},{"file_data":{"file_uri":"u"},"videoMetadata":{"fps":1}},{"hologram":{"x":1}},{"text":"a","note":"b"}]}]}`, []string{
			`user opaque contents[0].parts[0].inlineData "" media=inline_data latest`, `user opaque contents[0].parts[1].fileData "" media=file_data latest`,
			`user opaque contents[0].parts[2] "" media=hologram latest`, `user text contents[0].parts[3].text "a" latest`,
			`user opaque contents[0].parts[3] "" media=note latest`}},
		{"media of a result", `{"contents":[{"parts":[{"functionResponse":{"name":"f","response":{},"parts":[{"inlineData":{"data":"AAAA"}}]}}]}]}`, []string{
			`tool tool_result contents[0].parts[0].functionResponse.response "{}" tool=f latest`,
			`tool opaque contents[0].parts[0].functionResponse.parts[0] "" tool=f media=function_response_part latest`}},
		{"code that the provider ran", `{"contents":[{"role":"model","parts":[{"executableCode":{"language":"PYTHON","code":"print(1)"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}}]}]}`, []string{
			`assistant tool_call contents[0].parts[0].executableCode.code "print(1)" tool=hosted:code_execution media=freeform`,
			`tool tool_result contents[0].parts[1].codeExecutionResult.output "1" tool=hosted:code_execution`}},
		{"tools", `{"tools":[{"functionDeclarations":[{"name":"f","description":"d","parameters":{"properties":{"a":{"description":"a b"}}}},{"name":"g"}]},{"googleSearch":{}},{"code_execution":{},"urlContext":null},{"computerUse":{}},{"mcpServers":[{"name":"s"}]},{"newThing":{}}],"toolConfig":{"functionCallingConfig":{"mode":"ANY"}},"contents":[]}`, []string{
			`system tool_def tools[0].functionDeclarations[0].description "d\na b" tool=f`, `system tool_def tools[0].functionDeclarations[1].description "" tool=g`,
			`system tool_def tools[1] "" tool=hosted:google_search`, `system tool_def tools[2] "" tool=hosted:code_execution`,
			`system tool_def tools[3] "" tool=computer_use`, `system tool_def tools[4].mcpServers[0] "" tool=mcp:s/*`,
			`system tool_def tools[5] "" tool=hosted:new_thing`}},
		{"one tool", `{"tools":{"function_declarations":{"name":"f"}},"contents":[]}`, []string{`system tool_def tools[0].functionDeclarations[0].description "" tool=f`}},
		{"what is cached", `{"cachedContent":"cachedContents/x","contents":[]}`, []string{`system opaque cachedContent "" media=cached_content`}},
		{"a count", `{"generateContentRequest":{"model":"models/m","systemInstruction":{"parts":[{"text":"s"}]},"contents":[{"parts":[{"text":"a"}]}]}}`, []string{
			`system text generateContentRequest.systemInstruction.parts[0].text "s"`, `user text generateContentRequest.contents[0].parts[0].text "a" latest`}},
		{"an embedding", `{"content":{"parts":[{"text":"a"}]}}`, []string{`user text content.parts[0].text "a" latest`}},
		{"many embeddings", `{"requests":[{"model":"models/m","content":{"parts":[{"text":"a"}]}},{"content":{"parts":[{"text":"b"}]}}]}`, []string{
			`user text requests[0].content.parts[0].text "a" latest`, `user text requests[1].content.parts[0].text "b" latest`}},
	}
	for _, c := range cases {
		t.Run(c.desc, func(t *testing.T) {
			r, err := Codec{}.Request([]byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			checkParts(t, r.Parts(), c.want...)
			if same, err := r.Bytes(r.Parts()); err != nil || string(same) != c.body {
				t.Errorf("without edits: %s, %v", same, err)
			}
		})
	}
}

func TestRequestRefuses(t *testing.T) {
	for body, code := range map[string]string{
		`{`:                                     "invalid_json_body",
		`[]`:                                    "invalid_request",
		`{"contents":1}`:                        "invalid_request",
		`{"contents":["a"]}`:                    "invalid_request",
		`{"contents":[{"parts":"a"}]}`:          "invalid_request",
		`{"contents":[{"parts":["a"]}]}`:        "invalid_request",
		`{"contents":[{"parts":[{"text":1}]}]}`: "invalid_request",
		`{"contents":[{"role":1,"parts":[]}]}`:  "invalid_request",
		`{"contents":[{"parts":[{"text":"a","functionCall":{"name":"f"}}]}]}`:                                 "invalid_request",
		`{"contents":[{"parts":[{"functionCall":{"args":{}}}]}]}`:                                             "invalid_request",
		`{"contents":[{"parts":[{"functionResponse":{"name":"f","response":"r"}}]}]}`:                         "invalid_request",
		`{"contents":[{"parts":[{"text":"a","thought":"yes"}]}]}`:                                             "invalid_request",
		`{"contents":[],"contents":[]}`:                                                                       "duplicate_key",
		`{"contents":[],"systemInstruction":{},"system_instruction":{}}`:                                      "duplicate_key",
		`{"contents":[{"parts":[{"inlineData":{},"inline_data":{}}]}]}`:                                       "invalid_request",
		`{"contents":[{"role":"model","parts":[{"text":"a","thoughtSignature":"","thought_signature":""}]}]}`: "duplicate_key",
		`{"contents":[],"tools":[{"functionDeclarations":[],"function_declarations":[]}]}`:                    "duplicate_key",
		`{"contents":[],"generationConfig":{"responseSchema":{},"response_schema":{}}}`:                       "duplicate_key",
		`{"contents":[],"generationConfig":{"candidateCount":"2"}}`:                                           "invalid_request",
		`{"systemInstruction":"s"}`:                                                                           "invalid_request",
		`{"tools":[{"functionDeclarations":[{"description":"d"}]}]}`:                                          "invalid_request",
		`{"contents":[{"parts":[{"text":"` + "\xff" + `"}]}]}`:                                                "invalid_utf8",
	} {
		_, err := Codec{}.Request([]byte(body))
		m, ok := wire.IsMalformed(err)
		if !ok || m.Code != code {
			t.Errorf("%s: %v, want %s", body, err, code)
		}
	}
	if _, err := (Codec{Depth: 4}).Request([]byte(`{"contents":[{"parts":[{"text":"a","x":{}}]}]}`)); err == nil {
		t.Error("deeper than allowed")
	}
}

func TestRequestBytes(t *testing.T) {
	const result = `{"contents":[{"role":"user","parts":[{"functionResponse":{"name":"f","response":%}}]}],"x":1.50}`
	of := func(response string) string { return strings.Replace(result, "%", response, 1) }
	cases := []struct {
		desc, body string
		edit       decision
		want       string
	}{
		{"a text", `{"contents":[{"parts":[{"text":"a"},{"text" : "b"}]}],"n":1.50}`, set(1, "B\n"), `{"contents":[{"parts":[{"text":"a"},{"text" : "B\n"}]}],"n":1.50}`},
		{"a wrapped text", of(`{"result":"a"}`), set(0, `{"b"`), of(`{"result":"{\"b\""}`)},
		{"a wrapped text becomes JSON text", of(`{"result":"a"}`), set(0, `{}`), of(`{"result":"{}"}`)},
		{"a wrapped object", of(`{"output":{"a":"b"}}`), set(0, `{"a":"c"}`), of(`{"output":{"a":"c"}}`)},
		{"a wrapped object is withheld", of(`{"output":{"a":"b"}}`), remove(0, "gone"), of(`{"output":"gone"}`)},
		{"an object", of(`{"a":"b","n":1.50}`), set(0, `{"a":"c","n":1.50}`), of(`{"a":"c","n":1.50}`)},
		{"an object is withheld", of(`{"a":"b"}`), remove(0, "gone"), of(`{"output":"gone"}`)},
		{"arguments", `{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f","args":{"a":1}}}]}]}`, set(0, `{"a":2.0}`), `{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f","args":{"a":2.0}}}]}]}`},
		{"a signed thought stays", `{"contents":[{"role":"model","parts":[{"text":"t","thought":true,"thoughtSignature":"cw=="}]}]}`, set(0, "other"), `{"contents":[{"role":"model","parts":[{"text":"t","thought":true,"thoughtSignature":"cw=="}]}]}`},
		{"a signed text keeps its signature", `{"contents":[{"role":"model","parts":[{"text":"t","thoughtSignature":"cw=="}]}]}`, set(0, "other"), `{"contents":[{"role":"model","parts":[{"text":"other","thoughtSignature":"cw=="}]}]}`},
		{"inserted", `{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[]}]}`, insert(0, "x", "y"), `{"contents":[{"role":"user","parts":[{"text":"a"},{"text":"x\n\ny"}]},{"role":"model","parts":[]}]}`},
		{"inserted and edited", `{"contents":[{"parts":{"text":"a"}}]}`, all(set(0, "b"), insert(0, "x")), `{"contents":[{"parts":[{"text":"b"},{"text":"x"}]}]}`},
		{"inserted without parts", `{"contents":[{"role":"user"}]}`, insert(0, "x"), `{"contents":[{"parts":[{"text":"x"}],"role":"user"}]}`},
		{"inserted in place of null", `{"contents":[{"role":"user","parts":null}]}`, insert(0, "x"), `{"contents":[{"role":"user","parts":[{"text":"x"}]}]}`},
		{"inserted where no user speaks", `{"contents":[{"role":"model","parts":[{"text":"a"}]}]}`, insert(0, "x"), `{"contents":[{"role":"model","parts":[{"text":"a"}]},{"role":"user","parts":[{"text":"x"}]}]}`},
		{"inserted into nothing", `{"contents":[]}`, insert(0, "x"), `{"contents":[{"role":"user","parts":[{"text":"x"}]}]}`},
		{"never into an embedding", `{"content":{"parts":[{"text":"a"}]}}`, insert(0, "x"), `{"content":{"parts":[{"text":"a"}]}}`},
	}
	for _, c := range cases {
		t.Run(c.desc, func(t *testing.T) {
			r, err := Codec{}.Request([]byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.Bytes(c.edit(r.Parts()))
			if err != nil || string(got) != c.want {
				t.Errorf("%s, %v\nwant %s", got, err, c.want)
			}
			if _, err := (Codec{}).Request(got); err != nil {
				t.Errorf("what was written is refused: %v", err)
			}
		})
	}
}

func TestRequestBytesRefuses(t *testing.T) {
	const body = `{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}},{"inlineData":{}},{"functionCall":{"name":"g"}}]}]}`
	for desc, change := range map[string]decision{
		"a call goes": remove(0, "n"), "an image goes": remove(1, ""), "arguments that are none": set(0, "x"), "a text without a place": set(2, "{}"),
	} {
		r, err := Codec{}.Request([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		if out, err := r.Bytes(change(r.Parts())); err == nil {
			t.Errorf("%s: %s", desc, out)
		}
	}
	r, err := Codec{}.Request([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Bytes(r.Parts()[1:]); err == nil {
		t.Error("a part was lost")
	}
}
