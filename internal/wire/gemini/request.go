package gemini

import (
	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// request is a request body and where its parts stand.
type request struct {
	reader
	model      string
	stream     bool
	array      bool // a stream is one JSON array
	candidates int
	structured bool // an answer by a schema: clients parse its text
	slots      []slot
	contents   rawjson.Value
	lastUser   rawjson.Value // the last content that the user speaks
	embedded   bool          // there is no turn that a text could be added to
}

// Request reads the body of generateContent, streamGenerateContent, countTokens, embedContent or batchEmbedContents. The error
// is a [wire.Malformed].
func (c Codec) Request(body []byte) (wire.Request, error) {
	if c.shape != "" && c.shape != "sse" && c.shape != "json" {
		return nil, wire.Wrong("the parameter alt", "json or sse")
	}
	root, err := wire.ParseObject(body, c.Depth)
	if err != nil {
		return nil, err
	}
	q := &request{reader: reader{doc: body}, model: c.model, stream: c.stream, array: c.shape == "json", candidates: 1}
	if err := q.generate(root, ""); err != nil {
		return nil, err
	}
	inner, err := q.object(root, "generateContentRequest", "the body") // of countTokens
	if err != nil {
		return nil, err
	}
	if err := q.generate(inner, "generateContentRequest."); err != nil {
		return nil, err
	}
	if err := q.embed(root); err != nil {
		return nil, err
	}
	return q, nil
}

// generate reads a request to generate: its parts are those of the system instruction, the tools and the contents.
func (q *request) generate(v rawjson.Value, at string) error {
	for _, read := range []func(rawjson.Value, string) error{q.system, q.declared, q.config, q.conversation} {
		if err := read(v, at); err != nil {
			return err
		}
	}
	return nil
}

// embed reads texts that are to be turned into vectors.
func (q *request) embed(root rawjson.Value) error {
	_, list, err := q.list(root, "requests", "")
	if err != nil {
		return err
	}
	for i, one := range append([]rawjson.Value{root}, list...) {
		path := "content"
		if i > 0 {
			path = index("requests", i-1) + ".content"
		}
		content, err := q.object(one, "content", "the body")
		if err != nil {
			return err
		}
		if !content.Exists() {
			continue
		}
		q.embedded = true
		if err := q.content(content, path, gatehouse.Part{Role: gatehouse.User, Latest: true}); err != nil {
			return err
		}
	}
	return nil
}

// Model is the model that the address names.
func (q *request) Model() string { return q.model }

// Stream reports whether the address asks for a stream.
func (q *request) Stream() bool { return q.stream }

// Parts are the parts as they were read.
func (q *request) Parts() []gatehouse.Part {
	parts := make([]gatehouse.Part, len(q.slots))
	for i, s := range q.slots {
		parts[i] = s.part
	}
	return parts
}

func (q *request) system(v rawjson.Value, at string) error {
	instruction, err := q.object(v, "systemInstruction", "the body")
	if err != nil {
		return err
	}
	if err := q.content(instruction, at+"systemInstruction", gatehouse.Part{Role: gatehouse.System}); err != nil {
		return err
	}
	cached, err := q.text(v, "cachedContent", "the body")
	if cached.Exists() { // turns, tools and instructions that the provider has kept
		q.slots = append(q.slots, opaque(gatehouse.Part{Role: gatehouse.System}, "cached_content", at+"cachedContent"))
	}
	return err
}

// config reads how the answer is to look.
func (q *request) config(v rawjson.Value, at string) error {
	config, err := q.object(v, "generationConfig", "the body")
	if err != nil {
		return err
	}
	at += "generationConfig"
	if q.candidates, err = q.integer(config, "candidateCount", at, q.candidates); err != nil {
		return err
	}
	for _, name := range [...]string{"responseSchema", "responseJsonSchema", "responseMimeType"} {
		schema, err := q.get(config, name, at)
		if err != nil {
			return err
		}
		q.structured = q.structured || schema.Exists() && schema.Text(q.doc) != "text/plain"
	}
	return nil
}

func (q *request) conversation(v rawjson.Value, at string) error {
	list, contents, err := q.list(v, "contents", "")
	if err != nil || !list.Exists() {
		return err
	}
	q.contents, q.lastUser = list, rawjson.Value{}
	var roles []gatehouse.Role
	for i, c := range contents {
		role, err := q.text(c, "role", index("contents", i))
		if err != nil {
			return err
		}
		switch role.Text(q.doc) {
		case "model":
			roles = append(roles, gatehouse.Assistant)
		case "user", "":
			q.lastUser = c
			fallthrough
		default: // function, and what is not known, is read like the user's
			roles = append(roles, gatehouse.User)
		}
	}
	latest := latestFrom(roles)
	for i, c := range contents {
		as := gatehouse.Part{Role: roles[i], Latest: i >= latest && roles[i] == gatehouse.User}
		if err := q.content(c, at+index("contents", i), as); err != nil {
			return err
		}
	}
	return nil
}

// latestFrom is the index behind the last turn of the model that somebody has answered. A turn of the model at the very end is
// the beginning of the answer, which the caller wrote.
func latestFrom(roles []gatehouse.Role) int {
	end := len(roles)
	for end > 0 && roles[end-1] == gatehouse.Assistant {
		end--
	}
	for end > 0 && roles[end-1] != gatehouse.Assistant {
		end--
	}
	return end
}

func (q *request) content(v rawjson.Value, path string, as gatehouse.Part) error {
	_, elems, err := q.elements(v, path, as)
	for _, e := range elems {
		q.slots = append(q.slots, e.slots...)
	}
	return err
}

// declared reads the tools that the request offers to the model.
func (q *request) declared(v rawjson.Value, at string) error {
	_, tools, err := q.list(v, "tools", "")
	if err != nil {
		return err
	}
	for i, t := range tools {
		path := at + index("tools", i)
		if err := q.functions(t, path); err != nil {
			return err
		}
		for _, m := range t.Members {
			switch name := camel(m.Key); {
			case name == "functionDeclarations" || !m.Value.Exists():
			case name == "computerUse": // the model calls functions for it, and the client runs them
				q.define("computer_use", path, rawjson.Value{}, "")
			case name == "mcpServers":
				if err := q.servers(t, path); err != nil {
					return err
				}
			default: // what is not known is taken for what the provider runs: no gate would see its calls
				q.define("hosted:"+snake(m.Key), path, rawjson.Value{}, "")
			}
		}
	}
	return nil
}

// define takes a tool. about is its description where it has one, text what it says to the model.
func (q *request) define(tool, path string, about rawjson.Value, text string) {
	q.slots = append(q.slots, slot{at: about, part: gatehouse.Part{Kind: gatehouse.ToolDef, Role: gatehouse.System, Tool: tool,
		Path: path, Text: text}})
}

func (q *request) functions(tool rawjson.Value, path string) error {
	_, list, err := q.list(tool, "functionDeclarations", path)
	if err != nil {
		return err
	}
	for i, f := range list {
		at := index(path+".functionDeclarations", i)
		name, _, err := q.named(f, at)
		if err != nil {
			return err
		}
		about, err := q.text(f, "description", at)
		if err != nil {
			return err
		}
		q.define(name.Text(q.doc), at+".description", about, wire.Definition(f, q.doc))
	}
	return nil
}

// servers reads MCP servers, whose tools the provider calls by itself.
func (q *request) servers(tool rawjson.Value, path string) error {
	_, list, err := q.list(tool, "mcpServers", path)
	if err != nil {
		return err
	}
	for i, s := range list {
		name, err := q.text(s, "name", index(path+".mcpServers", i))
		if err != nil {
			return err
		}
		q.define("mcp:"+name.Text(q.doc)+"/*", index(path+".mcpServers", i), rawjson.Value{}, "")
	}
	return nil
}
