package proxy

import (
	"errors"
	"io"
	"maps"
	"net/http"

	"github.com/gatehouse-gateway/gatehouse"
)

// tunnel carries another protocol, a WebSocket for one, between the client and an upstream that has switched to it. It ends when
// either side does, or when nothing came or went for limits.upstream_idle.
func (p *Proxy) tunnel(t *turn) {
	upstream, ok := t.reply.Rest.(io.ReadWriteCloser)
	if !ok {
		t.Fail(&gatehouse.Failure{Status: http.StatusBadGateway, Code: "upstream_malformed", Message: "the upstream's connection cannot be taken over"})
		return
	}
	maps.Copy(t.W.Header(), clean(t.reply.Header))
	client, sent, err := t.Switch(t.door.upgrade)
	if err != nil {
		p.Log.Warn("the connection cannot be taken over", "request_id", t.X.ID, "error", err)
		panic(http.ErrAbortHandler)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.Copy(upstream, sent) //nolint:errcheck // either side may leave at any time
		upstream.Close()        //nolint:errcheck // ends the copy below
	}()
	_, err = io.Copy(client, upstream)
	client.Close() //nolint:errcheck // ends the copy above
	<-done
	if err != nil && !errors.Is(err, io.ErrClosedPipe) {
		p.Log.Debug("a tunnel broke off", "request_id", t.X.ID)
	}
}
