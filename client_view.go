package gatehouse

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Asked is what every question about one text or one call is answered.
type Asked struct {
	Verdict   Verdict   `json:"verdict"` // what to do now
	Would     Verdict   `json:"would"`   // what it were without modes
	Rule      string    `json:"rule"`
	Reason    string    `json:"reason"` // never quotes content
	Score     float64   `json:"score"`  // of an injection, 0..1
	Findings  []Finding `json:"findings"`
	RequestID string    `json:"request_id"` // of the record: GET /v1/requests/{id}
	Session   string    `json:"session"`    // for the next question of the same conversation
	Agent     string    `json:"agent_id"`
}

// InputAsked is the answer to [Client.Input].
type InputAsked struct {
	Asked
	Text *string `json:"text"` // what to tell the model instead; nil: the text as it was, or nothing when the verdict is block
}

// CallAsked is the answer to [Client.ToolCall].
type CallAsked struct {
	Asked // Flag: the call waits for Approval. Asked again, with the same session and arguments, it is answered anew.

	CallID   string       `json:"call_id"`
	Digest   string       `json:"digest"` // SHA-256 of the canonical arguments, in hex; empty when they cannot be read
	Approval *ApprovalRef `json:"approval"`
}

// ApprovalRef is the approval that a call waits for, or that has let it through or refused it.
type ApprovalRef struct {
	ID      string     `json:"id"`
	State   string     `json:"state"`
	URL     string     `json:"url"`
	Expires *time.Time `json:"expires_at"`
}

// ResultAsked is the answer to [Client.ToolResult] and [Client.Output].
type ResultAsked struct {
	Asked // Redact: Result is changed. Block: it was replaced whole.

	Result     json.RawMessage `json:"result"` // what to go on with: a string for a string, any JSON otherwise
	Redactions []Redaction     `json:"redactions"`
}

// Redaction is one span that was taken out. Offsets are UTF-8 bytes of the text as it came, End exclusive.
type Redaction struct {
	Kind  string `json:"kind"`
	Type  string `json:"type"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}

// Approval is a flagged call, and what a human has said of it.
type Approval struct {
	ID      string          `json:"id"`
	State   string          `json:"state"` // pending, approved, denied, expired, consumed, revoked
	Session string          `json:"session"`
	Tool    string          `json:"tool"`
	CallID  string          `json:"call_id"`
	Digest  string          `json:"digest"` // SHA-256 of the canonical arguments, in hex
	Reason  string          `json:"reason"` // why it was flagged
	Note    string          `json:"note"`   // of who decided
	Expires time.Time       `json:"expires_at"`
	URL     string          `json:"url"`
	Args    json.RawMessage `json:"arguments"` // null once they are not kept any more
}

// Input asks about what a user says, before a model hears it. An empty session begins one; so for all questions. The error is a
// [*Failure] where the gateway has refused to answer; whatever it is, nothing was decided.
func (c *Client) Input(ctx context.Context, session, text string) (a InputAsked, err error) {
	err = c.question(ctx, "input", map[string]any{"session": session, "text": text}, &a)
	return a, err
}

// ToolCall asks whether a call may run. arguments is an object, or a string that holds one; empty: none. The same callID is answered
// the same again until the call has its result, or the time of its approval is over; an empty one makes each question a call of its own.
func (c *Client) ToolCall(ctx context.Context, session, tool string, arguments json.RawMessage, callID string) (a CallAsked, err error) {
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	err = c.question(ctx, "tool-call", map[string]any{"session": session, "tool": tool, "arguments": arguments, "call_id": callID}, &a)
	return a, err
}

// ToolResult asks about what a tool has returned, before the model reads it: a string, or anything that is JSON.
func (c *Client) ToolResult(ctx context.Context, session, tool, callID string, result any) (a ResultAsked, err error) {
	err = c.question(ctx, "tool-result", map[string]any{"session": session, "tool": tool, "call_id": callID, "result": result}, &a)
	return a, err
}

// Output asks about a text that is to leave.
func (c *Client) Output(ctx context.Context, session, text string) (a ResultAsked, err error) {
	err = c.question(ctx, "output", map[string]any{"session": session, "text": text}, &a)
	return a, err
}

// question asks one of the views. A second try has the same key, so that it is the same question.
func (c *Client) question(ctx context.Context, view string, body map[string]any, to any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error {
		_, err := w.Write(raw)
		return err
	}
	return c.post(ctx, "/v1/checkpoints/"+view, newUUID(), write, to)
}

// Approval reads an approval. With wait, in whole seconds and at most 60, the answer to one that is pending comes when it is decided, or
// when the time is up. Reading decides nothing.
func (c *Client) Approval(ctx context.Context, id string, wait time.Duration) (a Approval, err error) {
	ctx, cancel := c.within(ctx)
	defer cancel()
	path := "/v1/approvals/" + url.PathEscape(id)
	if seconds := int(wait / time.Second); seconds > 0 {
		path += "?wait=" + strconv.Itoa(min(seconds, 60))
	}
	err = c.do(ctx, http.MethodGet, path, "", nil, &a)
	return a, err
}
