package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/identity"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
	"github.com/gatehouse-gateway/gatehouse/internal/surface"
)

func (a *API) checkpointRoutes() []route {
	return []route{
		{method: "POST", path: "/v1/checkpoints", scope: identity.Gateway, check: a.checkExchange, open: true},
		{method: "POST", path: "/v1/checkpoints/input", scope: identity.Gateway, check: a.checkInput, open: true},
		{method: "POST", path: "/v1/checkpoints/tool-call", scope: identity.Gateway, check: a.checkToolCall, open: true},
		{method: "POST", path: "/v1/checkpoints/tool-result", scope: identity.Gateway, check: a.checkToolResult, open: true},
		{method: "POST", path: "/v1/checkpoints/output", scope: identity.Gateway, check: a.checkOutput, open: true},
	}
}

// verdictBody is what every view of the checkpoints answers.
type verdictBody struct {
	Verdict   string              `json:"verdict"` // what to do now
	Would     string              `json:"would"`   // what it were without modes
	Rule      string              `json:"rule"`
	Reason    string              `json:"reason"`
	Score     float64             `json:"score"`
	Findings  []gatehouse.Finding `json:"findings"`
	RequestID string              `json:"request_id"`
	Session   string              `json:"session"`
	Agent     string              `json:"agent_id"`
}

// message is one of a conversation.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

const maxMessages = 10_000

// checkInput is the input injection scan: front, on what the user says.
func (a *API) checkInput(ctx context.Context, r *request) (answer, error) {
	var body struct {
		Session  string    `json:"session"`
		Agent    string    `json:"agent"`
		Text     *string   `json:"text"`
		Messages []message `json:"messages"`
	}
	if err := r.decode(&body); err != nil {
		return answer{}, err
	}
	switch {
	case (body.Text == nil) == (body.Messages == nil):
		return answer{}, invalid("text", "or messages must be given, and not both")
	case len(body.Messages) > maxMessages:
		return answer{}, invalid("messages", "are too many")
	case body.Text != nil:
		body.Messages = []message{{"user", *body.Text}}
	}
	parts, err := parts(body.Messages)
	if err != nil {
		return answer{}, err
	}
	r.X.Ask(parts...)
	if err := a.check(ctx, r, body.Session, body.Agent, gatehouse.Front); err != nil {
		return answer{}, err
	}
	result := struct {
		verdictBody
		Text     *string   `json:"text"`
		Messages []message `json:"messages"`
	}{verdictBody: r.verdict()}
	if changed(r.X.Request) && result.Verdict != string(gatehouse.Block) {
		said := messages(r.X.Request, body.Messages)
		if body.Text != nil {
			result.Text = &said[0].Content
		} else {
			result.Messages = said
		}
	}
	return answer{schema: "input_verdict/v1", body: result}, nil
}

// parts are messages as parts: what follows the last turn of the assistant may block.
func parts(list []message) ([]gatehouse.Part, error) {
	latest := 0
	for i, m := range list {
		if m.Role == "assistant" {
			latest = i + 1
		}
	}
	var out []gatehouse.Part
	for i, m := range list {
		p := gatehouse.Part{Kind: gatehouse.Text, Path: "messages", Text: m.Content, Latest: i >= latest}
		switch m.Role {
		case "system", "developer":
			p.Role = gatehouse.System
		case "user":
			p.Role = gatehouse.User
		case "assistant":
			p.Role = gatehouse.Assistant
		case "tool":
			p.Role, p.Kind = gatehouse.Tool, gatehouse.ToolResult
		default:
			return nil, invalid("messages", "have the roles system, developer, user, assistant and tool")
		}
		out = append(out, p)
	}
	return out, nil
}

// messages are the parts as messages again. What a nudge has added stands at the end of the last.
func messages(list []gatehouse.Part, were []message) []message {
	out := make([]message, 0, len(were))
	for _, p := range list {
		if p.Inserted && len(out) > 0 {
			out[len(out)-1].Content += "\n\n" + p.Text
			continue
		}
		out = append(out, message{were[len(out)].Role, p.Text})
	}
	return out
}

// changed reports whether edits were made to a list of parts.
func changed(list []gatehouse.Part) bool {
	for _, p := range list {
		if p.Edited || p.Inserted || p.Removed {
			return true
		}
	}
	return false
}

// checkToolCall is the tool-call gate: back, for secrets in the arguments, and autonomy.
func (a *API) checkToolCall(ctx context.Context, r *request) (answer, error) {
	var body struct {
		Session   string          `json:"session"`
		Agent     string          `json:"agent"`
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
		CallID    string          `json:"call_id"`
	}
	// What is ambiguous in the arguments is for the gate to refuse, with its reason; in the question around them it is an error.
	asked, arguments := r.body, []byte(nil)
	r.body, arguments = withoutMember(asked, "arguments")
	err := r.decode(&body)
	if string(arguments) == "null" {
		arguments = nil
	}
	r.body = asked // as the idempotency key knows it
	if err != nil {
		return answer{}, err
	}
	body.Arguments = arguments
	switch {
	case body.Tool == "" || len(body.Tool) > maxToolName:
		return answer{}, invalid("tool", "must have 1 to 256 bytes")
	case len(body.CallID) > maxToolName:
		return answer{}, invalid("call_id", "is too long")
	}
	r.X.Answer(gatehouse.Part{Kind: gatehouse.ToolCall, Role: gatehouse.Assistant, Path: "arguments", Tool: body.Tool,
		CallID: body.CallID, Text: string(body.Arguments)})
	if err := a.check(ctx, r, body.Session, body.Agent, gatehouse.Back, gatehouse.Autonomy); err != nil {
		return answer{}, err
	}
	result := struct {
		verdictBody
		CallID   string       `json:"call_id"`
		Digest   string       `json:"digest"` // of the canonical arguments; empty when they cannot be read
		Approval *approvalRef `json:"approval"`
	}{verdictBody: r.verdict(), CallID: body.CallID, Digest: digest(body.Tool, body.Arguments), Approval: a.approvalOf(r.X)}
	return answer{schema: "tool_call_verdict/v1", body: result}, nil
}

// withoutMember is an object whose member of a name is null, and what the member held; the object as it was when it has no such
// member, or two.
func withoutMember(object []byte, name string) (rest, value []byte) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return object, nil
	}
	start, end := 0, 0
	for dec.More() {
		key, err := dec.Token()
		var raw json.RawMessage
		if err != nil || dec.Decode(&raw) != nil || key == name && end > 0 {
			return object, nil
		}
		if key == name {
			end = int(dec.InputOffset())
			start = end - len(raw)
		}
	}
	if end == 0 {
		return object, nil
	}
	return slices.Concat(object[:start], []byte("null"), object[end:]), slices.Clone(object[start:end])
}

const (
	maxToolName   = 256
	argumentDepth = 128
)

// digest is that of the arguments of a call, in hex.
func digest(tool string, arguments json.RawMessage) string {
	sum, ok := policy.Call{Tool: tool, Args: string(arguments)}.Digest()
	if !ok {
		return ""
	}
	return hex.EncodeToString(sum[:])
}

// approvalRef is the approval that a call waits for, or that has let it through or refused it.
type approvalRef struct {
	ID      string     `json:"id"`
	State   string     `json:"state"`
	URL     string     `json:"url"`
	Expires *time.Time `json:"expires_at"` // while it is pending
}

// approvalOf is the approval of the one call of an exchange; nil when it has none.
func (a *API) approvalOf(x *gatehouse.Exchange) *approvalRef {
	for _, d := range x.Decisions {
		for _, c := range d.Calls {
			if c.Approval != "" {
				return &approvalRef{ID: c.Approval, State: c.State, URL: a.approvalURL(c.Approval), Expires: optional(c.Expires)}
			}
		}
	}
	return nil
}

// checkToolResult is the tool-result scan: front, on what a tool has returned.
func (a *API) checkToolResult(ctx context.Context, r *request) (answer, error) {
	var body struct {
		Session string          `json:"session"`
		Agent   string          `json:"agent"`
		Tool    string          `json:"tool"`
		CallID  string          `json:"call_id"`
		Result  json.RawMessage `json:"result"`
	}
	if err := r.decode(&body); err != nil {
		return answer{}, err
	}
	if len(body.Tool) > maxToolName || len(body.CallID) > maxToolName {
		return answer{}, invalid("tool", "or call_id is too long")
	}
	if len(body.Result) == 0 {
		return answer{}, invalid("result", "is missing")
	}
	text, plain := textOf(body.Result)
	r.X.Ask(gatehouse.Part{Kind: gatehouse.ToolResult, Role: gatehouse.Tool, Path: "result", Tool: body.Tool, CallID: body.CallID,
		Text: text, Latest: true})
	if err := a.check(ctx, r, body.Session, body.Agent, gatehouse.Front); err != nil {
		return answer{}, err
	}
	p := r.X.Request[0]
	result := struct {
		verdictBody
		CallID     string          `json:"call_id"`
		Result     json.RawMessage `json:"result"`
		Redactions []redaction     `json:"redactions"`
	}{verdictBody: r.verdict(), CallID: body.CallID, Result: valueOf(p.Text, plain, body.Result), Redactions: r.redactions(p)}
	if whole(r.X, p) { // only where it happens is it seen, and then modes change nothing
		result.Verdict, result.Would = string(gatehouse.Block), string(gatehouse.Block)
	}
	return answer{schema: "tool_result_verdict/v1", body: result}, nil
}

// checkOutput is back, on a text that leaves.
func (a *API) checkOutput(ctx context.Context, r *request) (answer, error) {
	var body struct {
		Session string  `json:"session"`
		Agent   string  `json:"agent"`
		Text    *string `json:"text"`
	}
	if err := r.decode(&body); err != nil {
		return answer{}, err
	}
	if body.Text == nil {
		return answer{}, invalid("text", "is missing")
	}
	r.X.Answer(gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.Assistant, Path: "text", Text: *body.Text})
	if err := a.check(ctx, r, body.Session, body.Agent, gatehouse.Back); err != nil {
		return answer{}, err
	}
	p := r.X.Response[0]
	result := struct {
		verdictBody
		Result     string      `json:"result"`
		Redactions []redaction `json:"redactions"`
	}{verdictBody: r.verdict(), Result: p.Text, Redactions: r.redactions(p)}
	for _, added := range r.X.Response[1:] {
		result.Result += "\n\n" + added.Text
	}
	if whole(r.X, p) { // only where it happens is it seen, and then modes change nothing
		result.Verdict, result.Would = string(gatehouse.Block), string(gatehouse.Block)
	}
	return answer{schema: "output_verdict/v1", body: result}, nil
}

// textOf is a result as text: what a string holds, anything else as it was written. plain says that it was a string.
func textOf(value json.RawMessage) (text string, plain bool) {
	if v, err := rawjson.Parse(value, argumentDepth); err == nil && v.Kind == rawjson.String {
		return v.Text(value), true
	}
	return string(value), false
}

// valueOf is a text as a value again. One that was replaced whole is a string, but for numbers, which become 0.
func valueOf(text string, plain bool, was json.RawMessage) json.RawMessage {
	if number := strings.TrimLeft(string(was), "-0123456789.eE+") == ""; number && !json.Valid([]byte(text)) {
		return json.RawMessage("0")
	}
	if plain || !json.Valid([]byte(text)) {
		return rawjson.Quote(text)
	}
	return json.RawMessage(text)
}

// check binds the exchange to its agent and session, asks the checkpoints, and writes the record. A checkpoint that could not
// decide is an error.
func (a *API) check(ctx context.Context, r *request, id, agent string, at ...gatehouse.Checkpoint) error {
	x := r.X
	if id == "" {
		id = r.In.Session
	} else if !session.ValidID(id) {
		return invalid("session", "must be 1 to 128 letters, digits and . _ : -")
	}
	err := a.speaksAs(ctx, r, agent)
	var refused *gatehouse.Failure
	if errors.As(err, &refused) {
		return refused
	}
	if refused := a.Desk.Admit(r.Call, x.Agent, int(a.rate.Load())); refused != nil {
		return refused
	}
	x.Known = true // no upstream will say whether the credential is good: the key did, or loopback
	if err == nil {
		x.Session, x.Fresh, err = a.Desk.Sessions.Session(ctx, x, id)
	}
	if err != nil {
		x.Doubt = "store"
		a.Log.Error("store cannot be read", "request_id", x.ID, "error", err)
	}
	for _, checkpoint := range at {
		if a.Checker.Check(ctx, x, checkpoint); x.Stopped() != nil {
			break
		}
	}
	if stop := x.Stopped(); stop != nil && stop.Failed {
		return surface.Failure(http.StatusServiceUnavailable, "checkpoint_unavailable", "the "+string(stop.At)+" checkpoint could not decide")
	}
	x.Status, x.Error = http.StatusOK, "" // the answer is a verdict, whatever it says
	r.Recorded = true
	if err := a.Checker.Finish(context.WithoutCancel(ctx), x); err != nil {
		return &gatehouse.Failure{Status: http.StatusServiceUnavailable, Code: "checkpoint_unavailable",
			Message: "the audit record could not be written", Err: err}
	}
	return nil
}

// verdict is what the checkpoints have come to: the strictest says why.
func (r *request) verdict() verdictBody {
	v := verdictBody{Verdict: string(gatehouse.Allow), Would: string(gatehouse.Allow), Findings: []gatehouse.Finding{},
		RequestID: r.X.ID, Session: r.X.Session, Agent: r.X.Agent}
	for _, d := range r.X.Decisions {
		if d.Verdict.Stricter(gatehouse.Verdict(v.Verdict)) {
			v.Verdict = string(d.Verdict)
		}
		if d.Would.Stricter(gatehouse.Verdict(v.Would)) || v.Reason == "" {
			v.Would, v.Rule, v.Reason = string(d.Would), d.Rule, d.Reason
		}
		for _, call := range d.Calls { // a call that is allowed has its rule, too
			if v.Rule == "" {
				v.Rule, v.Reason = call.Rule, call.Reason
			}
		}
		v.Score = max(v.Score, d.Score)
		v.Findings = append(v.Findings, d.Findings...)
	}
	return v
}

// redaction is one span that was taken out of a text. Offsets are UTF-8 bytes of the text as it came: of what a string holds,
// of anything else as it was written.
type redaction struct {
	Kind  string `json:"kind"`
	Type  string `json:"type"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}

// redactions are the findings that edits have covered.
func (r *request) redactions(p gatehouse.Part) []redaction {
	out := []redaction{}
	for _, d := range r.X.Decisions {
		edits := slices.DeleteFunc(slices.Clone(d.Edits), func(e gatehouse.Edit) bool { return e.Part != p.ID || e.Op != gatehouse.Replace })
		// Edits of one part do not overlap: the first that ends behind the beginning of a finding is the only one that can cover it.
		slices.SortFunc(edits, func(a, b gatehouse.Edit) int { return cmp.Compare(a.Start, b.Start) })
		for _, f := range d.Findings {
			at, _ := slices.BinarySearchFunc(edits, f.Start, func(e gatehouse.Edit, start int) int { return cmp.Compare(e.End, start+1) })
			if f.Part == p.ID && at < len(edits) && edits[at].Start < f.End {
				out = append(out, redaction{f.Kind, f.Type, f.Start, f.End})
			}
		}
	}
	return out
}

// whole reports whether one edit has replaced all of a part.
func whole(x *gatehouse.Exchange, p gatehouse.Part) bool {
	for _, d := range x.Decisions {
		for _, e := range d.Edits {
			if e.Part == p.ID && e.Op == gatehouse.Replace && e.Start == 0 && e.End == len(p.Original()) && e.End > 0 {
				return true
			}
		}
	}
	return false
}
