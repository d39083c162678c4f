package approval

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/gatehouse-gateway/gatehouse"
)

// about is what an event says of an approval or a grant: never the arguments.
type about struct {
	Approval string `json:"approval,omitempty"`
	Grant    string `json:"grant,omitempty"`
	Tool     string `json:"tool"`
	Digest   string `json:"digest"`
	Request  string `json:"request,omitempty"` // id of the exchange that asked, or was let through
	Session  string `json:"session"`
	Agent    string `json:"agent"`
	Rule     string `json:"rule"`
}

// record writes that an approval has changed, in the transaction of the change.
func (q *Queue) record(ctx context.Context, kind string, a Approval, request string, at time.Time) error {
	x := &gatehouse.Exchange{Surface: a.Surface, Agent: a.Agent, Session: a.Session, Account: a.Account}
	return q.recordEvent(ctx, kind, a.ID, x, at, about{
		Approval: a.ID, Tool: a.Tool, Digest: hex.EncodeToString(a.Digest[:]), Request: request, Session: a.Session, Agent: a.Agent, Rule: a.Rule,
	})
}

// recordGranted writes that a grant has let a call through.
func (q *Queue) recordGranted(ctx context.Context, g Grant, d Demand) error {
	x := &gatehouse.Exchange{Surface: d.Surface, Agent: d.Agent, Session: d.Session, Account: d.Account}
	return q.recordEvent(ctx, "approval.granted", g.ID, x, d.Now, about{
		Grant: g.ID, Tool: d.Tool, Digest: hex.EncodeToString(d.Digest[:]), Request: d.Request, Session: d.Session, Agent: d.Agent, Rule: d.Rule,
	})
}

func (q *Queue) recordEvent(ctx context.Context, kind, target string, x *gatehouse.Exchange, at time.Time, data about) error {
	raw, err := json.Marshal(data)
	if err != nil {
		return err
	}
	x.ID, x.Time, x.Event = uuid.NewString(), at, &gatehouse.Event{Type: kind, Target: target, Data: raw}
	return q.Record(ctx, x)
}
