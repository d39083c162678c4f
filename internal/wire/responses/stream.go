package responses

import (
	"errors"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// stream reads events. It keeps every one as it came, and for each text in it the part that it belongs to.
type stream struct {
	turn
	events []event
	stray  output // what comes without an item
	usage  gatehouse.Usage
	keys   []string
	done   bool
}

// event is one event of the stream.
type event struct {
	raw   []byte
	name  string
	doc   []byte  // the data; nil where the event carries none
	index int64   // its item; noItem
	items []int64 // those of its response object
	refs  []*growing
	about *growing // the text that an annotation speaks of
	ends  bool     // it ends the stream
}

const noItem = -1

// Stream begins to read a stream of response.… events.
func (Codec) Stream(to wire.Sink) wire.Stream {
	return &stream{turn: turn{to: to}, stray: output{index: noItem, parts: map[string][]*growing{}}}
}

func (s *stream) Usage() gatehouse.Usage { return s.usage }
func (s *stream) Done() bool             { return s.done }

// Keys implements [wire.Stateful].
func (s *stream) Keys() []string { return s.keys }

// Event takes one event. It refuses what clients would understand differently: an event name other than the type in the data.
func (s *stream) Event(raw []byte, name, data string) error {
	e := event{raw: raw, name: name, index: noItem}
	switch strings.TrimSpace(data) {
	case "":
	case "[DONE]": // some servers end all their streams like that
		e.ends, s.done = true, true
	default:
		e.doc = []byte(data)
		if err := s.take(&e); err != nil {
			return err
		}
	}
	s.events = append(s.events, e)
	return nil
}

func (s *stream) take(e *event) error {
	v, err := readEvent(e.doc, e.name)
	if err != nil {
		return err
	}
	e.index = v.index
	switch {
	case v.object != nil:
		return s.response(e, v)
	case v.terminal():
		e.ends, s.done = true, true
		return nil
	case v.one != nil:
		return s.outputItem(e, v)
	case v.index == noItem && len(v.fields) == 0:
		return nil
	}
	o := &s.stray
	if v.index != noItem {
		if o, err = s.item(v.index, "", v.root.Get("item_id").Text(e.doc)); err != nil {
			return err
		}
	}
	return s.pieces(e, v, o)
}

// response takes an event that tells of the whole response.
func (s *stream) response(e *event, v view) (err error) {
	if e.items, e.refs, err = s.read(*v.object); err != nil {
		return err
	}
	if s.keys = keysOf(v.object.value, e.doc); v.object.value.Get("usage").Exists() {
		s.usage = usageOf(v.object.value, e.doc)
	}
	if e.ends = v.terminal(); e.ends {
		s.done = true
	}
	return nil
}

// outputItem takes the beginning or the end of an item.
func (s *stream) outputItem(e *event, v view) (err error) {
	if !v.grows {
		if o := s.items[v.index]; o != nil && !o.agrees(e.doc, *v.one) {
			return wrong("an item's end", "what its pieces have said")
		}
		e.refs, err = s.complete(v.index, *v.one)
		return err
	}
	o, err := s.item(v.index, v.one.kind, v.one.id)
	if err == nil && o.begun {
		err = errors.New("an item begins twice")
	}
	if err != nil {
		return err
	}
	if o.begun = true; o.kind == "" {
		o.kind = v.one.kind
	}
	for _, f := range v.fields {
		var g *growing
		if f.part.Kind == gatehouse.ToolCall {
			o.tool, o.waits = f.part, f.raw
		}
		switch {
		case f.raw: // what stands here is often not yet whole
		case f.part.Signed:
			g, err = s.whole(o, f)
		default:
			g = s.grow(o, f)
		}
		if err != nil {
			return err
		}
		e.refs = append(e.refs, g)
	}
	return nil
}

// pieces takes an event that carries pieces or copies of texts of one item.
func (s *stream) pieces(e *event, v view, o *output) error {
	if v.command {
		return o.command(e.doc, v)
	}
	if list := o.parts[(field{key: v.about, part: gatehouse.Part{Kind: gatehouse.Text}}).slot()]; v.about != "" && len(list) > 0 {
		e.about = list[0]
	}
	for _, f := range v.fields {
		if f.part.Kind == gatehouse.ToolCall {
			if o.tool.Tool == "" || o.tool.Kind != gatehouse.ToolCall {
				return wrong(f.key, "behind the name of its tool") // else no gate could judge it
			}
			text := f.part.Text
			f.part = o.tool
			f.part.Text = text
		}
		var g *growing
		var err error
		if v.grows {
			g = s.grow(o, f)
		} else if g, err = s.whole(o, f); err != nil {
			return err
		}
		e.refs = append(e.refs, g)
	}
	return nil
}

// command takes a piece of a shell's command, or the whole of one. It is no part: the end of the item tells all commands, and
// without that nothing of the item leaves.
func (o *output) command(doc []byte, v view) error {
	n, ok := v.root.Get("command_index").Int(doc)
	if !ok || n < 0 || n >= maxItems {
		return wrong("command_index", "a small integer")
	}
	if o.commands == nil {
		o.commands = map[int64]*strings.Builder{}
	}
	if o.waits = true; o.commands[n] == nil {
		o.commands[n] = &strings.Builder{}
	}
	if delta := v.root.Get("delta"); delta.Kind == rawjson.String {
		o.commands[n].WriteString(delta.Text(doc))
		return nil
	}
	whole := v.root.Get("command").Text(doc)
	if o.commands[n].Len() == 0 {
		o.commands[n].WriteString(whole)
	} else if whole != o.commands[n].String() {
		return wrong("a command", "what its pieces have said")
	}
	return nil
}

// agrees reports whether the commands of an item are those that its pieces have told.
func (o *output) agrees(doc []byte, one item) bool {
	list := one.value.Get("action").Get("commands").Elems
	for n, told := range o.commands {
		if n >= int64(len(list)) || list[n].Text(doc) != told.String() {
			return false
		}
	}
	return true
}

// Bytes writes the stream. What was cut off stays cut off: no terminal event is made up.
func (s *stream) Bytes(parts []gatehouse.Part) ([]byte, error) {
	p, err := s.plan(parts)
	if err != nil {
		return nil, err
	}
	size := 0
	for _, e := range s.events {
		size += len(e.raw)
	}
	w := streamEdit{stream: s, plan: p, out: make([]byte, 0, size)}
	return w.bytes()
}
