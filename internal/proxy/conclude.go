package proxy

import (
	"bytes"
	"net/http"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/header"
	"github.com/gatehouse-gateway/gatehouse/internal/sse"
)

// conclude sends the rest of an answer that has begun to leave. The record is safe by now. One that went wrong ends without
// its terminal event, as the upstream's answer did or as if it had.
func (p *Proxy) conclude(t *turn, lost *gatehouse.Failure) {
	t.out.close()
	unsafe := lost != nil && (t.X.Cut == "" || lost.Code == "checkpoint_unavailable")
	switch {
	case unsafe:
	case t.X.Stopped() != nil:
		p.end(t, t.out.stream.Stop(t.X.Notice()))
		return
	case lost == nil && t.out.stream.Done():
		p.end(t, t.body)
		return
	default:
		t.W.Write(t.body) //nolint:errcheck // a client that has left is no failure of ours
		if lost == nil {
			header.Set(t.W.Header(), t.X)
			return
		}
	}
	http.NewResponseController(t.W).Flush() //nolint:errcheck // as above
	t.Log(lost)
	panic(http.ErrAbortHandler)
}

// end sends the last events, with the final verdicts in a comment before the terminal one and in the trailers.
func (p *Proxy) end(t *turn, events []byte) {
	if at := terminal(events); t.out.stream.Comments() {
		events = append(append(bytes.Clone(events[:at]), header.Comment(t.X)...), events[at:]...)
	}
	t.W.Write(events) //nolint:errcheck // a client that has left is no failure of ours
	header.Set(t.W.Header(), t.X)
}

// terminal is where the last event with data begins.
func terminal(events []byte) (at int) {
	r, end := sse.NewReader(bytes.NewReader(events), 0), 0
	for {
		e, err := r.Next()
		if e.Data != "" {
			at = end
		}
		if end += len(e.Raw); err != nil {
			return at
		}
	}
}
