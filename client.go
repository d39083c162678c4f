package gatehouse

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Client is a [Checker] whose checkpoints are those of a remote gateway (POST /v1/checkpoints). Its fields are set before its first use;
// then it may be used by many goroutines.
//
// The gateway gives an exchange its session, its agent and, with its first answer, an ID of the gateway's own that follows from
// the one that the exchange had. Between two checks the exchange is kept by the caller; [Exchange.Proof] shows the gateway that
// what it has decided is still there, so that the exchange may be written to disk as JSON and go on in another process.
type Client struct {
	URL   string // where the gateway is: http://127.0.0.1:8787
	Key   string // an API key (mnm_…); while the gateway has none, whatever the agent is known by
	Agent string // name of the agent, for a credential that several share; empty: the credential's own

	// HTTP sends the requests; nil: [http.DefaultClient].
	HTTP *http.Client
	// Timeout is the time for one check or one record, a second try included; 0: a minute. Where the gateway waits for approvals
	// (approvals.wait), it must be longer than that.
	Timeout time.Duration
	// FailOpen lets an exchange go on past a checkpoint that could not be asked. The default is closed: the exchange ends there. A
	// gateway that refuses to hear the agent (403: it was stopped, or has no leave; 429: it asks too much) ends it in either case.
	FailOpen bool
}

var errStranger = errors.New("the answer is not that of a gateway")

// ruleUnreached is the rule of a decision that the client has made alone.
const ruleUnreached = "unreached"

// question is a request of the client. It is written part by part: an exchange can be large.
type question struct {
	Checkpoint Checkpoint   `json:"checkpoint"`
	Proof      string       `json:"proof,omitempty"`
	Unreached  []Checkpoint `json:"unreached,omitempty"`
	exchange   Exchange
}

// Check implements [Checker]. A gateway that cannot be asked, or does not answer as a gateway does, becomes a decision by FailOpen,
// with the reason for whoever runs the agent: it names neither content nor credential.
func (c *Client) Check(ctx context.Context, x *Exchange, at Checkpoint) Decision {
	if x.ID == "" {
		x.ID = newUUID()
	}
	q, own := ask(x, at)
	d, err := c.check(ctx, x, q, own)
	if err != nil {
		d = c.failed(x, at, err)
		x.Decisions = append(x.Decisions, d)
	}
	return d
}

func (c *Client) check(ctx context.Context, x *Exchange, q question, own []Decision) (Decision, error) {
	var said struct {
		Decision *Decision `json:"decision"`
		Exchange *Exchange `json:"exchange"`
		Proof    string    `json:"proof"`
	}
	// A question may be asked twice but for calls without an id: the second time might use up another approval. The gateway keeps
	// the answer to a question that has a key, and that is the whole exchange.
	key := ""
	if q.Checkpoint == Autonomy && x.Answered && slices.ContainsFunc(x.Response, func(p Part) bool { return p.Kind == ToolCall && p.CallID == "" }) {
		key = newUUID()
	}
	if err := c.post(ctx, "/v1/checkpoints", key, q.write, &said); err != nil {
		return Decision{}, err
	}
	d, y := said.Decision, said.Exchange
	if d == nil || y == nil || d.At != q.Checkpoint || said.Proof == "" || !y.follows(x) {
		return Decision{}, errStranger
	}
	y.Proof, y.Endpoint, y.Surface = said.Proof, x.Endpoint, x.Surface
	y.Decisions = append(own, y.Decisions...)
	*x = *y
	return *d, nil
}

// follows reports whether an exchange can be what a checkpoint has made of another: parts come at the end, none goes.
func (x *Exchange) follows(was *Exchange) bool {
	ids := 0
	for _, list := range [2][]Part{x.Request, x.Response} {
		for _, p := range list {
			if p.ID != ids {
				return false
			}
			ids++
		}
	}
	return x.Answered == was.Answered && x.ID != "" &&
		kinds(x.Request, was.Request) && kinds(x.Response, was.Response)
}

func kinds(list, was []Part) bool {
	return len(list) >= len(was) && slices.EqualFunc(list[:len(was)], was, func(p, q Part) bool { return p.Kind == q.Kind && p.Tool == q.Tool && p.CallID == q.CallID })
}

// Finish implements [Checker]. It may be called again after an error: the gateway writes one record.
func (c *Client) Finish(ctx context.Context, x *Exchange) error {
	if x.ID == "" {
		x.ID = newUUID()
	}
	q, own := ask(x, "finish")
	for _, d := range own {
		q.Unreached = append(q.Unreached, d.At)
	}
	var said struct {
		Proof *string `json:"proof"`
	}
	err := c.post(ctx, "/v1/checkpoints", "", q.write, &said)
	if err == nil && said.Proof == nil {
		err = errStranger
	}
	if err != nil {
		return fmt.Errorf("write the record: %w", err)
	}
	return nil
}

// ask makes a question of an exchange. own are its decisions that no gateway has made.
func ask(x *Exchange, at Checkpoint) (q question, own []Decision) {
	q = question{Checkpoint: at, Proof: x.Proof, exchange: *x}
	q.exchange.Decisions = nil
	for _, d := range x.Decisions {
		if d.Failed && d.Rule == ruleUnreached {
			own = append(own, d)
		} else {
			q.exchange.Decisions = append(q.exchange.Decisions, d)
		}
	}
	e := &q.exchange
	e.Proof, e.Event, e.Account, e.Key, e.AgentHash, e.AgentName, e.AgentCredential, e.AgentProof, e.Doubt = "", nil, "", "", "", "", "", "", ""
	return q, own
}

// write writes the question as JSON.
func (q question) write(w io.Writer) error {
	bare := q.exchange
	bare.Request, bare.Response = nil, nil
	head, err := json.Marshal(q)
	if err != nil {
		return err
	}
	exchange, err := json.Marshal(bare)
	if err != nil {
		return err
	}
	out := &errWriter{to: w}
	out.write(head[:len(head)-1], []byte(`,"exchange":`), exchange[:len(exchange)-1])
	out.parts("request", q.exchange.Request)
	out.parts("response", q.exchange.Response)
	out.write([]byte("}}"))
	return out.err
}

// errWriter stops at the first error.
type errWriter struct {
	to  io.Writer
	err error
}

func (w *errWriter) write(all ...[]byte) {
	for _, b := range all {
		if w.err == nil {
			_, w.err = w.to.Write(b)
		}
	}
}

func (w *errWriter) parts(name string, list []Part) {
	w.write([]byte(`,"` + name + `":[`))
	for i := 0; i < len(list) && w.err == nil; i++ {
		var raw []byte
		if raw, w.err = json.Marshal(list[i]); i > 0 {
			w.write([]byte(","))
		}
		w.write(raw)
	}
	w.write([]byte("]"))
}

// failed is the decision of a checkpoint that could not be asked.
func (c *Client) failed(x *Exchange, at Checkpoint, cause error) Decision {
	d := Decision{At: at, Mode: Enforce, Verdict: Block, Would: Block, Outcome: Enforced, Failed: true, Stop: true, Rule: ruleUnreached,
		Reason: "the gateway could not be asked: " + cause.Error(),
		Advisories: []Advisory{{Source: "gatehouse.error", Severity: Critical,
			Text: "the gateway could not be asked about the " + string(at) + " checkpoint"}}}
	if at == Integrity {
		d.Analysis = "error"
	}
	var f *Failure
	refused := errors.As(cause, &f) && (f.Status == http.StatusForbidden || f.Status == http.StatusTooManyRequests)
	if c.FailOpen && !refused {
		d.Verdict, d.Outcome, d.Stop = Allow, Observed, false
		return d
	}
	x.Status, x.Error = http.StatusServiceUnavailable, "checkpoint_unavailable"
	return d
}

// post sends a request and reads its answer. A connection that breaks is tried once more.
func (c *Client) post(ctx context.Context, path, key string, write func(io.Writer) error, to any) error {
	ctx, cancel := c.within(ctx)
	defer cancel()
	err := c.send(ctx, path, key, write, to)
	if broken := (*brokenError)(nil); errors.As(err, &broken) && ctx.Err() == nil {
		err = c.send(ctx, path, key, write, to)
	}
	return err
}

func (c *Client) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.Timeout > 0 {
		return context.WithTimeout(ctx, c.Timeout)
	}
	return context.WithTimeout(ctx, time.Minute)
}

func (c *Client) send(ctx context.Context, path, key string, write func(io.Writer) error, to any) error {
	body, pipe := io.Pipe()
	written := make(chan struct{})
	go func() {
		defer close(written)
		pipe.CloseWithError(write(pipe))
	}()
	// The transport may answer before it has read everything; the exchange is the caller's again only when nobody reads it.
	defer func() {
		body.Close()
		<-written
	}()
	return c.do(ctx, http.MethodPost, path, key, body, to)
}

// do makes one request. The error is a [*Failure] where the gateway has said no.
func (c *Client) do(ctx context.Context, method, path, key string, body io.Reader, to any) error {
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.URL, "/")+path, body)
	if err != nil {
		return errors.New("the client's URL is none")
	}
	r.Header.Set("Content-Type", "application/json")
	if c.Key != "" {
		r.Header.Set("Authorization", "Bearer "+c.Key)
	}
	if c.Agent != "" {
		r.Header.Set("X-Mnemom-Agent", c.Agent)
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	sender := c.HTTP
	if sender == nil {
		sender = http.DefaultClient
	}
	res, err := sender.Do(r)
	if err != nil {
		return broken(ctx, err)
	}
	defer res.Body.Close()
	answer := io.LimitReader(res.Body, maxAnswer)
	if res.StatusCode/100 != 2 {
		return refusal(res.StatusCode, answer)
	}
	raw, err := io.ReadAll(answer)
	if err != nil {
		return broken(ctx, err)
	}
	if json.Unmarshal(raw, to) != nil {
		return errStranger
	}
	return nil
}

// maxAnswer bounds the memory that an answer takes, in bytes: four times the largest exchange that a gateway takes by default, as
// an edited part has its text twice.
const maxAnswer = 128 << 20

// brokenError is a connection that could not be made, or broke.
type brokenError struct{ error }

func (e *brokenError) Unwrap() error { return e.error }

// broken says what became of a connection, without the URL, which can hold a password.
func broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if at := (*url.Error)(nil); errors.As(err, &at) {
		err = at.Err
	}
	return &brokenError{err}
}

var codePattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// refusal is what the gateway has said instead of an answer: its code, for what else it says could quote.
func refusal(status int, body io.Reader) error {
	var said struct {
		Error struct{ Code string }
	}
	raw, _ := io.ReadAll(io.LimitReader(body, 64<<10)) //nolint:errcheck // the status says enough
	f := &Failure{Status: status, Code: "unexpected_answer", Message: fmt.Sprintf("the gateway has answered with status %d", status)}
	if json.Unmarshal(raw, &said) == nil && codePattern.MatchString(said.Error.Code) {
		f.Code = said.Error.Code
	}
	return f
}

// newUUID is a random UUID (RFC 9562, version 4).
func newUUID() string {
	b := make([]byte, 16)
	rand.Read(b) // never fails: crypto/rand ends the program instead
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
