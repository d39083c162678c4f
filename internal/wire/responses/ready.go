package responses

import "github.com/gatehouse-gateway/gatehouse"

// ready is how many of the events that are held may leave. What ends the stream tells of everything, and is the last to leave.
func (w *streamEdit) ready(free func(part int) int) int {
	for n, e := range w.events {
		if e.ends || !w.leaves(e, free) {
			return n
		}
	}
	return len(w.events)
}

// leaves reports whether an event may leave.
func (w *streamEdit) leaves(e event, free func(part int) int) bool {
	texts, items, tells := len(e.refs), len(e.items), len(e.tells)
	return w.gate.Open(texts+items+tells+1, func(i int) bool {
		switch {
		case i < texts:
			return e.refs[i].growing == nil || e.refs[i].decided(free(e.refs[i].place))
		case i < texts+items:
			return w.settled(e.items[i-texts], free)
		case i < texts+items+tells:
			return free(e.tells[i-texts-items].place) >= gatehouse.Decided
		}
		return w.settled(e.index, free)
	})
}

// decided reports whether nothing will change what the ref has brought, of whose text so many bytes are free.
func (r ref) decided(most int) bool {
	switch r.part.Kind {
	case gatehouse.ToolCall:
		return most >= gatehouse.Decided
	case gatehouse.Text, gatehouse.Reasoning, gatehouse.ToolResult:
		if !r.part.Signed {
			return r.to <= most
		}
	}
	return most == gatehouse.Everything
}

// settled reports whether an item will stay, so that its events may leave. Reasoning goes along with the call behind it, so it
// waits for that.
func (w *streamEdit) settled(index int64, free func(part int) int) bool {
	o := w.items[index]
	switch {
	case o == nil:
		return true
	case !o.stays(free):
		return false
	case o.sent || o.kind != kindReasoning:
		return true
	}
	w.looked = max(w.looked, index+1)
	for {
		next := w.items[w.looked]
		switch {
		case next == nil || next.kind == "":
			return false
		case next.kind != kindReasoning:
			return next.stays(free)
		}
		w.looked++
	}
}

// stays reports whether nothing will take the item away: no call is in it that is not decided, and of what it says something is.
// What says nothing stays when it has ended.
func (o *output) stays(free func(part int) int) bool {
	for _, g := range o.calls {
		if free(g.place) < gatehouse.Decided {
			return false
		}
	}
	if o.sent || len(o.opened) == 0 {
		return !o.waits && (o.sent || o.closed)
	}
	return !o.waits && free(o.opened[0].place) > 0
}
