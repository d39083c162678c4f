package audit

import "time"

// Filter says which records are wanted. The zero value wants all.
type Filter struct {
	Account string   // the account's own, and those of its agents
	Agents  []string // those about one of these agents
	Session string
	Surface string
	Kind    string // exchange, or the type of an event; agent.* for all that begin so
	Notable bool   // those with advisories
	Since   time.Time
	Until   time.Time // exclusive
	After   int64     // those after this sequence number; with Newest, those before it
	Newest  bool      // newest first
	Limit   int
	Offset  int
}

// All reports whether the filter lets everything through.
func (f Filter) All() bool {
	return f.Account == "" && len(f.Agents) == 0 && f.Session == "" && f.Surface == "" && f.Kind == "" && !f.Notable &&
		f.Since.IsZero() && f.Until.IsZero() && f.After == 0
}
