package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/identity"
	"github.com/gatehouse-gateway/gatehouse/internal/surface"
)

// Keys keeps API keys.
type Keys interface {
	// Keys lists an account's keys, or those of every account when it is empty, and counts them.
	Keys(ctx context.Context, account string, limit, offset int) ([]identity.Key, int, error)
	KeyByID(ctx context.Context, id string) (k identity.Key, ok bool, err error)
	// PutKey stores a key, new or changed.
	PutKey(ctx context.Context, k identity.Key) error
}

func (a *API) keyRoutes() []route {
	return []route{
		{method: "POST", path: "/v1/keys", scope: identity.Admin, do: a.createKey, change: true},
		{method: "GET", path: "/v1/keys", scope: identity.Admin, do: a.listKeys},
		{method: "GET", path: "/v1/keys/whoami", do: a.whoami},
		{method: "GET", path: "/v1/keys/{id}", scope: identity.Admin, do: a.getKey},
		{method: "DELETE", path: "/v1/keys/{id}", scope: identity.Admin, do: a.revokeKey, change: true},
		{method: "POST", path: "/v1/keys/{id}/rotate", scope: identity.Admin, do: a.rotateKey, change: true},
	}
}

// keyBody is a key on the wire.
type keyBody struct {
	ID      string           `json:"id"`
	Account string           `json:"account"`
	Name    string           `json:"name"`
	Scopes  []identity.Scope `json:"scopes"`
	Agents  []string         `json:"agents"`
	Created time.Time        `json:"created_at"`
	Expires *time.Time       `json:"expires_at"`
	Revoked *time.Time       `json:"revoked_at"`
	Key     string           `json:"key,omitempty"` // shown once, when it is made
}

func keyShape(k identity.Key) keyBody {
	return keyBody{ID: k.ID, Account: k.Account, Name: k.Name, Scopes: list(k.Scopes), Agents: list(k.Agents),
		Created: k.Created, Expires: optional(k.Expires), Revoked: optional(k.Revoked)}
}

// optional is a time that may be missing.
func optional(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

const maxName = 100 // characters of a name that people give

func (a *API) createKey(ctx context.Context, r *request) (answer, error) {
	var body struct {
		Name    string           `json:"name"`
		Account string           `json:"account"`
		Scopes  []identity.Scope `json:"scopes"`
		Agents  []string         `json:"agents"`
		Expires *time.Time       `json:"expires_at"`
	}
	if err := r.decode(&body); err != nil {
		return answer{}, err
	}
	id, token := identity.NewKey()
	k := identity.Key{ID: id, Account: body.Account, Name: body.Name, Hash: identity.HashToken(token), Scopes: body.Scopes,
		Agents: body.Agents, Created: now()}
	if body.Expires != nil {
		if k.Expires = body.Expires.UTC(); !storable(k.Expires) {
			return answer{}, invalid("expires_at", "must be between now and 2261")
		}
	}
	if len(k.Scopes) == 0 {
		k.Scopes = []identity.Scope{identity.Gateway, identity.Read, identity.Write}
	}
	if k.Account == "" {
		k.Account = r.who.Account
	}
	if err := a.checkKey(ctx, r, k); err != nil {
		return answer{}, err
	}
	if err := a.Keys.PutKey(ctx, k); err != nil {
		return answer{}, err
	}
	r.X.Account = k.Account
	shape := keyShape(k)
	if err := r.did("key.created", k.ID, shape); err != nil {
		return answer{}, err
	}
	shape.Key = token
	return answer{http.StatusCreated, "key/v1", shape}, nil
}

// checkKey refuses a key that must not be made: of another account, for agents that are none of the caller's, or with more
// than the caller has.
func (a *API) checkKey(ctx context.Context, r *request, k identity.Key) error {
	switch {
	case !identity.ValidAccount(k.Account):
		return invalid("account", "must be 1 to 32 lower-case letters, digits and hyphens")
	case k.Account != r.who.Account && !r.who.Root:
		return surface.Failure(http.StatusForbidden, "insufficient_scope", "only the administrator's token makes keys of other accounts")
	case len([]rune(k.Name)) > maxName:
		return invalid("name", "is too long")
	case !k.Expires.IsZero() && k.Expires.Before(k.Created):
		return invalid("expires_at", "is in the past")
	case len(k.Agents) > maxLimit:
		return invalid("agents", "are too many")
	case len(r.who.Agents) > 0 && len(k.Agents) == 0:
		return surface.Failure(http.StatusForbidden, "insufficient_scope", "a key for some agents makes keys for these alone: list them")
	}
	for i, s := range k.Scopes {
		switch {
		case !s.Known():
			return invalid("scopes", "must be of gateway, api:read, api:write, approve, admin")
		case slices.Contains(k.Scopes[:i], s):
			return invalid("scopes", "has one twice")
		}
	}
	if err := r.mayGive(k); err != nil {
		return err
	}
	for i, id := range k.Agents {
		if slices.Contains(k.Agents[:i], id) {
			return invalid("agents", "has one twice")
		}
		agent, err := a.agent(ctx, r, id)
		if err != nil {
			return err
		}
		if agent.Account != k.Account {
			return notFound("agent")
		}
	}
	return nil
}

// mayGive refuses to show a token that can do more than the caller, or for longer.
func (r *request) mayGive(k identity.Key) error {
	for _, s := range k.Scopes {
		if !r.who.Can(s) {
			return surface.Failure(http.StatusForbidden, "insufficient_scope", "a key cannot give the scope "+string(s)+", which it does not have")
		}
	}
	if end := r.who.Expires; !end.IsZero() && (k.Expires.IsZero() || k.Expires.After(end)) {
		return surface.Failure(http.StatusForbidden, "insufficient_scope", "a key that expires gives none that lives longer")
	}
	return nil
}

func (a *API) listKeys(ctx context.Context, r *request) (answer, error) {
	p, err := r.page()
	if err != nil {
		return answer{}, err
	}
	list, total, err := a.keysOf(ctx, r, p)
	if err != nil {
		return answer{}, err
	}
	shapes := []keyBody{}
	for _, k := range list {
		shapes = append(shapes, keyShape(k))
	}
	return answer{schema: "key_list/v1", body: map[string]any{"keys": shapes, "total": total, "limit": p.limit, "offset": p.offset}}, nil
}

// keysOf lists the keys that the caller may know of, and counts them.
func (a *API) keysOf(ctx context.Context, r *request, p page) (list []identity.Key, total int, err error) {
	if len(r.who.Agents) == 0 {
		return a.Keys.Keys(ctx, r.account(), p.limit, p.offset)
	}
	all, _, err := a.Keys.Keys(ctx, r.account(), maxOffset, 0)
	if err != nil {
		return nil, 0, err
	}
	all = slices.DeleteFunc(all, func(k identity.Key) bool { return !r.seesKey(k) })
	from := min(p.offset, len(all))
	return all[from:min(from+p.limit, len(all))], len(all), nil
}

// seesKey reports whether a key is the caller's to know of. Who is for some agents knows the keys for these alone.
func (r *request) seesKey(k identity.Key) bool {
	if r.who.Root {
		return true
	}
	foreign := func(id string) bool { return !slices.Contains(r.who.Agents, id) }
	return k.Account == r.who.Account && (len(r.who.Agents) == 0 || len(k.Agents) > 0 && !slices.ContainsFunc(k.Agents, foreign))
}

// account is whose resources the caller sees; empty: everyone's.
func (r *request) account() string {
	if r.who.Root {
		return ""
	}
	return r.who.Account
}

func (a *API) whoami(_ context.Context, r *request) (answer, error) {
	return answer{schema: "whoami/v1", body: map[string]any{"id": r.who.Key, "account": r.who.Account, "scopes": r.who.Scopes,
		"agents": list(r.who.Agents)}}, nil
}

// key finds a key that the caller may know of.
func (a *API) key(ctx context.Context, r *request) (identity.Key, error) {
	k, ok, err := a.Keys.KeyByID(ctx, r.params["id"])
	if err == nil && (!ok || k.ID == identity.AdminID || !r.seesKey(k)) {
		err = notFound("key")
	}
	if err == nil {
		r.X.Account = k.Account // as with agents
	}
	return k, err
}

func (a *API) getKey(ctx context.Context, r *request) (answer, error) {
	k, err := a.key(ctx, r)
	return answer{schema: "key/v1", body: keyShape(k)}, err
}

func (a *API) revokeKey(ctx context.Context, r *request) (answer, error) {
	k, err := a.key(ctx, r)
	if err != nil {
		return answer{}, err
	}
	if k.Revoked.IsZero() {
		k.Revoked = now()
		if err := a.Keys.PutKey(ctx, k); err != nil {
			return answer{}, err
		}
	}
	return answer{schema: "key/v1", body: keyShape(k)}, r.did("key.revoked", k.ID, nil)
}

func (a *API) rotateKey(ctx context.Context, r *request) (answer, error) {
	k, err := a.key(ctx, r)
	if err != nil {
		return answer{}, err
	}
	if !k.Active(now()) {
		return answer{}, surface.Failure(http.StatusConflict, "key_not_active", "this key was revoked or has expired")
	}
	if err := r.mayGive(k); err != nil {
		return answer{}, err
	}
	token := identity.NewToken()
	k.Hash = identity.HashToken(token)
	if err := a.Keys.PutKey(ctx, k); err != nil {
		return answer{}, err
	}
	shape := keyShape(k)
	shape.Key = token
	return answer{schema: "key/v1", body: shape}, r.did("key.rotated", k.ID, nil)
}

// now is the time as it is stored and shown.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
