package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/slack"
)

var _ slack.Store = (*Store)(nil)

// LeadSlack implements [slack.Store].
func (s *Store) LeadSlack(ctx context.Context, holder string, now, until time.Time) (version int64, ok bool, err error) {
	db, err := s.writes(ctx)
	if err != nil {
		return 0, false, err
	}
	err = db.QueryRowContext(ctx, `UPDATE slack_cursor SET holder = ?, until = ? WHERE one = 1 AND (holder = ? OR until <= ?) RETURNING version`,
		holder, stored(until), holder, stored(now)).Scan(&version)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("lead Slack: %w", s.explain(err))
	}
	return version, true, nil
}

// LeaveSlack implements [slack.Store].
func (s *Store) LeaveSlack(ctx context.Context, holder string) error {
	db, err := s.writes(ctx)
	if err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, `UPDATE slack_cursor SET holder = '', until = 0 WHERE one = 1 AND holder = ?`, holder); err != nil {
		return fmt.Errorf("leave Slack: %w", s.explain(err))
	}
	return nil
}

// KeepSlack implements [slack.Store].
func (s *Store) KeepSlack(ctx context.Context, holder string, version int64, m *slack.Message) (ok bool, err error) {
	err = s.Transact(ctx, func(ctx context.Context) error {
		db, err := s.writes(ctx)
		if err != nil {
			return err
		}
		res, err := db.ExecContext(ctx, `UPDATE slack_cursor SET version = MAX(version, ?) WHERE one = 1 AND holder = ?`, version, holder)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return err
		}
		ok = true
		if m == nil {
			return nil
		}
		_, err = db.ExecContext(ctx, `INSERT INTO slack_messages (approval, channel, ts, state) VALUES (?, ?, ?, ?)
			ON CONFLICT (approval) DO UPDATE SET channel = excluded.channel, ts = excluded.ts, state = excluded.state`,
			m.Approval, m.Channel, m.TS, string(m.State))
		return err
	})
	if err != nil {
		return false, fmt.Errorf("store what Slack was told: %w", s.explain(err))
	}
	return ok, nil
}

// SlackMessage implements [slack.Store].
func (s *Store) SlackMessage(ctx context.Context, approval string) (m slack.Message, ok bool, err error) {
	m.Approval = approval
	err = s.reads(ctx).QueryRowContext(ctx, `SELECT channel, ts, state FROM slack_messages WHERE approval = ?`, approval).
		Scan(&m.Channel, &m.TS, &m.State)
	if errors.Is(err, sql.ErrNoRows) {
		return slack.Message{}, false, nil
	}
	if err != nil {
		return slack.Message{}, false, fmt.Errorf("find message of Slack: %w", s.explain(err))
	}
	return m, true, nil
}
