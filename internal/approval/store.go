package approval

import (
	"context"
	"time"
)

// Filter selects approvals. Zero fields select all.
type Filter struct {
	Account string
	Agents  []string // ids: of one of these
	States  []State  // as they stand at Now
	Session string
	Tool    string
	// Undelivered selects the consumed ones whose result was not seen, and that were not approved again.
	Undelivered   bool
	Now           time.Time
	Limit, Offset int
}

// Store keeps approvals and grants. Its methods take part in the transaction of their context.
type Store interface {
	// Transact runs do in one transaction that holds the write lock.
	Transact(ctx context.Context, do func(context.Context) error) error
	// Group is the same for many callers at once, who are committed together. do may run twice, the first time in vain.
	Group(ctx context.Context, do func(context.Context) error) error

	// PutApproval stores a new approval.
	PutApproval(ctx context.Context, a Approval) error
	// ChangeApproval replaces an approval if it is still in a state, and reports whether it was.
	ChangeApproval(ctx context.Context, a Approval, from State) (ok bool, err error)
	// ApprovalByID finds one; ok is false when there is none.
	ApprovalByID(ctx context.Context, id string) (a Approval, ok bool, err error)
	// ApprovalsOf are those of one call, oldest first.
	ApprovalsOf(ctx context.Context, agent, session, tool string, digest [32]byte) ([]Approval, error)
	// Approvals lists the newest first, and counts all that the filter lets through, Limit and Offset apart.
	Approvals(ctx context.Context, f Filter) (list []Approval, total int, err error)
	// PendingApprovals counts those of an agent that wait for a human at a moment.
	PendingApprovals(ctx context.Context, agent string, now time.Time) (int, error)
	// DueApprovals are pending and approved ones whose time is up, the most overdue first.
	DueApprovals(ctx context.Context, now time.Time, limit int) ([]Approval, error)
	// ChangedApprovals are those of a higher version than after, in order of version.
	ChangedApprovals(ctx context.Context, after int64, limit int) ([]Approval, error)
	// ApprovalVersion is the highest version so far.
	ApprovalVersion(ctx context.Context) (int64, error)

	PutGrant(ctx context.Context, g Grant) error
	// ChangeGrant replaces Revoked, Used and LastUsed of a grant.
	ChangeGrant(ctx context.Context, g Grant) error
	GrantByID(ctx context.Context, id string) (g Grant, ok bool, err error)
	// GrantsOf are the grants of one tool of one agent that stand.
	GrantsOf(ctx context.Context, agent, tool string, now time.Time) ([]Grant, error)
	// Grants lists the newest first; empty account: of all; agents as in Filter.
	Grants(ctx context.Context, account string, agents []string, limit, offset int) (list []Grant, total int, err error)
}

// Box encrypts what the store has to give back; *seal.Box is one.
type Box interface {
	Seal(secret []byte, owner string) []byte
	Open(sealed []byte, owner string) ([]byte, error)
}
