package completions

import (
	"fmt"
	"strconv"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

type request struct {
	doc   []byte
	root  rawjson.Value
	parts []gatehouse.Part
	at    []rawjson.Value // where each of them stands
}

// Request reads a request body. Prompts and the suffix are parts, as a user's; a prompt of token numbers is one that nobody can read.
func (c Codec) Request(body []byte) (wire.Request, error) {
	root, err := wire.ParseObject(body, c.Depth)
	if err != nil {
		return nil, err
	}
	if err := wire.CheckStream(root); err != nil {
		return nil, err
	}
	r := &request{doc: body, root: root}
	switch prompt := root.Get("prompt"); {
	case prompt.Kind == rawjson.String:
		r.add(prompt, "prompt")
	case prompt.Kind == rawjson.Array && len(prompt.Elems) > 0 && prompt.Elems[0].Kind == rawjson.Number:
		r.add(prompt, "prompt")
	case prompt.Kind == rawjson.Array:
		for i, v := range prompt.Elems {
			r.add(v, "prompt["+strconv.Itoa(i)+"]")
		}
	case prompt.Exists():
		return nil, wire.Wrong("prompt", "a string or an array")
	}
	if suffix := root.Get("suffix"); suffix.Exists() {
		r.add(suffix, "suffix")
	}
	return r, nil
}

func (r *request) add(v rawjson.Value, path string) {
	p := gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.User, Path: path, Text: v.Text(r.doc), Latest: true}
	if v.Kind != rawjson.String {
		p.Kind, p.Media = gatehouse.Opaque, "tokens"
	}
	r.parts, r.at = append(r.parts, p), append(r.at, v)
}

func (r *request) Parts() []gatehouse.Part { return append([]gatehouse.Part(nil), r.parts...) }
func (r *request) Model() string           { return r.root.Get("model").Text(r.doc) }
func (r *request) Stream() bool            { return r.root.Get("stream").IsTrue(r.doc) }

// Bytes writes the body. Inserted texts go to the end of the first prompt that is a text.
func (r *request) Bytes(parts []gatehouse.Part) ([]byte, error) {
	if len(parts) < len(r.parts) {
		return nil, fmt.Errorf("%d parts for a document of %d", len(parts), len(r.parts))
	}
	added := ""
	for _, p := range parts[len(r.parts):] {
		added += "\n\n" + p.Text
	}
	var patches []rawjson.Patch
	for i, p := range r.parts {
		text := wire.Final(parts[i])
		if p.Kind == gatehouse.Opaque {
			continue
		}
		text += added
		if added = ""; text != p.Text {
			patches = append(patches, rawjson.Patch{Start: r.at[i].Start, End: r.at[i].End, With: rawjson.Quote(text)})
		}
	}
	return rawjson.Splice(r.doc, patches), nil
}
