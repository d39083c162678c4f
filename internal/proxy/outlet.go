package proxy

import (
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/header"
	"github.com/gatehouse-gateway/gatehouse/internal/upstream"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// watch gives a turn an outlet when its answer turns out to be a stream that may leave early.
type watch struct {
	t *turn
	f *gatehouse.Flow
}

// Begin implements [upstream.Watch].
func (w *watch) Begin(r *upstream.Reply) {
	t := w.t
	stream, ok := r.Body.(wire.Incremental)
	auto := t.s.Streaming == "auto"
	if !ok || t.s.Streaming == "buffer" || auto && !t.R.ProtoAtLeast(1, 1) {
		return
	}
	follower := w.f.Follow()
	if follower == nil || auto && follower.Mode(gatehouse.Integrity) == gatehouse.Enforce {
		return
	}
	t.out = &outlet{t: t, reply: r, stream: stream, off: follower.Mode(gatehouse.Integrity) == gatehouse.Off}
	w.f.Window(t.out.write)
}

// Event implements [upstream.Watch].
func (w *watch) Event() (held int, err error) {
	if err = w.f.Event(); w.t.out != nil {
		return w.t.out.stream.Held(), err
	}
	return -1, err
}

// Sent implements [upstream.Watch].
func (w *watch) Sent() bool { return w.t.out.begun() }

// outlet is how an answer leaves while it is still being read.
type outlet struct {
	t      *turn
	reply  *upstream.Reply
	stream wire.Incremental
	off    bool // integrity does not look

	mu    sync.Mutex // what follows, and writing
	sent  bool       // the headers are out
	ended bool
	timer *time.Timer // sends a comment when nothing has been sent for long
}

func (o *outlet) begun() bool {
	if o == nil {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sent
}

// write sends what is decided. The first event, whatever is free of it, is followed by the headers at once.
func (o *outlet) write(parts []gatehouse.Part, free func(part int) int) error {
	out, err := o.stream.Next(parts, free, false)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.sent && len(out) == 0 {
		return nil
	}
	if !o.sent {
		o.head()
	}
	return o.send(out)
}

// head sends the headers: what front has decided is final, the rest is provisional.
func (o *outlet) head() {
	t := o.t
	h := t.W.Header()
	maps.Copy(h, clean(o.reply.Header))
	if t.R.ProtoAtLeast(1, 1) {
		h.Set("Trailer", strings.Join(header.Late(), ", "))
	}
	t.X.Status = o.reply.Status
	t.Own = header.Pending(o.off)
	t.Head(o.reply.Status)
	o.sent = true
	if t.s.KeepAlive > 0 && o.stream.Comments() {
		o.timer = time.AfterFunc(t.s.KeepAlive, o.alive)
	}
}

// alive sends a comment. No blank line follows it: there are clients that take one for an event.
func (o *outlet) alive() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.ended {
		o.send([]byte(": waiting\n")) //nolint:errcheck // whoever has left is noticed by what is sent next
	}
}

func (o *outlet) send(out []byte) error {
	if o.timer != nil {
		o.timer.Reset(o.t.s.KeepAlive)
	}
	_, err := o.t.W.Write(out)
	if err == nil {
		err = http.NewResponseController(o.t.W).Flush()
	}
	if err != nil {
		return &gatehouse.Failure{Status: 499, Code: "client_closed_request", Message: "the client left", Err: err}
	}
	return nil
}

// close ends what runs beside the answer.
func (o *outlet) close() {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	if o.timer != nil {
		o.timer.Stop()
	}
}
