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

// growing is a part that arrives in pieces.
type growing struct {
	place  int // in stream.parts
	part   gatehouse.Part
	text   strings.Builder
	id     int // the sink's
	member string
	index  int // of a call, as the provider counts
	closed bool
}

// streamed is one choice of a stream.
type streamed struct {
	index  int
	parts  []*growing
	last   *growing // the call that came last
	first  int      // the event that the choice came in first
	finish int      // the event with its finish reason; -1 when there was none
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
				return err
			}
			e.refs = append(e.refs, g)
		}
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

// text adds a delta to the part of its member. An empty one opens none.
func (s *stream) text(into *streamed, i item, doc []byte) *growing {
	delta := i.at.Text(doc)
	g := into.part(i)
	if g == nil {
		if delta == "" && i.kind != gatehouse.Opaque {
			return nil
		}
		g = s.open(into, i.member, gatehouse.Part{Kind: i.kind, Path: i.path, Media: i.media})
	}
	s.grow(g, delta)
	return g
}

// part finds the part that an item belongs to.
func (c *streamed) part(i item) *growing {
	for _, g := range c.parts {
		if g.part.Kind == i.kind && g.member == i.member && g.part.Media == i.media {
			return g
		}
	}
	return nil
}

func (s *stream) call(into *streamed, piece call, doc []byte) (*growing, error) {
	g, at, err := into.call(piece, doc)
	if err != nil {
		return nil, err
	}
	if g == nil {
		if piece.tool == "" {
			return nil, wrong(piece.path, "behind the name of its tool") // else no gate could judge it
		}
		if into.last != nil {
			s.close(into.last)
		}
		g = s.open(into, piece.member, gatehouse.Part{Kind: gatehouse.ToolCall, Path: piece.path, Media: piece.media, Tool: piece.tool, CallID: piece.id})
		g.index = at
	}
	// Clients join the pieces of a call, or let the last one win. What could be read both ways is not judged but refused.
	if piece.tool != "" && piece.tool != g.part.Tool || piece.id != "" && piece.id != g.part.CallID ||
		piece.at.Exists() && piece.media != g.part.Media {
		return nil, wrong(piece.path, "of the call that began at its index")
	}
	into.last = g
	s.grow(g, piece.at.Text(doc))
	return g, nil
}

// call finds the call that a piece belongs to, nil for a new one, and the index that it has. A piece without an index
// goes on with the last call, unless it has another id.
func (c *streamed) call(piece call, doc []byte) (g *growing, at int, err error) {
	given := piece.elem.Get("index")
	n, ok := given.Int(doc)
	switch {
	case piece.member == "function_call":
	case !given.Exists():
		if c.last != nil && c.last.member == piece.member && (piece.id == "" || piece.id == c.last.part.CallID) {
			return c.last, 0, nil
		}
		for _, g := range c.parts {
			if g.member == piece.member {
				at = max(at, g.index+1)
			}
		}
		if at > maxIndex {
			return nil, 0, wrong(piece.path, "one of fewer calls")
		}
		return nil, at, nil
	case !ok || n < 0 || n > maxIndex:
		return nil, 0, wrong(piece.path, "at an index that is a small integer")
	}
	for _, g := range c.parts {
		if g.member == piece.member && g.index == int(n) {
			return g, int(n), nil
		}
	}
	return nil, int(n), nil
}

func (s *stream) open(into *streamed, member string, p gatehouse.Part) *growing {
	p.Role, p.Choice = gatehouse.Assistant, into.index
	g := &growing{place: len(s.parts), part: p, member: member, id: s.to.Open(p)}
	s.parts = append(s.parts, g)
	into.parts = append(into.parts, g)
	return g
}

func (s *stream) grow(g *growing, delta string) {
	if delta != "" {
		g.text.WriteString(delta)
		g.closed = false
		s.to.Text(g.id, delta)
	}
}

func (s *stream) close(g *growing) {
	if !g.closed {
		g.closed = true
		s.to.Close(g.id)
	}
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
