package openai

import (
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// stream reads chunks. It keeps every event as it came, and for each text in it the part that it belongs to.
type stream struct {
	to      wire.Sink
	events  []event     // those that have not been written
	sent    int         // how many have been
	held    int         // bytes of those that have not
	live    *streamEdit // writes what leaves before the end; nil while nothing has
	parts   []*growing  // in the order in which they were opened
	choices map[int]*streamed
	usage   gatehouse.Usage
	done    bool
}

// event is one event of the stream.
type event struct {
	raw  []byte
	name string
	doc  []byte     // the chunk; nil when the event carries none
	refs []*growing // for each text and then each call of each choice; nil for an empty text of no part
	ends []int      // how much of each part's text there is behind the event
	done bool       // the terminal event
	last bool       // a choice ends in it

	ahead []*streamed // choices of whose texts it may tell what is still to come

	counts bool // it holds the usage and nothing else
}

// Stream begins to read a stream of chat.completion.chunk events.
func (Codec) Stream(to wire.Sink) wire.Stream {
	return &stream{to: to, choices: map[int]*streamed{}}
}

func (s *stream) Usage() gatehouse.Usage { return s.usage }
func (s *stream) Done() bool             { return s.done }

// Event takes one event. An error means that the stream cannot be understood; nothing more may be fed then.
func (s *stream) Event(raw []byte, name, data string) error {
	e := event{raw: raw, name: name}
	switch strings.TrimSpace(data) {
	case "":
	case "[DONE]":
		e.done, s.done = true, true
		for _, g := range s.parts {
			s.close(g)
		}
	default:
		e.doc = []byte(data)
		c, err := readChunk(e.doc)
		if err != nil {
			return err
		}
		if err := s.chunk(&e, c); err != nil {
			return err
		}
	}
	s.events = append(s.events, e)
	s.held += len(e.raw)
	return nil
}

// chunk is a chat.completion.chunk.
type chunk struct {
	reader
	root    rawjson.Value
	choices []choice // their messages are deltas
}

func readChunk(doc []byte) (chunk, error) {
	root, err := wire.ParseObject(doc, wire.MaxDepth)
	if err != nil {
		return chunk{}, err
	}
	c := chunk{reader: reader{doc: doc, delta: true}, root: root}
	values, err := c.list(root)
	if err != nil {
		return chunk{}, err
	}
	for i, v := range values {
		one := choice{value: v}
		if one.index, err = c.choiceIndex(v, i); err != nil {
			return chunk{}, err
		}
		if delta := v.Get("delta"); delta.Exists() {
			path := index("choices", i) + ".delta"
			if delta.Kind != rawjson.Object {
				return chunk{}, wire.Wrong(path, "an object")
			}
			if one.message, err = c.message(delta, path); err != nil {
				return chunk{}, err
			}
		}
		c.choices = append(c.choices, one)
	}
	return c, nil
}

func (s *stream) chunk(e *event, c chunk) error {
	if c.root.Get("usage").Exists() {
		s.usage = readUsage(c.root, c.doc)
		e.counts = len(c.choices) == 0
	}
	c.unread(chunkShape, c.root, c.choices, "delta", s.to)
	for i, one := range c.choices {
		into := s.choices[one.index]
		if into == nil {
			into = &streamed{index: one.index, first: s.next(), name: e.name, doc: e.doc, finish: -1}
			s.choices[one.index] = into
		}
		if strange := c.logprobs(&c.choices[i], s.to); strange || len(one.message.value.Get("annotations").Elems) > 0 {
			e.ahead = append(e.ahead, into)
		}
		for _, item := range one.message.items {
			e.add(s.text(into, item, c.doc))
		}
		for _, piece := range one.message.calls {
			g, err := s.call(into, piece, c.doc)
			if err != nil {
				s.pair(into) // when the event was cut short, what came before it is still written
				return err
			}
			e.add(g)
		}
		s.pair(into)
		if !one.value.Get("finish_reason").Exists() {
			continue
		}
		if into.finish < 0 {
			into.finish = s.next()
		}
		e.last = true
		for _, g := range into.parts {
			s.close(g)
		}
	}
	return nil
}

// next is the number of the event that comes next.
func (s *stream) next() int { return s.sent + len(s.events) }

func (e *event) add(g *growing) {
	end := 0
	if g != nil {
		end = g.text.Len()
	}
	e.refs, e.ends = append(e.refs, g), append(e.ends, end)
}
