// Package proxy is the surface that SDKs reach by a changed base URL. It carries requests to the checkpoints and to the
// upstream, and answers back. It decides nothing: what happens is in the exchange when Guard returns.
package proxy

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/identity"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
	"github.com/gatehouse-gateway/gatehouse/internal/surface"
	"github.com/gatehouse-gateway/gatehouse/internal/upstream"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// Proxy is a [surface.Surface]. Its fields are set before its first use.
type Proxy struct {
	Checker  gatehouse.Checker
	Desk     *surface.Desk
	Sessions *session.Resolver
	Client   *upstream.Client
	Log      *slog.Logger

	Approvals Approvals // nil: none

	settings atomic.Pointer[Settings]
}

// Use makes the proxy work by these settings from now on.
func (p *Proxy) Use(s *Settings) { p.settings.Store(s) }

// turn is one request on its way.
type turn struct {
	*surface.Call
	s     *Settings
	door  door
	req   wire.Request    // of an inspected exchange
	reply *upstream.Reply // nil until the upstream has answered
	body  []byte          // the answer, as it goes to the client; of one that leaves early, the rest
	out   *outlet         // nil: nothing leaves before all of it is decided
}

// Serve implements [surface.Surface]. It takes every path: what leads to no upstream is not found.
func (p *Proxy) Serve(c *surface.Call) bool {
	t := &turn{Call: c, s: p.settings.Load()}
	defer func() { t.out.close() }()
	if err := p.prepare(c.R.Context(), t); err != nil {
		t.Refuse(err)
		return true
	}
	err := gatehouse.Guard(c.R.Context(), p.Checker, t.X, func(ctx context.Context, f *gatehouse.Flow) error {
		return p.forward(ctx, t, f)
	})
	t.Recorded = true
	p.answer(t, err)
	return true
}

// prepare finds out where the request goes, whose it is and what is in it.
func (p *Proxy) prepare(ctx context.Context, t *turn) (err error) {
	t.door, err = route(t.R, t.s)
	if t.door.shape != nil {
		t.Shape = t.door.shape.Error
	}
	if err != nil {
		return err
	}
	t.X.Upstream, t.X.Format, t.X.Endpoint = t.door.up.Name, t.door.up.Format, t.door.path
	t.X.Wordless = t.door.wordless
	if err := p.identify(ctx, t); err != nil {
		return err
	}
	if t.door.codec == nil {
		// The checkpoints see one part that nobody can read, and the operator's setting decides.
		t.X.Ask(gatehouse.Part{Kind: gatehouse.Opaque, Role: gatehouse.User, Path: t.door.path, Media: "endpoint", Latest: true})
		p.bind(ctx, t)
		return nil
	}
	body, err := t.Body(t.s.Body)
	if err != nil {
		return err
	}
	if t.req, err = t.door.codec.Request(body); err != nil {
		return malformed(err)
	}
	t.X.Request = t.req.Parts() // of a long conversation they are not copied once more
	for i := range t.X.Request {
		t.X.Request[i].ID = i
	}
	t.X.Follows = append(keys(t.req), t.door.keys...)
	t.X.Model, t.X.Stream = t.req.Model(), t.req.Stream() || t.door.stream
	p.bind(ctx, t)
	return nil
}

// bind finds the session. A store that cannot be read is the front checkpoint's failure, and on_error decides.
func (p *Proxy) bind(ctx context.Context, t *turn) {
	id, ok, err := p.Sessions.Continued(ctx, t.X.Agent, slices.Concat(t.X.Follows, mentions(t.req)))
	if ok && !session.ValidID(t.In.Session) {
		t.X.Session = id
		return
	}
	if err != nil {
		p.doubt(t, err)
	}
	if t.X.Session, t.X.Fresh, err = p.Sessions.Session(ctx, t.X, t.In.Session); err != nil {
		p.doubt(t, err)
	}
}

func (p *Proxy) doubt(t *turn, err error) {
	t.X.Doubt = "store"
	p.Log.Error("store cannot be read", "request_id", t.X.ID, "error", err)
}

// identify binds the exchange to the agent of its credential.
func (p *Proxy) identify(ctx context.Context, t *turn) error {
	own, err := takeKeys(t.R, p.Desk.Authority.Owns)
	if err != nil {
		return err
	}
	slot := t.door.up.credential(t.R)
	who, err := p.Desk.Who(t.In, cmp.Or(own, slot), t.s.KeysOnly)
	if err != nil {
		return err
	}
	if who.Keyed {
		if err := who.Need(identity.Gateway); err != nil {
			return err
		}
	}
	if slot == "" && t.door.up.Key == "" && !t.door.up.NoAuth {
		return surface.Failure(http.StatusUnauthorized, "auth_required", "no credential: send the provider's own key")
	}
	if err := p.contained(t.R); err != nil {
		return err
	}
	refused, err := p.Desk.Bind(ctx, t.X, who, t.In.Agent)
	if refused != nil {
		return refused
	}
	if err != nil {
		p.doubt(t, err)
	}
	t.X.Known = t.X.Known || who.Keyed // an API key has been proved; a provider's is when the upstream takes it
	return p.Desk.Admit(t.Call, t.X.Agent, t.s.Rate)
}

// contained refuses a request that holds a contained credential in any slot: upstreams do not all read the same one.
func (p *Proxy) contained(r *http.Request) error {
	for _, key := range queryKeys(r.URL.RawQuery) {
		if err := p.Desk.Contained("", key); err != nil {
			return err
		}
	}
	for _, name := range slots {
		for _, value := range r.Header.Values(name) {
			if scheme, token, ok := strings.Cut(value, " "); ok && strings.EqualFold(scheme, "bearer") {
				value = strings.TrimSpace(token)
			}
			if err := p.Desk.Contained("", value); err != nil {
				return err
			}
		}
	}
	return nil
}

// forward is what Guard guards: the request as the checkpoints left it, and the answer into the flow.
func (p *Proxy) forward(ctx context.Context, t *turn, f *gatehouse.Flow) error {
	err := p.fetch(ctx, t, f)
	if t.reply == nil {
		return err
	}
	t.X.Status = t.reply.Status
	f.Decided(t.render)
	t.X.Known = t.X.Known || t.reply.Status != http.StatusUnauthorized
	if err != nil {
		t.X.Cut = gatehouse.AsFailure(err).Code
	}
	if t.reply.Body != nil {
		t.X.Usage, t.X.Leaves = t.reply.Body.Usage(), keys(t.reply.Body)
	}
	return err
}

// fetch gets the answer: the model's, or, where that is approved calls of its last turn, these.
func (p *Proxy) fetch(ctx context.Context, t *turn, f *gatehouse.Flow) error {
	if calls := p.released(ctx, t); len(calls) > 0 {
		body, kind, err := t.door.codec.Released(t.req, calls, t.X.ID)
		if err == nil {
			return p.release(ctx, t, written{body, kind}, f)
		}
		t.X.Released = nil
		p.Log.Warn("approved calls have no place in this request: the model is asked", "request_id", t.X.ID, "error", err)
	}
	out, err := t.outgoing(ctx)
	if err != nil {
		return err
	}
	if t.door.codec == nil {
		t.reply, err = p.Client.Open(ctx, out, t.s.Limits)
	} else {
		t.reply, err = p.Client.Send(ctx, out, t.s.Limits, answers(t.req, t.door.codec), f, &watch{t, f})
	}
	return err
}

// answers is the codec that reads the answer to a request.
func answers(req wire.Request, codec wire.Codec) wire.Codec {
	if e, ok := req.(wire.Echoed); ok {
		return e.Answers(codec)
	}
	return codec
}

// keys are the provider's names for a conversation that it keeps; none where the format has no such thing.
func keys(of any) []string {
	if s, ok := of.(wire.Stateful); ok {
		return s.Keys()
	}
	return nil
}

// mentions are the names of the answer that the request mentions last; none where the format has no such thing.
func mentions(req wire.Request) []string {
	if m, ok := req.(wire.Mentioning); ok {
		return m.Mentions()
	}
	return nil
}

func malformed(err error) error {
	if m, ok := wire.IsMalformed(err); ok {
		return surface.Failure(http.StatusBadRequest, m.Code, m.Reason)
	}
	return err
}
