package gateway

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/config"
)

// Server is the HTTP server of a gateway, with a limit for everything that a client could make it wait for before a handler runs.
func Server(h http.Handler, l config.Limits, log *slog.Logger) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: l.HeaderTimeout, IdleTimeout: 2 * time.Minute,
		DisableGeneralOptionsHandler: true, // its answer to OPTIONS * would lack the header surface
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
}

// Patient is a listener whose connections break when the other side takes nothing for so long. A client that does not read would
// otherwise hold its handler, and with it the upstream's answer, for as long as it likes.
func Patient(l net.Listener, patience time.Duration) net.Listener {
	return &patient{l, patience}
}

type patient struct {
	net.Listener
	patience time.Duration
}

// Accept implements [net.Listener].
func (l *patient) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if tcp, ok := conn.(*net.TCPConn); ok {
		conn = &patientConn{TCPConn: tcp, patience: l.patience}
	}
	return conn, err
}

// patientConn gives every write its time. It is a TCP connection in all else: the server half-closes it so that a client that still
// sends gets its answer.
type patientConn struct {
	*net.TCPConn
	patience time.Duration
	chosen   atomic.Bool // a handler has set a deadline of its own
}

// Write implements [net.Conn].
func (c *patientConn) Write(b []byte) (int, error) {
	if !c.chosen.Load() {
		c.TCPConn.SetWriteDeadline(time.Now().Add(c.patience)) //nolint:errcheck // then the connection is closed, and the write says it
	}
	return c.TCPConn.Write(b)
}

// ReadFrom implements [io.ReaderFrom], by writes: what the kernel copies by itself would have the time of the write before.
func (c *patientConn) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{c}, r)
}

// SetWriteDeadline implements [net.Conn]. The zero time gives the choice back.
func (c *patientConn) SetWriteDeadline(t time.Time) error {
	c.chosen.Store(!t.IsZero())
	return c.TCPConn.SetWriteDeadline(t)
}

// SetDeadline implements [net.Conn].
func (c *patientConn) SetDeadline(t time.Time) error {
	c.chosen.Store(!t.IsZero())
	return c.TCPConn.SetDeadline(t)
}
