package api

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"time"
	"unicode"

	"github.com/google/uuid"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/approval"
	"github.com/gatehouse-gateway/gatehouse/internal/identity"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
	"github.com/gatehouse-gateway/gatehouse/internal/surface"
)

// approve lets the call of an approval through, and with a grant others of its scope as well.
func (a *API) approve(ctx context.Context, r *request) (answer, error) {
	p, err := a.undecided(ctx, r)
	if err != nil {
		return answer{}, err
	}
	var body struct {
		Note  string     `json:"note"`
		Grant *grantTerm `json:"grant"`
	}
	if err := r.decode(&body); err != nil {
		return answer{}, err
	}
	decision, err := r.decision(body.Note)
	if err != nil {
		return answer{}, err
	}
	var g *approval.Grant
	if body.Grant != nil {
		if g, err = a.grantFor(p, *body.Grant, decision); err != nil {
			return answer{}, err
		}
	}
	done, err := a.Approvals.Approve(ctx, p.ID, decision)
	if err != nil {
		return answer{}, decisionError(err, p)
	}
	if g != nil {
		if err := a.Approvals.Store.PutGrant(ctx, *g); err != nil {
			return answer{}, err
		}
		if err := a.recordGrant(ctx, r, *g); err != nil {
			return answer{}, err
		}
	}
	return a.decided(r, "approval.approved", done, p)
}

func (a *API) deny(ctx context.Context, r *request) (answer, error) {
	return a.settle(ctx, r, "approval.denied", a.Approvals.Deny)
}

func (a *API) revoke(ctx context.Context, r *request) (answer, error) {
	return a.settle(ctx, r, "approval.revoked", a.Approvals.Revoke)
}

// settle is an answer that lets nothing through.
func (a *API) settle(ctx context.Context, r *request, event string,
	do func(context.Context, string, approval.Decision) (approval.Approval, error)) (answer, error) {
	p, err := a.undecided(ctx, r)
	if err != nil {
		return answer{}, err
	}
	var body struct {
		Note string `json:"note"`
	}
	if err := r.decode(&body); err != nil {
		return answer{}, err
	}
	decision, err := r.decision(body.Note)
	if err != nil {
		return answer{}, err
	}
	done, err := do(ctx, p.ID, decision)
	if err != nil {
		return answer{}, decisionError(err, p)
	}
	return a.decided(r, event, done, p)
}

// undecided finds the approval that a decision is about, for a caller who may make one.
func (a *API) undecided(ctx context.Context, r *request) (approval.Approval, error) {
	p, err := a.approval(ctx, r)
	if err != nil {
		return p, err
	}
	r.X.Account = p.Account // as with agents
	if p.Credential != "" && p.Credential == session.CredentialHash(r.who.Credential, "") {
		return p, errOwn() // under whatever name it comes now, and whoever the agent belongs to since
	}
	return p, a.foreign(ctx, r, p.Agent)
}

func errOwn() error {
	return surface.Failure(http.StatusForbidden, "own_approval", "an agent's own credential decides nothing about its calls")
}

// foreign refuses a caller who is the agent: by its credential under whatever name, or by a key that may call as it.
func (a *API) foreign(ctx context.Context, r *request, id string) error {
	own := slices.Contains(r.who.Agents, id) && r.who.Can(identity.Gateway)
	if len(r.who.Agents) == 0 {
		var err error
		if own, err = a.actsAs(ctx, r, id); err != nil {
			return err
		}
	}
	if own {
		return errOwn()
	}
	return nil
}

// actsAs reports whether the caller's credential is that of an agent.
func (a *API) actsAs(ctx context.Context, r *request, id string) (bool, error) {
	agent, ok, err := a.Agents.AgentByID(ctx, id)
	if err == nil && !ok { // it has not been stored yet: its id follows from its credential
		agent, _, err = a.Desk.Sessions.Agent(ctx, r.who.Account, r.who.Credential, r.In.Agent)
		return err == nil && agent.ID == id, err
	}
	alone := session.CredentialHash(r.who.Credential, "")
	return agent.Credential == alone || agent.Hash == alone || agent.Hash == session.CredentialHash(r.who.Credential, agent.Name), err
}

const maxNote = 1000 // characters

// decision is who decides, from where, and what they say.
func (r *request) decision(note string) (approval.Decision, error) {
	if len([]rune(note)) > maxNote {
		return approval.Decision{}, invalid("note", "is too long")
	}
	for _, c := range note {
		if unicode.IsControl(c) && c != '\n' {
			return approval.Decision{}, invalid("note", "has control characters")
		}
	}
	from := r.R.RemoteAddr
	if host, _, err := net.SplitHostPort(from); err == nil {
		from = host
	}
	return approval.Decision{By: r.who.Key, From: from, Note: note}, nil
}

// decisionError is what a caller hears of an error of the queue.
func decisionError(err error, p approval.Approval) error {
	switch {
	case errors.Is(err, approval.ErrUnknown):
		return notFound("approval")
	case errors.Is(err, approval.ErrSettled):
		return surface.Failure(http.StatusConflict, "approval_settled", "this cannot be done to an approval that is "+string(p.Standing(time.Now())))
	}
	return err
}

// decided is the answer to a decision, and its record. was is the approval before: another one, when a call is approved again.
func (a *API) decided(r *request, event string, p, was approval.Approval) (answer, error) {
	shape, err := a.approvalCard(p)
	if err != nil {
		return answer{}, err
	}
	data := map[string]string{"approval": p.ID, "tool": p.Tool, "digest": shape.Digest, "request": p.Request, "session": p.Session,
		"agent": p.Agent, "rule": p.Rule, "from": p.From, "note": p.Note}
	if was.ID != p.ID {
		data["again_of"] = was.ID
	}
	return answer{schema: "approval/v1", body: shape}, r.did(event, p.ID, data)
}

// recordGrant records a grant that comes with an approval. The record of the request is the approval's.
func (a *API) recordGrant(ctx context.Context, r *request, g approval.Grant) error {
	return a.Checker.Finish(ctx, &gatehouse.Exchange{ID: uuid.NewString(), Time: r.X.Time, Surface: r.X.Surface, Endpoint: r.X.Endpoint,
		Key: r.X.Key, Account: g.Account, Status: http.StatusOK, Event: grantEvent("grant.created", g)})
}
