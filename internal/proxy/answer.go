package proxy

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"strconv"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/header"
	"github.com/gatehouse-gateway/gatehouse/internal/surface"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// answer writes what the exchange has come to.
func (p *Proxy) answer(t *turn, err error) {
	if t.reply != nil && t.reply.Rest != nil {
		defer t.reply.Rest.Close()
	}
	lost := gatehouse.AsFailure(err)
	stop := t.X.Stopped()
	switch {
	case t.out.begun():
		p.conclude(t, lost)
	case lost != nil && (t.X.Cut == "" || lost.Code == "checkpoint_unavailable"):
		t.Fail(lost)
	case stop != nil:
		p.stopped(t, stop)
	case t.reply.Rest != nil && t.reply.Status == http.StatusSwitchingProtocols:
		p.tunnel(t)
	case t.reply.Rest != nil:
		maps.Copy(t.W.Header(), clean(t.reply.Header))
		t.Head(t.reply.Status)
		copyFlushing(t.W, t.reply.Rest)
	default:
		p.deliver(t, lost)
	}
	t.Log(err)
}

// render puts the answer into bytes, as the checkpoints left it.
func (t *turn) render() (err error) {
	if t.out != nil {
		t.body, err = t.out.stream.Next(t.X.Response, wire.Free, true)
		return err
	}
	t.body = t.reply.Raw
	if t.reply.Body != nil {
		t.body, err = t.reply.Body.Bytes(t.X.Response)
	}
	if err == nil && t.X.Cut != "" && len(t.body) == 0 {
		return surface.Failure(http.StatusBadGateway, t.X.Cut, "the upstream's answer broke off")
	}
	return err
}

// deliver sends the upstream's answer as the checkpoints left it. One that broke off ends here as it ended there.
func (p *Proxy) deliver(t *turn, lost *gatehouse.Failure) {
	maps.Copy(t.W.Header(), clean(t.reply.Header))
	if lost == nil {
		t.W.Header().Set("Content-Length", strconv.Itoa(len(t.body)))
	}
	t.Head(t.reply.Status)
	t.W.Write(t.body) //nolint:errcheck // a client that has left is no failure of ours
	if lost != nil {
		http.NewResponseController(t.W).Flush() //nolint:errcheck // as above
		t.Log(lost)
		panic(http.ErrAbortHandler)
	}
}

// stopped tells the client which checkpoint ended the exchange: as the assistant's turn, or as an error.
func (p *Proxy) stopped(t *turn, d *gatehouse.Decision) {
	switch {
	case d.Failed:
		t.Fail(&gatehouse.Failure{Status: http.StatusServiceUnavailable, Code: "checkpoint_unavailable", Message: t.X.Notice()})
	case t.X.Status != http.StatusOK:
		t.Fail(&gatehouse.Failure{Status: t.X.Status, Code: t.X.Error, Message: t.X.Notice()})
	default:
		body, kind := t.door.codec.Stopped(t.req, wire.Notice{RequestID: t.X.ID, Text: t.X.Notice()})
		t.Write(http.StatusOK, kind, body)
	}
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
