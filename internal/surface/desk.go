package surface

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/header"
	"github.com/gatehouse-gateway/gatehouse/internal/identity"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

// Desk finds out who asks, and which agent that is. It serves all surfaces.
type Desk struct {
	Authority *identity.Authority
	Sessions  *session.Resolver

	limiter   limiter
	knownOnly atomic.Bool
}

// KnownOnly refuses credentials that have made no agent yet, on all surfaces.
func (d *Desk) KnownOnly(only bool) { d.knownOnly.Store(only) }

// Who is the party behind a request.
type Who struct {
	identity.Caller        // of the API key; without one, the default account and no scopes
	Credential      string // what an agent is known by: the API key, or the provider's
	Keyed           bool   // an API key was shown
}

// Who looks at the credentials of a request: slot is what stands where the provider's own key goes. An API key wins over any
// other. Without one the answer is an error as soon as the gateway has keys, or must have them.
func (d *Desk) Who(in header.Inbound, slot string, mustHaveKey bool) (Who, error) {
	token := in.APIKey
	if token == "" && d.Authority.Owns(slot) {
		token = slot
	}
	switch {
	case in.Err != nil:
		return Who{}, Failure(http.StatusBadRequest, "ambiguous_header", "a gateway header came twice with different values")
	case token != "":
		caller, err := d.Authority.Caller(token)
		if err != nil {
			return Who{}, Failure(http.StatusUnauthorized, "invalid_credentials", "unknown or revoked API key")
		}
		return Who{caller, token, true}, named(in.Agent, len(caller.Agents) > 0)
	case mustHaveKey || !d.Authority.Keyless():
		return Who{}, Failure(http.StatusUnauthorized, "auth_required", "this gateway asks for an API key: send it as X-Mnemom-Api-Key")
	}
	return Who{identity.Caller{Account: identity.DefaultAccount}, slot, false}, named(in.Agent, false)
}

// named refuses what can name no agent, whatever else the request says of it: with a key that lists agents it is a name or an
// id, else a name.
func named(name string, listed bool) error {
	if name == "" || session.ValidName(name) || listed && session.ValidAgentID(name) {
		return nil
	}
	return Failure(http.StatusBadRequest, "invalid_agent_name", "X-Mnemom-Agent must be 2 to 32 letters, digits and hyphens")
}

// Bearer takes the token of an Authorization header; empty when there is none.
func Bearer(h http.Header) string {
	if scheme, token, ok := strings.Cut(h.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "bearer") {
		return strings.TrimSpace(token)
	}
	return ""
}

// Bind finds the agent that the party acts as, and writes it into the exchange. name is what the request says of it, or
// empty. The second error is of the store: then the agent is only presumed, and nothing may rely on it.
func (d *Desk) Bind(ctx context.Context, x *gatehouse.Exchange, w Who, name string) (refused, store error) {
	x.Key, x.Account = w.Key, w.Account
	a, known, refused, err := d.agent(ctx, w, name)
	if refused != nil {
		return refused, nil
	}
	if w.Keyed && known && a.Account != w.Account && !w.Root {
		return Failure(http.StatusForbidden, "agent_unknown", "this key may not act as this agent"), nil
	}
	x.Agent, x.AgentHash, x.AgentName, x.Known, x.Account = a.ID, a.Hash, a.Name, known, a.Account
	if x.AgentCredential = a.Credential; x.AgentCredential == "" && len(w.Agents) == 0 {
		x.AgentCredential = session.CredentialHash(w.Credential, "") // of one that was made by hand, and calls now
	}
	if a.Proof == "" && len(w.Agents) == 0 {
		x.AgentProof = d.Sessions.Proof(session.HashProof(w.Credential, name))
	}
	if !a.Deleted.IsZero() {
		return Failure(http.StatusForbidden, "agent_deleted", "this agent was deleted: its credential is not served any more"), err
	}
	if refused := d.Contained(a.ID, w.Credential); refused != nil {
		return refused, err
	}
	if !known && err == nil && d.knownOnly.Load() {
		return Failure(http.StatusForbidden, "agent_unknown", "no agent has this credential"), nil
	}
	return nil, err
}

// Contained refuses an agent, or whoever has its credential, that an operator has stopped.
func (d *Desk) Contained(agent, credential string) error {
	if c, ok := d.Authority.Contained(agent, session.CredentialHash(credential, "")); ok {
		return Failure(http.StatusForbidden, "agent_"+string(c.State), "this agent was "+string(c.State)+" by an operator")
	}
	return nil
}

// agent finds the one that is meant: of the agents that the key lists, else the one that the credential makes.
func (d *Desk) agent(ctx context.Context, w Who, name string) (a session.Agent, known bool, refused, err error) {
	if len(w.Agents) == 0 {
		if refused := named(name, false); refused != nil {
			return a, false, refused, nil
		}
		a, known, err = d.Sessions.Agent(ctx, w.Account, w.Credential, name)
		return a, known, nil, err
	}
	if name == "" && len(w.Agents) > 1 {
		return a, false, Failure(http.StatusBadRequest, "agent_required", "this key may act as several agents: say which in X-Mnemom-Agent"), nil
	}
	for _, id := range w.Agents {
		a, known, err = d.Sessions.Store.AgentByID(ctx, id)
		if err != nil {
			return session.Agent{ID: id, Account: w.Account}, false, nil, err
		}
		if known && (name == "" || name == a.ID || name == a.Name) {
			return a, true, nil, nil
		}
	}
	return session.Agent{}, false, Failure(http.StatusForbidden, "agent_unknown", "this key may not act as this agent"), nil
}

// Need refuses a party that does not have a scope.
func (w Who) Need(s identity.Scope) error {
	if !slices.Contains(w.Scopes, s) {
		return Failure(http.StatusForbidden, "insufficient_scope", "this needs a key with the scope "+string(s))
	}
	return nil
}
