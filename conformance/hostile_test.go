package conformance_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/approval"
	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/gateway"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
)

// TestHostile plays every case of hostile/ against a whole gateway, as serve runs it, at every door and every endpoint of the
// checkpoints: one exchange each, and one that is good at the end.
func TestHostile(t *testing.T) {
	for _, c := range loadHostile(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			siege(t, c)
		})
	}
}

// siege plays one case everywhere, and looks whether the gateway serves on and leaves nothing behind.
func siege(t *testing.T, c *hostileCase) {
	const label = "hostile"
	pprof.SetGoroutineLabels(pprof.WithLabels(t.Context(), pprof.Labels(label, c.name)))
	t.Cleanup(func() { // the last of all
		pprof.SetGoroutineLabels(context.Background())
		if left := labelled(label, c.name); left != "" {
			t.Errorf("goroutines are left:\n%s", left)
		}
	})
	b := besiege(t, c)
	var last target
	for _, s := range targets() {
		if c.plays(s) {
			t.Run(s.name, func(t *testing.T) { b.play(t, c, s, c.wanted(t, s)) })
			if s.model != nil {
				last = s
			}
		}
	}
	if last.model == nil {
		last = targets()[0]
	}
	good := &hostileCase{name: c.name}
	b.cfg.Limits.UpstreamIdle = time.Minute
	t.Run("and serves on", func(t *testing.T) {
		b.play(t, good, last, hostileWant{Status: 200, Stored: 200, Called: true, Unchanged: true, Verdict: "front=pass; autonomy=pass; integrity=pass; back=pass"})
	})
	if report, err := b.db.Verify(t.Context()); err != nil {
		t.Errorf("the chain does not hold after %d records: %v", report.Records, err)
	}
}

// labelled are the stacks of the goroutines with a label, once those that are about to end had their time.
func labelled(key, value string) string {
	want := fmt.Sprintf("%q:%q", key, value)
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		var all bytes.Buffer
		pprof.Lookup("goroutine").WriteTo(&all, 1) //nolint:errcheck // in memory
		var left []string
		for one := range strings.SplitSeq(all.String(), "\n\n") {
			if strings.Contains(one, want) {
				left = append(left, one)
			}
		}
		if len(left) == 0 || time.Since(start) > patience {
			return strings.Join(left, "\n\n")
		}
	}
}

// bodyTime is how long a body may take: longer than a good one does on a machine that is busy.
const bodyTime = 2 * time.Second

// fortress is a gateway between one client and one model, with a store of its own.
type fortress struct {
	gateway *gateway.Gateway
	cfg     *config.Config
	db      *store.Store
	model   *rawModel
	address string
}

func besiege(t *testing.T, c *hostileCase) *fortress {
	t.Helper()
	set, err := detectors()
	if err != nil {
		t.Fatal(err)
	}
	b := &fortress{cfg: settings(t, &testcase{name: c.name, config: c.config}), model: startRawModel(t)}
	t.Cleanup(b.model.close)
	b.cfg.Upstreams = map[string]config.Upstream{}
	for _, format := range []string{"openai", "anthropic", "gemini"} {
		b.cfg.Upstreams[format] = config.Upstream{Format: format, URL: "http://" + b.model.listener.Addr().String()}
	}
	if b.db, err = store.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "gatehouse.db")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.db.Close() }) //nolint:errcheck // nothing waits to be written any more
	if b.gateway, err = gateway.Open(t.Context(), b.cfg, gateway.Parts{Store: b.db, Scanner: set, BodyTime: bodyTime}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.gateway.Close() }) //nolint:errcheck // as above
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b.address = l.Addr().String()
	server := gateway.Server(b.gateway, b.cfg.Limits, slog.New(slog.DiscardHandler))
	ended, patient := make(chan struct{}), gateway.Patient(l, b.cfg.Limits.UpstreamIdle)
	go func() {
		defer close(ended)
		server.Serve(patient) //nolint:errcheck // it ends when it is closed
	}()
	t.Cleanup(func() {
		server.Close() //nolint:errcheck // as above
		<-ended
	})
	return b
}

// heard is what a client got.
type heard struct {
	status int // 0: nothing
	proto  string
	header http.Header
	body   []byte
	cut    bool
	then   int // status of what came behind it
}

// play sends the bytes of a case to one endpoint, and looks at everything that comes of it.
func (b *fortress) play(t *testing.T, c *hostileCase, s target, w hostileWant) {
	head, err := b.db.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.cfg.Streaming = s.mode
	if err := b.gateway.Use(b.cfg); err != nil {
		t.Fatal(err)
	}
	b.model.prepare(c.answering(t, s))
	raw, sent := c.asking(t, s)
	r := b.attack(t, raw, func() bool { return b.records(t, head) != nil })
	b.check(t, c, s, w, r, sent)
	var records []audit.Record
	for start := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		records = b.records(t, head)
		if (len(records) > 0 || w.Bare || s.silent && w.Status == http.StatusOK) && b.model.idle() || time.Since(start) > patience {
			break
		}
	}
	if !b.model.idle() {
		t.Error("a connection to the model stays open")
	}
	b.checkRecords(t, s, w, r, records)
	if list, _, err := b.db.Approvals(t.Context(), approval.Filter{Now: time.Now(), Limit: 1}); err != nil || len(list) > 0 {
		t.Errorf("an approval is left (%v)", err)
	}
}

// asking is what the client sends, and the body of the good request that it began with.
func (c *hostileCase) asking(t *testing.T, s target) (raw []byte, body string) {
	good := string(s.body("Hello."))
	sc := script{t, map[string]func(string) string{
		"PATH": func(string) string { return s.path },
		"KEY":  func(string) string { return "key-" + s.name },
		"POST": func(string) string {
			return "POST " + s.path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer key-" + s.name + "\r\nContent-Type: application/json"
		},
		"BODY": func(string) string { return good },
		"TAIL": func(string) string { return good[1:] },
		"SAY":  func(text string) string { body = string(s.body(text)); return body },
	}}
	body = good
	text := c.request
	if text == "" {
		text = "$POST\n$LENGTH\nConnection: close\n\n$BODY\n"
	}
	return sc.render(text), body
}

// answering is what the model sends.
func (c *hostileCase) answering(t *testing.T, s target) []byte {
	if s.model == nil {
		return nil
	}
	good := s.answer()
	body, kind := good.Body.String(), good.Header().Get("Content-Type")
	sc := script{t, map[string]func(string) string{
		"OK":     func(string) string { return "HTTP/1.1 200 OK\r\nContent-Type: " + kind },
		"TYPE":   func(string) string { return kind },
		"ANSWER": func(string) string { return body },
		"EVENT": func(text string) string {
			return strings.Replace(eventWith(body, `"C`), `"C`, `"`+text+`C`, 1)
		},
		"START": func(string) string {
			before, _, _ := strings.Cut(body, eventWith(body, `"C`))
			return before
		},
	}}
	text := c.answer
	if text == "" {
		text = "$OK\n$LENGTH\nConnection: close\n\n$ANSWER\n"
	}
	return sc.render(text)
}

// eventWith is the first event of a stream that holds a text.
func eventWith(stream, text string) string {
	for event := range strings.SplitAfterSeq(stream, "\n\n") {
		if strings.Contains(event, text) {
			return event
		}
	}
	return stream
}

// attack sends bytes to the gateway and reads what it answers. done says that the exchange is over, for clients that do not read.
func (b *fortress) attack(t *testing.T, raw []byte, done func() bool) heard {
	t.Helper()
	conn, err := net.Dial("tcp", b.address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	tcp := conn.(*net.TCPConn) //nolint:errcheck // it was dialled as one
	stalls := bytes.Contains(raw, []byte(markStall))
	if stalls {
		tcp.SetReadBuffer(4 << 10) //nolint:errcheck // then it takes a little longer
	}
	read := make(chan heard, 1)
	if !stalls && !bytes.Contains(raw, []byte(markHang)) {
		go func() { read <- hear(tcp) }()
	}
	end, err := send(tcp, raw)
	if err != nil {
		t.Errorf("the client's connection: %v", err)
	}
	switch end {
	case markLeave, markReset:
		if bytes.Contains(raw, []byte(end)) {
			conn.Close() //nolint:errcheck // as the case wants it
			<-read
			return heard{}
		}
	case markHang:
		return heard{}
	case markStall:
		for start := time.Now(); !done() && time.Since(start) < patience; {
			time.Sleep(20 * time.Millisecond)
		}
		return hear(tcp)
	}
	return <-read
}

// hear reads an answer, and looks whether another follows.
func hear(conn *net.TCPConn) (r heard) {
	conn.SetReadDeadline(time.Now().Add(patience)) //nolint:errcheck // the read says it
	in := bufio.NewReader(conn)
	res, err := http.ReadResponse(in, &http.Request{Method: http.MethodPost})
	for err == nil && res.StatusCode/100 == 1 {
		res, err = http.ReadResponse(in, &http.Request{Method: http.MethodPost})
	}
	if err != nil {
		return heard{cut: isTimeout(err)}
	}
	r = heard{status: res.StatusCode, proto: res.Proto, header: res.Header}
	r.body, err = io.ReadAll(res.Body)
	r.cut = err != nil
	for name, values := range res.Trailer {
		if len(values) > 0 {
			r.header[name] = values
		}
	}
	if r.cut {
		return r
	}
	conn.SetReadDeadline(time.Now().Add(30 * time.Millisecond)) //nolint:errcheck // as above
	if res, err := http.ReadResponse(in, &http.Request{Method: http.MethodPost}); err == nil {
		r.then = res.StatusCode
	}
	return r
}
