package surface

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Switch answers 101 with the headers set so far and gives the connection away: what comes and goes on it from now on is of the
// other protocol. The reader has what the client has sent already. The connection is the caller's to close.
func (c *Call) Switch(protocol string) (net.Conn, *bufio.Reader, error) {
	conn, buffered, err := http.NewResponseController(c.W).Hijack()
	if err != nil {
		return nil, nil, fmt.Errorf("take the connection over: %w", err)
	}
	if err := conn.SetDeadline(time.Time{}); err != nil {
		conn.Close()
		return nil, nil, fmt.Errorf("lift the server's deadlines: %w", err)
	}
	head := &switched{header: c.W.Header().Clone()}
	head.header.Set("Connection", "Upgrade")
	head.header.Set("Upgrade", protocol)
	c.W = head
	c.Head(http.StatusSwitchingProtocols)
	if _, err := head.out.WriteTo(conn); err != nil {
		conn.Close()
		return nil, nil, fmt.Errorf("switch protocols: %w", err)
	}
	return conn, buffered.Reader, nil
}

// switched is the head of a response (RFC 9112) that has no body.
type switched struct {
	header http.Header
	out    bytes.Buffer
}

func (w *switched) Header() http.Header { return w.header }

func (w *switched) WriteHeader(status int) {
	fmt.Fprintf(&w.out, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	w.header.Write(&w.out) //nolint:errcheck // a buffer takes everything
	w.out.WriteString("\r\n")
}

func (w *switched) Write(body []byte) (int, error) { return len(body), nil }
