// Package proxy is the surface that SDKs reach by a changed base URL. It carries requests to the checkpoints and to the
// upstream, and answers back. It decides nothing: what happens is in the exchange when Guard returns.
package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/header"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
	"github.com/gatehouse-gateway/gatehouse/internal/upstream"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// Proxy is an http.Handler. Its fields are set before its first use.
type Proxy struct {
	Checker  gatehouse.Checker
	Sessions *session.Resolver
	Client   *upstream.Client
	Ready    func(context.Context) error // why a record could not be kept now
	Log      *slog.Logger

	settings atomic.Pointer[Settings]
	limiter  limiter
}

// Use makes the proxy work by these settings from now on.
func (p *Proxy) Use(s *Settings) { p.settings.Store(s) }

// turn is one request on its way.
type turn struct {
	w     http.ResponseWriter
	r     *http.Request
	s     *Settings
	x     *gatehouse.Exchange
	in    header.Inbound
	door  door
	req   wire.Request    // of an inspected exchange
	reply *upstream.Reply // nil until the upstream has answered
	body  []byte          // the answer, as it goes to the client

	recorded bool // the exchange has its one record
	begun    bool // the status line has been written
}

// ServeHTTP answers every request, the failed ones too, with the header surface and one record.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t := &turn{w: w, r: r, s: p.settings.Load(), in: header.Take(r.Header), x: &gatehouse.Exchange{
		ID: uuid.NewString(), Time: time.Now(), Surface: "proxy"}}
	defer func() {
		if v := recover(); v != nil {
			if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(v) // the connection ends as the upstream's did
			}
			p.crashed(t, v)
		}
	}()
	if done := p.plain(t); done {
		return
	}
	if err := p.prepare(r.Context(), t); err != nil {
		p.refuse(t, err)
		return
	}
	err := gatehouse.Guard(r.Context(), p.Checker, t.x, func(ctx context.Context, f *gatehouse.Flow) error {
		return p.forward(ctx, t, f)
	})
	t.recorded = true
	p.answer(t, err)
}

// crashed answers a request whose handling panicked, as far as it still can.
func (p *Proxy) crashed(t *turn, v any) {
	f := &gatehouse.Failure{Status: http.StatusInternalServerError, Code: "internal_error",
		Err: fmt.Errorf("panic of type %T\n%s", v, debug.Stack())}
	switch {
	case t.begun:
		p.log(t, f)
		panic(http.ErrAbortHandler)
	case t.recorded:
		p.fail(t, f)
		p.log(t, f)
	default:
		p.refuse(t, f)
	}
}

// prepare finds out where the request goes, whose it is and what is in it.
func (p *Proxy) prepare(ctx context.Context, t *turn) (err error) {
	if t.door, err = route(t.r, t.s); err != nil {
		return err
	}
	t.x.Upstream, t.x.Format, t.x.Endpoint = t.door.up.Name, t.door.up.Format, t.door.path
	if err := p.identify(ctx, t); err != nil {
		return err
	}
	if t.door.codec == nil {
		// The checkpoints see one part that nobody can read, and the operator's setting decides.
		t.x.Ask(gatehouse.Part{Kind: gatehouse.Opaque, Role: gatehouse.User, Path: t.door.path, Media: "endpoint", Latest: true})
		p.bind(ctx, t)
		return nil
	}
	body, err := readBody(t.w, t.r, t.s)
	if err != nil {
		return err
	}
	if t.req, err = t.door.codec.Request(body); err != nil {
		return malformed(err)
	}
	t.x.Ask(t.req.Parts()...)
	t.x.Model, t.x.Stream = t.req.Model(), t.req.Stream()
	p.bind(ctx, t)
	return nil
}

// bind finds the session. A store that cannot be read is the front checkpoint's failure, and on_error decides.
func (p *Proxy) bind(ctx context.Context, t *turn) {
	var err error
	if t.x.Session, t.x.Fresh, err = p.Sessions.Session(ctx, t.x.Agent, t.in.Session, t.x.Request); err != nil {
		p.doubt(t, err)
	}
}

func (p *Proxy) doubt(t *turn, err error) {
	t.x.Doubt = "store"
	p.Log.Error("store cannot be read", "request_id", t.x.ID, "error", err)
}

// identify binds the exchange to the agent of its credential.
func (p *Proxy) identify(ctx context.Context, t *turn) error {
	key := t.door.up.credential(t.r.Header)
	switch {
	case t.in.Err != nil:
		return failure(http.StatusBadRequest, "ambiguous_header", "a gateway header came twice with different values")
	case t.in.APIKey != "" || strings.HasPrefix(key, "mnm_"):
		return failure(http.StatusUnauthorized, "invalid_credentials", "unknown gateway key")
	case key == "" && t.door.up.Key == "" && !t.door.up.NoAuth:
		return failure(http.StatusUnauthorized, "auth_required", "no credential: send the provider's own key")
	case t.in.Agent != "" && !session.ValidName(t.in.Agent):
		return failure(http.StatusBadRequest, "invalid_agent_name", "X-Mnemom-Agent must be 2 to 32 letters, digits and hyphens")
	}
	a, known, err := p.Sessions.Agent(ctx, key, t.in.Agent)
	if err != nil {
		p.doubt(t, err)
	} else if !known && !t.s.AutoCreate {
		return failure(http.StatusForbidden, "agent_unknown", "no agent has this credential")
	}
	t.x.Agent, t.x.AgentHash, t.x.AgentName, t.x.Known = a.ID, a.Hash, a.Name, known
	if delay := p.limiter.wait(a.ID, t.s.Rate); delay > 0 {
		t.w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(delay.Seconds()))))
		return failure(http.StatusTooManyRequests, "rate_limit_exceeded", "this agent has sent more than limits.rate requests in a minute")
	}
	return nil
}

// forward is what Guard guards: the request as the checkpoints left it, and the answer into the flow.
func (p *Proxy) forward(ctx context.Context, t *turn, f *gatehouse.Flow) error {
	out, err := t.outgoing(ctx)
	if err != nil {
		return err
	}
	if t.door.codec == nil {
		t.reply, err = p.Client.Open(ctx, out, t.s.Limits)
	} else {
		t.reply, err = p.Client.Send(ctx, out, t.s.Limits, t.door.codec, f)
	}
	if t.reply == nil {
		return err
	}
	t.x.Status = t.reply.Status
	f.Decided(t.render)
	t.x.Known = t.x.Known || t.reply.Status != http.StatusUnauthorized
	if err != nil {
		t.x.Cut = gatehouse.AsFailure(err).Code
	}
	if t.reply.Body != nil {
		t.x.Usage = t.reply.Body.Usage()
	}
	return err
}

func malformed(err error) error {
	if m, ok := wire.IsMalformed(err); ok {
		return failure(http.StatusBadRequest, m.Code, m.Reason)
	}
	return err
}
