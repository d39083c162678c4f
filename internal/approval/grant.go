package approval

import "time"

// Grant lets the calls of one tool through for a time without asking again, within a scope.
type Grant struct {
	ID       string // gra-<32 hex>
	Account  string
	Agent    string // id
	Tool     string // full name; never a pattern
	Scope    string // a condition of the policy's language; never empty
	Approval string // that it was made with; empty when it was made alone
	Created  time.Time
	Expires  time.Time
	By       string // id of the key
	From     string // address
	Note     string
	Revoked  time.Time // zero: not
	Used     int64     // calls that it has let through
	LastUsed time.Time // zero: never
}

// Stands reports whether a grant answers at a moment.
func (g Grant) Stands(now time.Time) bool { return g.Revoked.IsZero() && now.Before(g.Expires) }
