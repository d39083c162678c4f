package responses

import (
	"fmt"
	"slices"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

type request struct {
	reader
	root, input rawjson.Value
	items       []item // of the input
	fields      []field
	lastUser    rawjson.Value // the last message of role user; absent where there is none
	previous    previous
	mentioned   string          // the id of the last item that is named in place of what it says
	own         []rawjson.Value // items that name messages of the gateway's
}

// Request reads a request body. Parts are the instructions, the variables of a stored prompt, the items of the input and then the
// declared tools.
func (c Codec) Request(body []byte) (wire.Request, error) {
	root, err := wire.ParseObject(body, c.Depth)
	if err != nil {
		return nil, err
	}
	if err := wire.CheckStream(root); err != nil {
		return nil, err
	}
	r := &request{reader: reader{doc: body}, root: root, input: root.Get("input")}
	for _, read := range []func() error{r.continues, r.instructions, r.prompt, r.read, r.declared} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *request) Model() string { return r.root.Get("model").Text(r.doc) }
func (r *request) Stream() bool  { return r.root.Get("stream").IsTrue(r.doc) }

func (r *request) Parts() []gatehouse.Part {
	parts := make([]gatehouse.Part, len(r.fields))
	for i, f := range r.fields {
		parts[i] = f.part
	}
	return parts
}

// collect takes over what the reader has found in the body itself, not in an item.
func (r *request) collect(latest bool) {
	for _, f := range r.one.fields {
		f.part.Latest = latest && f.part.Role != gatehouse.System
		r.fields = append(r.fields, f)
	}
}

func (r *request) instructions() error {
	r.one = &item{}
	v, as := r.root.Get("instructions"), gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.System}
	switch v.Kind {
	case rawjson.Array:
		for i, e := range v.Elems {
			one, err := r.item(e, "instructions"+index(i))
			if err != nil {
				return err
			}
			r.fields = append(r.fields, one.fields...)
		}
		return nil
	case rawjson.String:
		as.Text, as.Path = v.Text(r.doc), "instructions"
		r.fields = append(r.fields, field{key: "instructions", part: as, at: v})
	case rawjson.Invalid, rawjson.Null:
	default:
		return wire.Wrong("instructions", "a string or an array")
	}
	return nil
}

// prompt reads what is put into a prompt that the provider keeps. The prompt itself is not seen.
func (r *request) prompt() error {
	v := r.root.Get("prompt")
	if !v.Exists() {
		return nil
	}
	r.one, r.path = &item{}, "prompt"
	r.opaque("", "prompt")
	as := gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.User}
	for _, m := range v.Get("variables").Members {
		key := "variables." + wire.PathName(m.Key)
		if m.Value.Kind == rawjson.String {
			r.text(key, m.Value, as)
		} else if err := r.piece(m.Value, key, as); err != nil {
			return err
		}
	}
	r.collect(true)
	return nil
}

func (r *request) read() error {
	switch r.input.Kind {
	case rawjson.Invalid, rawjson.Null:
		return nil
	case rawjson.String:
		r.fields = append(r.fields, field{key: "input", at: r.input, part: gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.User,
			Path: "input", Text: r.input.Text(r.doc), Latest: true}})
		return nil
	case rawjson.Array:
	default:
		return wire.Wrong("input", "a string or an array")
	}
	for i, v := range r.input.Elems {
		one, err := r.item(v, "input"+index(i))
		if err != nil {
			return err
		}
		if one.user {
			r.lastUser = v
		}
		r.mention(&one)
		r.items = append(r.items, one)
	}
	turn := r.turnStart()
	for i, one := range r.items {
		for _, f := range one.fields {
			f.part.Latest = i >= turn && f.part.Role != gatehouse.System
			r.fields = append(r.fields, f)
		}
	}
	return nil
}

// turnStart is the first item behind the last assistant turn. Items of the assistant at the very end are a beginning of the next
// turn, which the caller wrote, and no turn that was decided.
func (r *request) turnStart() int {
	last := len(r.items) - 1
	for last >= 0 && r.items[last].model {
		last--
	}
	for ; last >= 0; last-- {
		if r.items[last].model {
			return last + 1
		}
	}
	return 0
}

func (r *request) declared() error {
	r.one, r.path = &item{}, ""
	err := r.definitions(r.root.Get("tools"), "tools")
	r.collect(false)
	return err
}

func (r *request) Bytes(parts []gatehouse.Part) ([]byte, error) {
	own, inserted, err := wire.Align(parts, len(r.fields))
	if err != nil {
		return nil, err
	}
	added, results := sort(inserted)
	patches := r.previous.patches(r.root)
	if len(r.input.Elems) == 0 && r.input.Kind != rawjson.String { // nothing is there that could be edited
		edits, err := r.edits(own, "")
		if err != nil {
			return nil, err
		}
		return rawjson.Splice(r.doc, append(append(patches, edits...), r.begin(results, added)...)), nil
	}
	edits, err := r.edits(own, added)
	if err != nil {
		return nil, err
	}
	return rawjson.Splice(r.doc, slices.Concat(patches, r.supply(results), r.resolve(), edits)), nil
}

// sort tells the texts that go to the user's last message from the results that the gateway gives. Behind each result is a comma.
func sort(inserted []gatehouse.Part) (added string, results []byte) {
	for _, p := range inserted {
		if p.Kind == gatehouse.ToolResult {
			results = append(append(results, answerTo(p)...), ',')
			continue
		}
		added = join(separator, added, p.Text)
	}
	return added, results
}

// edits write the parts that changed, and the added text into the last user message.
func (r *request) edits(own []gatehouse.Part, added string) (patches []rawjson.Patch, err error) {
	content := r.lastUser.Get("content")
	if r.input.Kind == rawjson.String {
		content = r.input
	}
	for i, f := range r.fields {
		text, ends := wire.Final(own[i]), added != "" && content.Kind == rawjson.String && f.at.Start == content.Start
		if ends {
			text = join(separator, text, added)
		}
		if text == f.part.Text && !own[i].Removed || f.part.Signed || f.part.Kind == gatehouse.Opaque {
			continue
		}
		if f.at.Kind != rawjson.String || own[i].Removed && f.part.Kind == gatehouse.ToolCall {
			return nil, fmt.Errorf("%s cannot be edited", f.part.Path)
		}
		patches = append(patches, f.patches(text)...)
	}
	if added != "" && content.Kind != rawjson.String {
		patches = append(patches, r.insert(content, added))
	}
	return patches, nil
}

// insert adds a text to the last user message, whose content is not a string, or makes one behind the other items.
func (r *request) insert(content rawjson.Value, text string) rawjson.Patch {
	switch {
	case !r.lastUser.Exists():
		return rawjson.AppendElem(r.input, userMessage(text))
	case content.Kind == rawjson.Array:
		piece := append([]byte(`{"type":"input_text","text":`), rawjson.Quote(text)...)
		return rawjson.AppendElem(content, append(piece, '}'))
	case content.Kind == rawjson.Null:
		return rawjson.SetText(content, text)
	}
	return rawjson.PrependMember(r.lastUser, "content", rawjson.Quote(text))
}

func userMessage(text string) []byte {
	return append(append([]byte(`{"role":"user","content":`), rawjson.Quote(text)...), '}')
}

// supply puts results before the items of the input. An input that is a text becomes a message behind them.
func (r *request) supply(results []byte) []rawjson.Patch {
	switch {
	case len(results) == 0:
		return nil
	case r.input.Kind == rawjson.Array:
		return []rawjson.Patch{{Start: r.input.Start + 1, End: r.input.Start + 1, With: results}}
	}
	before := append([]byte{'['}, results...)
	before = append(before, `{"role":"user","content":`...)
	return []rawjson.Patch{{Start: r.input.Start, End: r.input.Start, With: before}, {Start: r.input.End, End: r.input.End, With: []byte("}]")}}
}

// begin makes an input where there is none.
func (r *request) begin(results []byte, added string) []rawjson.Patch {
	list := append([]byte{'['}, results...)
	switch {
	case added != "":
		list = append(list, userMessage(added)...)
	case len(results) > 0:
		list = list[:len(list)-1]
	default:
		return nil
	}
	list = append(list, ']')
	if r.input.Kind == rawjson.Invalid {
		return []rawjson.Patch{rawjson.PrependMember(r.root, "input", list)}
	}
	return []rawjson.Patch{rawjson.Set(r.input, string(list))}
}
