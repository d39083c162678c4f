package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/approval"
)

const grantColumns = `id, account, agent, tool, scope, approval, created, expires, granted_by, granted_from, note, revoked, used, last_used`

// PutGrant implements [approval.Store].
func (s *Store) PutGrant(ctx context.Context, g approval.Grant) error {
	db, err := s.writes(ctx)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, `INSERT INTO approval_grants (`+grantColumns+`) VALUES (?`+strings.Repeat(", ?", 13)+`)`,
		g.ID, g.Account, g.Agent, g.Tool, g.Scope, g.Approval, stored(g.Created), stored(g.Expires), g.By, g.From, g.Note,
		stored(g.Revoked), g.Used, stored(g.LastUsed))
	if err != nil {
		return fmt.Errorf("store grant: %w", s.explain(err))
	}
	return nil
}

// ChangeGrant implements [approval.Store].
func (s *Store) ChangeGrant(ctx context.Context, g approval.Grant) error {
	db, err := s.writes(ctx)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, `UPDATE approval_grants SET revoked = ?, used = ?, last_used = ? WHERE id = ?`,
		stored(g.Revoked), g.Used, stored(g.LastUsed), g.ID)
	if err != nil {
		return fmt.Errorf("change grant: %w", s.explain(err))
	}
	return nil
}

// GrantByID implements [approval.Store].
func (s *Store) GrantByID(ctx context.Context, id string) (g approval.Grant, ok bool, err error) {
	g, err = scanGrant(s.reads(ctx).QueryRowContext(ctx, `SELECT `+grantColumns+` FROM approval_grants WHERE id = ?`, id))
	if ok, err = found(err); err != nil {
		return approval.Grant{}, false, fmt.Errorf("find grant: %w", s.explain(err))
	}
	return g, ok, nil
}

// GrantsOf implements [approval.Store]. The one that stands longest comes first.
func (s *Store) GrantsOf(ctx context.Context, agent, tool string, now time.Time) ([]approval.Grant, error) {
	return s.grantsWhere(ctx, `agent = ? AND tool = ? AND revoked = 0 AND expires > ? ORDER BY expires DESC, id`, agent, tool, stored(now))
}

// Grants implements [approval.Store].
func (s *Store) Grants(ctx context.Context, account string, agents []string, limit, offset int) (list []approval.Grant, total int, err error) {
	where, args := `(? = '' OR account = ?)`, []any{account, account}
	if len(agents) > 0 {
		where, args = where+` AND agent IN (?`+strings.Repeat(", ?", len(agents)-1)+`)`, append(args, anys(agents)...)
	}
	err = s.reads(ctx).QueryRowContext(ctx, `SELECT COUNT(*) FROM approval_grants WHERE `+where, args...).Scan(&total)
	if err != nil {
		return nil, 0, fmt.Errorf("count grants: %w", s.explain(err))
	}
	list, err = s.grantsWhere(ctx, where+` ORDER BY created DESC, id LIMIT ? OFFSET ?`, append(args, limit, offset)...)
	return list, total, err
}

func (s *Store) grantsWhere(ctx context.Context, where string, args ...any) (list []approval.Grant, err error) {
	rows, err := s.reads(ctx).QueryContext(ctx, `SELECT `+grantColumns+` FROM approval_grants WHERE `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read grants: %w", s.explain(err))
	}
	defer rows.Close()
	for rows.Next() {
		g, err := scanGrant(rows)
		if err != nil {
			return nil, fmt.Errorf("read grants: %w", s.explain(err))
		}
		list = append(list, g)
	}
	return list, s.explain(rows.Err())
}

func scanGrant(row scanner) (g approval.Grant, err error) {
	var created, expires, revoked, last int64
	if err := row.Scan(&g.ID, &g.Account, &g.Agent, &g.Tool, &g.Scope, &g.Approval, &created, &expires, &g.By, &g.From, &g.Note,
		&revoked, &g.Used, &last); err != nil {
		return approval.Grant{}, err
	}
	g.Created, g.Expires, g.Revoked, g.LastUsed = moment(created), moment(expires), moment(revoked), moment(last)
	return g, nil
}
