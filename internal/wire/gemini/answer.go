package gemini

import (
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// answer is what the model says, in one document or in several that follow each other. It keeps every event as it came, and for
// each text in it the run that it belongs to.
type answer struct {
	to         wire.Sink
	array      bool      // events are the elements of an array
	whole      bool      // the only event is the body
	events     []event   // those that have not been written
	sent       int       // how many have been
	held       int       // bytes of those that have not
	live       *writer   // writes what leaves before the end; nil while nothing has
	gate       wire.Gate // before the first event that is held
	model, id  string    // as the answer names them
	runs       []*run    // in the order in which they were opened: the parts
	candidates map[int]*candidate
	usage      gatehouse.Usage
	blocked    bool // the prompt was
	closed     bool // the array's closing bracket was seen
}

// event is one event as it came.
type event struct {
	raw  []byte
	name string
	doc  []byte // nil when the event carries none
	refs []ref  // for each slot of each candidate
	last bool   // it leaves when all is decided: a candidate, or all of the answer, ends in it, or it tells of what may still come
}

// ref is a piece of a run: the bytes start..end of its text. An empty text of no part has no run.
type ref struct {
	run        *run
	start, end int
}

// run is a part, whose text may arrive in pieces. Clients put all texts of a candidate together, so these are one run, and all
// thoughts another, unless they are signed.
type run struct {
	place     int // in answer.runs
	id        int // the sink's
	first     int // the event that it began in
	part      gatehouse.Part
	text      strings.Builder
	signature []byte // of a call, as it stands
	open      bool
}

// made is the part as the checkpoints got it.
func (r *run) made() gatehouse.Part {
	p := r.part
	p.Text = r.text.String()
	return p
}

// candidate is one alternative of the answer.
type candidate struct {
	runs            []*run
	words, thoughts *run
	first, last     int // the events that it came in first and last
	finish          int // the event with its finish reason; -1 when there was none
}

func newAnswer(to wire.Sink, array bool) *answer {
	return &answer{to: to, array: array, candidates: map[int]*candidate{}}
}

// Usage is what the model has counted so far.
func (a *answer) Usage() gatehouse.Usage { return a.usage }

// Done reports whether the answer has come to its end: each candidate has a reason for it. An array ends with its bracket.
func (a *answer) Done() bool {
	if a.array {
		return a.closed
	}
	for _, c := range a.candidates {
		if c.finish < 0 {
			return false
		}
	}
	return a.blocked || len(a.candidates) > 0
}

// Event takes one event. A refused event is not kept, and nothing of it has gone to the sink.
func (a *answer) Event(raw []byte, name, data string) error {
	e := event{raw: raw, name: name}
	if name != "" && wire.PathName(name) == "*" { // the API names none
		a.to.Unread("event")
	}
	switch strings.TrimSpace(data) {
	case "":
		a.closed = a.closed || a.array
		e.last = a.array
	case "[DONE]": // the end mark that servers for two formats add
		e.last = true
	default:
		e.doc = []byte(data)
		return a.document(e)
	}
	a.keep(e)
	return nil
}

func (a *answer) keep(e event) {
	a.events = append(a.events, e)
	a.held += len(e.raw)
}

// next is the number of the event that comes next.
func (a *answer) next() int { return a.sent + len(a.events) }

// document reads an event's document.
func (a *answer) document(e event) error {
	c, err := readChunk(e.doc)
	if err != nil {
		return err
	}
	if err := c.usage(&a.usage); err != nil {
		return err
	}
	if err := a.names(c); err != nil {
		return err
	}
	a.blocked = a.blocked || c.blocked
	e.last = c.blocked
	t, err := a.apart(c)
	if err != nil {
		return err
	}
	for _, path := range t.unread {
		a.to.Unread(path)
	}
	answerShape.Unread(c.root, c.doc, snake, a.to.Unread)
	e.last = e.last || t.ahead
	for _, s := range c.candidates {
		e.refs = append(e.refs, a.hear(s)...)
		e.last = e.last || s.finished
	}
	a.keep(e)
	return nil
}

// names notes who speaks, as the answer tells it.
func (a *answer) names(c chunk) error {
	if a.model != "" && a.id != "" {
		return nil
	}
	for name, to := range map[string]*string{"modelVersion": &a.model, "responseId": &a.id} {
		if *to != "" {
			continue
		}
		v, err := c.get(c.root, name, "the answer")
		if err != nil {
			return err
		}
		*to = v.Text(c.doc)
	}
	return nil
}

// hear takes what an event says of a candidate.
func (a *answer) hear(s said) []ref {
	c := a.candidates[s.index]
	if c == nil {
		c = &candidate{first: a.next(), finish: -1}
		a.candidates[s.index] = c
	}
	c.last = a.next()
	var refs []ref
	for _, e := range s.elems {
		for _, slot := range e.slots {
			r := a.take(c, slot.part)
			if slot.part.Kind == gatehouse.ToolCall {
				r.run.signature = e.signature
			}
			refs = append(refs, r)
		}
	}
	for _, slot := range s.others {
		refs = append(refs, a.take(c, slot.part))
	}
	if s.finished {
		if c.finish < 0 {
			c.finish = a.next()
		}
		for _, r := range c.runs {
			a.close(r)
		}
	}
	return refs
}

// take adds a piece to the run that it belongs to, or begins one.
func (a *answer) take(c *candidate, p gatehouse.Part) ref {
	grows := c.growing(p)
	if grows == nil {
		r := a.begin(c, p)
		r.text.WriteString(p.Text)
		a.close(r)
		return ref{r, 0, len(p.Text)}
	}
	if *grows == nil {
		if p.Text == "" {
			return ref{}
		}
		begun := p
		begun.Text = ""
		*grows = a.begin(c, begun)
	}
	r := *grows
	start := r.text.Len()
	if r.text.WriteString(p.Text); p.Text != "" {
		r.open = true
		a.to.Text(r.id, p.Text)
	}
	return ref{r, start, r.text.Len()}
}

// growing is where a candidate keeps the run that a text goes on with; nil for a part of its own.
func (c *candidate) growing(p gatehouse.Part) **run {
	switch {
	case p.Kind == gatehouse.Text:
		return &c.words
	case p.Kind == gatehouse.Reasoning && !p.Signed:
		return &c.thoughts
	}
	return nil
}

func (a *answer) begin(c *candidate, p gatehouse.Part) *run {
	r := &run{place: len(a.runs), first: a.next(), part: p, id: a.to.Open(p), open: true}
	a.runs, c.runs = append(a.runs, r), append(c.runs, r)
	return r
}

func (a *answer) close(r *run) {
	if r.open {
		r.open = false
		a.to.Close(r.id)
	}
}

func (a *answer) closeAll() {
	for _, r := range a.runs {
		a.close(r)
	}
}
