package responses

import (
	"strconv"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// item is one element of an input or an output: a message, a call, a result, reasoning.
type item struct {
	value  rawjson.Value
	kind   string
	id     string
	model  bool // the assistant's side has made it
	user   bool // it is a message of the user
	fields []field
	left   []string // what was left out of results that are read as they are, by its place in the item
}

// reader reads items from one document.
type reader struct {
	doc   []byte
	tools map[string]string // names of the calls that were read so far, by call id: results carry the id only
	one   *item             // the item that is being read
	path  string            // of it
}

// Names of item types that are used in several places.
const (
	kindMessage         = "message"
	kindReasoning       = "reasoning"
	kindFunctionCall    = "function_call"
	kindCustomCall      = "custom_tool_call"
	kindShellCall       = "shell_call"
	kindLocalShellCall  = "local_shell_call"
	kindPatchCall       = "apply_patch_call"
	kindComputerCall    = "computer_call"
	kindApprovalRequest = "mcp_approval_request"
)

// freeform marks a call whose arguments are text and no JSON. The media of other calls that the client runs is the type of
// their item.
const freeform = "freeform"

// item reads one item.
func (r *reader) item(v rawjson.Value, path string) (item, error) {
	if v.Kind != rawjson.Object {
		return item{}, wire.Wrong(path, "an object")
	}
	kind := v.Get("type")
	if kind.Exists() && kind.Kind != rawjson.String {
		return item{}, wire.Wrong(path+".type", "a string")
	}
	one := item{value: v, kind: kind.Text(r.doc), id: v.Get("id").Text(r.doc), model: true}
	if one.kind == "" && v.Get("role").Exists() {
		one.kind = kindMessage
	}
	r.one, r.path = &one, path
	err := r.read(v)
	return one, err
}

func (r *reader) read(v rawjson.Value) error {
	assistant := gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.Assistant}
	switch kind := r.one.kind; kind {
	case kindMessage:
		return r.message(v)
	case kindReasoning:
		return r.reasoning(v)
	case kindFunctionCall:
		return r.call(v, "arguments", r.named(v), "")
	case kindCustomCall:
		return r.call(v, "input", r.named(v), freeform)
	case kindApprovalRequest:
		return r.call(v, "arguments", r.mcpName(v), kind)
	case "mcp_call":
		if err := r.call(v, "arguments", r.mcpName(v), ""); err != nil {
			return err
		}
		r.readable("output", v.Get("output"), r.hosted(r.mcpName(v)))
		r.readable("error", v.Get("error"), r.hosted(r.mcpName(v)))
	case "mcp_list_tools":
		for i, tool := range v.Get("tools").Elems {
			r.text("tools"+index(i)+".description", tool.Get("description"), r.hosted("mcp:"+v.Get("server_label").Text(r.doc)+"/"+tool.Get("name").Text(r.doc)))
		}
		r.readable("error", v.Get("error"), r.hosted("mcp:"+v.Get("server_label").Text(r.doc)+"/*"))
	case kindShellCall:
		tool := "shell"
		if at := v.Get("environment").Get("type").Text(r.doc); strings.HasPrefix(at, "container") {
			tool = "hosted:shell"
		}
		r.raw(v, tool, kind, "action")
	case kindLocalShellCall:
		r.raw(v, "local_shell", kind, "action")
	case kindPatchCall:
		r.raw(v, "apply_patch", kind, "operation")
	case kindComputerCall:
		r.raw(v, "computer", kind, "action", "actions")
	case "web_search_call":
		r.raw(v, "hosted:web_search", "", "action")
		r.readable("results", v.Get("results"), r.hosted("hosted:web_search"))
	case "file_search_call":
		r.raw(v, "hosted:file_search", "", "queries")
		r.readable("results", v.Get("results"), r.hosted("hosted:file_search"))
	case "code_interpreter_call":
		r.code(v, "hosted:code_interpreter")
		r.readable("outputs", v.Get("outputs"), r.hosted("hosted:code_interpreter"))
	case "image_generation_call":
		r.text("revised_prompt", v.Get("revised_prompt"), assistant)
		if v.Get("result").Exists() {
			r.opaque("result", "image")
		}
	case "tool_search_call":
		r.raw(v, "tool_search", kind, "arguments")
	case "program":
		r.code(v, "hosted:program")
	case "program_output":
		r.text("result", v.Get("result"), r.hosted("hosted:program"))
	default:
		return r.rest(v)
	}
	return nil
}

// rest reads the items of the client's side, and those that are not known.
func (r *reader) rest(v rawjson.Value) error {
	switch kind := r.one.kind; kind {
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output", "apply_patch_call_output", "shell_call_output":
		r.one.model = false
		return r.output(v)
	case "computer_call_output":
		r.one.model = false
		r.opaque("output", "image")
	case "mcp_approval_response":
		r.one.model = false
		reason := v.Get("reason")
		r.add(field{key: "reason", at: reason, part: gatehouse.Part{Kind: gatehouse.ToolResult, Role: gatehouse.Tool,
			CallID: v.Get("approval_request_id").Text(r.doc), Text: reason.Text(r.doc)}})
	case "additional_tools", "tool_search_output":
		r.one.model = false
		return r.definitions(v.Get("tools"), "tools")
	case "compaction_trigger", "configuration_update":
		r.one.model = false
	default: // a reference, compaction, and what is not known yet
		r.opaque("", kind)
		r.text("text", v.Get("text"), gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.Assistant}) // some servers read it whatever the type says
	}
	return nil
}

func (r *reader) add(f field) {
	f.part.Path = r.path
	if f.key != "" {
		f.part.Path += "." + f.key
	}
	r.one.fields = append(r.one.fields, f)
}

// text adds a member that is a string.
func (r *reader) text(key string, at rawjson.Value, as gatehouse.Part, notes ...rawjson.Value) {
	if at.Kind == rawjson.String {
		as.Text = at.Text(r.doc)
		r.add(field{key: key, part: as, at: at, notes: notes})
	}
}

func (r *reader) opaque(key, media string) {
	role := gatehouse.User
	if r.one.model {
		role = gatehouse.Assistant
	}
	r.add(field{key: key, part: gatehouse.Part{Kind: gatehouse.Opaque, Role: role, Media: media}})
}

func (r *reader) message(v rawjson.Value) error {
	role := v.Get("role")
	if role.Kind != rawjson.String {
		return wire.Wrong(r.path+".role", "a string")
	}
	as := gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.Assistant}
	switch role.Text(r.doc) {
	case "assistant":
		return r.content(v.Get("content"), "content", as)
	case "system", "developer":
		r.one.model, as.Role = false, gatehouse.System
	case "user":
		r.one.model, r.one.user, as.Role = false, true, gatehouse.User
	default: // a role that we do not know is read like the user's
		r.one.model, as.Role = false, gatehouse.User
	}
	return r.content(v.Get("content"), "content", as)
}

// content reads a string or a list of typed pieces.
func (r *reader) content(v rawjson.Value, key string, as gatehouse.Part) error {
	switch v.Kind {
	case rawjson.Invalid, rawjson.Null:
		return nil
	case rawjson.String:
		r.text(key, v, as)
		return nil
	case rawjson.Array:
	default:
		return wire.Wrong(r.path+"."+key, "a string or an array")
	}
	for i, piece := range v.Elems {
		if err := r.piece(piece, key+index(i), as); err != nil {
			return err
		}
	}
	return nil
}

// piece reads one piece of content: what a content_part event carries, too.
func (r *reader) piece(v rawjson.Value, key string, as gatehouse.Part) error {
	if v.Kind != rawjson.Object {
		return wire.Wrong(r.path+"."+key, "an object")
	}
	kind := v.Get("type")
	if kind.Kind != rawjson.String {
		return wire.Wrong(r.path+"."+key+".type", "a string")
	}
	member := "text"
	switch name := kind.Text(r.doc); name {
	case "refusal":
		member = name
	case "input_text", "output_text", "text", "summary_text", "reasoning_text":
	default:
		r.opaque(key, strings.TrimPrefix(name, "input_"))
		r.text(key, v.Get(member), as) // some servers read it whatever the type says
		return nil
	}
	text := v.Get(member)
	if text.Kind != rawjson.String {
		return wire.Wrong(r.path+"."+key+"."+member, "a string")
	}
	r.text(key, text, as, v.Get("annotations"), v.Get("logprobs"))
	return nil
}

// reasoning reads the summary and the text of reasoning. What is encrypted is a part of its own that nobody edits.
func (r *reader) reasoning(v rawjson.Value) error {
	as := gatehouse.Part{Kind: gatehouse.Reasoning, Role: gatehouse.Assistant}
	if v.Get("encrypted_content").Exists() {
		sealed := as
		sealed.Signed = true
		r.add(field{key: "encrypted_content", part: sealed})
	}
	if err := r.content(v.Get("summary"), "summary", as); err != nil {
		return err
	}
	return r.content(v.Get("content"), "content", as)
}

// named is the name of a call's tool, behind its namespace where it has one.
func (r *reader) named(v rawjson.Value) string {
	return inNamespace(v.Get("namespace").Text(r.doc), v.Get("name").Text(r.doc))
}

func inNamespace(space, name string) string {
	if space == "" {
		return name
	}
	return space + "." + name
}

func (r *reader) mcpName(v rawjson.Value) string {
	return "mcp:" + v.Get("server_label").Text(r.doc) + "/" + v.Get("name").Text(r.doc)
}

// hosted is what a tool that the provider runs has returned.
func (r *reader) hosted(tool string) gatehouse.Part {
	return gatehouse.Part{Kind: gatehouse.ToolResult, Role: gatehouse.Assistant, Tool: tool, CallID: r.one.id}
}

// callID is the id that the answer to a call names.
func (r *reader) callID(v rawjson.Value) string {
	if id := v.Get("call_id").Text(r.doc); id != "" {
		return id
	}
	return r.one.id
}

// call reads a call whose arguments are a string.
func (r *reader) call(v rawjson.Value, member, tool, media string) error {
	if v.Get("name").Kind != rawjson.String {
		return wire.Wrong(r.path+".name", "a string")
	}
	at := v.Get(member)
	if at.Exists() && at.Kind != rawjson.String {
		return wire.Wrong(r.path+"."+member, "a string")
	}
	r.addCall(field{key: member, at: at, part: gatehouse.Part{Kind: gatehouse.ToolCall, Role: gatehouse.Assistant, Tool: tool,
		CallID: r.callID(v), Media: media, Text: at.Text(r.doc)}})
	return nil
}

// raw reads a call whose arguments are members of the item: the text is the JSON of the one that is there, or an object of all.
func (r *reader) raw(v rawjson.Value, tool, media string, members ...string) {
	p := gatehouse.Part{Kind: gatehouse.ToolCall, Role: gatehouse.Assistant, Tool: tool, CallID: r.callID(v), Media: media}
	var there []string
	for _, name := range members {
		if at := v.Get(name); at.Exists() {
			there = append(there, `"`+name+`":`+string(at.Raw(r.doc)))
			p.Text = string(at.Raw(r.doc))
			if at.Kind != rawjson.Object {
				p.Text = `{"` + name + `":` + p.Text + `}` // conditions look into an object
			}
		}
	}
	if len(there) > 1 { // a client may run either of them
		p.Text = "{" + strings.Join(there, ",") + "}"
	}
	r.addCall(field{key: members[0], part: p, raw: true})
}

// code reads a program that the provider runs. It may be null while it is not written.
func (r *reader) code(v rawjson.Value, tool string) {
	at := v.Get("code")
	r.addCall(field{key: "code", at: at, part: gatehouse.Part{Kind: gatehouse.ToolCall, Role: gatehouse.Assistant, Tool: tool,
		CallID: r.callID(v), Media: freeform, Text: at.Text(r.doc)}})
}

func (r *reader) addCall(f field) {
	if r.tools == nil {
		r.tools = map[string]string{}
	}
	if f.part.CallID != "" {
		r.tools[f.part.CallID] = f.part.Tool
	}
	r.add(f)
}

// output reads the result of a call that the client has run.
func (r *reader) output(v rawjson.Value) error {
	as := gatehouse.Part{Kind: gatehouse.ToolResult, Role: gatehouse.Tool, CallID: r.callID(v)}
	known := false
	if as.Tool, known = r.tools[as.CallID]; !known {
		as.Tool = r.named(v)
	}
	if r.one.kind == "shell_call_output" {
		r.readable("output", v.Get("output"), as)
		return nil
	}
	return r.content(v.Get("output"), "output", as)
}

// readable reads every string of a result that a person could read. Shapes differ by tool and grow with the API, so it knows
// what to leave out and not what to take.
func (r *reader) readable(key string, v rawjson.Value, as gatehouse.Part) {
	switch v.Kind {
	case rawjson.String:
		r.text(key, v, as)
	case rawjson.Array:
		for i, e := range v.Elems {
			r.readable(key+index(i), e, as)
		}
	case rawjson.Object:
		if v.Get("type").Text(r.doc) == "image" {
			r.opaque(key, "image")
			return
		}
		for _, m := range v.Members {
			name := wire.PathName(m.Key)
			if shape, ok := structural[m.Key]; ok {
				shape.Unread(m.Value, r.doc, nil, func(string) { r.leave(key + "." + name) })
				continue
			}
			if name == "*" { // the name may be a text, too
				r.leave(key + "." + name)
			}
			r.readable(key+"."+name, m.Value, as)
		}
	}
}

// leave notes what is not read of a result.
func (r *reader) leave(place string) {
	place = wire.AnyElement(place)
	if n := len(r.one.left); n == 0 || r.one.left[n-1] != place {
		r.one.left = append(r.one.left, place)
	}
}

func index(i int) string { return "[" + strconv.Itoa(i) + "]" }
