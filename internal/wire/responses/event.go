package responses

import (
	"fmt"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// view is what one event says.
type view struct {
	reader
	root    rawjson.Value
	kind    string
	index   int64   // of its item; noItem
	object  *object // of an event that tells of the whole response
	one     *item   // of an event that begins or ends an item
	fields  []field // texts of the item
	grows   bool    // they are pieces, or what further pieces are added to
	command bool    // it carries a command of a shell
	opaque  bool    // nothing reads it, and a part says so
	about   string  // the key of the text that an annotation speaks of
}

// terminal reports whether nothing follows the event.
func (v *view) terminal() bool {
	switch v.kind {
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled", "error":
		return true
	}
	return false
}

func readEvent(doc []byte, name string) (view, error) {
	root, err := wire.ParseObject(doc, wire.MaxDepth)
	if err != nil {
		return view{}, err
	}
	v := view{reader: reader{doc: doc}, root: root, kind: root.Get("type").Text(doc), index: noItem}
	switch {
	case v.kind == "":
		v.kind = name
	case name != "" && name != "message" && name != v.kind:
		return view{}, fmt.Errorf("an event whose name is not its type")
	}
	if at := root.Get("output_index"); at.Exists() {
		n, ok := at.Int(doc)
		if !ok || n < 0 || n >= maxItems {
			return view{}, wire.Wrong("output_index", "a small integer")
		}
		v.index = n
	}
	err = v.read()
	return v, err
}

func (v *view) read() error {
	v.reader.one, v.path = &item{model: true}, "output"
	stem, last := cutLast(v.kind)
	if response := v.root.Get("response"); response.Kind == rawjson.Object {
		if stem != "response" { // clients go by the type, and would read what stands beside it
			return wire.Wrong(v.kind+".response", "absent")
		}
		o, err := v.reader.object(response)
		v.object = &o
		return err
	}
	v.grows = last == "delta" || last == "added"
	switch stem {
	case "response.output_item":
		return v.item()
	case "response.content_part", "response.reasoning_part": // of vLLM
		return v.part("content", "content_index")
	case "response.reasoning_summary_part":
		return v.part("summary", "summary_index")
	case "response.output_text.annotation":
		v.about = v.key("content", "content_index")
		return nil
	case "response.shell_call_command":
		v.command = true
		return nil
	case "response.shell_call_output_content":
		v.shellOutput()
		return nil
	}
	return v.text(stem, last)
}

func cutLast(kind string) (stem, last string) {
	if i := strings.LastIndexByte(kind, '.'); i >= 0 {
		return kind[:i], kind[i+1:]
	}
	return "", kind
}

func (v *view) item() error {
	one, err := v.reader.item(v.root.Get("item"), "item")
	v.one, v.fields = &one, one.fields
	if err == nil && v.index == noItem {
		err = wire.Wrong("output_index", "an integer")
	}
	return err
}

// key is the place of a text in its item: content[0].
func (v *view) key(list, member string) string {
	n, ok := v.root.Get(member).Int(v.doc)
	if !ok || n < 0 || n >= maxItems {
		return list + "[?]"
	}
	return list + index(int(n))
}

// part reads an event that begins or ends a piece of content.
func (v *view) part(list, member string) error {
	part := v.root.Get("part")
	as := gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.Assistant}
	if list == "summary" || part.Get("type").Text(v.doc) == "reasoning_text" {
		as.Kind = gatehouse.Reasoning
	}
	err := v.piece(part, v.key(list, member), as)
	v.fields = v.reader.one.fields
	return err
}

// text reads an event that carries a text: a piece of it in delta, or the whole under a name of its own.
func (v *view) text(stem, last string) error {
	as := gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.Assistant}
	key, member := strings.TrimPrefix(stem, "response."), "text"
	switch key {
	case "output_text":
		key = v.key("content", "content_index")
	case "refusal":
		key, member = v.key("content", "content_index"), "refusal"
	case "reasoning_text":
		key, as.Kind = v.key("content", "content_index"), gatehouse.Reasoning
	case "reasoning_summary_text":
		key, as.Kind = v.key("summary", "summary_index"), gatehouse.Reasoning
	case "function_call_arguments", "mcp_call_arguments":
		key, member, as.Kind = "arguments", "arguments", gatehouse.ToolCall
	case "custom_tool_call_input":
		key, member, as.Kind = "input", "input", gatehouse.ToolCall
	case "code_interpreter_call_code":
		key, member, as.Kind = "code", "code", gatehouse.ToolCall
	default:
		return v.unknown(key, last)
	}
	if last == "delta" {
		member = "delta"
	}
	at := v.root.Get(member)
	if at.Kind != rawjson.String {
		return wire.Wrong(v.kind+"."+member, "a string")
	}
	v.add(key, at, as)
	return nil
}

func (v *view) add(key string, at rawjson.Value, as gatehouse.Part) {
	as.Text = at.Text(v.doc)
	v.fields = append(v.fields, field{key: key, part: as, at: at, notes: []rawjson.Value{v.root.Get("logprobs")}})
}

// unknown reads what it can of an event that no rule knows. Of the progress of tools there is nothing to read.
func (v *view) unknown(key, last string) error {
	as := gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.Assistant}
	key = plain(key)
	switch last {
	case "in_progress", "searching", "completed", "generating", "interpreting", "failed", "compacting", "queued", "keepalive", "error":
		return nil
	case "delta", "done":
		for _, member := range [...]string{"delta", "text"} {
			if at := v.root.Get(member); at.Kind == rawjson.String && key != "audio" {
				v.add(key, at, as)
				return nil
			}
		}
	}
	v.grows, v.opaque = true, true // one part for all of them
	v.fields = append(v.fields, field{key: key, part: gatehouse.Part{Kind: gatehouse.Opaque, Media: media(v.kind)}})
	return nil
}

// plain is the type of an event as it may stand in a path, which is recorded.
func plain(kind string) string {
	names := strings.Split(kind, ".")
	for i, name := range names {
		names[i] = wire.PathName(name)
	}
	return strings.Join(names, ".")
}

// media names what an event carries that nothing reads.
func media(kind string) string {
	switch kind = plain(kind); {
	case strings.Contains(kind, "image"):
		return "image"
	case strings.Contains(kind, "audio"):
		return "audio"
	}
	return kind
}

// shellOutput reads what a shell that the provider runs has written.
func (v *view) shellOutput() {
	as := gatehouse.Part{Kind: gatehouse.ToolResult, Role: gatehouse.Assistant, Tool: "hosted:shell"}
	n := v.key("", "command_index")
	list := v.root.Get("output").Elems
	if _, last := cutLast(v.kind); last == "delta" {
		list = []rawjson.Value{v.root.Get("delta")}
	}
	for i, e := range list {
		place := n
		if i > 0 {
			place += index(i)
		}
		for _, name := range [...]string{"stdout", "stderr"} {
			if at := e.Get(name); at.Kind == rawjson.String {
				v.add(name+place, at, as)
			}
		}
	}
}
