package completions

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/sse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// stream is an answer that arrives in chunks. One that comes whole is a stream of one chunk.
type stream struct {
	to    wire.Sink
	whole bool
	parts []*growing
	of    map[int]*growing // by choice
	chunk []chunk
	usage gatehouse.Usage
	done  bool
}

// growing is the text of one choice.
type growing struct {
	place, id, index int
	text             strings.Builder
}

// chunk is one event as it came, or a whole body.
type chunk struct {
	raw  []byte
	name string
	doc  []byte // nil where it carries none
}

// choice is one choice of a chunk.
type choice struct {
	index          int
	text, logprobs rawjson.Value
}

// Response reads a whole body.
func (Codec) Response(body []byte, to wire.Sink) (wire.Response, error) {
	s := &stream{to: to, whole: true, of: map[int]*growing{}}
	if err := s.take(chunk{doc: body}); err != nil {
		return nil, err
	}
	s.close()
	return s, nil
}

// Stream begins to read a stream.
func (Codec) Stream(to wire.Sink) wire.Stream { return &stream{to: to, of: map[int]*growing{}} }

func (s *stream) Usage() gatehouse.Usage { return s.usage }
func (s *stream) Done() bool             { return s.done }

// Event takes one event.
func (s *stream) Event(raw []byte, name, data string) error {
	c := chunk{raw: raw, name: name}
	switch strings.TrimSpace(data) {
	case "":
	case "[DONE]":
		s.done = true
		s.close()
	default:
		c.doc = []byte(data)
		return s.take(c)
	}
	s.chunk = append(s.chunk, c)
	return nil
}

func (s *stream) close() {
	for _, g := range s.parts {
		s.to.Close(g.id)
	}
}

func (s *stream) take(c chunk) error {
	root, list, err := read(c.doc)
	if err != nil {
		return err
	}
	if usage := root.Get("usage"); usage.Exists() {
		s.usage.Input, _ = usage.Get("prompt_tokens").Int(c.doc)
		s.usage.Output, _ = usage.Get("completion_tokens").Int(c.doc)
	}
	for _, one := range list {
		s.grow(one, one.text.Text(c.doc))
	}
	s.chunk = append(s.chunk, c)
	return nil
}

func (s *stream) grow(one choice, text string) {
	if text == "" {
		return
	}
	g := s.of[one.index]
	if g == nil {
		g = &growing{place: len(s.parts), index: one.index}
		g.id = s.to.Open(gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.Assistant, Choice: one.index, Path: "choices[" + strconv.Itoa(one.index) + "].text"})
		s.of[one.index], s.parts = g, append(s.parts, g)
	}
	g.text.WriteString(text)
	s.to.Text(g.id, text)
}

// read reads a body or a chunk.
func read(doc []byte) (root rawjson.Value, list []choice, err error) {
	if root, err = wire.ParseObject(doc, wire.MaxDepth); err != nil {
		return root, nil, err
	}
	choices := root.Get("choices")
	if choices.Exists() && choices.Kind != rawjson.Array {
		return root, nil, wrong("choices", "an array")
	}
	for i, v := range choices.Elems {
		path := "choices[" + strconv.Itoa(i) + "]"
		if v.Kind != rawjson.Object {
			return root, nil, wrong(path, "an object")
		}
		one := choice{index: i, text: v.Get("text"), logprobs: v.Get("logprobs")}
		if at := v.Get("index"); at.Exists() {
			n, ok := at.Int(doc)
			if !ok || n < 0 || n > maxChoices {
				return root, nil, wrong(path+".index", "a small integer")
			}
			one.index = int(n)
		}
		if one.text.Exists() && one.text.Kind != rawjson.String {
			return root, nil, wrong(path+".text", "a string")
		}
		list = append(list, one)
	}
	return root, list, nil
}

// Bytes writes the answer. A new text comes at once where the old one began, what the gateway adds behind it.
func (s *stream) Bytes(parts []gatehouse.Part) ([]byte, error) {
	if len(parts) < len(s.parts) {
		return nil, fmt.Errorf("%d parts for a document of %d", len(parts), len(s.parts))
	}
	texts := map[int]string{} // what the choices that change say in the end
	for _, g := range s.parts {
		if text := final(parts[g.place]); text != g.text.String() {
			texts[g.index] = text
		}
	}
	for _, p := range parts[len(s.parts):] {
		before, changed := texts[p.Choice]
		if g := s.of[p.Choice]; g != nil && !changed {
			before = g.text.String()
		}
		if p.Text == "" {
			continue
		}
		texts[p.Choice] = strings.TrimPrefix(before+"\n\n"+p.Text, "\n\n")
	}
	var out []byte
	written := map[int]bool{}
	for _, c := range s.chunk {
		raw, err := s.write(c, texts, written)
		if err != nil {
			return nil, err
		}
		out = append(out, raw...)
	}
	for index, text := range texts {
		if !written[index] && text != "" {
			return nil, fmt.Errorf("no choice %d to add text to", index)
		}
	}
	return out, nil
}

func (s *stream) write(c chunk, texts map[int]string, written map[int]bool) ([]byte, error) {
	if c.doc == nil || len(texts) == 0 {
		if s.whole {
			return c.doc, nil
		}
		return c.raw, nil
	}
	_, list, err := read(c.doc)
	if err != nil {
		return nil, err
	}
	var patches []rawjson.Patch
	for _, one := range list {
		text, ok := texts[one.index]
		if !ok {
			continue
		}
		if written[one.index] {
			text = ""
		}
		switch at := one.text; {
		case at.Kind == rawjson.String && at.Text(c.doc) != text:
			patches = append(patches, rawjson.Patch{Start: at.Start, End: at.End, With: rawjson.Quote(text)})
		case at.Kind != rawjson.String:
			continue
		}
		written[one.index] = true
		if one.logprobs.Exists() {
			patches = append(patches, rawjson.Patch{Start: one.logprobs.Start, End: one.logprobs.End, With: []byte("null")})
		}
	}
	doc := rawjson.Splice(c.doc, patches)
	switch {
	case s.whole:
		return doc, nil
	case len(patches) == 0:
		return c.raw, nil
	case bytes.IndexByte(c.doc, '\n') >= 0 || bytes.Count(c.raw, c.doc) != 1: // the data stood on several lines
		return sse.Append(nil, c.name, string(doc)), nil
	}
	return bytes.Replace(c.raw, c.doc, doc, 1), nil
}
