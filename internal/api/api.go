// Package api is the surface of the native API: /v1, JSON in and out, described by openapi.yaml. It promises that what a key may
// not see does not exist for it, that a mutation with an Idempotency-Key happens once, and that a mutation, its record and
// its answer are kept together or not at all. What the resources mean is left to their packages.
package api

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/approval"
	"github.com/gatehouse-gateway/gatehouse/internal/identity"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
	"github.com/gatehouse-gateway/gatehouse/internal/surface"
	"github.com/gatehouse-gateway/gatehouse/internal/webhook"
)

// API is a [surface.Surface]. Its fields are set before its first use.
type API struct {
	Checker   gatehouse.Checker
	Desk      *surface.Desk
	Authority *identity.Authority
	Log       *slog.Logger

	Transact func(ctx context.Context, do func(context.Context) error) error // one transaction of the store
	Answers  Answers
	Keys     Keys
	Agents   Agents
	Records  Records
	Webhooks *webhook.Registry
	// Approvals is where flagged calls wait for a human.
	Approvals *approval.Queue
	// Life ends with the gateway, and with it what waits; nil: never.
	Life context.Context
	// Reminders are the advisories that wait for a model's next turn.
	Reminders session.Reminders

	// Redact takes secrets and personal data out of what callers tell: JSON in, JSON out; nil stays nil.
	Redact func(ctx context.Context, data json.RawMessage) (json.RawMessage, error)

	keyless atomic.Bool
	largest atomic.Int64           // bytes of a body that is to be checked
	address atomic.Pointer[string] // where people reach the gateway; nil: not known
	rate    atomic.Int64           // questions to checkpoints a minute for each agent; 0: no limit
	flights flights
	waiting lot
	table   []route
	nouns   map[string][]route // by the first segment after /v1
	tabling sync.Once
}

// maxBody is the most bytes of a request body. The largest thing that the API takes is an event of 16 KiB.
const maxBody = 1 << 20

// route is one operation.
type route struct {
	method string
	path   string         // segments; {name} stands for one
	scope  identity.Scope // what a key needs; empty: any key
	do     func(context.Context, *request) (answer, error)
	check  func(context.Context, *request) (answer, error) // in place of do: it asks checkpoints
	open   bool                                            // while the gateway has no key, callers are known by whatever credential they have
	change bool                                            // it changes something
	wakes  bool                                            // it may settle an approval for which others wait
	stream func(context.Context, *request) error
}

// routes are all operations. openapi.yaml describes each.
func (a *API) routes() []route {
	a.tabling.Do(func() {
		a.table = slices.Concat(a.keyRoutes(), a.agentRoutes(), a.containmentRoutes(), a.recordRoutes(), a.advisoryRoutes(), a.webhookRoutes(), a.checkpointRoutes(),
			a.approvalRoutes(), a.grantRoutes())
		a.nouns = map[string][]route{}
		for _, rt := range a.table {
			noun, _, _ := strings.Cut(strings.TrimPrefix(rt.path, "/v1/"), "/")
			a.nouns[noun] = append(a.nouns[noun], rt)
		}
	})
	return a.table
}

// Operations lists all operations as "METHOD /path".
func (a *API) Operations() []string {
	var list []string
	for _, rt := range a.routes() {
		list = append(list, rt.method+" "+rt.path)
	}
	return list
}

// answer is what an operation says.
type answer struct {
	status int // 0: 200
	schema string
	body   any // nil: nothing, and 204
}

// Serve implements [surface.Surface].
func (a *API) Serve(c *surface.Call) bool {
	rt, params, others := a.match(c.R.Method, c.R.URL.EscapedPath())
	if rt == nil && len(others) == 0 {
		return false
	}
	c.X.Surface = "api"
	version := negotiate(c.In.Version)
	c.Own = http.Header{http.CanonicalHeaderKey("X-Mnemom-Version"): {version}}
	if rt == nil {
		c.X.Endpoint = a.pattern(c.R.URL.EscapedPath())
		c.W.Header().Set("Allow", strings.Join(others, ", "))
		c.Refuse(surface.Failure(http.StatusMethodNotAllowed, "method_not_allowed", "this path knows "+strings.Join(others, ", ")))
		return true
	}
	c.X.Endpoint = rt.path
	r := &request{Call: c, api: a, params: params, version: version}
	if err := a.serve(c.R.Context(), r, rt); err != nil {
		c.Refuse(err)
	}
	return true
}

// serve does what a route says, for who may ask it to.
func (a *API) serve(ctx context.Context, r *request, rt *route) (err error) {
	if r.who, err = a.who(r, rt); err != nil {
		return err
	}
	r.X.Key, r.X.Account = r.who.Key, r.who.Account
	if rt.scope != "" && r.who.Keyed {
		if err := r.who.Need(rt.scope); err != nil {
			return err
		}
	}
	switch {
	case rt.stream != nil:
		return rt.stream(ctx, r)
	case rt.change:
		return a.change(ctx, r, rt)
	case rt.check != nil:
		return a.ask(ctx, r, rt)
	}
	said, err := rt.do(ctx, r)
	if err != nil {
		return err
	}
	return r.say(said)
}

// say writes an answer.
func (r *request) say(said answer) error {
	body, err := r.render(said)
	if err != nil {
		return err
	}
	r.send(said.status, said.schema, body)
	return nil
}

// Close answers those who wait for a decision, and lets nobody wait any more.
func (a *API) Close() { a.waiting.close() }

// Limit bounds the questions to checkpoints, as a door's requests are: bytes of a body, and how many a minute for each agent.
func (a *API) Limit(bytes int64, perMinute int) {
	a.largest.Store(bytes)
	a.rate.Store(int64(perMinute))
}

// At says where people reach the gateway: a base URL without a slash at its end, or empty.
func (a *API) At(url string) { a.address.Store(&url) }

// approvalURL is where people look at an approval.
func (a *API) approvalURL(id string) string {
	base := ""
	if at := a.address.Load(); at != nil {
		base = *at
	}
	return base + "/v1/approvals/" + id
}

// Keyless lets callers use what is open to them without an API key, as long as there is none. It is off at first.
func (a *API) Keyless(allowed bool) { a.keyless.Store(allowed) }

// who finds out who asks.
func (a *API) who(r *request, rt *route) (surface.Who, error) {
	slot := surface.Bearer(r.R.Header)
	if rt.open && slot == "" {
		slot = r.R.Header.Get("X-Api-Key")
	}
	mustHaveKey := !rt.open || slot == "" || !a.keyless.Load()
	return a.Desk.Who(r.In, slot, mustHaveKey)
}

// match finds the route of a request. others are the methods that the path knows.
func (a *API) match(method, path string) (rt *route, params map[string]string, others []string) {
	rest, ok := strings.CutPrefix(path, "/v1/")
	if !ok {
		return nil, nil, nil
	}
	noun, _, _ := strings.Cut(rest, "/")
	a.routes()
	routes := a.nouns[noun] // a request for a model is none of them, and pays for nothing
	exact := false          // a path without parameters goes before one with
	for i := range routes {
		found, ok := matchPath(routes[i].path, path)
		if !ok || exact && len(found) > 0 {
			continue
		}
		if len(found) == 0 && !exact {
			exact, rt, others = true, nil, nil
		}
		others = append(others, routes[i].method)
		if routes[i].method == method || method == http.MethodHead && routes[i].method == http.MethodGet {
			rt, params = &routes[i], found
		}
	}
	return rt, params, others
}

// pattern is the one that a path follows: records and logs have patterns, and nothing that callers put into a path.
func (a *API) pattern(path string) string {
	for _, rt := range a.routes() {
		if _, ok := matchPath(rt.path, path); ok {
			return rt.path
		}
	}
	return ""
}

// matchPath holds a path, as it is escaped on the wire, against a pattern: an escaped slash belongs to its segment.
func matchPath(pattern, path string) (params map[string]string, ok bool) {
	want, have := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return nil, false
	}
	for i, segment := range want {
		text, err := url.PathUnescape(have[i])
		if name, variable := strings.CutPrefix(segment, "{"); variable && err == nil && text != "" {
			if params == nil {
				params = map[string]string{}
			}
			params[strings.TrimSuffix(name, "}")] = text
		} else if segment != text {
			return nil, false
		}
	}
	return params, true
}
