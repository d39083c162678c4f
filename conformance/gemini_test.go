package conformance_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gatehouse-gateway/gatehouse/internal/fake"
)

// gemini is the Gemini API. It streams events, or an array.
type gemini struct{ array bool }

func (gemini) name() string                          { return "gemini" }
func (gemini) format() string                        { return "gemini" }
func (gemini) model(script fake.Script) http.Handler { return &fake.Gemini{Script: script} }

func (g gemini) path(stream bool) string {
	switch {
	case !stream:
		return "/gemini/v1beta/models/m:generateContent"
	case g.array:
		return "/gemini/v1beta/models/m:streamGenerateContent"
	}
	return "/gemini/v1beta/models/m:streamGenerateContent?alt=sse"
}

func (g gemini) request(c conversation, _ bool) any {
	body := object{"contents": g.contents(c.Messages)}
	if c.System != "" {
		body["systemInstruction"] = object{"parts": []object{{"text": c.System}}}
	}
	config := object{}
	if c.N > 0 {
		config["candidateCount"] = c.N
	}
	if c.Structured {
		config["responseMimeType"], config["responseSchema"] = "application/json", object{"type": "OBJECT"}
	}
	if len(config) > 0 {
		body["generationConfig"] = config
	}
	var tools, functions []object
	for _, tool := range c.Tools {
		if tool.Hosted {
			tools = append(tools, object{camel(tool.Name): object{}})
			continue
		}
		functions = append(functions, object{"name": tool.Name, "description": tool.Description, "parameters": tool.schema()})
	}
	if functions != nil {
		tools = append(tools, object{"functionDeclarations": functions})
	}
	if tools != nil {
		body["tools"] = tools
	}
	return body
}

func camel(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}

// contents are the messages with the results of functions that follow each other in one content, as the API wants them.
func (gemini) contents(messages []message) []object {
	out, results, names := []object{}, []object(nil), map[string]string{}
	flush := func() {
		if results != nil {
			out, results = append(out, object{"role": "user", "parts": results}), nil
		}
	}
	for _, m := range messages {
		if m.Role == "tool" {
			response := json.RawMessage(m.Text) // an object stays what it is
			if trimmed := strings.TrimSpace(m.Text); !strings.HasPrefix(trimmed, "{") || !json.Valid(response) {
				response = marshal(object{"result": m.Text})
			}
			name := names[m.Call]
			if name == "" {
				name = "unknown"
			}
			results = append(results, object{"functionResponse": object{"id": m.Call, "name": name, "response": response}})
			continue
		}
		flush()
		role := m.Role
		if role == "assistant" {
			role = "model"
		}
		for _, c := range m.Calls {
			names[c.ID] = c.Name
		}
		out = append(out, object{"role": role, "parts": m.geminiParts()})
	}
	flush()
	return out
}

func (m message) geminiParts() []object {
	parts := []object{}
	if m.Reasoning != "" {
		parts = append(parts, object{"text": m.Reasoning, "thought": true})
	}
	if m.Text != "" || m.Parts == nil && m.Calls == nil {
		parts = append(parts, object{"text": m.Text})
	}
	for _, p := range m.Parts {
		if p.Image != "" {
			parts = append(parts, object{"inlineData": object{"mimeType": "image/png", "data": p.Image}})
		} else {
			parts = append(parts, object{"text": p.Text})
		}
	}
	for _, c := range m.Calls {
		args := json.RawMessage(c.Args)
		if strings.TrimSpace(c.Args) == "" {
			args = json.RawMessage("{}")
		}
		parts = append(parts, object{"functionCall": object{"id": c.ID, "name": c.Name, "args": args}})
	}
	return parts
}

type generated struct {
	Candidates []struct {
		Index   int
		Content struct {
			Role  string
			Parts []struct {
				Text         string
				Thought      bool
				FunctionCall *struct {
					ID, Name string
					Args     json.RawMessage
				}
			}
		}
		FinishReason, FinishMessage string
	}
	UsageMetadata struct{ PromptTokenCount, CandidatesTokenCount, ThoughtsTokenCount int }
}

func (g generated) usage() usage {
	u := g.UsageMetadata
	return usage{u.PromptTokenCount, u.CandidatesTokenCount + u.ThoughtsTokenCount}
}

// hear puts a response, or one piece of it, behind what is known of the answers.
func (g generated) hear(answers []answer) ([]answer, error) {
	for _, c := range g.Candidates {
		a := alternative(&answers, c.Index)
		if a.finish != "" || c.Content.Role != "model" {
			return answers, errors.New("a candidate goes on after its end, or not the model speaks")
		}
		a.text += c.FinishMessage
		for _, p := range c.Content.Parts {
			switch {
			case p.FunctionCall != nil:
				a.calls = append(a.calls, newCall(p.FunctionCall.ID, p.FunctionCall.Name, string(p.FunctionCall.Args)))
			case p.Thought:
				a.reasoning += p.Text
			default:
				a.text += p.Text
			}
		}
		a.finish = geminiFinish(c.FinishReason, len(a.calls))
	}
	return answers, nil
}

func geminiFinish(reason string, calls int) string {
	switch {
	case reason == "SAFETY":
		return "refused"
	case reason == "STOP" && calls > 0:
		return "calls"
	}
	return strings.ToLower(reason)
}

func (gemini) read(body []byte) ([]answer, usage, error) {
	var g generated
	if err := json.Unmarshal(body, &g); err != nil {
		return nil, usage{}, err
	}
	answers, err := g.hear(nil)
	return answers, g.usage(), err
}

func (g gemini) readStream(body []byte) (answers []answer, used usage, err error) {
	one := func(_, data string) error {
		var chunk generated
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			return err
		}
		used = chunk.usage()
		answers, err = chunk.hear(answers)
		return err
	}
	if !g.array {
		if bytes.HasPrefix(body, []byte(":")) || bytes.Contains(body, []byte("\n:")) {
			return nil, usage{}, errors.New("the stream has comments, which the SDKs choke on")
		}
		err = events(body, one)
	} else {
		var list []json.RawMessage
		if err = json.Unmarshal(body, &list); err != nil {
			return nil, usage{}, err
		}
		for _, e := range list {
			if err = one("", string(e)); err != nil {
				break
			}
		}
	}
	for i, a := range answers {
		if err == nil && a.finish == "" {
			err = fmt.Errorf("candidate %d has no end", i)
		}
	}
	return answers, used, err
}

func (gemini) code(body []byte) string {
	var e struct {
		Error struct {
			Code    int
			Status  string
			Details []struct{ Reason string }
		}
	}
	if json.Unmarshal(body, &e) != nil || e.Error.Code == 0 || e.Error.Status == "" {
		return "not an error of the provider's shape"
	}
	if len(e.Error.Details) == 0 {
		return ""
	}
	return e.Error.Details[0].Reason
}
