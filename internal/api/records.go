package api

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/identity"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
	"github.com/gatehouse-gateway/gatehouse/internal/surface"
)

// Records reads the audit log.
type Records interface {
	// Record finds the entry of a request, if the filter lets it through; ok is false when there is none.
	Record(ctx context.Context, id string, f audit.Filter) (e audit.Entry, ok bool, err error)
	// Records lists entries and counts all that the filter lets through, its After, Limit and Offset apart.
	Records(ctx context.Context, f audit.Filter) ([]audit.Entry, int, error)
	Head(ctx context.Context) (audit.Head, error)
	// Export writes the whole log.
	Export(ctx context.Context, w io.Writer) error
}

func (a *API) recordRoutes() []route {
	return []route{
		{method: "GET", path: "/v1/requests/{id}", scope: identity.Read, do: a.getRequest},
		{method: "GET", path: "/v1/audit", scope: identity.Read, do: a.listAudit},
		{method: "GET", path: "/v1/audit/export", scope: identity.Read, stream: a.exportAudit},
		{method: "POST", path: "/v1/audit", scope: identity.Gateway, do: a.tellAudit, change: true, open: true},
	}
}

// visible is what of the log the caller may see.
func (r *request) visible() audit.Filter {
	return audit.Filter{Account: r.account(), Agents: r.who.Agents}
}

// entryBody is an entry of the log on the wire: the record as it was hashed, and its place in the chain.
type entryBody struct {
	Seq    int64           `json:"seq"`
	Prev   string          `json:"prev"`
	Hash   string          `json:"hash"`
	Leaf   string          `json:"leaf"`
	Record json.RawMessage `json:"record"`
}

// requestBody is the final truth of one exchange.
type requestBody struct {
	RequestID  string               `json:"request_id"`
	Type       string               `json:"type"`
	Created    time.Time            `json:"created_at"`
	Agent      string               `json:"agent_id"`
	Session    string               `json:"session_id"`
	Surface    string               `json:"surface"`
	Upstream   string               `json:"upstream"`
	Endpoint   string               `json:"endpoint"`
	Model      string               `json:"model"`
	Stream     bool                 `json:"stream"`
	Status     int                  `json:"status"`
	Error      string               `json:"error"`
	Verdicts   map[string]string    `json:"verdicts"`
	Analysis   string               `json:"analysis"`
	Decisions  []decisionBody       `json:"decisions"`
	Advisories []gatehouse.Advisory `json:"advisories"`
	Usage      gatehouse.Usage      `json:"usage"`
	Took       int64                `json:"took_ns"`
	Timings    map[string]int64     `json:"timings_ns"`
	Detectors  string               `json:"detectors"`
	Event      *gatehouse.Event     `json:"event"`
	Audit      map[string]any       `json:"audit"` // where in the chain
}

// decisionBody is a decision without its edits' texts.
type decisionBody struct {
	At       gatehouse.Checkpoint    `json:"at"`
	Mode     gatehouse.Mode          `json:"mode"`
	Verdict  gatehouse.Verdict       `json:"verdict"`
	Would    gatehouse.Verdict       `json:"would"`
	Outcome  gatehouse.Outcome       `json:"outcome"`
	Rule     string                  `json:"rule"`
	Reason   string                  `json:"reason"`
	Score    float64                 `json:"score"`
	Findings []gatehouse.Finding     `json:"findings"`
	Calls    []gatehouse.CallVerdict `json:"calls"`
	Coverage []gatehouse.Coverage    `json:"coverage"`
	Failed   bool                    `json:"failed"`
	Took     int64                   `json:"took_ns"`
}

var requestPattern = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

func (a *API) getRequest(ctx context.Context, r *request) (answer, error) {
	if !requestPattern.MatchString(r.params["id"]) {
		return answer{}, notFound("request")
	}
	e, ok, err := a.Records.Record(ctx, r.params["id"], r.visible())
	if err != nil {
		return answer{}, err
	}
	if !ok {
		return answer{}, notFound("request")
	}
	var rec audit.Record
	if err := json.Unmarshal(e.Record, &rec); err != nil {
		return answer{}, err
	}
	return answer{schema: "request/v1", body: requestShape(e, rec)}, nil
}

func requestShape(e audit.Entry, rec audit.Record) requestBody {
	x := gatehouse.Exchange{Decisions: rec.Decisions}
	body := requestBody{RequestID: rec.ID, Type: rec.Type, Created: rec.Time, Agent: rec.Agent, Session: rec.Session, Surface: rec.Surface,
		Upstream: rec.Upstream, Endpoint: rec.Endpoint, Model: rec.Model, Stream: rec.Stream, Status: rec.Status, Error: rec.Error,
		Verdicts: rec.Verdicts, Analysis: rec.Analysis, Decisions: []decisionBody{}, Advisories: list(x.Advisories()), Usage: rec.Usage,
		Took: rec.Took.Nanoseconds(), Timings: rec.Timings, Detectors: rec.Detectors, Event: rec.Event,
		Audit: map[string]any{"seq": e.Seq, "hash": hexOf(e.Hash)}}
	for _, d := range rec.Decisions {
		body.Decisions = append(body.Decisions, decisionBody{At: d.At, Mode: d.Mode, Verdict: d.Verdict, Would: d.Would, Outcome: d.Outcome,
			Rule: d.Rule, Reason: d.Reason, Score: d.Score, Findings: list(d.Findings), Calls: list(d.Calls), Coverage: list(d.Coverage),
			Failed: d.Failed, Took: d.Took.Nanoseconds()})
	}
	return body
}

// list is a list that is never null.
func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

// filter reads what of the log is asked for, and narrows it to what may be seen.
func (a *API) filter(ctx context.Context, r *request) (f audit.Filter, err error) {
	f = r.visible()
	agent, err := r.query("agent")
	if err != nil {
		return f, err
	}
	if agent != "" {
		if _, err := a.agent(ctx, r, agent); err != nil {
			return f, err
		}
		f.Agents = []string{agent}
	}
	for name, to := range map[string]*string{"session": &f.Session, "surface": &f.Surface, "type": &f.Kind} {
		if *to, err = r.query(name); err != nil {
			return f, err
		}
	}
	if f.Since, err = r.moment("since"); err != nil {
		return f, err
	}
	if f.Until, err = r.moment("until"); err != nil {
		return f, err
	}
	after, err := r.number("after", 0, 0, 1<<53)
	f.After = int64(after)
	return f, err
}

func (a *API) listAudit(ctx context.Context, r *request) (answer, error) {
	f, err := a.filter(ctx, r)
	if err != nil {
		return answer{}, err
	}
	p, err := r.page()
	if err != nil {
		return answer{}, err
	}
	order, err := r.query("order")
	if err != nil {
		return answer{}, err
	}
	if order != "" && order != "asc" && order != "desc" {
		return answer{}, invalid("order", "must be asc or desc")
	}
	f.Newest, f.Limit, f.Offset = order != "asc", p.limit, p.offset
	found, total, err := a.Records.Records(ctx, f)
	if err != nil {
		return answer{}, err
	}
	shapes := []entryBody{}
	for _, e := range found {
		shapes = append(shapes, entryShape(e))
	}
	return answer{schema: "audit_list/v1", body: map[string]any{"entries": shapes, "total": total, "limit": p.limit, "offset": p.offset}}, nil
}

func entryShape(e audit.Entry) entryBody {
	return entryBody{e.Seq, hexOf(e.Prev), hexOf(e.Hash), hexOf(e.Leaf), e.Record}
}

// exportAudit writes the log as JSON lines, oldest first. Who sees all of it and asks for all of it gets a whole export, which
// "gatehouse audit verify" takes; a part has gaps, and its entries prove themselves alone.
func (a *API) exportAudit(ctx context.Context, r *request) error {
	f, err := a.filter(ctx, r)
	if err != nil {
		return err
	}
	// Asked before the status line, so that a log that cannot be read is an error and not an empty export.
	if _, err := a.Records.Head(ctx); err != nil {
		return err
	}
	h := r.W.Header()
	h.Set("Content-Type", "application/jsonl")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Disposition", `attachment; filename="gatehouse-audit.jsonl"`)
	r.Own.Set("X-Mnemom-Schema", "audit_export/v1")
	r.X.Status = http.StatusOK
	r.Head(http.StatusOK)
	r.Log(nil)
	if f.All() {
		err = a.Records.Export(ctx, r.W)
	} else {
		err = a.exportSome(ctx, r.W, f)
	}
	if err != nil {
		panic(http.ErrAbortHandler) // an export that ends early must not look whole
	}
	return nil
}

func (a *API) exportSome(ctx context.Context, to io.Writer, f audit.Filter) error {
	w := bufio.NewWriter(to)
	for f.Limit = maxLimit; ; {
		found, _, err := a.Records.Records(ctx, f)
		if err != nil {
			return err
		}
		for _, e := range found {
			w.Write(e.Line()) //nolint:errcheck // Flush says it
			f.After = e.Seq
		}
		if len(found) < f.Limit {
			return w.Flush()
		}
	}
}

const maxEvent = 16 << 10 // bytes of what an agent tells of itself

var eventPattern = regexp.MustCompile(`^[a-z0-9_]{1,32}(\.[a-z0-9_]{1,32}){0,3}$`)

// tellAudit adds an event that an agent tells of itself to the chain.
func (a *API) tellAudit(ctx context.Context, r *request) (answer, error) {
	var body struct {
		Type    string          `json:"type"`
		Data    json.RawMessage `json:"data"`
		Session string          `json:"session"`
		Agent   string          `json:"agent"`
	}
	if err := r.decode(&body); err != nil {
		return answer{}, err
	}
	switch {
	case !eventPattern.MatchString(body.Type):
		return answer{}, invalid("type", "must be 1 to 4 words of lower-case letters, digits and underscores, joined by dots")
	case len(body.Data) > maxEvent:
		return answer{}, invalid("data", "is larger than "+strconv.Itoa(maxEvent)+" bytes")
	}
	if body.Session != "" && !session.ValidID(body.Session) {
		return answer{}, invalid("session", "must be 1 to 128 letters, digits and . _ : -")
	}
	if err := a.speaksAs(ctx, r, body.Agent); err != nil {
		return answer{}, err
	}
	data, err := a.Redact(ctx, body.Data)
	if err != nil {
		return answer{}, err
	}
	r.X.Session = body.Session
	r.X.Event = &gatehouse.Event{Type: "audit." + body.Type, Data: data}
	return answer{http.StatusCreated, "audit_event/v1", map[string]any{"request_id": r.X.ID, "type": r.X.Event.Type, "agent_id": r.X.Agent,
		"session_id": body.Session, "data": data}}, nil
}

// speaksAs binds the exchange to the agent that the caller acts as. An admin key may name another of its account.
func (a *API) speaksAs(ctx context.Context, r *request, agent string) error {
	if agent == "" {
		refused, err := a.Desk.Bind(ctx, r.X, r.who, r.In.Agent)
		if refused != nil {
			return refused
		}
		r.X.Known = r.X.Known || r.who.Keyed
		return err
	}
	if !r.who.Can(identity.Admin) {
		return surface.Failure(http.StatusForbidden, "insufficient_scope", "only a key with the scope admin may name an agent")
	}
	named, err := a.agent(ctx, r, agent)
	if err != nil {
		return err
	}
	r.X.Agent, r.X.Account = named.ID, named.Account
	return nil
}
