package responses

import (
	"regexp"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// definitions reads a list of tools that are offered to the model.
func (r *reader) definitions(list rawjson.Value, key string) error {
	if list.Exists() && list.Kind != rawjson.Array {
		return wire.Wrong(r.place(key), "an array")
	}
	for i, v := range list.Elems {
		if err := r.definition(v, key+index(i), ""); err != nil {
			return err
		}
	}
	return nil
}

// place is the path of a member of the item that is read, or of the body.
func (r *reader) place(key string) string {
	if r.path == "" {
		return key
	}
	return r.path + "." + key
}

func (r *reader) definition(v rawjson.Value, key, space string) error {
	if v.Kind != rawjson.Object {
		return wire.Wrong(r.place(key), "an object")
	}
	if v.Get("type").Kind != rawjson.String {
		return wire.Wrong(r.place(key)+".type", "a string")
	}
	switch kind := v.Get("type").Text(r.doc); kind {
	case "function", "custom":
		return r.define(v, key, space)
	case "namespace":
		r.offer(v.Get("name").Text(r.doc), key+".description", v.Get("description"), v.Get("description").Text(r.doc))
		for i, tool := range v.Get("tools").Elems {
			if err := r.definition(tool, key+".tools"+index(i), v.Get("name").Text(r.doc)); err != nil {
				return err
			}
		}
	case "mcp":
		about := v.Get("server_description")
		for _, name := range r.serverNames(v) {
			r.offer(name, key+".server_description", about, about.Text(r.doc))
			about = rawjson.Value{} // told once
		}
	default:
		r.offer(builtin(kind, v.Get("environment").Get("type").Text(r.doc), v.Get("execution").Text(r.doc)), key, rawjson.Value{}, "")
	}
	return nil
}

func (r *reader) define(v rawjson.Value, key, space string) error {
	name, about := v.Get("name"), v.Get("description")
	if name.Kind != rawjson.String {
		return wire.Wrong(r.place(key)+".name", "a string")
	}
	if about.Exists() && about.Kind != rawjson.String {
		return wire.Wrong(r.place(key)+".description", "a string")
	}
	r.offer(inNamespace(space, name.Text(r.doc)), key+".description", about, wire.Definition(v, r.doc))
	return nil
}

// offer takes a tool. about is its description where it has one, text what it says to the model.
func (r *reader) offer(tool, key string, about rawjson.Value, text string) {
	r.one.fields = append(r.one.fields, field{key: key, at: about, part: gatehouse.Part{Kind: gatehouse.ToolDef, Role: gatehouse.System,
		Tool: tool, Path: r.place(key), Text: text}})
}

// serverNames are the tools of an MCP server, which the provider calls by itself. Where the request does not list them,
// mcp:LABEL/* stands for all that the server may have.
func (r *reader) serverNames(v rawjson.Value) []string {
	label := "mcp:" + v.Get("server_label").Text(r.doc) + "/"
	allowed := v.Get("allowed_tools")
	if allowed.Kind == rawjson.Object {
		allowed = allowed.Get("tool_names")
	}
	if allowed.Kind != rawjson.Array {
		return []string{label + "*"}
	}
	var names []string
	for _, e := range allowed.Elems {
		names = append(names, label+e.Text(r.doc))
	}
	return names
}

// dated is what the names of tool types end in when there are several versions of one: a date, or the word preview.
var dated = regexp.MustCompile(`(_preview)?(_\d{4}_\d{2}_\d{2})?$`)

// builtin is the name of a tool that the API brings along. Some of them run at the client.
func builtin(kind, environment, execution string) string {
	switch name := dated.ReplaceAllString(kind, ""); name {
	case "local_shell", "apply_patch":
		return name
	case "computer", "computer_use":
		return "computer"
	case "shell":
		if strings.HasPrefix(environment, "container") {
			return "hosted:shell"
		}
		return name
	case "tool_search":
		if execution == "client" {
			return name
		}
		return "hosted:" + name
	default:
		return "hosted:" + name
	}
}
