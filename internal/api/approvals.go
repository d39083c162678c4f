package api

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/approval"
	"github.com/gatehouse-gateway/gatehouse/internal/identity"
	"github.com/gatehouse-gateway/gatehouse/internal/surface"
)

func (a *API) approvalRoutes() []route {
	return []route{
		{method: "GET", path: "/v1/approvals", do: a.listApprovals, open: true},
		{method: "GET", path: "/v1/approvals/events", stream: a.streamApprovals, open: true},
		{method: "GET", path: "/v1/approvals/{id}", stream: a.getApproval, open: true},
		{method: "POST", path: "/v1/approvals/{id}/approve", scope: identity.Approve, do: a.approve, change: true, wakes: true},
		{method: "POST", path: "/v1/approvals/{id}/deny", scope: identity.Approve, do: a.deny, change: true, wakes: true},
		{method: "POST", path: "/v1/approvals/{id}/revoke", scope: identity.Approve, do: a.revoke, change: true, wakes: true},
	}
}

// approvalBody is an approval on the wire.
type approvalBody struct {
	ID          string             `json:"id"`
	State       approval.State     `json:"state"`
	Agent       string             `json:"agent_id"`
	AgentName   string             `json:"agent_name"`
	Session     string             `json:"session"`
	Surface     string             `json:"surface"`
	Request     string             `json:"request_id"`
	Tool        string             `json:"tool"`
	CallID      string             `json:"call_id"`
	Digest      string             `json:"digest"`
	Rule        string             `json:"rule"`
	Reason      string             `json:"reason"`
	Risk        float64            `json:"risk"`
	Tainted     bool               `json:"tainted"`
	Created     time.Time          `json:"created_at"`
	Expires     time.Time          `json:"expires_at"`
	Decided     *time.Time         `json:"decided_at"`
	DecidedBy   string             `json:"decided_by"`
	DecidedFrom string             `json:"decided_from"`
	Note        string             `json:"note"`
	Consumed    *time.Time         `json:"consumed_at"`
	ConsumedBy  string             `json:"consumed_by"`
	Result      *time.Time         `json:"result_at"`
	Again       string             `json:"again"`
	URL         string             `json:"url"`
	Arguments   json.RawMessage    `json:"arguments"`
	Evidence    *approval.Evidence `json:"evidence"`
}

// approvalShape is an approval without what is sealed.
func (a *API) approvalShape(p approval.Approval) approvalBody {
	return approvalBody{ID: p.ID, State: p.Standing(time.Now()), Agent: p.Agent, AgentName: p.AgentName, Session: p.Session, Surface: p.Surface,
		Request: p.Request, Tool: p.Tool, CallID: p.CallID, Digest: hex.EncodeToString(p.Digest[:]), Rule: p.Rule, Reason: p.Reason,
		Risk: p.Risk, Tainted: p.Tainted, Created: p.Created.UTC(), Expires: p.Expires.UTC(), Decided: optional(p.Decided), DecidedBy: p.By,
		DecidedFrom: p.From, Note: p.Note, Consumed: optional(p.Consumed), ConsumedBy: p.ConsumedBy, Result: optional(p.Resulted), Again: p.Again,
		URL: a.approvalURL(p.ID)}
}

// approvalCard is an approval with what a human sees of the call.
func (a *API) approvalCard(p approval.Approval) (approvalBody, error) {
	body := a.approvalShape(p)
	if body.State == approval.Expired { // and not yet written down as such
		return body, nil
	}
	card, err := a.Approvals.Card(p)
	if err != nil || card == nil {
		return body, err
	}
	body.Evidence = card.Evidence
	body.Arguments, err = shownArguments(card)
	return body, err
}

// shownArguments are the arguments as JSON: themselves, where they are JSON and not text.
func shownArguments(card *approval.Card) (json.RawMessage, error) {
	switch {
	case card.Freeform:
		return json.Marshal(card.Arguments)
	case strings.TrimSpace(card.Arguments) == "":
		return json.RawMessage("{}"), nil
	case json.Valid([]byte(card.Arguments)):
		return json.RawMessage(card.Arguments), nil
	}
	return json.Marshal(card.Arguments)
}

func (a *API) listApprovals(ctx context.Context, r *request) (answer, error) {
	who, err := a.sight(ctx, r)
	if err != nil {
		return answer{}, err
	}
	f := approval.Filter{Account: who.account, Agents: who.agents, Now: time.Now()}
	for name, to := range map[string]*string{"session": &f.Session, "tool": &f.Tool} {
		if *to, err = r.query(name); err != nil {
			return answer{}, err
		}
	}
	agent, err := r.query("agent")
	if err != nil {
		return answer{}, err
	}
	if agent != "" {
		if len(f.Agents) > 0 && !slices.Contains(f.Agents, agent) {
			return answer{}, notFound("agent")
		}
		if _, err := a.agent(ctx, r, agent); err != nil {
			return answer{}, err
		}
		f.Agents = []string{agent}
	}
	if f.States, f.Undelivered, err = r.standing(); err != nil {
		return answer{}, err
	}
	p, err := r.page()
	if err != nil {
		return answer{}, err
	}
	f.Limit, f.Offset = p.limit, p.offset
	found, total, err := a.Approvals.Store.Approvals(ctx, f)
	if err != nil {
		return answer{}, err
	}
	shapes := []approvalBody{}
	for _, one := range found {
		shape, err := a.approvalCard(one)
		if err != nil {
			return answer{}, err
		}
		shapes = append(shapes, shape)
	}
	return answer{schema: "approval_list/v1", body: map[string]any{"approvals": shapes, "total": total, "limit": p.limit, "offset": p.offset}}, nil
}

// standing reads which approvals are asked for by what became of them.
func (r *request) standing() (states []approval.State, undelivered bool, err error) {
	word, err := r.query("state")
	if err != nil {
		return nil, false, err
	}
	if word != "" {
		states = []approval.State{approval.State(word)}
		if !slices.Contains(approval.States(), states[0]) {
			return nil, false, surface.Failure(http.StatusBadRequest, "invalid_state_parameter",
				"state must be pending, approved, denied, expired, consumed or revoked")
		}
	}
	switch word, err = r.query("undelivered"); {
	case err != nil:
		return nil, false, err
	case word != "" && word != "true" && word != "false":
		return nil, false, invalid("undelivered", "must be true or false")
	}
	return states, word == "true", nil
}

// maxWait bounds how long a request for a pending approval may wait: less than what proxies on the way cut off.
const maxWait = 60 // seconds

// getApproval answers at once, or with wait when somebody has decided or the time is up. Ten thousand requests may wait: each lets go
// of its goroutine and of the server's buffers meanwhile.
func (a *API) getApproval(ctx context.Context, r *request) error {
	seconds, err := r.number("wait", 0, 0, maxWait)
	if err != nil {
		return err
	}
	who, err := a.sight(ctx, r)
	if err != nil {
		return err
	}
	if seconds == 0 {
		return a.tellApproval(ctx, r, who, nil)
	}
	w, err := a.waiting.enter(ctx, a.life(), a.Approvals, r.params["id"])
	if errors.Is(err, errClosed) {
		return a.tellApproval(ctx, r, who, nil)
	}
	if err != nil {
		return err
	}
	p, err := a.approvalSeen(ctx, r.params["id"], who)
	if err != nil || p.Standing(time.Now()) != approval.Pending {
		a.waiting.leave(w)
		if err != nil {
			return err
		}
		return a.tellApproval(ctx, r, who, &p)
	}
	most := min(time.Duration(seconds)*time.Second, time.Until(p.Expires))
	if r.Detach() {
		a.waiting.wait(w, most, func(p *approval.Approval) {
			r.Resume(func() error { return a.tellApproval(r.R.Context(), r, who, p) })
		})
		return nil
	}
	told := make(chan *approval.Approval, 1)
	a.waiting.wait(w, most, func(p *approval.Approval) { told <- p })
	select {
	case <-ctx.Done():
		a.waiting.leave(w)
		return a.tellApproval(context.WithoutCancel(ctx), r, who, nil)
	case p := <-told:
		return a.tellApproval(ctx, r, who, p)
	}
}

// tellApproval answers with an approval; nil: it is read.
func (a *API) tellApproval(ctx context.Context, r *request, who sight, p *approval.Approval) error {
	err := a.current(r)
	if err != nil {
		return err
	}
	if p == nil {
		found, err := a.approvalSeen(ctx, r.params["id"], who)
		if err != nil {
			return err
		}
		p = &found
	}
	body, err := a.approvalCard(*p)
	if err != nil {
		return err
	}
	return r.say(answer{schema: "approval/v1", body: body})
}

// life is the context that ends with the gateway.
func (a *API) life() context.Context {
	if a.Life == nil {
		return context.Background()
	}
	return a.Life
}

// approval finds an approval that the caller may read.
func (a *API) approval(ctx context.Context, r *request) (approval.Approval, error) {
	who, err := a.sight(ctx, r)
	if err != nil {
		return approval.Approval{}, err
	}
	return a.approvalSeen(ctx, r.params["id"], who)
}

func (a *API) approvalSeen(ctx context.Context, id string, who sight) (approval.Approval, error) {
	p, err := a.Approvals.Get(ctx, id)
	if errors.Is(err, approval.ErrUnknown) || err == nil && !who.sees(p) {
		return approval.Approval{}, notFound("approval")
	}
	return p, err
}
