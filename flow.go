package gatehouse

import "context"

// Flow is how a response reaches the checkpoints: codecs feed it, [Guard] reads it. It holds everything until the response
// has ended, so that no byte leaves before it is decided; after [Flow.Window] it lets go of what is decided.
type Flow struct {
	x      *Exchange
	c      Checker
	ctx    context.Context // of the checks
	open   map[int]*[]byte // texts that are still growing
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

// Decided sets what remains to be done once every checkpoint has decided and before the record is written: putting the
// response into bytes. Its failure is the exchange's.
func (f *Flow) Decided(do func() error) { f.last = do }

// settle completes what the codec has left open, as after a stream that was cut.
func (f *Flow) settle() {
	for id := range f.open {
		f.Close(id)
	}
}
