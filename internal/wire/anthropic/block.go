package anthropic

import (
	"fmt"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// slot is a part and the place it was read from.
type slot struct {
	part      gatehouse.Part
	at        rawjson.Value // the string that holds the text, or the input of a call; absent where nothing can be written
	citations rawjson.Value // those of a text block: they quote offsets that an edit makes wrong
	block     int           // index of the response's content block
}

// reader turns content blocks into slots. Requests and responses share the blocks.
type reader struct {
	doc   []byte
	slots []slot
	tools map[string]string // names of the calls read so far, by id: results carry the id only
	at    int               // the response's content block being read
	to    wire.Sink         // of an answer: what of it is in no part is named there
}

func (r *reader) add(p gatehouse.Part, path string, at rawjson.Value) {
	p.Path = path
	r.slots = append(r.slots, slot{part: p, at: at, block: r.at})
}

// content reads what stands under "content": one string or a list of blocks. The part as says how text is to be taken.
func (r *reader) content(v rawjson.Value, path string, as gatehouse.Part) error {
	switch v.Kind {
	case rawjson.String:
		r.text(v, path, as)
		return nil
	case rawjson.Array:
		for i, b := range v.Elems {
			if err := r.block(b, fmt.Sprintf("%s[%d]", path, i), as); err != nil {
				return err
			}
		}
		return nil
	}
	return wire.Wrong(path, "a string or an array")
}

func (r *reader) text(v rawjson.Value, path string, as gatehouse.Part) {
	as.Text = v.Text(r.doc)
	r.add(as, path, v)
}

func (r *reader) block(b rawjson.Value, path string, as gatehouse.Part) error {
	if b.Kind != rawjson.Object {
		return wire.Wrong(path, "an object")
	}
	kind := b.Get("type")
	if kind.Kind != rawjson.String {
		return wire.Wrong(path+".type", "a string")
	}
	switch name := kind.Text(r.doc); {
	case name == "text":
		return r.textBlock(b, path, as)
	case name == "thinking":
		return r.thinking(b, path, as)
	case name == "redacted_thinking":
		as.Kind, as.Signed = gatehouse.Reasoning, true
		r.add(as, path, rawjson.Value{})
	case isCall(name):
		return r.call(b, name, path, as)
	case name == "tool_result":
		return r.toolResult(b, path, as)
	case isResult(name):
		return r.hostedResult(b, path, as)
	case name == "document":
		return r.document(b, path, as)
	case name == "search_result":
		return r.searchResult(b, path, as)
	default: // image, container_upload, and what is not known yet
		r.opaque(name, path, as)
		if text := b.Get("text"); text.Kind == rawjson.String && as.Kind == gatehouse.Text {
			r.text(text, path+".text", as) // some servers read it whatever the type says
		}
	}
	return nil
}

func isCall(name string) bool {
	return name == "tool_use" || name == "server_tool_use" || name == "mcp_tool_use"
}

// isResult reports whether the block holds what a tool that the provider runs has returned.
func isResult(name string) bool { return strings.HasSuffix(name, "_tool_result") }

func (r *reader) opaque(media, path string, as gatehouse.Part) {
	as.Kind, as.Media = gatehouse.Opaque, media
	r.add(as, path, rawjson.Value{})
}

func (r *reader) textBlock(b rawjson.Value, path string, as gatehouse.Part) error {
	text := b.Get("text")
	if text.Kind != rawjson.String {
		return wire.Wrong(path+".text", "a string")
	}
	r.text(text, path+".text", as)
	r.slots[len(r.slots)-1].citations = b.Get("citations")
	return nil
}

func (r *reader) thinking(b rawjson.Value, path string, as gatehouse.Part) error {
	text := b.Get("thinking")
	if text.Exists() && text.Kind != rawjson.String {
		return wire.Wrong(path+".thinking", "a string")
	}
	as.Kind, as.Signed = gatehouse.Reasoning, b.Get("signature").Text(r.doc) != ""
	r.text(text, path+".thinking", as)
	return nil
}

func (r *reader) call(b rawjson.Value, kind, path string, as gatehouse.Part) error {
	name, id := b.Get("name"), b.Get("id")
	if name.Kind != rawjson.String {
		return wire.Wrong(path+".name", "a string")
	}
	if id.Kind != rawjson.String {
		return wire.Wrong(path+".id", "a string")
	}
	as.Kind, as.Role = gatehouse.ToolCall, gatehouse.Assistant
	as.Tool, as.CallID = name.Text(r.doc), id.Text(r.doc)
	switch kind {
	case "server_tool_use":
		as.Tool = "hosted:" + as.Tool
	case "mcp_tool_use":
		as.Tool = "mcp:" + b.Get("server_name").Text(r.doc) + "/" + as.Tool
	}
	if r.tools == nil {
		r.tools = map[string]string{}
	}
	r.tools[as.CallID] = as.Tool
	input := b.Get("input")
	as.Text = string(input.Raw(r.doc))
	r.add(as, path+".input", input)
	return nil
}

// asResult says that what is read next is the answer to a call.
func (r *reader) asResult(b rawjson.Value, path string, as gatehouse.Part) (gatehouse.Part, error) {
	id := b.Get("tool_use_id")
	if id.Kind != rawjson.String {
		return as, wire.Wrong(path+".tool_use_id", "a string")
	}
	as.Kind, as.Role, as.CallID = gatehouse.ToolResult, gatehouse.Tool, id.Text(r.doc)
	as.Tool = r.tools[as.CallID]
	return as, nil
}

func (r *reader) toolResult(b rawjson.Value, path string, as gatehouse.Part) error {
	as, err := r.asResult(b, path, as)
	if err != nil {
		return err
	}
	if content := b.Get("content"); content.Exists() {
		return r.content(content, path+".content", as)
	}
	return nil
}

func (r *reader) document(b rawjson.Value, path string, as gatehouse.Part) error {
	r.optional(b, "title", path, as)
	r.optional(b, "context", path, as)
	source, path := b.Get("source"), path+".source"
	if source.Kind != rawjson.Object {
		return wire.Wrong(path, "an object")
	}
	switch source.Get("type").Text(r.doc) {
	case "text":
		data := source.Get("data")
		if data.Kind != rawjson.String {
			return wire.Wrong(path+".data", "a string")
		}
		r.text(data, path+".data", as)
		return nil
	case "content":
		return r.content(source.Get("content"), path+".content", as)
	}
	r.opaque("document", path, as)
	return nil
}

func (r *reader) searchResult(b rawjson.Value, path string, as gatehouse.Part) error {
	r.optional(b, "title", path, as)
	r.optional(b, "source", path, as)
	return r.content(b.Get("content"), path+".content", as)
}

// optional reads a member that may be a string.
func (r *reader) optional(b rawjson.Value, name, path string, as gatehouse.Part) {
	if v := b.Get(name); v.Kind == rawjson.String {
		r.text(v, path+"."+name, as)
	}
}
