package agent

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
)

// Tool is something that the model may ask for.
type Tool struct {
	Description string          // for the model
	Schema      json.RawMessage // JSON Schema of the arguments, an object; nil: any object
	Handler     Handler
	// Policy is the developer's own word on every call: allow, flag, block, or nothing. The strictest of it and the gateway's
	// policy counts; in process, allow also lifts the flag that the tool would have by its name alone.
	Policy gatehouse.Verdict
	// Timeout is the longest time of one call; 0: that of the run.
	Timeout time.Duration
	// Idempotent says that a call may be begun again with the same idempotency key when nobody knows how it ended: its process
	// was killed meanwhile. Without it, the model is told just that.
	Idempotent bool
}

// Handler runs a tool. The arguments are the bytes that the gate has judged: a JSON object. What it returns goes through the
// tool-result checkpoint before the model reads it; so does the text of an error. A handler must end when its context does: the
// run waits for it.
//
// Names in the arguments are case-sensitive to the gate, but not to encoding/json. Calls whose names differ in case alone are
// refused before they come here.
type Handler func(ctx context.Context, arguments json.RawMessage) (string, error)

// Call is one tool call of the model.
type Call struct {
	ID        string `json:"id"` // unique in its run
	Tool      string `json:"tool"`
	Arguments string `json:"arguments,omitempty"` // as the model wrote them, normally a JSON object
}

// RunningCall is the call that a handler runs for.
type RunningCall struct {
	Call
	Run     string // id of the run
	Session string
	// IdempotencyKey is the same whenever this call is begun, after a crash and in another process too, and no other call's: 64
	// hex digits. Hand it to what the tool acts on.
	IdempotencyKey string
}

type callKey struct{}

// CallFrom finds the call that a handler's context belongs to; the zero call when it is none.
func CallFrom(ctx context.Context) RunningCall {
	c, _ := ctx.Value(callKey{}).(RunningCall)
	return c
}

func (s *State) running(c Call) RunningCall {
	sum := sha256.Sum256([]byte(s.ID + "\x00" + c.ID))
	return RunningCall{Call: c, Run: s.ID, Session: s.Session, IdempotencyKey: hex.EncodeToString(sum[:])}
}

func (t Tool) check(name string) error {
	switch {
	case name == "" || len(name) > 256 || strings.HasPrefix(name, "hosted:") || strings.HasPrefix(name, "mcp:"):
		return fmt.Errorf("%w: a tool is named by 1 to 256 bytes, and not as one that the provider runs", ErrConfig)
	case t.Handler == nil:
		return fmt.Errorf("%w: tool %s has no handler", ErrConfig, name)
	case t.Schema != nil && json.Unmarshal(t.Schema, &map[string]json.RawMessage{}) != nil:
		return fmt.Errorf("%w: the schema of tool %s is not a JSON object", ErrConfig, name)
	}
	switch t.Policy {
	case "", gatehouse.Allow, gatehouse.Flag, gatehouse.Block:
		return nil
	}
	return fmt.Errorf("%w: the policy of tool %s is none of allow, flag and block", ErrConfig, name)
}

// newID is a random UUID (RFC 9562, version 4).
func newID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
