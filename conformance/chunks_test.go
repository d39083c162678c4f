package conformance_test

import (
	"bytes"
	"math/rand/v2"
	"net/http"
)

// chopped answers what its handler answers, in chunks whose borders the dice set: in the middle of events, of lines and of
// characters. It keeps the bytes of the last answer.
type chopped struct {
	next http.Handler
	dice *rand.Rand
	last bytes.Buffer
}

func (c *chopped) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.last.Reset()
	out := &chopper{ResponseWriter: w, c: c}
	defer func() { out.send(len(out.waiting)) }() // also when the handler breaks off
	c.next.ServeHTTP(out, r)
}

// chopper holds bytes back so that a chunk can reach over the handler's writes.
type chopper struct {
	http.ResponseWriter
	c       *chopped
	waiting []byte
}

// maxChunk keeps the number of chunks within reason while several borders fall into every event.
const maxChunk = 90

func (w *chopper) Write(b []byte) (int, error) {
	w.c.last.Write(b)
	w.waiting = append(w.waiting, b...)
	for len(w.waiting) > maxChunk {
		w.send(1 + w.c.dice.IntN(maxChunk))
	}
	return len(b), nil
}

func (w *chopper) send(n int) {
	if n == 0 {
		return
	}
	w.ResponseWriter.Write(w.waiting[:n])                //nolint:errcheck // whoever has left sees no more
	http.NewResponseController(w.ResponseWriter).Flush() //nolint:errcheck // as above
	w.waiting = append([]byte(nil), w.waiting[n:]...)
}

// FlushError does nothing: the borders are the dice's, not the handler's. When a connection is to break, what was written
// before must have left.
func (w *chopper) FlushError() error { return nil }
