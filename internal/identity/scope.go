package identity

import "slices"

// Scope is something that a key may be used for. Scopes imply nothing of each other.
type Scope string

// The scopes there are.
const (
	Gateway Scope = "gateway"   // call models through the doors, ask checkpoints, tell the audit log
	Read    Scope = "api:read"  // read what the API has
	Write   Scope = "api:write" // change it
	Approve Scope = "approve"   // answer approvals
	Admin   Scope = "admin"     // make keys, contain agents, act for any agent of the account
)

// Scopes lists all of them.
func Scopes() []Scope { return []Scope{Gateway, Read, Write, Approve, Admin} }

// Known reports whether there is such a scope.
func (s Scope) Known() bool { return slices.Contains(Scopes(), s) }
