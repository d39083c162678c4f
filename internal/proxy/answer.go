package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"strconv"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/header"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// answer writes what the exchange has come to.
func (p *Proxy) answer(t *turn, err error) {
	if t.reply != nil && t.reply.Rest != nil {
		defer t.reply.Rest.Close()
	}
	lost := gatehouse.AsFailure(err)
	stop := t.x.Stopped()
	switch {
	case lost != nil && (t.x.Cut == "" || lost.Code == "checkpoint_unavailable"):
		p.fail(t, lost)
	case stop != nil:
		p.stopped(t, stop)
	case t.reply.Rest != nil:
		maps.Copy(t.w.Header(), clean(t.reply.Header))
		p.head(t, t.reply.Status)
		copyFlushing(t.w, t.reply.Rest)
	default:
		p.deliver(t, lost)
	}
	p.log(t, err)
}

// render puts the answer into bytes, as the checkpoints left it.
func (t *turn) render() (err error) {
	t.body = t.reply.Raw
	if t.reply.Body != nil {
		t.body, err = t.reply.Body.Bytes(t.x.Response)
	}
	if err == nil && t.x.Cut != "" && len(t.body) == 0 {
		return failure(http.StatusBadGateway, t.x.Cut, "the upstream's answer broke off")
	}
	return err
}

// deliver sends the upstream's answer as the checkpoints left it. One that broke off ends here as it ended there.
func (p *Proxy) deliver(t *turn, lost *gatehouse.Failure) {
	maps.Copy(t.w.Header(), clean(t.reply.Header))
	if lost == nil {
		t.w.Header().Set("Content-Length", strconv.Itoa(len(t.body)))
	}
	p.head(t, t.reply.Status)
	t.w.Write(t.body) //nolint:errcheck // a client that has left is no failure of ours
	if lost != nil {
		http.NewResponseController(t.w).Flush() //nolint:errcheck // as above
		p.log(t, lost)
		panic(http.ErrAbortHandler)
	}
}

// stopped tells the client which checkpoint ended the exchange: as the assistant's turn, or as an error.
func (p *Proxy) stopped(t *turn, d *gatehouse.Decision) {
	switch {
	case d.Failed:
		p.fail(t, &gatehouse.Failure{Status: http.StatusServiceUnavailable, Code: "checkpoint_unavailable", Message: t.x.Notice()})
	case t.x.Status != http.StatusOK:
		p.fail(t, &gatehouse.Failure{Status: t.x.Status, Code: t.x.Error, Message: t.x.Notice()})
	default:
		body, kind := t.door.codec.Stopped(t.req, wire.Notice{RequestID: t.x.ID, Text: t.x.Notice()})
		p.write(t, http.StatusOK, kind, body)
	}
}

// refuse answers a request that never reached the checkpoints, and writes its record.
func (p *Proxy) refuse(t *turn, err error) {
	f := gatehouse.AsFailure(err)
	t.x.Status, t.x.Error, t.recorded = f.Status, f.Code, true
	if err := p.Checker.Finish(context.WithoutCancel(t.r.Context()), t.x); err != nil {
		f = &gatehouse.Failure{Status: http.StatusServiceUnavailable, Code: "checkpoint_unavailable",
			Message: "the audit record could not be written", Err: errors.Join(err, f)}
	}
	p.fail(t, f)
	p.log(t, f)
}

// fail writes an error in the provider's shape, or in the native one where no provider was reached.
func (p *Proxy) fail(t *turn, f *gatehouse.Failure) {
	message := f.Message
	if message == "" {
		message = http.StatusText(f.Status)
	}
	if f.Status == http.StatusUnauthorized {
		t.w.Header().Set("WWW-Authenticate", "Bearer")
	}
	t.x.Status = f.Status
	if t.door.shape != nil {
		p.write(t, f.Status, "application/json", t.door.shape.Error(f.Status, f.Code, message))
		return
	}
	body, err := json.Marshal(map[string]any{"error": map[string]string{"code": f.Code, "message": message}})
	if err != nil {
		panic(err) // strings always marshal
	}
	p.write(t, f.Status, "application/json", body)
}

func (p *Proxy) write(t *turn, status int, contentType string, body []byte) {
	t.w.Header().Set("Content-Type", contentType)
	t.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	t.w.Header().Set("Cache-Control", "no-store")
	p.head(t, status)
	t.w.Write(body) //nolint:errcheck // a client that has left is no failure of ours
}

// head writes the status line and the header surface, last of all, over whatever an upstream sent.
func (p *Proxy) head(t *turn, status int) {
	header.CORS(t.w.Header(), t.r.Header.Get("Origin"), t.s.Origins, false)
	header.Set(t.w.Header(), t.x)
	t.begun = true
	t.w.WriteHeader(status)
}

// clean is what of an upstream's headers goes on: nothing of this hop, nothing in the gateway's namespaces. What it says
// of CORS is replaced when the gateway's own is written.
func clean(h http.Header) http.Header {
	header.Clean(h)
	return h
}

func copyFlushing(w http.ResponseWriter, body io.Reader) {
	c, buf := http.NewResponseController(w), make([]byte, 32<<10)
	for {
		n, err := body.Read(buf)
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return
			}
			c.Flush() //nolint:errcheck // a writer that cannot flush sends at the end
		}
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			panic(http.ErrAbortHandler)
		}
	}
}

func (p *Proxy) log(t *turn, err error) {
	attrs := []any{"request_id", t.x.ID, "method", t.r.Method, "upstream", t.x.Upstream, "endpoint", t.x.Endpoint,
		"status", t.x.Status, "agent", t.x.Agent, "session", t.x.Session}
	for _, at := range gatehouse.Checkpoints {
		attrs = append(attrs, string(at), string(t.x.Outcome(at)))
	}
	if err == nil {
		p.Log.Info("exchange", attrs...)
		return
	}
	f := gatehouse.AsFailure(err)
	attrs = append(attrs, "code", f.Code)
	if f.Err != nil {
		attrs = append(attrs, "error", f.Err)
	}
	p.Log.Warn("exchange", attrs...)
}
