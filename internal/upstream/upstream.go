// Package upstream sends requests to model servers and reads their answers to the end. It promises
// that nothing hangs: every wait has a limit.
package upstream

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/encoding"
	"github.com/gatehouse-gateway/gatehouse/internal/jsonarray"
	"github.com/gatehouse-gateway/gatehouse/internal/sse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// Client sends requests. One serves all upstreams.
type Client struct {
	Transport http.RoundTripper
}

// Limits bound one answer.
type Limits struct {
	Idle   time.Duration // longest wait for its next byte
	Buffer int64         // most bytes of a stream that are held
	Body   int64         // most bytes of an unstreamed answer
}

// NewTransport is a transport for many concurrent requests to a few hosts. It never decompresses and never follows
// redirects by itself: what came is what is inspected.
func NewTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone() //nolint:errcheck // documented to be one
	t.MaxIdleConnsPerHost = 256
	t.MaxIdleConns = 1024
	t.DisableCompression = true
	t.MaxResponseHeaderBytes = 1 << 20 // interim responses included; a server takes as much of its clients
	return t
}

// Reply is the answer of a model server.
type Reply struct {
	Status int
	Header http.Header
	Body   wire.Response // of an inspected answer; nil otherwise
	Raw    []byte        // of an answer that is passed on as it is
	Rest   io.ReadCloser // of an answer that is not inspected; the caller closes it
}

// Watch follows a stream while it is read.
type Watch interface {
	// Begin is told of the reply before the first event. Its body is a [wire.Stream].
	Begin(r *Reply)
	// Event is called after each event. It returns how many bytes of events are held by now, or -1: all. An error ends the
	// reading.
	Event() (held int, err error)
	// Sent reports whether anything has gone to the client, so that the answer cannot become another one.
	Sent() bool
}

// Send sends a request whose answer is to be inspected, and feeds the answer to the sink. An error status is passed on
// uninspected. The reply is nil only with an error; with a reply, an error says that the answer is not whole. watch may be nil.
func (c *Client) Send(ctx context.Context, r *http.Request, l Limits, codec wire.Codec, to wire.Sink, watch Watch) (*Reply, error) {
	res, body, err := c.roundTrip(ctx, r, l)
	if err != nil {
		return nil, err
	}
	reply := &Reply{Status: res.StatusCode, Header: res.Header}
	if res.StatusCode/100 == 2 {
		if strings.HasPrefix(strings.ToLower(res.Header.Get("Content-Type")), "text/event-stream") {
			return stream(reply, body, l, codec.Stream(to), &eventStream{Reader: sse.NewReader(whole{body}, int(l.Buffer))}, watch)
		}
		if elements := array(codec, to); elements != nil {
			in := bufio.NewReader(body)
			if jsonarray.Begins(in) {
				return stream(reply, body, l, elements, jsonarray.NewReader(whole{in}, int(l.Buffer)), watch)
			}
			body = struct {
				io.Reader
				io.Closer
			}{in, body}
		}
	}
	defer body.Close()
	if reply.Raw, err = readAll(io.LimitReader(body, l.Body+1), res.ContentLength); err != nil {
		return nil, broken(err)
	}
	if int64(len(reply.Raw)) > l.Body {
		return nil, &gatehouse.Failure{Status: http.StatusBadGateway, Code: "upstream_too_large", Message: "the upstream's answer is larger than limits.body"}
	}
	if res.StatusCode/100 != 2 {
		return reply, nil
	}
	if reply.Body, err = codec.Response(reply.Raw, to); err != nil {
		return nil, malformed(err)
	}
	return reply, nil
}

// readAll is io.ReadAll with room for as many bytes as the answer says that it has. It may lie, and one that was decoded has
// more.
func readAll(r io.Reader, length int64) ([]byte, error) {
	const believed = 1 << 20
	var b bytes.Buffer
	b.Grow(int(min(max(length, 0), believed)) + bytes.MinRead) // the reader asks for that much more to see the end
	_, err := b.ReadFrom(r)
	return b.Bytes(), err
}

// Open sends a request whose answer is not inspected; the body is left unread in Rest.
func (c *Client) Open(ctx context.Context, r *http.Request, l Limits) (*Reply, error) {
	res, body, err := c.roundTrip(ctx, r, l)
	if err != nil {
		return nil, err
	}
	return &Reply{Status: res.StatusCode, Header: res.Header, Rest: body}, nil
}

func (c *Client) roundTrip(ctx context.Context, r *http.Request, l Limits) (*http.Response, io.ReadCloser, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	watch := newWatchdog(l.Idle, func() { cancel(errIdle) })
	res, err := c.Transport.RoundTrip(r.WithContext(ctx))
	if err != nil {
		watch.stop()
		err = unreachable(ctx, err) // asks why the context ended, so before it is ended here
		cancel(nil)
		return nil, nil, err
	}
	if res.StatusCode == http.StatusSwitchingProtocols && r.Header.Get("Upgrade") == "" {
		res.Body.Close()
		watch.stop()
		cancel(nil)
		return nil, nil, malformed(errUnasked)
	}
	body, err := encoding.Decode(encoding.Of(res.Header), &watched{res.Body, watch, cancel, ctx})
	if err != nil {
		res.Body.Close()
		watch.stop()
		cancel(nil)
		return nil, nil, malformed(err)
	}
	if res.StatusCode == http.StatusSwitchingProtocols { // the transport does not look after it any more
		context.AfterFunc(ctx, func() { res.Body.Close() }) //nolint:errcheck // it is over either way
	}
	res.Header.Del("Content-Encoding")
	res.Header.Del("Content-Length")
	return res, body, nil
}

// array is what reads an answer that comes as an array of events; nil where none was asked for.
func array(codec wire.Codec, to wire.Sink) wire.Stream {
	if c, ok := codec.(wire.Arrays); ok {
		return c.Elements(to)
	}
	return nil
}

// events is where the events of an answer come from.
type events interface {
	Next() (sse.Event, error)
}

// stream reads events until the answer ends. What has been read before it breaks off is kept in the reply.
func stream(reply *Reply, body io.Closer, l Limits, s wire.Stream, from events, watch Watch) (*Reply, error) {
	defer body.Close()
	reply.Body = s
	if watch != nil {
		watch.Begin(reply)
	}
	// What has begun to leave cannot become another answer.
	none := func(err error) (*Reply, error) {
		if watch != nil && watch.Sent() {
			return reply, err
		}
		return nil, err
	}
	size, held, taken := int64(0), int64(0), 0
	for {
		e, err := from.Next()
		size += int64(len(e.Raw))
		if held+int64(len(e.Raw)) > l.Buffer || size > max(l.Buffer, l.Body) || errors.Is(err, sse.ErrTooLarge) || errors.Is(err, jsonarray.ErrTooLarge) {
			return reply, &gatehouse.Failure{Status: http.StatusServiceUnavailable, Code: "stream_buffer",
				Message: "the answer is larger than limits.stream_buffer"}
		}
		ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) // the latter: without the last blank line
		if len(e.Raw) > 0 && (err == nil || ended) {
			switch bad := s.Event(e.Raw, e.Name, e.Data); {
			case bad != nil && ended: // the connection closed in the middle of an event
				err = errCut
			case bad != nil:
				return none(malformed(bad))
			default:
				taken++
				if held = size; watch == nil {
					break
				}
				n, lost := watch.Event()
				if n >= 0 {
					held = int64(n)
				}
				if lost != nil {
					return reply, lost
				}
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, jsonarray.ErrSyntax), errors.Is(err, errNoEvent):
			return none(malformed(err))
		case taken == 0: // an answer without a whole event is none
			return nil, broken(err)
		case ended && !errors.Is(err, errCut):
			return reply, nil
		default:
			return reply, broken(err)
		}
	}
}

// whole tells a body that was cut off from one that ended: to the event reader an unexpected end is its own affair.
type whole struct{ io.Reader }

func (w whole) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errCut
	}
	return n, err
}

// The failures of an upstream, as the client sees them.

var (
	errIdle = errors.New("no byte within limits.upstream_idle")
	errCut  = errors.New("the body ended before its end")

	errUnasked = errors.New("the upstream switched protocols without being asked")
)

func unreachable(ctx context.Context, err error) error {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errIdle):
		return &gatehouse.Failure{Status: http.StatusGatewayTimeout, Code: "upstream_timeout", Message: "the upstream did not answer in time", Err: cause}
	case cause != nil:
		return &gatehouse.Failure{Status: 499, Code: "client_closed_request", Message: "the client left", Err: cause}
	}
	// A URL error quotes the address with its query, where keys can stand.
	return &gatehouse.Failure{Status: http.StatusBadGateway, Code: "upstream_unreachable", Message: "the upstream could not be reached", Err: fmt.Errorf("send to upstream: %T", err)}
}

func broken(err error) error {
	if errors.Is(err, errIdle) {
		return &gatehouse.Failure{Status: http.StatusGatewayTimeout, Code: "upstream_timeout", Message: "the upstream stopped answering", Err: err}
	}
	if errors.Is(err, context.Canceled) {
		return &gatehouse.Failure{Status: 499, Code: "client_closed_request", Message: "the client left", Err: err}
	}
	return &gatehouse.Failure{Status: http.StatusBadGateway, Code: "upstream_interrupted", Message: "the upstream's answer broke off", Err: err}
}

func malformed(err error) error {
	return &gatehouse.Failure{Status: http.StatusBadGateway, Code: "upstream_malformed", Message: "the upstream's answer could not be read", Err: err}
}
