package anthropic

import (
	"fmt"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// request is a request body and where its parts stand.
type request struct {
	doc      []byte
	model    string
	stream   bool
	format   bool // an answer by a schema: clients parse each text of it
	messages rawjson.Value
	slots    []slot
}

func readRequest(body []byte, depth int) (*request, error) {
	root, err := wire.ParseObject(body, depth)
	if err != nil {
		return nil, err
	}
	q := &request{doc: body, messages: root.Get("messages")}
	if err := q.settings(root); err != nil {
		return nil, err
	}
	r := &reader{doc: body}
	for _, read := range []func(*reader, rawjson.Value) error{readSystem, readTools, readServers, readMessages} {
		if err := read(r, root); err != nil {
			return nil, err
		}
	}
	q.slots = r.slots
	return q, nil
}

func (q *request) settings(root rawjson.Value) error {
	model, stream := root.Get("model"), root.Get("stream")
	if model.Exists() && model.Kind != rawjson.String {
		return wire.Wrong("model", "a string")
	}
	if stream.Exists() && stream.Kind != rawjson.Bool {
		return wire.Wrong("stream", "a boolean")
	}
	q.model, q.stream = model.Text(q.doc), stream.IsTrue(q.doc)
	q.format = root.Get("output_config").Get("format").Exists() || root.Get("output_format").Exists() // the latter: in its beta
	return nil
}

// Model is the model that the client asks for.
func (q *request) Model() string { return q.model }

// Stream reports whether the client asks for events.
func (q *request) Stream() bool { return q.stream }

// Parts are the parts as they were read: system, tools, MCP servers, messages.
func (q *request) Parts() []gatehouse.Part {
	parts := make([]gatehouse.Part, len(q.slots))
	for i, s := range q.slots {
		parts[i] = s.part
	}
	return parts
}

func readSystem(r *reader, root rawjson.Value) error {
	if system := root.Get("system"); system.Exists() {
		return r.content(system, "system", gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.System})
	}
	return nil
}

// list is an optional array of objects.
func list(root rawjson.Value, name string) ([]rawjson.Value, error) {
	v := root.Get(name)
	if v.Exists() && v.Kind != rawjson.Array {
		return nil, wire.Wrong(name, "an array")
	}
	for i, e := range v.Elems {
		if e.Kind != rawjson.Object {
			return nil, wire.Wrong(fmt.Sprintf("%s[%d]", name, i), "an object")
		}
	}
	return v.Elems, nil
}

func readTools(r *reader, root rawjson.Value) error {
	tools, err := list(root, "tools")
	if err != nil {
		return err
	}
	for i, t := range tools {
		path := fmt.Sprintf("tools[%d]", i)
		if t.Get("type").Text(r.doc) == "mcp_toolset" {
			for _, name := range toolsetNames(r.doc, t) {
				r.add(gatehouse.Part{Kind: gatehouse.ToolDef, Role: gatehouse.System, Tool: name}, path, rawjson.Value{})
			}
			continue
		}
		text := t.Get("description")
		if text.Exists() && text.Kind != rawjson.String {
			return wire.Wrong(path+".description", "a string")
		}
		name, err := toolName(r.doc, t, path)
		if err != nil {
			return err
		}
		r.add(gatehouse.Part{Kind: gatehouse.ToolDef, Role: gatehouse.System, Tool: name, Text: wire.Definition(t, r.doc)}, path+".description", text)
	}
	return nil
}

// toolName is the name that policy knows a declared tool by. A tool of a type that is not known is taken for one that
// the provider runs: no gate would see its calls.
func toolName(doc []byte, tool rawjson.Value, path string) (string, error) {
	kind := tool.Get("type").Text(doc)
	name := tool.Get("name")
	if name.Kind != rawjson.String {
		return "", wire.Wrong(path+".name", "a string")
	}
	if clientRuns(kind) {
		return name.Text(doc), nil
	}
	return "hosted:" + name.Text(doc), nil
}

func clientRuns(kind string) bool {
	if kind == "" || kind == "custom" {
		return true
	}
	for _, prefix := range [...]string{"bash_", "text_editor_", "computer_", "memory_"} {
		if strings.HasPrefix(kind, prefix) {
			return true
		}
	}
	return false
}

func readServers(r *reader, root rawjson.Value) error {
	servers, err := list(root, "mcp_servers")
	if err != nil {
		return err
	}
	for i, s := range servers {
		path := fmt.Sprintf("mcp_servers[%d]", i)
		name := s.Get("name")
		if name.Kind != rawjson.String {
			return wire.Wrong(path+".name", "a string")
		}
		if toolsetOf(r.doc, root, name.Text(r.doc)) {
			continue // it says which of the server's tools there are
		}
		for _, tool := range serverNames(r.doc, s) {
			r.add(gatehouse.Part{Kind: gatehouse.ToolDef, Role: gatehouse.System, Tool: tool}, path, rawjson.Value{})
		}
	}
	return nil
}

func readMessages(r *reader, root rawjson.Value) error {
	if root.Get("messages").Kind != rawjson.Array {
		return wire.Wrong("messages", "an array")
	}
	messages, err := list(root, "messages")
	if err != nil {
		return err
	}
	latest := latestFrom(r.doc, messages)
	for i, m := range messages {
		path := fmt.Sprintf("messages[%d]", i)
		if m.Get("role").Kind != rawjson.String {
			return wire.Wrong(path+".role", "a string")
		}
		as := gatehouse.Part{Kind: gatehouse.Text, Role: role(r.doc, m)}
		as.Latest = i >= latest && as.Role == gatehouse.User
		if err := r.content(m.Get("content"), path+".content", as); err != nil {
			return err
		}
	}
	return nil
}

// role takes a role that is not known for the user's, so that it is inspected.
func role(doc []byte, message rawjson.Value) gatehouse.Role {
	switch message.Get("role").Text(doc) {
	case "assistant":
		return gatehouse.Assistant
	case "system":
		return gatehouse.System
	}
	return gatehouse.User
}

// latestFrom is the index behind the last assistant message that somebody has answered. An assistant message at the end
// is the beginning of the answer (a prefill), not a turn.
func latestFrom(doc []byte, messages []rawjson.Value) int {
	end := len(messages)
	for end > 0 && role(doc, messages[end-1]) == gatehouse.Assistant {
		end--
	}
	for end > 0 && role(doc, messages[end-1]) != gatehouse.Assistant {
		end--
	}
	return end
}
