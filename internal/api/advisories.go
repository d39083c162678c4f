package api

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/identity"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

func (a *API) advisoryRoutes() []route {
	return []route{
		{method: "GET", path: "/v1/agents/{id}/advisories", scope: identity.Read, do: a.listAdvisories},
		{method: "GET", path: "/v1/agents/{id}/sideband-advisories", scope: identity.Read, do: a.listAdvisories},
	}
}

// advisoryBody is an advisory on the wire.
type advisoryBody struct {
	ID       string             `json:"id"` // adv-<request id>-<place in it>, or pa-<12 hex> of one that waits
	Source   string             `json:"source"`
	Text     string             `json:"text"`
	Severity gatehouse.Severity `json:"severity"`
	Request  string             `json:"request_id"`
	Session  string             `json:"session_id"`
	Created  time.Time          `json:"created_at"`
}

// listAdvisories lists all advisories of an agent's exchanges, those that did not fit into a header too; newest first. limit and
// offset count exchanges that have some.
func (a *API) listAdvisories(ctx context.Context, r *request) (answer, error) {
	agent, err := a.agent(ctx, r, r.params["id"])
	if err != nil {
		return answer{}, err
	}
	p, err := r.page()
	if err != nil {
		return answer{}, err
	}
	switch kind, err := r.query("kind"); {
	case err != nil:
		return answer{}, err
	case kind == "pending":
		return a.pendingAdvisories(ctx, r, agent.ID, p)
	case kind != "":
		return answer{}, invalid("kind", "must be pending, or left out")
	}
	f := audit.Filter{Agents: []string{agent.ID}, Notable: true, Newest: true, Limit: p.limit, Offset: p.offset}
	if f.Since, err = r.moment("since"); err != nil {
		return answer{}, err
	}
	if f.Session, err = r.query("session_id"); err != nil {
		return answer{}, err
	}
	found, total, err := a.Records.Records(ctx, f)
	if err != nil {
		return answer{}, err
	}
	shapes := []advisoryBody{}
	for _, e := range found {
		var rec audit.Record
		if err := json.Unmarshal(e.Record, &rec); err != nil {
			return answer{}, err
		}
		shapes = append(shapes, advisoriesOf(rec)...)
	}
	return answer{schema: "advisory_list/v1", body: map[string]any{"advisories": shapes, "total": total, "limit": p.limit, "offset": p.offset}}, nil
}

// pendingAdvisories lists what waits to be told to the model in the next turn of a session.
func (a *API) pendingAdvisories(ctx context.Context, r *request, agent string, p page) (answer, error) {
	since, err := r.moment("since")
	if err != nil {
		return answer{}, err
	}
	id, err := r.query("session_id")
	if err != nil {
		return answer{}, err
	}
	if oldest := time.Now().Add(-session.ReminderAge); since.Before(oldest) {
		since = oldest
	}
	found, total, err := a.Reminders.Reminders(ctx, agent, id, since, p.limit, p.offset)
	if err != nil {
		return answer{}, err
	}
	shapes := []advisoryBody{}
	for _, m := range found {
		shapes = append(shapes, advisoryBody{m.ID, m.Source, m.Text, gatehouse.Warn, m.Request, m.Session, m.Created})
	}
	return answer{schema: "advisory_list/v1", body: map[string]any{"advisories": shapes, "total": total, "limit": p.limit, "offset": p.offset}}, nil
}

func advisoriesOf(rec audit.Record) []advisoryBody {
	x := gatehouse.Exchange{Decisions: rec.Decisions}
	var out []advisoryBody
	for i, adv := range x.Advisories() {
		out = append(out, advisoryBody{"adv-" + rec.ID + "-" + strconv.Itoa(i), adv.Source, adv.Text, adv.Severity, rec.ID, rec.Session, rec.Time})
	}
	return out
}

func hexOf(h [32]byte) string { return hex.EncodeToString(h[:]) }
