package identity

import "time"

// State says whether an agent may act.
type State string

// The states there are. What is killed can only be brought back by an administrator.
const (
	Active State = "active"
	Paused State = "paused"
	Killed State = "killed"
)

// Containment is why an agent may not act.
type Containment struct {
	Agent      string
	Credential string // hash of the agent's credential without its name; empty where it was not found by one
	State      State
	Reason     string
	Actor      string // id of the key that did it
	Time       time.Time
}
