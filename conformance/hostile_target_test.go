package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/gatehouse-gateway/gatehouse/internal/fake"
)

// target is an endpoint that hostile bytes are sent to.
type target struct {
	name, mode string // mode: of streaming
	path       string
	body       func(text string) []byte // a good request about a text, which stands in the body as it is
	code       func(body []byte) string // of an error
	silent     bool                     // a good question leaves no record: the exchange has it at its end
	model      http.Handler             // what a model that is well answers; nil: there is none behind it
}

// targets are all doors in all their variants, and the endpoints of the checkpoints.
func targets() []target {
	var out []target
	for _, s := range append(surfaces(), door{embeddings{}, false, "window"}) {
		if d, ok := s.(door); ok && d.mode != "auto" { // which is one of the others
			out = append(out, d.target())
		}
	}
	for _, view := range []struct{ name, body string }{
		{"checkpoints", `{"checkpoint":"front","exchange":{"id":"3f0e8a3c-4c2c-4d0f-9a44-0c5b1f6f7a10","session":"s","request":[{"id":0,"kind":"text","role":"user","text":"%s","latest":true}]}}`},
		{"checkpoints/input", `{"session":"s","text":"%s"}`},
		{"checkpoints/tool-call", `{"session":"s","tool":"search","arguments":{"q":"%s"}}`},
		{"checkpoints/tool-result", `{"session":"s","tool":"search","result":"%s"}`},
		{"checkpoints/output", `{"session":"s","text":"%s"}`},
	} {
		out = append(out, target{name: "api/" + view.name, mode: "auto", silent: view.name == "checkpoints", path: "/v1/" + view.name, code: openAI{}.code,
			body: func(text string) []byte { return fmt.Appendf(nil, view.body, text) }})
	}
	return out
}

// placeholder is a text that a request is made with, to find where it stands.
const placeholder = "the-text-goes-here"

func (d door) target() target {
	good := marshal(d.request(conversation{Messages: []message{{Role: "user", Text: placeholder}}}, d.stream))
	return target{name: d.Name(), mode: d.mode, path: d.path(d.stream), code: d.code,
		body:  func(text string) []byte { return bytes.Replace(good, []byte(placeholder), []byte(text), 1) },
		model: d.model(func(fake.Request) fake.Turn { return fake.Turn{Text: said} })}
}

// said is what a model that is well says: long enough that half an answer holds some of it.
const said = "Certainly, here is what I found about it, and there is nothing else to say."

// answer is what a model that is well answers to a good request.
func (s target) answer() *httptest.ResponseRecorder {
	_, path, _ := strings.Cut(strings.TrimPrefix(s.path, "/"), "/")
	r := httptest.NewRequest(http.MethodPost, "/"+path, bytes.NewReader(s.body("Hello.")))
	for name, value := range map[string]string{"Authorization": "Bearer k", "X-Api-Key": "k", "X-Goog-Api-Key": "k", "Anthropic-Version": "2023-06-01", "Content-Type": "application/json"} {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	s.model.ServeHTTP(w, r)
	return w
}

// embeddings is OpenAI's API of embeddings: its answers have no words.
type embeddings struct{ completions }

func (embeddings) name() string     { return "embeddings" }
func (embeddings) path(bool) string { return "/openai/v1/embeddings" }

func (embeddings) request(c conversation, _ bool) any {
	return object{"model": "m", "input": c.Messages[len(c.Messages)-1].Text}
}

func (embeddings) read(body []byte) ([]answer, usage, error) {
	var list struct{ Data []json.RawMessage }
	err := json.Unmarshal(body, &list)
	return nil, usage{}, err
}
