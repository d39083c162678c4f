package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/approval"
)

var _ approval.Store = (*Store)(nil)

// callsAtOnce bounds the approvals that are read for one call. A call that was made more often in its session is asked about
// anew where its answer is older than that.
const callsAtOnce = 128

const approvalColumns = `id, version, state, account, agent, agent_name, credential, session, surface, request, tool, call_id, digest, rule, reason,
	risk, tainted, sealed, created, expires, decided, decided_by, decided_from, note, consumed, consumed_by, consumed_call, resulted, again`

const selectApproval = `SELECT ` + approvalColumns + ` FROM agent_pending_approvals WHERE `

const (
	nextApprovalVersion  = `(SELECT count + 1 FROM approval_changes WHERE one = 1)`
	countApprovalVersion = `UPDATE approval_changes SET count = count + 1 WHERE one = 1`
)

// resultApproval notes the result of a call on the approval that let it through: the oldest that waits for one. A result that
// names no call is one of its tool.
const resultApproval = `UPDATE agent_pending_approvals SET resulted = ?, sealed = NULL, version = ` + nextApprovalVersion + ` WHERE id =
	(SELECT id FROM agent_pending_approvals WHERE agent = ? AND session = ? AND state = 'consumed' AND resulted = 0 AND again = ''
		AND (consumed_call = ? AND ? <> '' OR tool = ? AND ? = '') ORDER BY consumed, made LIMIT 1)`

// PutApproval implements [approval.Store].
func (s *Store) PutApproval(ctx context.Context, a approval.Approval) error {
	_, err := s.changeApprovals(ctx, `INSERT INTO agent_pending_approvals (made, version, id, state, account, agent, agent_name, credential, session, surface,
			request, tool, call_id, digest, rule, reason, risk, tainted, sealed, created, expires, decided, decided_by, decided_from, note,
			consumed, consumed_by, consumed_call, resulted, again)
		VALUES (`+nextApprovalVersion+`, `+nextApprovalVersion+strings.Repeat(", ?", 28)+`)`,
		a.ID, string(a.State), a.Account, a.Agent, a.AgentName, a.Credential, a.Session, a.Surface, a.Request, a.Tool, a.CallID, a.Digest[:], a.Rule, a.Reason,
		a.Risk, a.Tainted, a.Sealed, stored(a.Created), stored(a.Expires), stored(a.Decided), a.By, a.From, a.Note,
		stored(a.Consumed), a.ConsumedBy, a.ConsumedCall, stored(a.Resulted), a.Again)
	if err != nil {
		return fmt.Errorf("store approval: %w", err)
	}
	return nil
}

// ChangeApproval implements [approval.Store]. Whose an approval is and what it is for cannot be changed.
func (s *Store) ChangeApproval(ctx context.Context, a approval.Approval, from approval.State) (ok bool, err error) {
	ok, err = s.changeApprovals(ctx, `UPDATE agent_pending_approvals SET version = `+nextApprovalVersion+`, state = ?, sealed = ?, expires = ?,
			decided = ?, decided_by = ?, decided_from = ?, note = ?, consumed = ?, consumed_by = ?, consumed_call = ?, resulted = ?, again = ?
		WHERE id = ? AND state = ?`,
		string(a.State), a.Sealed, stored(a.Expires), stored(a.Decided), a.By, a.From, a.Note,
		stored(a.Consumed), a.ConsumedBy, a.ConsumedCall, stored(a.Resulted), a.Again, a.ID, string(from))
	if err != nil {
		return false, fmt.Errorf("change approval: %w", err)
	}
	return ok, nil
}

// changeApprovals runs a statement of at most one row, and counts the change if it made one.
func (s *Store) changeApprovals(ctx context.Context, query string, args ...any) (changed bool, err error) {
	err = s.Transact(ctx, func(ctx context.Context) error {
		tx := transaction(ctx)
		res, err := tx.ExecContext(ctx, query, args...)
		if err != nil {
			return s.explain(err)
		}
		n, err := res.RowsAffected()
		if err != nil || n == 0 {
			return s.explain(err)
		}
		changed = true
		_, err = tx.ExecContext(ctx, countApprovalVersion)
		return s.explain(err)
	})
	return changed && err == nil, err
}

// ApprovalByID implements [approval.Store].
func (s *Store) ApprovalByID(ctx context.Context, id string) (a approval.Approval, ok bool, err error) {
	a, err = scanApproval(s.reads(ctx).QueryRowContext(ctx, selectApproval+`id = ?`, id))
	if ok, err = found(err); err != nil {
		return approval.Approval{}, false, fmt.Errorf("find approval: %w", s.explain(err))
	}
	return a, ok, nil
}

// ApprovalsOf implements [approval.Store]. Of very many it finds the newest.
func (s *Store) ApprovalsOf(ctx context.Context, agent, session, tool string, digest [32]byte) ([]approval.Approval, error) {
	list, err := s.approvalsWhere(ctx, `agent = ? AND session = ? AND tool = ? AND digest = ? ORDER BY made DESC LIMIT ?`,
		agent, session, tool, digest[:], callsAtOnce)
	slices.Reverse(list)
	return list, err
}

// PendingApprovals implements [approval.Store].
func (s *Store) PendingApprovals(ctx context.Context, agent string, now time.Time) (n int, err error) {
	err = s.reads(ctx).QueryRowContext(ctx, `SELECT COUNT(*) FROM agent_pending_approvals WHERE agent = ? AND state = 'pending' AND expires > ?`,
		agent, stored(now)).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count pending approvals: %w", s.explain(err))
	}
	return n, nil
}

// DueApprovals implements [approval.Store].
func (s *Store) DueApprovals(ctx context.Context, now time.Time, limit int) ([]approval.Approval, error) {
	return s.approvalsWhere(ctx, `state IN ('pending', 'approved') AND expires <= ? ORDER BY expires LIMIT ?`, stored(now), limit)
}

// ChangedApprovals implements [approval.Store].
func (s *Store) ChangedApprovals(ctx context.Context, after int64, limit int) ([]approval.Approval, error) {
	return s.approvalsWhere(ctx, `version > ? ORDER BY version LIMIT ?`, after, limit)
}

// ApprovalVersion implements [approval.Store].
func (s *Store) ApprovalVersion(ctx context.Context) (n int64, err error) {
	if err = s.reads(ctx).QueryRowContext(ctx, `SELECT count FROM approval_changes WHERE one = 1`).Scan(&n); err != nil {
		return 0, fmt.Errorf("count changes of approvals: %w", s.explain(err))
	}
	return n, nil
}

// Approvals implements [approval.Store]. The states of those it lists are as they are written down.
func (s *Store) Approvals(ctx context.Context, f approval.Filter) (list []approval.Approval, total int, err error) {
	where, args := selected(f)
	err = s.reads(ctx).QueryRowContext(ctx, `SELECT COUNT(*) FROM agent_pending_approvals WHERE `+where, args...).Scan(&total)
	if err != nil {
		return nil, 0, fmt.Errorf("count approvals: %w", s.explain(err))
	}
	list, err = s.approvalsWhere(ctx, where+` ORDER BY made DESC LIMIT ? OFFSET ?`, append(args, f.Limit, f.Offset)...)
	return list, total, err
}

// selected is the condition of a filter.
func selected(f approval.Filter) (where string, args []any) {
	where = `1 = 1`
	add := func(condition string, values ...any) {
		where, args = where+` AND `+condition, append(args, values...)
	}
	if f.Account != "" {
		add(`account = ?`, f.Account)
	}
	if len(f.Agents) > 0 {
		add(`agent IN (?`+strings.Repeat(", ?", len(f.Agents)-1)+`)`, anys(f.Agents)...)
	}
	if f.Session != "" {
		add(`session = ?`, f.Session)
	}
	if f.Tool != "" {
		add(`tool = ?`, f.Tool)
	}
	if f.Undelivered {
		add(`state = 'consumed' AND resulted = 0 AND again = ''`)
	}
	if len(f.States) > 0 {
		condition, values := standingIn(f.States, stored(f.Now))
		add(condition, values...)
	}
	return where, args
}

// standingIn is the condition of being in one of the states at a moment.
func standingIn(states []approval.State, now int64) (condition string, args []any) {
	const open = `state IN ('pending', 'approved')` // as the index of what is due has it, which few approvals are in
	var either []string
	for _, state := range states {
		switch state {
		case approval.Pending, approval.Approved:
			either, args = append(either, open+` AND expires > ? AND state = ?`), append(args, now, string(state))
		case approval.Expired:
			either, args = append(either, open+` AND expires <= ? OR state = 'expired'`), append(args, now)
		default:
			either, args = append(either, `state = ?`), append(args, string(state))
		}
	}
	return `(` + strings.Join(either, ` OR `) + `)`, args
}

func anys(list []string) (out []any) {
	for _, v := range list {
		out = append(out, v)
	}
	return out
}

func (s *Store) approvalsWhere(ctx context.Context, where string, args ...any) (list []approval.Approval, err error) {
	rows, err := s.reads(ctx).QueryContext(ctx, selectApproval+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read approvals: %w", s.explain(err))
	}
	defer rows.Close()
	for rows.Next() {
		a, err := scanApproval(rows)
		if err != nil {
			return nil, fmt.Errorf("read approvals: %w", s.explain(err))
		}
		list = append(list, a)
	}
	return list, s.explain(rows.Err())
}

// scanApproval reads the approvalColumns.
func scanApproval(row scanner) (a approval.Approval, err error) {
	var digest []byte
	var created, expires, decided, consumed, resulted int64
	if err := row.Scan(&a.ID, &a.Version, (*string)(&a.State), &a.Account, &a.Agent, &a.AgentName, &a.Credential, &a.Session, &a.Surface, &a.Request, &a.Tool,
		&a.CallID, &digest, &a.Rule, &a.Reason, &a.Risk, &a.Tainted, &a.Sealed, &created, &expires, &decided, &a.By, &a.From, &a.Note,
		&consumed, &a.ConsumedBy, &a.ConsumedCall, &resulted, &a.Again); err != nil {
		return approval.Approval{}, err
	}
	if len(digest) != len(a.Digest) {
		return approval.Approval{}, errors.New("an approval was edited: it cannot be read")
	}
	copy(a.Digest[:], digest)
	a.Created, a.Expires, a.Decided = moment(created), moment(expires), moment(decided)
	a.Consumed, a.Resulted = moment(consumed), moment(resulted)
	return a, nil
}
