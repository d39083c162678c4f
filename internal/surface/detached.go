package surface

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Detach takes the connection over from the server, so that a call which waits for long holds none of what the server holds while
// it serves: two goroutines and ten kilobytes of buffers. The handler returns, and whoever has the call answers it later
// within [Call.Resume]. The connection ends with the answer, and a client that leaves before is not noticed. It does
// nothing and returns false where that cannot be done: HTTP/2, a request with a body, one for the head alone.
func (c *Call) Detach() bool {
	if c.R.ProtoMajor != 1 || c.R.Method == http.MethodHead || c.R.ContentLength != 0 {
		return false
	}
	conn, _, err := http.NewResponseController(c.W).Hijack()
	if err != nil {
		return false
	}
	c.W = &detached{conn: conn, header: http.Header{}}
	lean := &http.Request{Method: c.R.Method, Header: http.Header{}}
	if origin := c.R.Header.Get("Origin"); origin != "" {
		lean.Header.Set("Origin", origin)
	}
	c.R = lean.WithContext(context.WithoutCancel(c.R.Context()))
	return true
}

// Resume answers a call that was detached: do writes the answer, or returns why there is none. A panic ends the exchange alone.
func (c *Call) Resume(do func() error) {
	defer c.W.(*detached).conn.Close() //nolint:errcheck // Detach has made it one, and what could not be sent is lost
	defer func() {
		// That of an answer which had begun: the connection ends, and nothing else.
		if err, ok := recover().(error); ok && !errors.Is(err, http.ErrAbortHandler) {
			panic(err)
		}
	}()
	defer func() {
		if v := recover(); v != nil {
			c.crashed(v)
		}
	}()
	if err := do(); err != nil {
		c.Refuse(err)
	}
}

// answerTime is how long a client may take to receive an answer that it has waited for.
const answerTime = 30 * time.Second

// detached writes one response to a connection that is no server's any more (RFC 9112), and says that it is the last.
type detached struct {
	conn   net.Conn
	header http.Header
	head   bytes.Buffer
}

func (w *detached) Header() http.Header { return w.header }

func (w *detached) WriteHeader(status int) {
	if w.head.Len() > 0 {
		return
	}
	w.header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	w.header.Set("Connection", "close")
	fmt.Fprintf(&w.head, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	w.header.Write(&w.head) //nolint:errcheck // a buffer takes everything
	w.head.WriteString("\r\n")
}

// Write sends the body with the head before it. The body is written at once: every answer here is whole before it is sent.
func (w *detached) Write(body []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	w.conn.SetWriteDeadline(time.Now().Add(answerTime)) //nolint:errcheck // then the write says it
	w.head.Write(body)
	if _, err := w.head.WriteTo(w.conn); err != nil {
		return 0, err
	}
	return len(body), nil
}
