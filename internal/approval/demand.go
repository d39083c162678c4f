package approval

import (
	"time"

	"github.com/gatehouse-gateway/gatehouse"
)

// Demand is a flagged call that asks for leave.
type Demand struct {
	Account   string
	Agent     string // id
	AgentName string
	// Credential is the hash of the agent's credential without its name; empty when a key that lists the agent asks for it.
	Credential string
	Session    string
	Surface    string
	Request    string // id of the exchange
	Tool       string
	CallID     string
	Digest     [32]byte
	Rule       string
	Reason     string
	Risk       float64
	Tainted    bool
	Card       Card
	Now        time.Time
	// Expires is until when a new approval can be decided and then used; zero: for a day.
	Expires time.Time

	// Anew says that call ids mean nothing: the surface only sees what a model says, and a later turn that makes the same call
	// asks for the same thing under another id.
	Anew bool
	// Of are the approvals whose stored calls are being delivered, when that is what the call is: no other answers for it, and none
	// is made. Nil: the model made the call.
	Of []string
	// Taken are approvals that other calls of this exchange have already: identical calls need one each.
	Taken []string
	// Within reports whether the call is within the scope of a grant, a condition of the policy's language; nil: no grant
	// answers for this call.
	Within func(scope string) bool

	grants []string // ids of those that the call is within
}

// Answer is what a demand meets.
type Answer struct {
	// Verdict is Allow when the call may run now, Flag while nobody has decided, Block when somebody has, against it.
	Verdict  gatehouse.Verdict
	Approval string // id; empty when a grant answered
	State    State
	Rule     string    // approval, or grant; with the id
	Reason   string    // for people
	Expires  time.Time // of a pending approval
}
