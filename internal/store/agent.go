package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/identity"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

// AgentByID implements [session.Store].
func (s *Store) AgentByID(ctx context.Context, id string) (a session.Agent, ok bool, err error) {
	ok, err = s.lookAgain(ctx, id, func() (bool, error) {
		a, err = scanAgent(s.reads(ctx).QueryRowContext(ctx, `SELECT `+agentColumns+` FROM agents WHERE id = ?`, id))
		return found(err)
	})
	if err != nil {
		return session.Agent{}, false, fmt.Errorf("find agent: %w", s.explain(err))
	}
	return a, ok, nil
}

// Agents lists agents that are not deleted, oldest first, and counts all of them: those of an account, or of every account when
// it is empty; of these, those with the given ids, unless there are none.
func (s *Store) Agents(ctx context.Context, account string, ids []string, limit, offset int) (list []session.Agent, total int, err error) {
	where, args := `deleted = 0`, []any{}
	if account != "" {
		where, args = where+` AND account = ?`, append(args, account)
	}
	if len(ids) > 0 {
		where += ` AND id IN (?` + strings.Repeat(",?", len(ids)-1) + `)`
		for _, id := range ids {
			args = append(args, id)
		}
	}
	q := s.reads(ctx)
	if err := q.QueryRowContext(ctx, `SELECT COUNT(*) FROM agents WHERE `+where, args...).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("count agents: %w", s.explain(err))
	}
	rows, err := q.QueryContext(ctx, `SELECT `+agentColumns+` FROM agents WHERE `+where+` ORDER BY created, id LIMIT ? OFFSET ?`,
		append(args, limit, offset)...)
	if err != nil {
		return nil, 0, fmt.Errorf("list agents: %w", s.explain(err))
	}
	defer rows.Close()
	for rows.Next() {
		a, err := scanAgent(rows)
		if err != nil {
			return nil, 0, fmt.Errorf("list agents: %w", s.explain(err))
		}
		list = append(list, a)
	}
	return list, total, s.explain(rows.Err())
}

// ChangeAgent stores an agent that is there as it is now: name, account, hash, credential, and when it was claimed. A hash that
// another agent has is [identity.ErrConflict].
func (s *Store) ChangeAgent(ctx context.Context, a session.Agent) error {
	db, err := s.writes(ctx)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, `UPDATE agents SET name = ?, account = ?, hash = ?, credential = ?, proof = ?, claimed = ? WHERE id = ?`,
		a.Name, a.Account, a.Hash, a.Credential, a.Proof, stored(a.Claimed), a.ID)
	if err != nil && s.dialect.rejected(err) {
		return identity.ErrConflict
	}
	if err != nil {
		return fmt.Errorf("change agent: %w", s.explain(err))
	}
	s.agentsChanged(ctx)
	return nil
}

// agentsChanged makes this process read agents again, once the change can be read.
func (s *Store) agentsChanged(ctx context.Context) {
	if tx := transaction(ctx); tx != nil {
		tx.after = append(tx.after, func(context.Context) error { s.recent.forget(); return nil })
		return
	}
	s.recent.forget()
}

// DeleteAgent forgets an agent's conversations and makes the hashes of its texts unprovable. Its credential stays known, so
// that it can be refused.
func (s *Store) DeleteAgent(ctx context.Context, id string, at time.Time) error {
	return s.Transact(ctx, func(ctx context.Context) error {
		db, err := s.writes(ctx)
		if err != nil {
			return err
		}
		for _, forget := range []string{
			`DELETE FROM transcripts WHERE agent = ?`, `DELETE FROM decided WHERE agent = ?`, `DELETE FROM anchors WHERE agent = ?`,
			`DELETE FROM reminders WHERE agent = ?`, `DELETE FROM said WHERE agent = ?`, `DELETE FROM conversations WHERE agent = ?`,
			`DELETE FROM suspicions WHERE agent = ?`,
			`UPDATE agent_pending_approvals SET sealed = NULL WHERE agent = ?`,
		} {
			if _, err := db.ExecContext(ctx, forget, id); err != nil {
				return fmt.Errorf("forget agent: %w", s.explain(err))
			}
		}
		if _, err := db.ExecContext(ctx, `UPDATE agents SET deleted = ?, name = '' WHERE id = ?`, stored(at), id); err != nil {
			return fmt.Errorf("delete agent: %w", s.explain(err))
		}
		s.agentsChanged(ctx)
		return s.EraseContentKey(ctx, id)
	})
}
