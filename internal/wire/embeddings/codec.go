// Package embeddings is the codec of OpenAI embeddings (https://platform.openai.com/docs/api-reference/embeddings). It promises that
// the texts of a request are parts, as a user's, and that bytes which no edit touches stay as they were. The answer is numbers: it
// has no parts, and words in it are named.
package embeddings

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// Codec is the format; its zero value is ready. What the provider's endpoints have in common, such as errors, is the base's.
type Codec struct {
	wire.Codec     // of the provider's errors
	Depth      int // most nested arrays and objects of a request; 0: [wire.MaxDepth]
}

var _ wire.Codec = Codec{}

type request struct {
	doc   []byte
	root  rawjson.Value
	parts []gatehouse.Part
	at    []rawjson.Value // where each of them stands
}

// Request reads a request body. Input that is a list of token numbers is a part that nobody can read.
func (c Codec) Request(body []byte) (wire.Request, error) {
	root, err := wire.ParseObject(body, c.Depth)
	if err != nil {
		return nil, err
	}
	r := &request{doc: body, root: root}
	input := root.Get("input")
	if input.Kind == rawjson.String {
		r.add(input, "input")
		return r, nil
	}
	for i, v := range input.Elems {
		if v.Kind == rawjson.Number {
			r.add(input, "input")
			break
		}
		r.add(v, "input["+strconv.Itoa(i)+"]")
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
func (r *request) Stream() bool            { return false }

// Bytes writes the body. There is no place for an inserted text: a warning to a model that only measures is left out.
func (r *request) Bytes(parts []gatehouse.Part) ([]byte, error) {
	if len(parts) < len(r.parts) {
		return nil, fmt.Errorf("%d parts for a document of %d", len(parts), len(r.parts))
	}
	var patches []rawjson.Patch
	for i, p := range r.parts {
		now := parts[i]
		text := now.Text
		if now.Removed {
			text = now.Notice
		}
		if text == p.Text || p.Kind == gatehouse.Opaque {
			continue
		}
		patches = append(patches, rawjson.Patch{Start: r.at[i].Start, End: r.at[i].End, With: rawjson.Quote(text)})
	}
	return rawjson.Splice(r.doc, patches), nil
}

// Response takes an answer as it is.
func (Codec) Response(body []byte, to wire.Sink) (wire.Response, error) {
	root, err := wire.ParseObject(body, wire.MaxDepth)
	if err != nil {
		return nil, err
	}
	unread(root, body, to)
	tokens, _ := root.Get("usage").Get("prompt_tokens").Int(body)
	return &response{doc: body, usage: gatehouse.Usage{Input: tokens}}, nil
}

type response struct {
	doc   []byte
	usage gatehouse.Usage
}

func (r *response) Bytes([]gatehouse.Part) ([]byte, error) { return r.doc, nil }
func (r *response) Usage() gatehouse.Usage                 { return r.usage }

// Stream refuses: the API has no streams of embeddings.
func (Codec) Stream(wire.Sink) wire.Stream { return &stream{} }

type stream struct{ response }

func (*stream) Event([]byte, string, string) error { return errors.New("a stream of embeddings") }
func (*stream) Done() bool                         { return false }

// Released has no place to put a call in.
func (Codec) Released(wire.Request, []wire.Call, string) (body []byte, contentType string, err error) {
	return nil, "", errors.New("embeddings make no calls")
}
