package gatehouse

import "context"

// Early is implemented by checkers that decide on a response while it grows, so that what is decided may leave before the
// response has ended. Without it a response is held until its end.
type Early interface {
	// Follow begins to read the response of an exchange. The context that it returns makes the checks of this response decide
	// by the settings that the follower knows, whatever changes in between.
	Follow(ctx context.Context, x *Exchange) (context.Context, Follower)
}

// Follower reads the parts of one response as they grow. One goroutine owns it.
type Follower interface {
	// Mode is the mode in which a checkpoint will decide on the response.
	Mode(at Checkpoint) Mode
	// Grow takes the text that a part has got since the last call, all of what it had at first; whole says that it has ended.
	// It returns how many bytes of the part's text, from its beginning, no checkpoint will touch any more otherwise than by
	// the replacements that it returns: all those that begin in them, in order, and for as long as the response lasts. A part
	// without text, which only its whole has a meaning, has left when free is [Everything]; a call, when it is at least [Decided].
	Grow(p *Part, delta string, whole bool) (free int, edits []Edit)
}

// Everything is what [Follower.Grow] returns for a part that nobody will touch any more, however it grows.
const Everything = int(^uint(0) >> 1)

// Decided is what [Follower.Grow] returns for a call that is complete and stays as it is, while texts may still be added to the
// answer: a format in which no text may stand behind a call holds it for them.
const Decided = Everything - 1

// window is the behaviour of a flow that lets go of what is decided.
type window struct {
	follower Follower
	write    func(parts []Part, free func(part int) int) error
	free     []int // by place in the response
	began    bool
}

// Follow begins to read the response while it grows; it has to be called before the first part. The follower is nil where the
// checker is not [Early].
func (f *Flow) Follow() Follower {
	c, ok := f.c.(Early)
	if !ok {
		return nil
	}
	ctx, follower := c.Follow(f.ctx, f.x)
	if follower == nil {
		return nil
	}
	f.ctx, f.window = ctx, &window{follower: follower}
	return follower
}

// Window makes a flow that is followed let go of what is decided: write is called after each event with the parts as they stand
// and, by their places, how many bytes of each part's own text ([Part.Original]) are free.
func (f *Flow) Window(write func(parts []Part, free func(part int) int) error) {
	f.window.write = write
}

// Event says that the codec has taken one more event of the response: what is decided may leave. An error means that nothing
// more can be sent.
func (f *Flow) Event() error {
	if f.window == nil || f.window.write == nil {
		return nil
	}
	f.window.began = true
	return f.window.write(f.x.Response, func(part int) int {
		if part >= len(f.window.free) {
			return 0
		}
		return f.window.free[part]
	})
}

// began reports whether anything may have left.
func (f *Flow) began() bool { return f.window != nil && f.window.began }

// grow shows the follower what a part has got. What it has decided is written down in the part.
func (f *Flow) grow(id int, delta string, whole bool) {
	w := f.window
	if w == nil || w.write == nil {
		return
	}
	at := id - len(f.x.Request)
	for len(w.free) <= at {
		w.free = append(w.free, 0)
	}
	p := &f.x.Response[at]
	free, edits := w.follower.Grow(p, delta, whole)
	if w.free[at] = free; len(edits) > 0 {
		p.spans = &edits
	}
}
