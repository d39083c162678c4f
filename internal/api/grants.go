package api

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/approval"
	"github.com/gatehouse-gateway/gatehouse/internal/identity"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
)

func (a *API) grantRoutes() []route {
	return []route{
		{method: "GET", path: "/v1/approvals/grants", do: a.listGrants, open: true},
		{method: "POST", path: "/v1/approvals/grants", scope: identity.Approve, do: a.createGrant, change: true},
		{method: "GET", path: "/v1/approvals/grants/{id}", do: a.getGrant, open: true},
		{method: "DELETE", path: "/v1/approvals/grants/{id}", scope: identity.Approve, do: a.revokeGrant, change: true},
	}
}

// grantBody is a grant on the wire.
type grantBody struct {
	ID          string     `json:"id"`
	Account     string     `json:"account"`
	Agent       string     `json:"agent_id"`
	Tool        string     `json:"tool"`
	Scope       string     `json:"scope"`
	Approval    string     `json:"approval"`
	Created     time.Time  `json:"created_at"`
	Expires     time.Time  `json:"expires_at"`
	DecidedBy   string     `json:"decided_by"`
	DecidedFrom string     `json:"decided_from"`
	Note        string     `json:"note"`
	Revoked     *time.Time `json:"revoked_at"`
	Used        int64      `json:"used"`
	LastUsed    *time.Time `json:"last_used_at"`
}

func grantShape(g approval.Grant) grantBody {
	return grantBody{ID: g.ID, Account: g.Account, Agent: g.Agent, Tool: g.Tool, Scope: g.Scope, Approval: g.Approval, Created: g.Created.UTC(),
		Expires: g.Expires.UTC(), DecidedBy: g.By, DecidedFrom: g.From, Note: g.Note, Revoked: optional(g.Revoked), Used: g.Used,
		LastUsed: optional(g.LastUsed)}
}

// grantTerm is what a grant lets through, and for how long.
type grantTerm struct {
	Scope string `json:"scope"`
	For   string `json:"for"`
}

const (
	maxScope = 2000 // characters; more than a person can review
	maxTool  = 256  // characters of a tool's name
)

// spanPattern is how long a grant may live: at most 90 days. What was right a quarter ago is worth a second look.
var spanPattern = regexp.MustCompile(`^([1-9][0-9]{0,3}[sm]|[1-9][0-9]{0,2}h|([1-9]|[1-8][0-9]|90)d)$`)

// terms are a grant's scope and life, once they are read.
func (t grantTerm) terms() (*policy.Scope, time.Duration, error) {
	if utf8.RuneCountInString(t.Scope) > maxScope {
		return nil, 0, invalid("scope", "is too long")
	}
	scope, err := policy.CompileScope(t.Scope)
	if err != nil {
		return nil, 0, invalid("scope", err.Error())
	}
	if !spanPattern.MatchString(t.For) {
		return nil, 0, invalid("for", "must be seconds, minutes, hours or days, such as 12h or 14d, and at most 90d")
	}
	n, err := strconv.Atoi(t.For[:len(t.For)-1])
	unit := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}[t.For[len(t.For)-1]]
	return scope, time.Duration(n) * unit, err
}

// grantFor makes the grant that comes with the approval of a call, which must be within its scope.
func (a *API) grantFor(p approval.Approval, t grantTerm, d approval.Decision) (*approval.Grant, error) {
	scope, life, err := t.terms()
	if err != nil {
		return nil, err
	}
	card, err := a.Approvals.Card(p)
	if err != nil {
		return nil, err
	}
	if card == nil { // it was denied, or the result was seen: the approval itself will be refused
		card = &approval.Card{}
	}
	within, err := scope.Holds(policy.Call{Tool: p.Tool, Args: card.Arguments, Freeform: card.Freeform, Now: time.Now(),
		Agent:   &policy.Agent{ID: p.Agent, Name: p.AgentName, Account: p.Account},
		Session: &policy.Session{ID: p.Session, Risk: p.Risk, Tainted: p.Tainted}})
	switch {
	case err != nil:
		return nil, invalid("grant.scope", "does not hold for the call that is approved: "+err.Error())
	case !within:
		return nil, invalid("grant.scope", "does not hold for the call that is approved")
	}
	at := now()
	return &approval.Grant{ID: approval.NewID("gra"), Account: p.Account, Agent: p.Agent, Tool: p.Tool, Scope: t.Scope, Approval: p.ID,
		Created: at, Expires: at.Add(life), By: d.By, From: d.From, Note: d.Note}, nil
}

func (a *API) createGrant(ctx context.Context, r *request) (answer, error) {
	var body struct {
		Agent string `json:"agent"`
		Tool  string `json:"tool"`
		Scope string `json:"scope"`
		For   string `json:"for"`
		Note  string `json:"note"`
	}
	if err := r.decode(&body); err != nil {
		return answer{}, err
	}
	if body.Agent == "" {
		return answer{}, invalid("agent", "is missing")
	}
	agent, err := a.agent(ctx, r, body.Agent)
	if err != nil {
		return answer{}, err
	}
	if err := a.foreign(ctx, r, agent.ID); err != nil {
		return answer{}, err
	}
	if problem := wrongTool(body.Tool); problem != "" {
		return answer{}, invalid("tool", problem)
	}
	_, life, err := grantTerm{body.Scope, body.For}.terms()
	if err != nil {
		return answer{}, err
	}
	d, err := r.decision(body.Note)
	if err != nil {
		return answer{}, err
	}
	at := now()
	g := approval.Grant{ID: approval.NewID("gra"), Account: agent.Account, Agent: agent.ID, Tool: body.Tool, Scope: body.Scope,
		Created: at, Expires: at.Add(life), By: d.By, From: d.From, Note: d.Note}
	if err := a.Approvals.Store.PutGrant(ctx, g); err != nil {
		return answer{}, err
	}
	r.X.Event = grantEvent("grant.created", g)
	return answer{http.StatusCreated, "grant/v1", grantShape(g)}, nil
}

// wrongTool says why a text cannot name the one tool of a grant.
func wrongTool(name string) string {
	switch {
	case name == "":
		return "is missing"
	case utf8.RuneCountInString(name) > maxTool:
		return "is too long"
	case strings.ContainsAny(name, "*?"):
		return "must be the full name of one tool, and no pattern"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "has control characters"
	}
	return ""
}

func (a *API) listGrants(ctx context.Context, r *request) (answer, error) {
	who, err := a.sight(ctx, r)
	if err != nil {
		return answer{}, err
	}
	p, err := r.page()
	if err != nil {
		return answer{}, err
	}
	found, total, err := a.Approvals.Store.Grants(ctx, who.account, who.agents, p.limit, p.offset)
	if err != nil {
		return answer{}, err
	}
	shapes := []grantBody{}
	for _, g := range found {
		shapes = append(shapes, grantShape(g))
	}
	return answer{schema: "grant_list/v1", body: map[string]any{"grants": shapes, "total": total, "limit": p.limit, "offset": p.offset}}, nil
}

// grant finds a grant that the caller may read.
func (a *API) grant(ctx context.Context, r *request) (approval.Grant, error) {
	who, err := a.sight(ctx, r)
	if err != nil {
		return approval.Grant{}, err
	}
	g, ok, err := a.Approvals.Store.GrantByID(ctx, r.params["id"])
	if err == nil && (!ok || who.account != "" && who.account != g.Account || len(who.agents) > 0 && !slices.Contains(who.agents, g.Agent)) {
		return approval.Grant{}, notFound("grant")
	}
	return g, err
}

func (a *API) getGrant(ctx context.Context, r *request) (answer, error) {
	g, err := a.grant(ctx, r)
	return answer{schema: "grant/v1", body: grantShape(g)}, err
}

func (a *API) revokeGrant(ctx context.Context, r *request) (answer, error) {
	g, err := a.grant(ctx, r)
	if err != nil {
		return answer{}, err
	}
	r.X.Account = g.Account // as with agents
	if err := a.foreign(ctx, r, g.Agent); err != nil {
		return answer{}, err
	}
	if g.Revoked.IsZero() {
		g.Revoked = now()
		if err := a.Approvals.Store.ChangeGrant(ctx, g); err != nil {
			return answer{}, err
		}
	}
	r.X.Event = grantEvent("grant.revoked", g)
	return answer{schema: "grant/v1", body: grantShape(g)}, nil
}

// grantEvent says what was done to a grant. Its scope may name people, as arguments do, and stays out.
func grantEvent(kind string, g approval.Grant) *gatehouse.Event {
	data, err := json.Marshal(map[string]string{"grant": g.ID, "agent": g.Agent, "tool": g.Tool, "approval": g.Approval,
		"expires": g.Expires.UTC().Format(time.RFC3339)})
	if err != nil {
		panic(err) // strings always marshal
	}
	return &gatehouse.Event{Type: kind, Target: g.ID, Data: data}
}
