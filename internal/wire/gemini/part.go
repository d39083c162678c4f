package gemini

import (
	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// element is one part as the API calls it, and what it holds for the gateway: at most one thing that it knows, and one more
// for each member that it does not.
type element struct {
	value     rawjson.Value
	signature []byte // its thoughtSignature as it stands, quotes included; nil when it has none
	slots     []slot
}

// elements reads the parts of a content.
func (r reader) elements(content rawjson.Value, path string, as gatehouse.Part) (list rawjson.Value, out []element, err error) {
	list, values, err := r.list(content, "parts", path)
	for i, v := range values {
		var e element
		if e, err = r.element(v, index(path+".parts", i), as); err != nil {
			break
		}
		out = append(out, e)
	}
	return list, out, err
}

// element reads one part; as says who speaks it and where.
func (r reader) element(v rawjson.Value, path string, as gatehouse.Part) (e element, err error) {
	e.value = v
	signature, err := r.text(v, "thoughtSignature", path)
	if err != nil {
		return e, err
	}
	if signature.Exists() {
		e.signature = signature.Raw(r.doc)
	}
	known := "" // the one thing that the part holds
	for _, m := range v.Members {
		name := camel(m.Key)
		read := r.holding(name)
		switch {
		case !m.Value.Exists():
		case read != nil:
			if known != "" {
				return e, &wire.Malformed{Code: "invalid_request", Reason: path + " holds two things: " + known + " and " + name}
			}
			known = name
			s, err := read(v, m.Value, path+"."+name, as)
			if err != nil {
				return e, err
			}
			e.slots = append(e.slots, s...)
		case name == "thought" && m.Value.Kind != rawjson.Bool:
			return e, wire.Wrong(path+".thought", "a boolean")
		case decoration(name):
		case m.Value.Kind == rawjson.String || m.Value.Kind == rawjson.Object || len(m.Value.Elems) > 0:
			e.slots = append(e.slots, opaque(as, wire.PathName(snake(m.Key)), path))
		}
	}
	thought, err := r.get(v, "thought", path)
	if known == "" && thought.IsTrue(r.doc) && as.Role == gatehouse.Assistant { // encrypted: a signature and no text
		as.Kind, as.Signed, as.Path = gatehouse.Reasoning, true, path
		e.slots = append(e.slots, slot{part: as})
	}
	return e, err
}

// decoration reports whether a member says something about its part and holds nothing of its own.
func decoration(name string) bool {
	switch name {
	case "thought", "thoughtSignature", "videoMetadata", "mediaResolution":
		return true
	}
	return false
}

// holding is what reads a member that holds something; nil for others. It is given the part, the member's value and its path.
func (r reader) holding(name string) func(part, v rawjson.Value, path string, as gatehouse.Part) ([]slot, error) {
	switch name {
	case "text":
		return r.words
	case "functionCall":
		return r.call
	case "functionResponse":
		return r.result
	case "executableCode":
		return r.code
	case "codeExecutionResult":
		return r.output
	case "inlineData", "fileData":
		return func(_, _ rawjson.Value, path string, as gatehouse.Part) ([]slot, error) {
			return []slot{opaque(as, snake(name), path)}, nil
		}
	}
	return nil
}

func opaque(as gatehouse.Part, media, path string) slot {
	as.Kind, as.Media, as.Path = gatehouse.Opaque, media, path
	return slot{part: as}
}

// words reads a text, or a thought. What a user calls a thought is a text: nothing would make the model read it as one.
func (r reader) words(part, v rawjson.Value, path string, as gatehouse.Part) ([]slot, error) {
	if v.Kind != rawjson.String {
		return nil, wire.Wrong(path, "a string")
	}
	thought, err := r.get(part, "thought", path)
	if err != nil {
		return nil, err
	}
	as.Kind, as.Path, as.Text = gatehouse.Text, path, v.Text(r.doc)
	if thought.IsTrue(r.doc) && as.Role == gatehouse.Assistant {
		signature, err := r.get(part, "thoughtSignature", path)
		if err != nil {
			return nil, err
		}
		as.Kind, as.Signed = gatehouse.Reasoning, signature.Exists()
	}
	return []slot{{part: as, at: v, form: quoted}}, nil
}

func (r reader) call(_, v rawjson.Value, path string, as gatehouse.Part) ([]slot, error) {
	name, id, err := r.named(v, path)
	if err != nil {
		return nil, err
	}
	args, err := r.get(v, "args", path) // an object; what else it is the gate refuses
	if err != nil {
		return nil, err
	}
	for _, m := range v.Members {
		// Arguments that come in pieces of their own would leave without having been judged.
		if partial := camel(m.Key); (partial == "partialArgs" || partial == "willContinue") && m.Value.Exists() && !isFalse(r.doc, m.Value) {
			return nil, wire.Wrong(path+"."+partial, "absent: streamed arguments are not supported")
		}
	}
	as.Kind, as.Role, as.Path = gatehouse.ToolCall, gatehouse.Assistant, path+".args"
	as.Tool, as.CallID, as.Text = name.Text(r.doc), id.Text(r.doc), string(args.Raw(r.doc))
	if !args.Exists() {
		as.Text = ""
	}
	return []slot{{part: as, at: args, form: arguments}}, nil
}

func isFalse(doc []byte, v rawjson.Value) bool { return v.Kind == rawjson.Bool && !v.IsTrue(doc) }

// named reads the name and the id of a call or a result.
func (r reader) named(v rawjson.Value, path string) (name, id rawjson.Value, err error) {
	if v.Kind != rawjson.Object {
		return name, id, wire.Wrong(path, "an object")
	}
	if name, err = r.text(v, "name", path); err != nil {
		return name, id, err
	}
	if !name.Exists() {
		return name, id, wire.Wrong(path+".name", "a string")
	}
	id, err = r.text(v, "id", path)
	return name, id, err
}

// result reads what a tool has returned. Where the response is only a wrapper, what is in it counts: a text is inspected as the
// text that the tool returned, anything else as JSON.
func (r reader) result(_, v rawjson.Value, path string, as gatehouse.Part) ([]slot, error) {
	name, id, err := r.named(v, path)
	if err != nil {
		return nil, err
	}
	as.Kind, as.Role, as.Tool, as.CallID = gatehouse.ToolResult, gatehouse.Tool, name.Text(r.doc), id.Text(r.doc)
	response, err := r.object(v, "response", path)
	if err != nil {
		return nil, err
	}
	var out []slot
	if response.Exists() {
		s := slot{part: as, at: response, form: wrapper}
		s.part.Path = path + ".response"
		if len(response.Members) == 1 && wraps(response.Members[0]) {
			s.at, s.form = response.Members[0].Value, value
			s.part.Path += "." + response.Members[0].Key
		}
		if s.part.Text = string(s.at.Raw(r.doc)); s.at.Kind == rawjson.String {
			s.part.Text = s.at.Text(r.doc)
		}
		out = append(out, s)
	}
	_, parts, err := r.list(v, "parts", path)
	for i := range parts {
		out = append(out, opaque(as, "function_response_part", index(path+".parts", i)))
	}
	return out, err
}

// wraps reports whether the only member of a response holds all that the tool has returned, under a name that the SDKs use.
func wraps(m rawjson.Member) bool {
	switch m.Key {
	case "result", "output", "content", "error":
		return m.Value.Kind == rawjson.String || m.Value.Kind == rawjson.Object || m.Value.Kind == rawjson.Array
	}
	return false
}

// code reads what the model has let the provider run.
func (r reader) code(_, v rawjson.Value, path string, as gatehouse.Part) ([]slot, error) {
	return r.ran(v, "code", path, gatehouse.Part{Kind: gatehouse.ToolCall, Role: gatehouse.Assistant, Media: "freeform"}, as)
}

// output reads what came of that.
func (r reader) output(_, v rawjson.Value, path string, as gatehouse.Part) ([]slot, error) {
	return r.ran(v, "output", path, gatehouse.Part{Kind: gatehouse.ToolResult, Role: gatehouse.Tool}, as)
}

// hostedCode is the name of the tool that runs code at the provider.
const hostedCode = "hosted:code_execution"

func (r reader) ran(v rawjson.Value, member, path string, p, as gatehouse.Part) ([]slot, error) {
	if v.Kind != rawjson.Object {
		return nil, wire.Wrong(path, "an object")
	}
	text, err := r.text(v, member, path)
	if err != nil {
		return nil, err
	}
	id, err := r.text(v, "id", path)
	if err != nil {
		return nil, err
	}
	p.Tool, p.CallID, p.Latest, p.Choice = hostedCode, id.Text(r.doc), as.Latest, as.Choice
	p.Path, p.Text = path+"."+member, text.Text(r.doc)
	return []slot{{part: p, at: text, form: quoted}}, nil
}
