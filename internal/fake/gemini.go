package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Gemini is a server of the Gemini API (POST /v1beta/models/M:generateContent and :streamGenerateContent, as events with
// ?alt=sse and as a JSON array without, :countTokens, :embedContent, :batchEmbedContents, GET /v1beta/models). It is ready to use as a zero value
// and answers with [Echo] then. Set Script before the first request.
type Gemini struct {
	Script Script
	provider
}

// ServeHTTP answers one request and records it.
func (g *Gemini) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	version, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	f := gemini{query: r.URL.Query().Get("key") != "", sse: r.URL.Query().Get("alt") == "sse"}
	name, _ := strings.CutPrefix(rest, "models/")
	f.model, f.method, _ = strings.Cut(name, ":")
	path := "" // of nothing that there is
	if version == "v1beta" || version == "v1" {
		switch f.method {
		case "generateContent", "streamGenerateContent", "countTokens", "embedContent", "batchEmbedContents":
			path = r.URL.Path
		}
	}
	g.serve(w, r, f, g.Script, "/"+version+"/models", path)
}

// gemini is the format at one address.
type gemini struct {
	model, method string
	query, sse    bool // a key in the query; events rather than an array
}

func (g gemini) authorized(h http.Header) bool {
	return g.query || h.Get("X-Goog-Api-Key") != "" || bearer(h)
}

func (gemini) headers(int) http.Header { return http.Header{"Server-Timing": {"gfet4t7; dur=1"}} }

func (g gemini) lacks(body map[string]any) string {
	member := "contents"
	switch g.method {
	case "embedContent":
		member = "content"
	case "batchEmbedContents":
		member = "requests"
	}
	if body[member] == nil {
		return member + ": Field required"
	}
	return ""
}

func (g gemini) streams() string {
	if g.sse {
		return eventStream
	}
	return "application/json; charset=UTF-8"
}

func (g gemini) request(body map[string]any) Request {
	r := Request{Provider: "gemini", Model: g.model, Stream: g.method == "streamGenerateContent", N: 1}
	config, _ := member(body, "generationConfig").(map[string]any)
	if n, ok := member(config, "candidateCount").(json.Number); ok {
		if i, err := n.Int64(); err == nil && i > 0 && i <= 8 {
			r.N = int(i)
		}
	}
	for _, tool := range maps(body["tools"]) {
		for _, f := range maps(member(tool, "functionDeclarations")) {
			r.Tools = append(r.Tools, str(f["name"]))
		}
	}
	for _, c := range maps(body["contents"]) {
		r.Messages = append(r.Messages, contents(c)...)
	}
	return r
}

// member is a member of an object in either of the two spellings that the API takes.
func member(body map[string]any, name string) any {
	if v, ok := body[name]; ok {
		return v
	}
	var snake strings.Builder
	for _, c := range name {
		if c >= 'A' && c <= 'Z' {
			snake.WriteByte('_')
		}
		snake.WriteString(strings.ToLower(string(c)))
	}
	return body[snake.String()]
}

// contents splits a content with results of functions: each becomes a message of its own, what else is said a last one. A
// result that is only wrapped is what is in it.
func contents(c map[string]any) []Message {
	var list []Message
	for _, part := range maps(c["parts"]) {
		result, ok := member(part, "functionResponse").(map[string]any)
		if !ok {
			continue
		}
		m := Message{Role: "tool", CallID: str(result["id"])}
		response, _ := result["response"].(map[string]any)
		if wrapped, ok := response["output"]; ok && len(response) == 1 {
			m.Text = str(wrapped)
		} else if wrapped, ok := response["result"]; ok && len(response) == 1 {
			m.Text = str(wrapped)
		}
		if m.Text == "" && response != nil {
			m.Text = string(marshal(response))
		}
		list = append(list, m)
	}
	if said := text(c["parts"]); said != "" || len(list) == 0 {
		role := str(c["role"])
		switch role {
		case "model":
			role = "assistant"
		case "":
			role = "user"
		}
		list = append(list, Message{Role: role, Text: said})
	}
	return list
}

type generated struct {
	Candidates []candidate `json:"candidates"`
	Usage      any         `json:"usageMetadata,omitempty"`
	Version    string      `json:"modelVersion"`
	ID         string      `json:"responseId"`
}

type candidate struct {
	Content any    `json:"content"`
	Finish  string `json:"finishReason,omitempty"`
	Index   int    `json:"index"`
}

func (g gemini) generated(id int) generated {
	return generated{Candidates: []candidate{}, Version: g.model, ID: fmt.Sprintf("fake%020d", id)}
}

func (g gemini) answer(req Request, turn Turn, id int) any {
	switch g.method {
	case "countTokens":
		return map[string]any{"totalTokens": tokens(string(req.Raw)), "promptTokensDetails": []any{}}
	case "embedContent":
		return map[string]any{"embedding": embedding}
	case "batchEmbedContents":
		list := []any{}
		for range maps(req.Body["requests"]) {
			list = append(list, embedding)
		}
		return map[string]any{"embeddings": list}
	}
	a := g.generated(id)
	for i := range req.N {
		a.Candidates = append(a.Candidates, candidate{modelContent(geminiParts(turn.choice(i), id, i)...), "STOP", i})
	}
	a.Usage = geminiUsage(req, turn)
	return a
}

// embedding is the vector of every text.
var embedding = map[string]any{"values": []float64{0.25, -0.5, 1}}

// part is a part of a content.
type part map[string]any

func modelContent(parts ...part) any { return map[string]any{"parts": parts, "role": "model"} }

// geminiParts are the parts of one candidate. The first part behind a thought is signed, as the API signs it.
func geminiParts(t Turn, id, choice int) []part {
	var list []part
	if t.Reasoning != "" {
		list = append(list, thought(t.Reasoning))
	}
	if t.Text != "" || len(t.Calls) == 0 {
		list = append(list, part{"text": t.Text})
	}
	for k, call := range t.Calls {
		list = append(list, geminiCall(call, id, choice, k))
	}
	if next := len(list) - max(1, len(t.Calls)); t.Reasoning != "" {
		list[next]["thoughtSignature"] = signature
	}
	return list
}

func thought(text string) part { return part{"text": text, "thought": true} }

func geminiCall(call Call, id, choice, k int) part {
	f := map[string]any{"id": call.id("fc", id, choice, k), "name": call.Name}
	if call.Args != "" {
		f["args"] = object(call.Args)
	}
	return part{"functionCall": f}
}

func geminiUsage(req Request, turn Turn) any {
	in, out, thoughts := tokens(string(req.Raw)), 0, 0
	for i := range req.N {
		t := turn.choice(i)
		thoughts += tokens(t.Reasoning)
		out += t.output() - tokens(t.Reasoning)
	}
	usage := map[string]any{"promptTokenCount": in, "candidatesTokenCount": out, "totalTokenCount": in + out + thoughts}
	if thoughts > 0 {
		usage["thoughtsTokenCount"] = thoughts
	}
	return usage
}

// events streams as the API does: a response for each piece, calls whole, and the reason of the end with the last one.
func (g gemini) events(req Request, turn Turn, id int, send func(any) error) {
	var list []any
	for i := range req.N {
		t := turn.choice(i)
		pieces := geminiPieces(t, id, i)
		for n, p := range pieces {
			e := g.generated(id)
			c := candidate{Content: modelContent(p), Index: i}
			if n == len(pieces)-1 {
				c.Finish = "STOP"
			}
			e.Candidates = append(e.Candidates, c)
			e.Usage = map[string]any{"promptTokenCount": tokens(string(req.Raw)), "totalTokenCount": tokens(string(req.Raw))}
			if i == req.N-1 && n == len(pieces)-1 {
				e.Usage = geminiUsage(req, turn)
			}
			list = append(list, e)
		}
	}
	for i, e := range list {
		if !g.sse {
			e = element{first: i == 0, last: i == len(list)-1, data: e}
		}
		if send(e) != nil {
			return
		}
	}
}

// geminiPieces are the parts of a candidate as they are streamed.
func geminiPieces(t Turn, id, choice int) []part {
	var list []part
	for _, d := range deltas(t.Reasoning) {
		list = append(list, thought(d))
	}
	words := deltas(t.Text)
	if len(words) == 0 && len(t.Calls) == 0 {
		words = []string{""}
	}
	for _, d := range words {
		list = append(list, part{"text": d})
	}
	for k, call := range t.Calls {
		list = append(list, geminiCall(call, id, choice, k))
	}
	if next := len(list) - max(1, len(t.Calls)); t.Reasoning != "" {
		list[next]["thoughtSignature"] = signature
	}
	return list
}

// element is one event of a stream that is a JSON array.
type element struct {
	first, last bool
	data        any
}

func (e element) bytes() []byte {
	out := []byte(",\r\n")
	if e.first {
		out = []byte("[")
	}
	if out = append(out, marshal(e.data)...); e.last {
		out = append(out, "\n]\n"...)
	}
	return out
}

func (gemini) failure(status int, message string, _ int) any {
	name := "INTERNAL"
	switch status {
	case http.StatusBadRequest:
		name = "INVALID_ARGUMENT"
	case http.StatusUnauthorized:
		name = "UNAUTHENTICATED"
	case http.StatusForbidden:
		name = "PERMISSION_DENIED"
	case http.StatusNotFound:
		name = "NOT_FOUND"
	case http.StatusTooManyRequests:
		name = "RESOURCE_EXHAUSTED"
	case http.StatusServiceUnavailable:
		name = "UNAVAILABLE"
	}
	return map[string]any{"error": map[string]any{"code": status, "message": message, "status": name}}
}

func (gemini) models() any {
	return map[string]any{"models": []map[string]any{{"name": "models/gemini-fake", "version": "001", "displayName": "Fake",
		"inputTokenLimit": 1000000, "outputTokenLimit": 65536, "supportedGenerationMethods": []string{"generateContent", "countTokens"}}}}
}
