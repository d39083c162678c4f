package openai

import (
	"fmt"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

type request struct {
	reader
	root     rawjson.Value
	messages rawjson.Value
	turn     int               // the messages from this offset on stand behind the last assistant turn
	lastUser rawjson.Value     // the last message of role user; absent when there is none
	tools    map[string]string // call id → name of the tool, from the messages so far
	slots    []slot
}

// Request reads a request body. Parts are those of the messages and then the declared tools.
func (c Codec) Request(body []byte) (wire.Request, error) {
	root, err := wire.ParseObject(body, c.Depth)
	if err != nil {
		return nil, err
	}
	r := &request{reader: reader{doc: body}, root: root, messages: root.Get("messages"), tools: map[string]string{}}
	if r.messages.Kind != rawjson.Array {
		return nil, wire.Wrong("messages", "an array")
	}
	if err := wire.CheckStream(root); err != nil {
		return nil, err
	}
	r.slots = make([]slot, 0, len(r.messages.Elems)+len(r.messages.Elems)/2+len(root.Get("tools").Elems))
	r.turn = r.turnStart()
	for i, m := range r.messages.Elems {
		if err := r.read(m, index("messages", i)); err != nil {
			return nil, err
		}
	}
	if err := r.declared(); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *request) Model() string { return r.root.Get("model").Text(r.doc) }
func (r *request) Stream() bool  { return r.root.Get("stream").IsTrue(r.doc) }

func (r *request) Parts() []gatehouse.Part {
	parts := make([]gatehouse.Part, len(r.slots))
	for i, s := range r.slots {
		parts[i] = s.part
	}
	return parts
}

func (r *request) read(v rawjson.Value, path string) error {
	if v.Kind != rawjson.Object {
		return wire.Wrong(path, "an object")
	}
	if v.Get("role").Kind != rawjson.String {
		return wire.Wrong(path+".role", "a string")
	}
	latest := v.Start >= r.turn
	switch role := v.Get("role").Text(r.doc); role {
	case "system", "developer":
		return r.texts(v, path, gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.System})
	case "assistant":
		return r.assistant(v, path, latest)
	case "tool":
		id := v.Get("tool_call_id").Text(r.doc)
		name, ok := r.tools[id]
		if !ok {
			name = v.Get("name").Text(r.doc)
		}
		return r.texts(v, path, gatehouse.Part{Kind: gatehouse.ToolResult, Role: gatehouse.Tool, Tool: name, CallID: id, Latest: latest})
	case "function":
		name := v.Get("name").Text(r.doc)
		return r.texts(v, path, gatehouse.Part{Kind: gatehouse.ToolResult, Role: gatehouse.Tool, Tool: name, Latest: latest})
	default: // a role that we do not know is read like the user's
		if role == "user" {
			r.lastUser = v
		}
		return r.texts(v, path, gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.User, Latest: latest})
	}
}

// turnStart is where the last assistant turn ends, or the messages begin. Assistant messages at the very end are a
// beginning of the next turn, which the caller wrote, and no turn that was decided.
func (r *request) turnStart() int {
	list := r.messages.Elems
	last := len(list) - 1
	for last >= 0 && list[last].Get("role").Text(r.doc) == "assistant" {
		last--
	}
	for ; last >= 0; last-- {
		if list[last].Get("role").Text(r.doc) == "assistant" {
			return list[last].End
		}
	}
	return r.messages.Start
}

// texts reads the content of a message that has nothing else; like says what its parts are like.
func (r *request) texts(v rawjson.Value, path string, like gatehouse.Part) error {
	content := v.Get("content")
	if content.Kind == rawjson.String {
		r.add(item{kind: gatehouse.Text, path: path + ".content", at: content}, like)
		return nil
	}
	items, err := r.content(nil, content, path+".content")
	for _, i := range items {
		p := like
		if i.kind == gatehouse.Opaque {
			p.Kind = gatehouse.Opaque
		}
		r.add(i, p)
	}
	return err
}

func (r *request) add(i item, p gatehouse.Part) {
	p.Path, p.Media, p.Text = i.path, i.media, i.at.Text(r.doc)
	r.slots = append(r.slots, slot{part: p, at: placeOf(i.at)})
}

func (r *request) assistant(v rawjson.Value, path string, latest bool) error {
	m, err := r.message(v, path)
	if err != nil {
		return err
	}
	for _, i := range m.items {
		r.add(i, gatehouse.Part{Kind: i.kind, Role: gatehouse.Assistant, Latest: latest})
	}
	for _, c := range m.calls {
		if c.id != "" {
			r.tools[c.id] = c.tool
		}
		r.slots = append(r.slots, slot{at: placeOf(c.at), copy: placeOf(c.copy.Get("arguments")), part: gatehouse.Part{
			Kind: gatehouse.ToolCall, Role: gatehouse.Assistant, Path: c.path,
			Tool: c.tool, CallID: c.id, Media: c.media, Text: c.at.Text(r.doc), Latest: latest,
		}})
	}
	r.room = m
	return nil
}

// declared reads the tools that the request offers to the model.
func (r *request) declared() error {
	tools, functions := r.root.Get("tools"), r.root.Get("functions")
	if tools.Exists() && tools.Kind != rawjson.Array {
		return wire.Wrong("tools", "an array")
	}
	for i, v := range tools.Elems {
		if err := r.tool(v, index("tools", i)); err != nil {
			return err
		}
	}
	if functions.Exists() && functions.Kind != rawjson.Array {
		return wire.Wrong("functions", "an array")
	}
	for i, v := range functions.Elems {
		if err := r.define(v, index("functions", i)); err != nil {
			return err
		}
	}
	if r.root.Get("web_search_options").Exists() {
		r.slots = append(r.slots, slot{part: definition("hosted:web_search", "web_search_options", "")})
	}
	return nil
}

func (r *request) tool(v rawjson.Value, path string) error {
	if v.Kind != rawjson.Object {
		return wire.Wrong(path, "an object")
	}
	if v.Get("type").Kind != rawjson.String {
		return wire.Wrong(path+".type", "a string")
	}
	switch kind := v.Get("type").Text(r.doc); kind {
	case "function", "custom":
		return r.define(v.Get(kind), path+"."+kind)
	default:
		r.slots = append(r.slots, slot{part: definition("hosted:"+kind, path, "")})
		return nil
	}
}

// define reads the definition of a tool that the client runs.
func (r *request) define(v rawjson.Value, path string) error {
	if v.Kind != rawjson.Object {
		return wire.Wrong(path, "an object")
	}
	name, about := v.Get("name"), v.Get("description")
	if name.Kind != rawjson.String {
		return wire.Wrong(path+".name", "a string")
	}
	if about.Exists() && about.Kind != rawjson.String {
		return wire.Wrong(path+".description", "a string")
	}
	r.slots = append(r.slots, slot{at: placeOf(about), part: definition(name.Text(r.doc), path+".description", wire.Definition(v, r.doc))})
	return nil
}

func definition(tool, path, text string) gatehouse.Part {
	return gatehouse.Part{Kind: gatehouse.ToolDef, Role: gatehouse.System, Tool: tool, Path: path, Text: text}
}

func (r *request) Bytes(parts []gatehouse.Part) ([]byte, error) {
	own, inserted, err := wire.Align(parts, len(r.slots))
	if err != nil {
		return nil, err
	}
	var add []string
	for _, p := range inserted {
		add = append(add, p.Text)
	}
	added := join(add...)
	content := r.lastUser.Get("content")
	var patches []rawjson.Patch
	for i, s := range r.slots {
		text, ends := wire.Final(own[i]), added != "" && content.Kind == rawjson.String && s.at.start == content.Start
		if ends {
			text = join(text, added)
		}
		if !ends && !changed(s.part, own[i]) {
			continue
		}
		if own[i].Removed && s.part.Kind == gatehouse.ToolCall {
			return nil, fmt.Errorf("%s cannot be removed", s.part.Path)
		}
		written, err := s.write(text)
		if err != nil {
			return nil, err
		}
		patches = append(patches, written...)
	}
	if added != "" && content.Kind != rawjson.String {
		patches = append(patches, r.insert(content, added))
	}
	return rawjson.Splice(r.doc, patches), nil
}

// insert adds a text to the last user message, whose content is not a string, or makes one.
func (r *request) insert(content rawjson.Value, text string) rawjson.Patch {
	switch {
	case r.lastUser.Kind == rawjson.Invalid:
		message := append([]byte(`{"role":"user","content":`), rawjson.Quote(text)...)
		return rawjson.AppendElem(r.messages, append(message, '}'))
	case content.Kind == rawjson.Array:
		return rawjson.AppendElem(content, textItem(text))
	case content.Kind == rawjson.Null:
		return rawjson.SetText(content, text)
	}
	return rawjson.PrependMember(r.lastUser, "content", rawjson.Quote(text))
}
