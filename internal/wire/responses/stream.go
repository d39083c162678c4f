package responses

import (
	"errors"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// stream reads events. It keeps every one as it came, and for each text in it the part that it belongs to.
type stream struct {
	turn
	events []event     // those that have not been written
	held   int         // bytes of those that have not
	live   *streamEdit // writes what leaves before the end; nil while nothing has
	stray  output      // what comes without an item
	asked  *echo       // what the request said
	first  []byte      // the response as the first event tells it that tells of it
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
	refs  []ref
	about *growing   // the text that an annotation speaks of
	tells []*growing // texts of which it may say what is still to come: it waits until all is decided of them
	ends  bool       // it ends the stream

	item     []byte // of an event that begins or ends one: the item
	closes   bool   // it ends one
	whole    bool   // it tells of the whole response
	numbered bool   // it has a sequence_number
	number   int64
}

// ref is what an event has brought of a text: the bytes from..to. A copy of what is known brings none, and a text of no part has
// no part.
type ref struct {
	*growing
	from, to int
}

// bring is the ref of a text that was so long before.
func bring(g *growing, from int) ref {
	if g == nil {
		return ref{}
	}
	return ref{g, from, g.text.Len()}
}

const noItem = -1

// Stream begins to read a stream of response.… events.
func (c Codec) Stream(to wire.Sink) wire.Stream {
	return &stream{turn: turn{to: to}, asked: c.asked, stray: output{index: noItem, parts: map[string][]*growing{}}}
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
	s.held += len(e.raw)
	return nil
}

func (s *stream) take(e *event) error {
	v, err := readEvent(e.doc, e.name)
	if err != nil {
		return err
	}
	v.unread(s.asked, s.to)
	e.index = v.index
	e.number, e.numbered = v.root.Get("sequence_number").Int(e.doc)
	switch {
	case v.object != nil:
		return s.response(e, v)
	case v.terminal():
		e.ends, s.done = true, true
		return nil
	case v.one != nil:
		return s.outputItem(e, v)
	case v.index == noItem && len(v.fields) == 0 && v.about == "":
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
	if e.whole = true; s.first == nil {
		s.first = v.object.value.Raw(e.doc)
	}
	if s.keys = keysOf(v.object.value, e.doc); v.object.value.Get("usage").Exists() {
		s.usage = usageOf(v.object.value, e.doc)
	}
	if e.ends = v.terminal(); e.ends {
		s.done = true
	}
	n := 0
	for _, one := range v.object.items {
		for _, f := range one.fields {
			e.notes(e.refs[n], f, true)
			n++
		}
	}
	return nil
}

// outputItem takes the beginning or the end of an item.
func (s *stream) outputItem(e *event, v view) (err error) {
	e.item = v.one.value.Raw(e.doc)
	if e.closes = !v.grows; e.closes {
		if o := s.items[v.index]; o != nil && !o.agrees(e.doc, *v.one) {
			return wire.Wrong("an item's end", "what its pieces have said")
		}
		if e.refs, err = s.complete(v.index, *v.one); err == nil {
			s.items[v.index].closed = true
		}
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
		var r ref
		if f.part.Kind == gatehouse.ToolCall {
			o.tool, o.waits = f.part, f.raw
		}
		switch {
		case f.raw: // what stands here is often not yet whole
			o.early(e.doc, *v.one, f)
		case f.part.Signed:
			r, err = s.whole(o, f)
		default:
			r = s.grow(o, f)
		}
		if err != nil {
			return err
		}
		e.refs = append(e.refs, r)
		e.notes(r, f, true)
	}
	return nil
}

// pieces takes an event that carries pieces or copies of texts of one item.
func (s *stream) pieces(e *event, v view, o *output) error {
	if v.command {
		return o.command(e.doc, v)
	}
	if v.about != "" {
		s.annotated(e, v, o)
	}
	for _, f := range v.fields {
		if f.part.Kind == gatehouse.ToolCall {
			if o.tool.Tool == "" || o.tool.Kind != gatehouse.ToolCall {
				return wire.Wrong(f.key, "behind the name of its tool") // else no gate could judge it
			}
			text := f.part.Text
			f.part = o.tool
			f.part.Text = text
		}
		var r ref
		var err error
		if v.grows {
			r = s.grow(o, f)
		} else if r, err = s.whole(o, f); err != nil {
			return err
		}
		e.refs = append(e.refs, r)
		e.notes(r, f, v.grows)
	}
	return nil
}

// command takes a piece of a shell's command, or the whole of one. It is no part: the end of the item tells all commands, and
// without that nothing of the item leaves.
func (o *output) command(doc []byte, v view) error {
	n, ok := v.root.Get("command_index").Int(doc)
	if !ok || n < 0 || n >= maxItems {
		return wire.Wrong("command_index", "a small integer")
	}
	if o.commands == nil {
		o.commands = map[int64]*strings.Builder{}
	}
	if o.waits = true; o.commands[n] == nil {
		o.commands[n] = &strings.Builder{}
	}
	if v.kind == "response.shell_call_command.delta" {
		o.commands[n].WriteString(v.root.Get("delta").Text(doc))
		return nil
	}
	whole := v.root.Get("command").Text(doc)
	if o.commands[n].Len() == 0 {
		o.commands[n].WriteString(whole)
	} else if whole != o.commands[n].String() {
		return wire.Wrong("a command", "what its pieces have said")
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
