package anthropic

import (
	"errors"
	"fmt"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// stream is a message that arrives in events (https://docs.anthropic.com/en/api/messages-streaming).
type stream struct {
	to     wire.Sink
	raw    []byte // the events that have not been written, as they came
	events []event
	sent   int           // how many events have been written
	live   *streamWriter // writes what leaves before the end; nil while nothing has
	open   map[int64]int // blocks that have begun and not ended, by their index on the wire
	seen   map[int64]bool
	flows  []flow // by block
	ids    []int  // the sink's, by slot
	usage  gatehouse.Usage
	begun  int // the event with which the message began; -1 before
	done   bool
	read   reader
	blocks []block
}

// event is one event as it came.
type event struct {
	size int // of its bytes in raw; they begin where those of the event before end
	name string
	data string
	kind string
	in   int // its block, or noBlock
	text bool
	cite bool // it quotes its block's text, or what that is about
	upto int  // how much of its block's text there is behind it
}

const noBlock = -1

// flow is how one block arrived.
type flow struct {
	index int64 // on the wire
	start int   // the event that began it
	stop  int   // the event that ended it; 0: it is open
	delta int   // the first event that brought it text, or noDelta
	slots []int // its own
	clear int   // how many of them nothing will change any more but what deltas add
	slot  int   // the slot that deltas add to, or noSlot
	text  []byte
	input string // of a call, from the event that began it
	other bool   // it has had deltas that are not known
}

const (
	noDelta = -1
	noSlot  = -1
)

func newStream(to wire.Sink) *stream {
	return &stream{to: to, read: reader{to: to}, begun: -1, open: map[int64]int{}, seen: map[int64]bool{}}
}

// Done reports whether message_stop has been seen.
func (s *stream) Done() bool { return s.done }

// Usage is what message_start and message_delta have counted so far.
func (s *stream) Usage() gatehouse.Usage { return s.usage }

// Event reads one event. It refuses what clients would understand differently: an event name other than the type in
// the data, deltas of another kind than their block, events out of order. A refused event is not kept.
func (s *stream) Event(raw []byte, name, data string) error {
	e := event{name: name, data: data, in: noBlock}
	if name != "" && wire.PathName(name) == "*" {
		s.to.Unread("event")
	}
	if err := s.take(&e); err != nil {
		return err
	}
	if e.in != noBlock {
		e.upto = len(s.flows[e.in].text)
	}
	s.raw = append(s.raw, raw...)
	e.size = len(raw)
	s.events = append(s.events, e)
	return nil
}

func (s *stream) take(e *event) error {
	if e.data == "" || e.data == "[DONE]" { // a comment, or the end mark that servers for two formats add
		return nil
	}
	s.read.doc = []byte(e.data)
	root, err := wire.ParseObject(s.read.doc, wire.MaxDepth)
	if err != nil {
		return fmt.Errorf("event %d: %w", s.next(), err)
	}
	e.kind = root.Get("type").Text(s.read.doc)
	switch {
	case e.kind == "":
		e.kind = e.name
	case e.name != "" && e.name != "message" && e.name != e.kind:
		return s.impossible("its name is not its type")
	}
	if err := s.hear(e, root); err != nil {
		return err
	}
	s.unread(e, root)
	return nil
}

// hear takes what an event says.
func (s *stream) hear(e *event, root rawjson.Value) error {
	switch e.kind {
	case "message_start":
		return s.messageStart(root.Get("message"))
	case "content_block_start":
		return s.blockStart(e, root)
	case "content_block_delta":
		return s.blockDelta(e, root)
	case "content_block_stop":
		return s.blockStop(e, root)
	case "message_delta":
		readUsage(&s.usage, s.read.doc, root.Get("usage"))
	case "message_stop":
		if len(s.open) > 0 {
			return s.impossible("the message ends inside a block")
		}
		s.done = true
	}
	return nil
}

func (s *stream) impossible(why string) error { return fmt.Errorf("event %d: %s", s.next(), why) }

func (s *stream) messageStart(m rawjson.Value) error {
	if c := m.Get("content"); len(c.Elems) > 0 || c.Kind == rawjson.String { // nothing would inspect it
		return s.impossible("a message begins with content")
	}
	readUsage(&s.usage, s.read.doc, m.Get("usage"))
	s.begun = s.next()
	return nil
}

func (s *stream) blockStart(e *event, root rawjson.Value) error {
	index, ok := root.Get("index").Int(s.read.doc)
	if !ok || s.done || s.seen[index] {
		return s.impossible("a block begins twice, without an index or behind the end")
	}
	b, n, first := root.Get("content_block"), len(s.blocks), len(s.read.slots)
	s.read.at = n
	as := gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.Assistant}
	if err := s.read.block(b, fmt.Sprintf("content[%d]", n), as); err != nil {
		return fmt.Errorf("event %d: %w", s.next(), err)
	}
	e.cite = cites(b.Get("citations"))
	s.blocks = append(s.blocks, readBlock(s.read.doc, b))
	f := flow{index: index, start: s.next(), delta: noDelta, slot: noSlot}
	if kind := s.blocks[n].kind; kind == "text" || kind == "thinking" || isCall(kind) {
		f.begin(&s.read.slots[first], first)
	}
	for i, slot := range s.read.slots[first:] {
		s.ids, f.slots = append(s.ids, s.to.Open(slot.part)), append(f.slots, first+i)
	}
	s.flows, s.open[index], s.seen[index], e.in = append(s.flows, f), n, true, n
	return nil
}

// deltas are the slot that deltas add to, where there is one.
func (f *flow) deltas() []int {
	if f.slot == noSlot {
		return nil
	}
	return []int{f.slot}
}

// begin makes the flow the one that fills the slot.
func (f *flow) begin(s *slot, at int) {
	f.slot = at
	switch s.part.Kind {
	case gatehouse.ToolCall: // the input at the start is a placeholder when deltas follow
		f.input, s.part.Text = s.part.Text, ""
	case gatehouse.Reasoning:
		// The signature comes last, when the part is long open. The API signs all thinking, and taking unsigned
		// thinking for signed costs nothing but the chance to edit it.
		s.part.Signed = true
	}
	f.text = []byte(s.part.Text)
}

// block finds the open block that an event belongs to.
func (s *stream) block(e *event, root rawjson.Value) error {
	index, ok := root.Get("index").Int(s.read.doc)
	if n, isOpen := s.open[index]; ok && isOpen {
		e.in = n
		return nil
	}
	return s.impossible("its block is not open")
}

func (s *stream) blockDelta(e *event, root rawjson.Value) error {
	if err := s.block(e, root); err != nil {
		return err
	}
	delta, kind := root.Get("delta"), s.blocks[e.in].kind
	name := delta.Get("type").Text(s.read.doc)
	fits := true
	switch name {
	case "text_delta":
		fits = kind == "text"
	case "citations_delta":
		fits, e.cite = kind == "text", true
	case "input_json_delta":
		fits = isCall(kind)
	case "thinking_delta", "signature_delta":
		fits = kind == "thinking"
	default:
		s.unknownDelta(e.in, name)
	}
	if !fits {
		return s.impossible("a delta of another kind than its block")
	}
	s.deltaUnread(name, delta)
	if member := textMember(name); member != "" {
		return s.text(e, delta.Get(member))
	}
	return nil
}

// cites reports whether there are citations in a member of a block.
func cites(v rawjson.Value) bool { return v.Exists() && (v.Kind != rawjson.Array || len(v.Elems) > 0) }

// textMember is the member of a delta that holds text, empty when it has none.
func textMember(delta string) string {
	switch delta {
	case "text_delta":
		return "text"
	case "input_json_delta":
		return "partial_json"
	case "thinking_delta":
		return "thinking"
	}
	return ""
}

func (s *stream) text(e *event, v rawjson.Value) error {
	if v.Kind != rawjson.String {
		return s.impossible("a delta without its text")
	}
	f, text := &s.flows[e.in], v.Text(s.read.doc)
	if f.delta == noDelta {
		f.delta = s.next()
	}
	f.text = append(f.text, text...)
	s.to.Text(s.ids[f.slot], text)
	e.text = true
	return nil
}

// unknownDelta shows once for each block that something went by which nothing reads.
func (s *stream) unknownDelta(n int, name string) {
	f := &s.flows[n]
	if f.other {
		return
	}
	f.other, f.slots = true, append(f.slots, len(s.read.slots))
	s.read.at = n
	s.read.opaque(name, fmt.Sprintf("content[%d]", n), gatehouse.Part{Role: gatehouse.Assistant})
	s.ids = append(s.ids, s.to.Open(s.read.slots[len(s.read.slots)-1].part))
}

func (s *stream) blockStop(e *event, root rawjson.Value) error {
	if err := s.block(e, root); err != nil {
		return err
	}
	f := &s.flows[e.in]
	if isCall(s.blocks[e.in].kind) {
		if err := s.wholeInput(f); err != nil {
			return err
		}
	}
	delete(s.open, f.index)
	f.stop = s.next()
	for _, i := range f.slots {
		s.to.Close(s.ids[i])
	}
	return nil
}

// wholeInput takes a call's arguments from the event that began it when no delta brought any. Two different inputs are
// refused: clients differ in which of them they run.
func (s *stream) wholeInput(f *flow) error {
	switch {
	case len(f.text) == 0:
		f.text = []byte(f.input)
		s.to.Text(s.ids[f.slot], f.input)
	case !emptyInput(f.input) && f.input != string(f.text):
		return s.impossible("a call with two inputs")
	}
	return nil
}

func emptyInput(raw string) bool {
	v, err := rawjson.Parse([]byte(raw), wire.MaxDepth)
	return err != nil || len(v.Members) == 0 && len(v.Elems) == 0 && v.Text([]byte(raw)) == ""
}

// next is the number of the event that comes next.
func (s *stream) next() int { return s.sent + len(s.events) }

var (
	// errNoMessage says that there is no message to put text into.
	errNoMessage = errors.New("the stream has no message to add text to")
	// errGone says that what was sent cannot be taken back.
	errGone = errors.New("a block was taken away, or a text put before one, after it had been sent")
)
