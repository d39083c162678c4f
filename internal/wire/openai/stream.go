package openai

import (
	"fmt"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// stream reads chunks. It keeps every event as it came, and for each text in it the part that it belongs to.
type stream struct {
	to      wire.Sink
	events  []event
	parts   []*growing // in the order in which they were opened
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
	done bool       // the terminal event
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
				return chunk{}, wrong(path, "an object")
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
	}
	for _, one := range c.choices {
		into := s.choices[one.index]
		if into == nil {
			into = &streamed{index: one.index, first: len(s.events), finish: -1}
			s.choices[one.index] = into
		}
		for _, i := range one.message.items {
			e.refs = append(e.refs, s.text(into, i, c.doc))
		}
		for _, piece := range one.message.calls {
			g, err := s.call(into, piece, c.doc)
			if err != nil {
				s.pair(into) // when the event was cut short, what came before it is still written
				return err
			}
			e.refs = append(e.refs, g)
		}
		s.pair(into)
		if !one.value.Get("finish_reason").Exists() {
			continue
		}
		if into.finish < 0 {
			into.finish = len(s.events)
		}
		for _, g := range into.parts {
			s.close(g)
		}
	}
	return nil
}

// Bytes writes the stream. What was cut off stays cut off: no terminal event is made up.
func (s *stream) Bytes(parts []gatehouse.Part) ([]byte, error) {
	own, inserted, err := align(parts, len(s.parts))
	if err != nil {
		return nil, err
	}
	w := streamEdit{stream: s, parts: own, choices: map[int]*streamedEdit{}, written: map[*growing]bool{}}
	for _, g := range s.parts {
		if err := w.plan(g); err != nil {
			return nil, err
		}
	}
	for _, p := range inserted {
		if p.Text == "" {
			continue
		}
		c := w.choice(p.Choice)
		if c == nil {
			return nil, fmt.Errorf("no choice %d to add text to", p.Choice)
		}
		c.added = join(c.added, p.Text)
	}
	return w.bytes()
}
