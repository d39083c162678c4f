package api

import (
	"context"
	"crypto/subtle"
	"errors"
	"net/http"
	"regexp"
	"time"

	"github.com/google/uuid"

	"github.com/gatehouse-gateway/gatehouse/internal/identity"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
	"github.com/gatehouse-gateway/gatehouse/internal/surface"
)

// Agents keeps agents and what is against them.
type Agents interface {
	AgentByHash(ctx context.Context, hash string) (a session.Agent, ok bool, err error)
	AgentByID(ctx context.Context, id string) (a session.Agent, ok bool, err error)
	// Agents lists agents of an account, or of every account when it is empty; of these, those with the given ids, unless
	// there are none. It counts all of them.
	Agents(ctx context.Context, account string, ids []string, limit, offset int) ([]session.Agent, int, error)
	// EnsureAgent stores a new agent, or finds the one that has its hash.
	EnsureAgent(ctx context.Context, a session.Agent) (session.Agent, error)
	ChangeAgent(ctx context.Context, a session.Agent) error
	DeleteAgent(ctx context.Context, id string, at time.Time) error

	Containments
}

func (a *API) agentRoutes() []route {
	return []route{
		{method: "POST", path: "/v1/agents", scope: identity.Write, do: a.createAgent, change: true},
		{method: "GET", path: "/v1/agents", scope: identity.Read, do: a.listAgents},
		{method: "GET", path: "/v1/agents/{id}", scope: identity.Read, do: a.getAgent},
		{method: "PUT", path: "/v1/agents/{id}", scope: identity.Write, do: a.renameAgent, change: true},
		{method: "DELETE", path: "/v1/agents/{id}", scope: identity.Write, do: a.deleteAgent, change: true},
		{method: "POST", path: "/v1/agents/{id}/claim", scope: identity.Write, do: a.claimAgent, change: true},
		{method: "POST", path: "/v1/agents/{id}/rekey", scope: identity.Write, do: a.rekeyAgent, change: true},
		{method: "POST", path: "/v1/agents/{id}/verify-binding", scope: identity.Read, do: a.verifyBinding},
	}
}

// agentBody is an agent on the wire.
type agentBody struct {
	ID          string          `json:"id"`
	Hash        string          `json:"agent_hash"`
	Name        string          `json:"name"`
	Account     string          `json:"account"`
	Created     time.Time       `json:"created_at"`
	LastSeen    *time.Time      `json:"last_seen"`
	Claimed     *time.Time      `json:"claimed_at"`
	Containment containmentBody `json:"containment"`
}

func (a *API) agentShape(ctx context.Context, agent session.Agent) (agentBody, error) {
	c, err := a.containment(ctx, agent)
	return agentBody{ID: agent.ID, Hash: agent.Hash, Name: agent.Name, Account: agent.Account, Created: agent.Created,
		LastSeen: optional(agent.LastSeen), Claimed: optional(agent.Claimed), Containment: c}, err
}

func (a *API) agentAnswer(ctx context.Context, status int, agent session.Agent) (answer, error) {
	shape, err := a.agentShape(ctx, agent)
	return answer{status, "agent/v1", shape}, err
}

var (
	proofPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)
	hashPattern  = regexp.MustCompile(`^[0-9a-f]{16}$`)
)

func invalidHash(field, digits string) error {
	return surface.Failure(http.StatusBadRequest, "invalid_key_hash_format", field+" must be "+digits+" lower-case hex digits")
}

// createAgent makes an agent for a credential that the caller has: hash_proof is SHA-256 of it, or of credential|name.
func (a *API) createAgent(ctx context.Context, r *request) (answer, error) {
	var body struct {
		Name      string `json:"name"`
		HashProof string `json:"hash_proof"`
	}
	if err := r.decode(&body); err != nil {
		return answer{}, err
	}
	switch {
	case body.Name == "":
		return answer{}, surface.Failure(http.StatusBadRequest, "name_required", "name is missing")
	case !session.ValidName(body.Name):
		return answer{}, invalid("name", "must be 2 to 32 letters, digits and hyphens")
	case body.HashProof == "":
		return answer{}, surface.Failure(http.StatusBadRequest, "hash_proof_required", "hash_proof is missing")
	case !proofPattern.MatchString(body.HashProof):
		return answer{}, invalidHash("hash_proof", "64")
	}
	if err := r.wholeAccount(); err != nil {
		return answer{}, err
	}
	at, id := now(), "mnm-"+uuid.NewString()
	agent, err := a.Agents.EnsureAgent(ctx, session.Agent{ID: id, Hash: body.HashProof[:16], Proof: a.Desk.Sessions.Proof(body.HashProof), Name: body.Name,
		Account: r.who.Account, Created: at, Claimed: at})
	if err != nil {
		return answer{}, err
	}
	if agent.ID == id {
		agent.Claimed = at
		if err := a.Agents.ChangeAgent(ctx, agent); err != nil {
			return answer{}, err
		}
		if err := r.did("agent.created", agent.ID, map[string]string{"name": agent.Name}); err != nil {
			return answer{}, err
		}
		return a.agentAnswer(ctx, http.StatusCreated, agent)
	}
	return answer{}, surface.Failure(http.StatusConflict, "agent_exists", "an agent has this credential: claim it")
}

// wholeAccount refuses a caller that is for some agents only: what is new to the account is none of these.
func (r *request) wholeAccount() error {
	if len(r.who.Agents) > 0 {
		return surface.Failure(http.StatusForbidden, "insufficient_scope", "this key is for some agents and adds none to the account")
	}
	return nil
}

func (a *API) listAgents(ctx context.Context, r *request) (answer, error) {
	p, err := r.page()
	if err != nil {
		return answer{}, err
	}
	list, total, err := a.Agents.Agents(ctx, r.account(), r.who.Agents, p.limit, p.offset)
	if err != nil {
		return answer{}, err
	}
	shapes := []agentBody{}
	for _, agent := range list {
		shape, err := a.agentShape(ctx, agent)
		if err != nil {
			return answer{}, err
		}
		shapes = append(shapes, shape)
	}
	return answer{schema: "agent_list/v1", body: map[string]any{"agents": shapes, "total": total, "limit": p.limit, "offset": p.offset}}, nil
}

// agent finds an agent that the caller may know of.
func (a *API) agent(ctx context.Context, r *request, id string) (session.Agent, error) {
	agent, ok, err := a.Agents.AgentByID(ctx, id)
	if err == nil && (!ok || !agent.Deleted.IsZero() || !r.who.Sees(agent.Account, agent.ID)) {
		return session.Agent{}, notFound("agent")
	}
	if err == nil {
		r.X.Account = agent.Account // what the administrator does to an agent is the affair of its account
	}
	return agent, err
}

func (a *API) getAgent(ctx context.Context, r *request) (answer, error) {
	agent, err := a.agent(ctx, r, r.params["id"])
	if err != nil {
		return answer{}, err
	}
	return a.agentAnswer(ctx, 0, agent)
}

func (a *API) renameAgent(ctx context.Context, r *request) (answer, error) {
	agent, err := a.agent(ctx, r, r.params["id"])
	if err != nil {
		return answer{}, err
	}
	var body struct {
		Name string `json:"name"`
	}
	if err := r.decode(&body); err != nil {
		return answer{}, err
	}
	if !session.ValidName(body.Name) {
		return answer{}, invalid("name", "must be 2 to 32 letters, digits and hyphens")
	}
	agent.Name = body.Name
	if err := a.Agents.ChangeAgent(ctx, agent); err != nil {
		return answer{}, err
	}
	if err := r.did("agent.renamed", agent.ID, map[string]string{"name": agent.Name}); err != nil {
		return answer{}, err
	}
	return a.agentAnswer(ctx, 0, agent)
}

func (a *API) deleteAgent(ctx context.Context, r *request) (answer, error) {
	agent, err := a.agent(ctx, r, r.params["id"])
	if err != nil {
		return answer{}, err
	}
	if err := a.Agents.DeleteAgent(ctx, agent.ID, now()); err != nil {
		return answer{}, err
	}
	return answer{}, r.did("agent.deleted", agent.ID, nil)
}

// claimAgent takes over an agent whose credential the caller can prove to have. An agent that cannot be claimed with this
// proof does not exist for the caller; one that another account has claimed does, because the proof was right.
func (a *API) claimAgent(ctx context.Context, r *request) (answer, error) {
	var body struct {
		HashProof string `json:"hash_proof"`
	}
	if err := r.decode(&body); err != nil {
		return answer{}, err
	}
	if !proofPattern.MatchString(body.HashProof) {
		return answer{}, invalidHash("hash_proof", "64")
	}
	if err := r.wholeAccount(); err != nil {
		return answer{}, err
	}
	agent, ok, err := a.Agents.AgentByID(ctx, r.params["id"])
	if err != nil {
		return answer{}, err
	}
	// What a key has made is its account's, claimed or not.
	owned := !agent.Claimed.IsZero() || agent.Account != identity.DefaultAccount
	// All of it, and not the digits that every list shows.
	proved := agent.Proof != "" && subtle.ConstantTimeCompare([]byte(agent.Proof), []byte(a.Desk.Sessions.Proof(body.HashProof))) == 1
	if mine := owned && (r.who.Root || agent.Account == r.who.Account); mine && agent.Proof == "" {
		// Rekeyed, and not heard of since: more than the 16 digits is not known. Whose it is does not change.
		proved = subtle.ConstantTimeCompare([]byte(agent.Hash), []byte(body.HashProof[:16])) == 1
	}
	switch {
	case !ok || !proved || !agent.Deleted.IsZero():
		return answer{}, notFound("agent")
	case owned && agent.Account != r.who.Account && !r.who.Root:
		return answer{}, surface.Failure(http.StatusForbidden, "agent_cross_tenant", "another account has claimed this agent")
	}
	if !owned {
		// Else who claims it could lift what another operator has against it.
		if err := a.free(ctx, agent); err != nil {
			return answer{}, err
		}
		agent.Account = r.who.Account
	}
	r.X.Account = agent.Account
	if agent.Claimed.IsZero() {
		agent.Claimed = now()
		if err := a.Agents.ChangeAgent(ctx, agent); err != nil {
			return answer{}, err
		}
	}
	if err := r.did("agent.claimed", agent.ID, nil); err != nil {
		return answer{}, err
	}
	return answer{schema: "claim/v1", body: map[string]any{"claimed": true, "agent_id": agent.ID, "account": agent.Account, "claimed_at": agent.Claimed}}, nil
}

// free refuses to go on with an agent that was paused or killed.
func (a *API) free(ctx context.Context, agent session.Agent) error {
	c, err := a.containment(ctx, agent)
	if err == nil && c.State != identity.Active {
		err = surface.Failure(http.StatusConflict, "containment_conflict", "this agent is "+string(c.State)+": its credential stays as it is")
	}
	return err
}

// rekeyAgent binds an agent to another credential. A contained one keeps its own, so that containment goes on to cover it.
func (a *API) rekeyAgent(ctx context.Context, r *request) (answer, error) {
	agent, err := a.agent(ctx, r, r.params["id"])
	if err != nil {
		return answer{}, err
	}
	var body struct {
		NewKeyHash string `json:"new_key_hash"`
	}
	if err := r.decode(&body); err != nil {
		return answer{}, err
	}
	if !hashPattern.MatchString(body.NewKeyHash) {
		return answer{}, invalidHash("new_key_hash", "16")
	}
	if err := a.free(ctx, agent); err != nil {
		return answer{}, err
	}
	agent.Hash, agent.Credential, agent.Proof = body.NewKeyHash, "", ""
	if agent.Name == "" {
		agent.Credential = body.NewKeyHash
	}
	err = a.Agents.ChangeAgent(ctx, agent)
	if errors.Is(err, identity.ErrConflict) {
		return answer{}, surface.Failure(http.StatusConflict, "key_hash_in_use", "this credential belongs to an agent already")
	}
	if err != nil {
		return answer{}, err
	}
	if err := r.did("agent.rekeyed", agent.ID, nil); err != nil {
		return answer{}, err
	}
	return a.agentAnswer(ctx, 0, agent)
}

// verifyBinding says whether a credential's hash is the agent's.
func (a *API) verifyBinding(ctx context.Context, r *request) (answer, error) {
	agent, err := a.agent(ctx, r, r.params["id"])
	if err != nil {
		return answer{}, err
	}
	var body struct {
		KeyHash string `json:"key_hash"`
	}
	if r.body, err = r.Body(maxBody); err != nil {
		return answer{}, err
	}
	if err := r.decode(&body); err != nil {
		return answer{}, err
	}
	if !hashPattern.MatchString(body.KeyHash) {
		return answer{}, invalidHash("key_hash", "16")
	}
	bound := subtle.ConstantTimeCompare([]byte(agent.Hash), []byte(body.KeyHash)) == 1
	return answer{schema: "binding/v1", body: map[string]any{"agent_id": agent.ID, "bound": bound}}, nil
}
