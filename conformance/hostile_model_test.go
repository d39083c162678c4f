package conformance_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// rawModel is a model server that is no HTTP server: it reads a request, and answers with the bytes that it was given.
type rawModel struct {
	t        *testing.T
	listener net.Listener
	serving  sync.WaitGroup

	mu     sync.Mutex
	script []byte
	got    []arrival
	open   int // connections
}

// arrival is a request as it came.
type arrival struct {
	head, body []byte
	header     http.Header
}

func startRawModel(t *testing.T) *rawModel {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &rawModel{t: t, listener: l}
	m.serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			m.count(1)
			m.serving.Go(func() {
				defer m.count(-1)
				m.serve(conn.(*net.TCPConn))
			})
		}
	})
	return m
}

func (m *rawModel) close() {
	m.listener.Close() //nolint:errcheck // it takes no more
	m.serving.Wait()
}

func (m *rawModel) count(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open += n
}

// prepare sets what the next request is answered, and forgets those before.
func (m *rawModel) prepare(answer []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.script, m.got = answer, nil
}

func (m *rawModel) arrived() []arrival {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.got
}

// idle reports whether the gateway has let go of every connection.
func (m *rawModel) idle() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.open == 0
}

// serve answers one request.
func (m *rawModel) serve(conn *net.TCPConn) {
	defer conn.Close()
	conn.SetReadDeadline(time.Now().Add(patience)) //nolint:errcheck // the read says it
	var read bytes.Buffer
	in := bufio.NewReader(io.TeeReader(conn, &read))
	r, err := http.ReadRequest(in)
	if err != nil {
		if !errors.Is(err, io.EOF) { // a connection that was made and not used
			m.t.Errorf("what reaches the model is no request: %v", err)
		}
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has left
	}
	if in.Buffered() > 0 {
		m.t.Error("something follows the request on its way to the model")
	}
	m.mu.Lock()
	head, _, _ := bytes.Cut(read.Bytes(), []byte("\r\n\r\n"))
	m.got = append(m.got, arrival{head, body, r.Header})
	script := m.script
	m.mu.Unlock()
	if _, err := send(conn, script); err != nil {
		m.t.Errorf("the model's connection: %v", err)
	}
}
