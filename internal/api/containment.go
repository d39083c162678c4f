package api

import (
	"context"
	"net/http"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/identity"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
	"github.com/gatehouse-gateway/gatehouse/internal/surface"
)

// Containments keeps what is against agents.
type Containments interface {
	// Contain stores why an agent may not act; the state active lifts it.
	Contain(ctx context.Context, c identity.Containment) error
	ContainmentOf(ctx context.Context, agent string) (c identity.Containment, ok bool, err error)
}

func (a *API) containmentRoutes() []route {
	return []route{
		{method: "GET", path: "/v1/agents/{id}/containment", scope: identity.Read, do: a.getContainment},
		{method: "POST", path: "/v1/agents/{id}/pause", scope: identity.Admin, change: true,
			do: a.contain(identity.Paused, "agent.paused", identity.Active, identity.Paused)},
		{method: "POST", path: "/v1/agents/{id}/resume", scope: identity.Admin, change: true,
			do: a.contain(identity.Active, "agent.resumed", identity.Paused, identity.Active)},
		{method: "POST", path: "/v1/agents/{id}/kill", scope: identity.Admin, change: true,
			do: a.contain(identity.Killed, "agent.killed", identity.Active, identity.Paused, identity.Killed)},
		{method: "POST", path: "/v1/agents/{id}/reactivate", scope: identity.Admin, change: true,
			do: a.contain(identity.Active, "agent.reactivated", identity.Killed, identity.Paused, identity.Active)},
	}
}

// containmentBody is a containment on the wire.
type containmentBody struct {
	State  identity.State `json:"state"`
	Reason string         `json:"reason"`
	Actor  string         `json:"actor"` // id of the key that did it
	Since  *time.Time     `json:"since"`
}

func (a *API) containment(ctx context.Context, agent session.Agent) (containmentBody, error) {
	c, ok, err := a.Agents.ContainmentOf(ctx, agent.ID)
	if err != nil || !ok {
		return containmentBody{State: identity.Active}, err
	}
	return containmentBody{c.State, c.Reason, c.Actor, optional(c.Time)}, nil
}

func (a *API) getContainment(ctx context.Context, r *request) (answer, error) {
	agent, err := a.agent(ctx, r, r.params["id"])
	if err != nil {
		return answer{}, err
	}
	c, err := a.containment(ctx, agent)
	return answer{schema: "containment/v1", body: c}, err
}

const maxReason = 500 // characters

// contain brings an agent into a state, from those from which it may come.
func (a *API) contain(to identity.State, event string, from ...identity.State) func(context.Context, *request) (answer, error) {
	return func(ctx context.Context, r *request) (answer, error) {
		agent, err := a.agent(ctx, r, r.params["id"])
		if err != nil {
			return answer{}, err
		}
		var body struct {
			Reason string `json:"reason"`
		}
		if err := r.decode(&body); err != nil {
			return answer{}, err
		}
		if len([]rune(body.Reason)) > maxReason {
			return answer{}, invalid("reason", "is too long")
		}
		now := now()
		was, err := a.containment(ctx, agent)
		if err != nil {
			return answer{}, err
		}
		allowed := false
		for _, state := range from {
			allowed = allowed || was.State == state
		}
		if !allowed {
			return answer{}, surface.Failure(http.StatusConflict, "containment_conflict", "an agent that is "+string(was.State)+" cannot be brought into this state")
		}
		credential := agent.Credential
		if credential == "" { // of an agent that was made by hand: its hash is the credential's own, unless it has a name in it
			credential = agent.Hash
		}
		if err := a.Agents.Contain(ctx, identity.Containment{Agent: agent.ID, Credential: credential, State: to,
			Reason: body.Reason, Actor: r.who.Key, Time: now}); err != nil {
			return answer{}, err
		}
		c, err := a.containment(ctx, agent)
		if err != nil {
			return answer{}, err
		}
		return answer{schema: "containment/v1", body: c}, r.did(event, agent.ID, map[string]string{"reason": body.Reason})
	}
}
