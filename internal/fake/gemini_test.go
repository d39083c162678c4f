package fake_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/fake"
)

type generated struct {
	Candidates []struct {
		Index        int
		FinishReason string
		Content      struct {
			Role  string
			Parts []struct {
				Text, ThoughtSignature string
				Thought                bool
				FunctionCall           *struct {
					ID, Name string
					Args     json.RawMessage
				}
			}
		}
	}
	UsageMetadata struct{ CandidatesTokenCount, ThoughtsTokenCount int }
}

const gemini = "/v1beta/models/m:"

func generate(t *testing.T, url, method, body string) answer {
	t.Helper()
	return send(t, "POST", url+gemini+method, body, "x-goog-api-key", "k")
}

func TestGemini(t *testing.T) {
	url := serve(t, &fake.Gemini{Script: everything})
	const body = `{"contents":[],"generation_config":{"candidateCount":2}}`
	whole := generate(t, url, "generateContent", body)
	events := generate(t, url, "streamGenerateContent?alt=sse", body)
	array := generate(t, url, "streamGenerateContent", body)
	for name, kind := range map[string]string{whole.header.Get("Content-Type"): "application/json", events.header.Get("Content-Type"): "text/event-stream",
		array.header.Get("Content-Type"): "application/json"} {
		if !strings.HasPrefix(name, kind) {
			t.Errorf("Content-Type %s, want %s", name, kind)
		}
	}
	var streamed []generated
	for _, d := range data(t, events.body) {
		streamed = append(streamed, decode[generated](t, d))
	}
	for name, chunks := range map[string][]generated{"whole": {decode[generated](t, whole.body)}, "events": streamed, "array": decode[[]generated](t, array.body)} {
		checkGenerated(t, name, chunks)
	}
}

// checkGenerated puts the first candidate together and compares it with what the script says; the second one repeats its own.
func checkGenerated(t *testing.T, name string, chunks []generated) {
	t.Helper()
	want := everything(fake.Request{})
	text, thought, signed, other, finish := "", "", "", "", ""
	var calls []string
	for _, chunk := range chunks {
		for _, c := range chunk.Candidates {
			if c.Index == 1 {
				other += c.Content.Parts[0].Text
				continue
			}
			finish = c.FinishReason
			for _, p := range c.Content.Parts {
				switch {
				case p.FunctionCall != nil:
					calls = append(calls, p.FunctionCall.Name+string(p.FunctionCall.Args))
					if signed += p.ThoughtSignature; p.FunctionCall.ID == "" {
						t.Errorf("%s: a call without an id", name)
					}
				case p.Thought:
					thought += p.Text
				default:
					text += p.Text
				}
			}
		}
	}
	if text != want.Text || thought != want.Reasoning || other != want.Alternatives[0].Text || finish != "STOP" || signed == "" {
		t.Errorf("%s: text %q, thought %q, other %q, finish %q, signature %q", name, text, thought, other, finish, signed)
	}
	if got := compact(strings.Join(calls, " ")); got != compact(`search{"q":"<one>"} read{"url":"https://example.com/"}`) {
		t.Errorf("%s: calls %s", name, got)
	}
	if u := chunks[len(chunks)-1].UsageMetadata; u.CandidatesTokenCount < 2 || u.ThoughtsTokenCount < 2 {
		t.Errorf("%s: usage %+v", name, u)
	}
}

func TestGeminiRequest(t *testing.T) {
	var got fake.Request
	url := serve(t, &fake.Gemini{Script: func(r fake.Request) fake.Turn {
		got = r
		return fake.Turn{Text: "fine"}
	}})
	a := generate(t, url, "generateContent", `{"contents":[{"parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"f"}}]},{"role":"user","parts":[
		{"functionResponse":{"id":"1","name":"f","response":{"result":"r"}}},{"function_response":{"id":"2","name":"f","response":{"n":1.50}}},{"text":"b"}]}],
		"tools":[{"function_declarations":[{"name":"f"}]}]}`)
	want := []fake.Message{{Role: "user", Text: "a"}, {Role: "assistant"}, {Role: "tool", Text: "r", CallID: "1"}, {Role: "tool", Text: `{"n":1.50}`, CallID: "2"}, {Role: "user", Text: "b"}}
	if a.status != 200 || got.Model != "m" || got.Provider != "gemini" || len(got.Messages) != len(want) || len(got.Tools) != 1 {
		t.Fatalf("%d %s: %+v", a.status, a.body, got)
	}
	for i := range want {
		if got.Messages[i] != want[i] {
			t.Errorf("message %d: %+v, want %+v", i, got.Messages[i], want[i])
		}
	}
}

func TestGeminiMethods(t *testing.T) {
	url := serve(t, &fake.Gemini{})
	for _, c := range []struct {
		path, body, key string
		status          int
		holds           string
	}{
		{gemini + "countTokens", `{"contents":[]}`, "k", 200, `"totalTokens"`},
		{gemini + "embedContent", `{"content":{}}`, "k", 200, `"embedding"`},
		{gemini + "batchEmbedContents", `{"requests":[{},{}]}`, "k", 200, `"embeddings"`},
		{gemini + "generateContent?key=k", `{"contents":[]}`, "", 200, `"STOP"`},
		{gemini + "generateContent", `{"contents":[]}`, "", 401, `"UNAUTHENTICATED"`},
		{gemini + "generateContent", `{}`, "k", 400, `"INVALID_ARGUMENT"`},
		{gemini + "predict", `{}`, "k", 404, `"NOT_FOUND"`},
	} {
		if a := send(t, "POST", url+c.path, c.body, "x-goog-api-key", c.key); a.status != c.status || !strings.Contains(a.body, c.holds) {
			t.Errorf("%s: %d %s", c.path, a.status, a.body)
		}
	}
	if a := send(t, "GET", url+"/v1beta/models", "", "x-goog-api-key", "k"); a.status != 200 || !strings.Contains(a.body, "models/gemini-fake") {
		t.Errorf("models: %d %s", a.status, a.body)
	}
}
