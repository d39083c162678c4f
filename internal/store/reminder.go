package store

import (
	"context"
	"fmt"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

// Reminders implements [session.Reminders].
func (s *Store) Reminders(ctx context.Context, agentID, sessionID string, since time.Time, limit, offset int) (list []session.Reminder, total int, err error) {
	const waiting = ` FROM reminders WHERE agent = ? AND (? = '' OR session = ?) AND told = 0 AND created >= ?`
	// What the last turn has told or left must be seen: else it is told twice, or a turn too late.
	if s.writer != nil && transaction(ctx) == nil && s.writer.owes(agentID) {
		if err := s.writer.settle(ctx); err != nil {
			return nil, 0, fmt.Errorf("find reminders: %w", s.explain(err))
		}
	}
	args := []any{agentID, sessionID, sessionID, stored(since)}
	if err := s.reads(ctx).QueryRowContext(ctx, `SELECT COUNT(*)`+waiting, args...).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("count reminders: %w", s.explain(err))
	}
	rows, err := s.reads(ctx).QueryContext(ctx, `SELECT id, source, text, session, request, created`+waiting+` ORDER BY created, id LIMIT ? OFFSET ?`,
		append(args, limit, offset)...)
	if err != nil {
		return nil, 0, fmt.Errorf("find reminders: %w", s.explain(err))
	}
	defer rows.Close()
	for rows.Next() {
		var r session.Reminder
		var created int64
		if err := rows.Scan(&r.ID, &r.Source, &r.Text, &r.Session, &r.Request, &created); err != nil {
			return nil, 0, fmt.Errorf("find reminders: %w", s.explain(err))
		}
		r.Created = moment(created)
		list = append(list, r)
	}
	return list, total, s.explain(rows.Err())
}
