package api

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
	"github.com/gatehouse-gateway/gatehouse/internal/surface"
)

// finish is the word that stands where a checkpoint stands when the record is to be written.
const finish gatehouse.Checkpoint = "finish"

// question is a whole exchange, and the checkpoint that is asked about it.
type question struct {
	Checkpoint gatehouse.Checkpoint   `json:"checkpoint"`
	Exchange   *gatehouse.Exchange    `json:"exchange"`
	Proof      string                 `json:"proof"`
	Agent      string                 `json:"agent"`
	Unreached  []gatehouse.Checkpoint `json:"unreached"` // finish only: those that the client could not ask
}

// decided is the answer. Of a record that was written it holds nothing.
type decided struct {
	Decision *gatehouse.Decision `json:"decision"`
	Exchange *gatehouse.Exchange `json:"exchange"`
	Proof    string              `json:"proof"`
}

// checkExchange is a gatehouse.Checker over HTTP. The exchange lives with the client from one question to the next; the proof that
// comes with each answer shows that what the gateway has said of it is still as it was said.
func (a *API) checkExchange(ctx context.Context, r *request) (answer, error) {
	var q question
	if err := r.decode(&q); err != nil {
		return answer{}, err
	}
	x, err := q.exchange()
	if err != nil {
		return answer{}, err
	}
	x.Endpoint = r.X.Endpoint
	if err := a.bind(ctx, r, &q, x); err != nil {
		return answer{}, err
	}
	if q.Checkpoint == finish {
		return a.finish(ctx, r, &q, x)
	}
	if err := a.open(ctx, &q, x); err != nil {
		return answer{}, err
	}
	d := a.Checker.Check(ctx, x, q.Checkpoint)
	// The request has no record of its own: the exchange will have one, and headers and log speak of that.
	r.X, r.Recorded = x, true
	proof, err := a.proof(x)
	if err != nil {
		return answer{}, err
	}
	return answer{schema: "checkpoint/v1", body: decided{&d, told(x), proof}}, nil
}

// told is an exchange as its client gets it back: without what it was found by.
func told(x *gatehouse.Exchange) *gatehouse.Exchange {
	out := *x
	out.Account, out.Key, out.AgentHash, out.AgentCredential, out.AgentProof, out.Known, out.Doubt = "", "", "", "", "", false, ""
	return &out
}

// bind finds out whose exchange it is, and begins it when it has no proof yet; one that has is held against it.
func (a *API) bind(ctx context.Context, r *request, q *question, x *gatehouse.Exchange) error {
	begun, last := q.Proof != "", q.Checkpoint == finish
	err := a.speaksAs(ctx, r, q.Agent)
	var refused *gatehouse.Failure
	// Who is stopped in the middle of an exchange leaves its record all the same.
	if errors.As(err, &refused) && (!begun || !last || r.X.Agent == "") {
		return refused
	}
	if refused == nil && err != nil && (begun || q.Checkpoint != gatehouse.Front) {
		return unavailable("the store could not be read", err)
	}
	if !begun || !last {
		if slow := a.Desk.Admit(r.Call, r.X.Agent, int(a.rate.Load())); slow != nil {
			return slow
		}
	}
	as := r.X
	x.Agent, x.AgentHash, x.AgentName, x.AgentCredential, x.AgentProof = as.Agent, as.AgentHash, as.AgentName, as.AgentCredential, as.AgentProof
	x.Account, x.Key = as.Account, as.Key
	x.Known = true // as for every question to checkpoints: the key said that the credential is good, or loopback
	if begun {
		return a.proved(x, q.Proof)
	}
	if err := q.begins(); err != nil {
		return err
	}
	return a.begin(ctx, r, x, err)
}

// open refuses calls of an exchange whose record is written: it says what became of them, and what is let through later would stand
// in no record.
func (a *API) open(ctx context.Context, q *question, x *gatehouse.Exchange) error {
	if q.Checkpoint != gatehouse.Autonomy || !x.Answered {
		return nil
	}
	_, written, err := a.Records.Record(ctx, x.ID, audit.Filter{})
	switch {
	case err != nil:
		return unavailable("the store could not be read", err)
	case written:
		return errProof()
	}
	return nil
}

// begin gives a new exchange what the gateway says of it. unread is why its agent is only presumed.
func (a *API) begin(ctx context.Context, r *request, x *gatehouse.Exchange, unread error) error {
	if x.Session == "" {
		x.Session = r.In.Session
	}
	x.Time, x.Decisions, x.Fresh, x.Reminded = time.Now().UTC().Round(0), nil, false, nil
	fresh(x)
	if unread == nil {
		x.Session, x.Fresh, unread = a.Desk.Sessions.Session(ctx, x, x.Session)
	}
	if unread != nil {
		x.Doubt = "store"
		a.Log.Error("store cannot be read", "request_id", r.X.ID, "error", unread)
	}
	x.ID = a.exchangeID(x.Agent, x.ID)
	return nil
}

// exchangeID is the id that an exchange has from now on. It follows from the client's, so that one that is begun twice is recorded
// once; and it is none that a client could choose: by claiming the id of an exchange that still runs elsewhere, that one's
// record would be kept out of the log.
func (a *API) exchangeID(agent, claimed string) string {
	mac := hmac.New(sha256.New, a.Desk.Sessions.Key)
	mac.Write([]byte("exchange|" + agent + "|" + claimed)) //nolint:errcheck // a hash does not fail
	id := uuid.UUID(mac.Sum(nil)[:16])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // version 4, RFC 9562 variant
	return id.String()
}

// finish writes the record, once: asked again, also at once and on another gateway, it has been written.
func (a *API) finish(ctx context.Context, r *request, q *question, x *gatehouse.Exchange) (answer, error) {
	unread(x)
	for _, at := range q.Unreached {
		x.Decisions = append(x.Decisions, unreached(x, at))
	}
	err := a.Transact(context.WithoutCancel(ctx), func(ctx context.Context) error {
		_, written, err := a.Records.Record(ctx, x.ID, audit.Filter{})
		if written || err != nil {
			return err
		}
		return a.Checker.Finish(ctx, x)
	})
	if err != nil {
		return answer{}, unavailable("the audit record could not be written", err)
	}
	r.X, r.Recorded = x, true
	return answer{schema: "checkpoint/v1", body: decided{}}, nil
}

func unavailable(message string, err error) error {
	return &gatehouse.Failure{Status: http.StatusServiceUnavailable, Code: "checkpoint_unavailable", Message: message, Err: err}
}

// unread marks a response that the back checkpoint has not seen: the session must not remember it as text that was decided.
func unread(x *gatehouse.Exchange) {
	if slices.ContainsFunc(x.Decisions, func(d gatehouse.Decision) bool { return d.At == gatehouse.Back && !d.Failed }) {
		return
	}
	for i := range x.Response {
		x.Response[i].Removed = true
	}
}

// unreached is what the record says of a checkpoint that the client could not ask. It went on without, or did not.
func unreached(x *gatehouse.Exchange, at gatehouse.Checkpoint) gatehouse.Decision {
	d := gatehouse.Decision{At: at, Mode: gatehouse.Enforce, Verdict: gatehouse.Allow, Would: gatehouse.Block, Outcome: gatehouse.Observed, Failed: true,
		Rule: "unreached", Reason: "the client could not ask the gateway",
		Advisories: []gatehouse.Advisory{{Source: "gatehouse.error", Severity: gatehouse.Critical,
			Text: "the client could not ask the gateway about the " + string(at) + " checkpoint"}}}
	if x.Error == "checkpoint_unavailable" {
		d.Verdict, d.Outcome = gatehouse.Block, gatehouse.Enforced
	}
	return d
}

// exchange is what the client may say of its exchange, and what the proof will show that the gateway has said.
func (q *question) exchange() (*gatehouse.Exchange, error) {
	switch {
	case q.Exchange == nil:
		return nil, invalid("exchange", "is missing")
	case q.Checkpoint != finish && !slices.Contains(gatehouse.Checkpoints[:], q.Checkpoint):
		return nil, invalid("checkpoint", "must be front, autonomy, integrity, back or finish")
	case len(q.Unreached) > 0 && q.Checkpoint != finish:
		return nil, invalid("unreached", "is said at the end")
	case len(q.Unreached) > maxUnreached:
		return nil, invalid("unreached", "are too many")
	}
	for _, at := range q.Unreached {
		if !slices.Contains(gatehouse.Checkpoints[:], at) {
			return nil, invalid("unreached", "are front, autonomy, integrity and back")
		}
	}
	c := q.Exchange
	x := &gatehouse.Exchange{
		ID: c.ID, Time: c.Time, Surface: "sdk", Upstream: c.Upstream, Format: c.Format, Model: c.Model, Stream: c.Stream, Session: c.Session,
		Request: c.Request, Response: c.Response, Decisions: c.Decisions, Usage: c.Usage, Status: c.Status, Error: c.Error,
		Fresh: c.Fresh, Reminded: c.Reminded, Answered: c.Answered, Cut: c.Cut,
	}
	return x, errors.Join(checkWords(x), checkParts(x, q.Checkpoint))
}

// maxUnreached is more than an exchange has checks.
const maxUnreached = 16

// begins refuses a first question that claims what only the gateway says.
func (q *question) begins() error {
	claims := len(q.Exchange.Decisions) > 0
	for _, list := range [2][]gatehouse.Part{q.Exchange.Request, q.Exchange.Response} {
		claims = claims || slices.ContainsFunc(list, touched)
	}
	switch {
	case claims:
		return errProof()
	case q.Checkpoint == finish && len(q.Unreached) == 0:
		return invalid("proof", "is missing: an exchange that no checkpoint was asked about has no record")
	case q.Exchange.Session != "" && !session.ValidID(q.Exchange.Session):
		return invalid("session", "must be 1 to 128 letters, digits and . _ : -")
	}
	return nil
}

func errProof() error {
	return surface.Failure(http.StatusBadRequest, "exchange_proof",
		"the exchange is not as the gateway has left it: send it back with the proof that came with it, and change only what follows")
}
