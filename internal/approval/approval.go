// Package approval keeps a human's answers to flagged tool calls. It promises that an approval is for exactly one call of exactly
// those arguments, that it lets that call through at most once, on however many gateways and whatever is killed meanwhile,
// and that each change of its state and the record of that change are kept together. Which calls are flagged, and what
// withholding one looks like on the wire, is left to others.
package approval

import (
	"crypto/rand"
	"encoding/hex"
	"time"
)

// State is where an approval stands. pending → approved, denied or expired; approved → consumed, expired or revoked.
type State string

// The states. Only Pending and Approved are ever left.
const (
	Pending  State = "pending"
	Approved State = "approved"
	Denied   State = "denied"
	Expired  State = "expired"
	Consumed State = "consumed" // it let its call through
	Revoked  State = "revoked"  // approved, and taken back before it was used
)

// States lists all of them.
func States() []State { return []State{Pending, Approved, Denied, Expired, Consumed, Revoked} }

// Approval is one flagged call and what became of it.
type Approval struct {
	ID      string // apr-<32 hex>
	Version int64  // rises with every change of any approval; the store sets it
	State   State

	Account   string
	Agent     string // id
	AgentName string
	// Credential is the hash of the agent's credential without its name; whoever has that one decides nothing.
	Credential string
	Session    string
	Surface    string   // on which the call was flagged: proxy, api, sdk
	Request    string   // id of the exchange that asked first
	Tool       string   // full name
	CallID     string   // as the first demand had it; may be empty
	Digest     [32]byte // SHA-256 of the canonical arguments
	Rule       string   // of the policy
	Reason     string   // of the policy; quotes nothing
	Risk       float64  // of the session, 0..1
	Tainted    bool     // a tool result of the session held an injection
	// Sealed is the [Card], encrypted; nil once it is not needed any more: denied, expired, revoked, or consumed and the result seen.
	Sealed []byte

	Created time.Time
	Expires time.Time // pending or approved, it is expired from then on

	Decided time.Time // zero: not
	By      string    // id of the key that decided, or slack:<user>
	From    string    // address that the decision came from
	Note    string    // what the decider said

	Consumed     time.Time // zero: not
	ConsumedBy   string    // id of the exchange that it let through
	ConsumedCall string    // call id of that exchange's call; may be empty
	Resulted     time.Time // when the result of the call was seen; zero: not. Consumed without a result can be approved again
	Again        string    // id of the approval that was made of this one when it was approved again
}

// Standing is the state at a moment: what has run out is expired, although nobody has written it down yet.
func (a Approval) Standing(now time.Time) State {
	if (a.State == Pending || a.State == Approved) && !now.Before(a.Expires) {
		return Expired
	}
	return a.State
}

// Card is what a human sees before deciding, beside what the approval itself says.
type Card struct {
	Arguments string    `json:"arguments"` // as the call has them, byte for byte
	Freeform  bool      `json:"freeform,omitempty"`
	Evidence  *Evidence `json:"evidence,omitempty"`
}

// size is how much of it a human has to read, in bytes.
func (c Card) size() int {
	n := len(c.Arguments)
	if c.Evidence != nil {
		n += len(c.Evidence.Quote)
	}
	return n
}

// Evidence is the tool result whose text led to a call.
type Evidence struct {
	Argument string `json:"argument"`          // path of the argument that came from it: args.to
	Tool     string `json:"tool"`              // that returned it
	CallID   string `json:"call_id,omitempty"` // of the call that it answers
	Quote    string `json:"quote"`             // what stands around it, without secrets and personal data
}

// NewID is a fresh identifier with a prefix: apr for approvals, gra for grants.
func NewID(prefix string) string {
	b := make([]byte, 16)
	rand.Read(b) // never fails: crypto/rand ends the program instead
	return prefix + "-" + hex.EncodeToString(b)
}
