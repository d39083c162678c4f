package gatehouse

import (
	"context"
	"slices"
)

// Flow is how a response reaches the checkpoints: codecs feed it, [Guard] reads it. It holds everything until the response
// has ended, so that no byte leaves before it is decided; after [Flow.Window] it lets go of what is decided.
type Flow struct {
	x      *Exchange
	c      Checker
	ctx    context.Context // of the checks
	open   map[int]*[]byte // texts that are still growing
	unread []string        // see Unread
	last   func() error    // see Decided
	window *window         // nil: everything is held
}

// Open begins a part of the response and returns its ID.
func (f *Flow) Open(p Part) int {
	p.ID = f.x.nextID()
	f.x.Response = append(f.x.Response, p)
	f.grow(p.ID, p.Text, false)
	return p.ID
}

// Text adds a delta to a part.
func (f *Flow) Text(id int, delta string) {
	buf := f.open[id]
	if buf == nil {
		p := f.x.Part(id)
		if p == nil {
			return
		}
		if f.open == nil {
			f.open = map[int]*[]byte{}
		}
		text := []byte(p.Text)
		buf = &text
		f.open[id] = buf
	}
	*buf = append(*buf, delta...)
	f.grow(id, delta, false)
}

// Close says that a part is complete.
func (f *Flow) Close(id int) {
	p := f.x.Part(id)
	if p == nil {
		return
	}
	if buf := f.open[id]; buf != nil {
		p.Text = string(*buf)
		delete(f.open, id)
	}
	f.grow(id, "", true)
}

// Unread notes a place of the response that may hold a text and is in no part: nothing reads it. Behind the response's own parts
// stands an opaque one for each such path then, so that coverage tells of it.
func (f *Flow) Unread(path string) {
	switch {
	case slices.Contains(f.unread, path):
	case len(f.unread) < maxUnread:
		f.unread = append(f.unread, path)
	case len(f.unread) == maxUnread:
		f.unread = append(f.unread, "*")
	}
}

const (
	// Unread is the Media of the part that [Flow.Unread] adds.
	Unread = "unread"

	maxUnread = 32 // paths; for all others stands a star
)

// Decided sets what remains to be done once every checkpoint has decided and before the record is written: putting the
// response into bytes. Its failure is the exchange's.
func (f *Flow) Decided(do func() error) { f.last = do }

// settle completes what the codec has left open, as after a stream that was cut, and adds what it has not read.
func (f *Flow) settle() {
	for id := range f.open {
		f.Close(id)
	}
	for _, path := range f.unread {
		f.x.Response = append(f.x.Response, Part{ID: f.x.nextID(), Kind: Opaque, Role: Assistant, Path: path, Media: Unread})
	}
}
