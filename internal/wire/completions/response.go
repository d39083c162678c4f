package completions

import (
	"strconv"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// stream is an answer that arrives in chunks. One that comes whole is a stream of one chunk.
type stream struct {
	to     wire.Sink
	whole  bool
	parts  []*growing
	of     map[int]*streamed
	chunks []chunk   // those that have not been written
	sent   int       // how many have been
	held   int       // bytes of those that have not
	live   *writer   // writes what leaves before the end; nil while nothing has
	gate   wire.Gate // before the first chunk that is held
	quotes wire.Gate // before what it quotes
	usage  gatehouse.Usage
	done   bool
}

// streamed is one choice.
type streamed struct {
	text   *growing // nil while it has none
	first  int      // the chunk that it came in first
	doc    []byte   // that chunk
	finish int      // the chunk with its finish reason; -1 when there was none
}

// growing is the text of one choice.
type growing struct {
	place, id, index int
	text             strings.Builder
}

// ref is what a chunk has brought of a text: the bytes from..to; of an empty one there is no part.
type ref struct {
	*growing
	from, to int
}

// chunk is one event as it came, or a whole body.
type chunk struct {
	raw    []byte
	name   string
	doc    []byte // nil where it carries none
	refs   []ref  // for each choice
	last   bool   // a choice, or the stream, ends in it
	counts bool   // it holds the usage and nothing else

	ahead []*streamed // choices of whose text it may tell what is still to come
}

// choice is one choice of a chunk.
type choice struct {
	index          int
	text, logprobs rawjson.Value
	finished       bool
}

// Response reads a whole body.
func (Codec) Response(body []byte, to wire.Sink) (wire.Response, error) {
	s := &stream{to: to, whole: true, of: map[int]*streamed{}}
	if err := s.take(chunk{raw: body, doc: body}); err != nil {
		return nil, err
	}
	s.close()
	return s, nil
}

// Stream begins to read a stream.
func (Codec) Stream(to wire.Sink) wire.Stream { return &stream{to: to, of: map[int]*streamed{}} }

func (s *stream) Usage() gatehouse.Usage { return s.usage }
func (s *stream) Done() bool             { return s.done }

// Event takes one event.
func (s *stream) Event(raw []byte, name, data string) error {
	c := chunk{raw: raw, name: name}
	switch strings.TrimSpace(data) {
	case "":
	case "[DONE]":
		s.done, c.last = true, true
		s.close()
	default:
		c.doc = []byte(data)
		return s.take(c)
	}
	s.keep(c)
	return nil
}

func (s *stream) keep(c chunk) {
	s.chunks = append(s.chunks, c)
	s.held += len(c.raw)
}

// next is the number of the chunk that comes next.
func (s *stream) next() int { return s.sent + len(s.chunks) }

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
		c.counts = len(list) == 0
	}
	answerShape.Unread(root, c.doc, nil, func(path string) { s.to.Unread(path) })
	for _, one := range list {
		of := s.of[one.index]
		if of == nil {
			of = &streamed{first: s.next(), doc: c.doc, finish: -1}
			s.of[one.index] = of
		}
		if one.unread(c.doc, s.to) {
			c.ahead = append(c.ahead, of)
		}
		c.refs = append(c.refs, s.grow(of, one, one.text.Text(c.doc)))
		if c.last = c.last || one.finished; one.finished && of.finish < 0 {
			of.finish = s.next()
		}
	}
	s.keep(c)
	return nil
}

func (s *stream) grow(of *streamed, one choice, text string) ref {
	if text == "" {
		return ref{}
	}
	g := of.text
	if g == nil {
		g = &growing{place: len(s.parts), index: one.index}
		g.id = s.to.Open(gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.Assistant, Choice: one.index, Path: "choices[" + strconv.Itoa(one.index) + "].text"})
		of.text, s.parts = g, append(s.parts, g)
	}
	from := g.text.Len()
	g.text.WriteString(text)
	s.to.Text(g.id, text)
	return ref{g, from, g.text.Len()}
}

// read reads a body or a chunk.
func read(doc []byte) (root rawjson.Value, list []choice, err error) {
	if root, err = wire.ParseObject(doc, wire.MaxDepth); err != nil {
		return root, nil, err
	}
	choices := root.Get("choices")
	if choices.Exists() && choices.Kind != rawjson.Array {
		return root, nil, wire.Wrong("choices", "an array")
	}
	for i, v := range choices.Elems {
		path := "choices[" + strconv.Itoa(i) + "]"
		if v.Kind != rawjson.Object {
			return root, nil, wire.Wrong(path, "an object")
		}
		one := choice{index: i, text: v.Get("text"), logprobs: v.Get("logprobs"), finished: v.Get("finish_reason").Exists()}
		if at := v.Get("index"); at.Exists() {
			n, ok := at.Int(doc)
			if !ok || n < 0 || n > maxChoices {
				return root, nil, wire.Wrong(path+".index", "a small integer")
			}
			one.index = int(n)
		}
		if one.text.Exists() && one.text.Kind != rawjson.String {
			return root, nil, wire.Wrong(path+".text", "a string")
		}
		list = append(list, one)
	}
	return root, list, nil
}
