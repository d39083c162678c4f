package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

// Conversation implements [session.Conversations].
func (s *Store) Conversation(ctx context.Context, agentID, sessionID string) (c session.Conversation, err error) {
	// What the last exchange has told must be seen.
	if s.writer != nil && transaction(ctx) == nil && s.writer.owes(agentID) {
		if err := s.writer.settle(ctx); err != nil {
			return c, fmt.Errorf("find conversation: %w", s.explain(err))
		}
	}
	// The texts first: one that is dropped meanwhile is then there, and counts as lost, too.
	if c.Said, err = s.saidTexts(ctx, agentID, sessionID); err != nil {
		return c, fmt.Errorf("find conversation: %w", s.explain(err))
	}
	var lost int
	row := s.reads(ctx).QueryRowContext(ctx, `SELECT turns, risk, tainted, lost FROM conversations WHERE agent = ? AND session = ?`, agentID, sessionID)
	if c.Known, err = found(row.Scan(&c.Turns, &c.Risk, &c.Tainted, &lost)); err != nil {
		return c, fmt.Errorf("find conversation: %w", s.explain(err))
	}
	c.Lost, c.LostTainted = lost > 0, lost > 1
	return c, nil
}

func (s *Store) saidTexts(ctx context.Context, agentID, sessionID string) (list []session.Said, err error) {
	rows, err := s.reads(ctx).QueryContext(ctx, `SELECT id, source, tool, call, tainted, score, trace FROM said
		WHERE agent = ? AND session = ?`, agentID, sessionID)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var t session.Said
		if err := rows.Scan(&t.ID, &t.Source, &t.Tool, &t.CallID, &t.Tainted, &t.Score, &t.Trace); err != nil {
			return nil, err
		}
		if len(t.Trace) == 0 {
			return nil, errors.New("a text's trace cannot be read")
		}
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b session.Said) int { return cmp.Compare(a.ID, b.ID) }) // the database would copy the traces for that
	return list, rows.Err()
}

// Said implements [session.Conversations].
func (s *Store) Said(ctx context.Context, agentID, sessionID string, id int64) (t session.Said, ok bool, err error) {
	var text []byte
	row := s.reads(ctx).QueryRowContext(ctx, `SELECT id, text, source, tool, call, tainted, score, excerpt FROM said
		WHERE id = ? AND agent = ? AND session = ?`, id, agentID, sessionID)
	ok, err = found(row.Scan(&t.ID, &text, &t.Source, &t.Tool, &t.CallID, &t.Tainted, &t.Score, &t.Excerpt))
	if err == nil && ok && len(text) != len(t.Text) {
		err = errors.New("a text's digest cannot be read")
	}
	if err != nil || !ok {
		return session.Said{}, false, err
	}
	t.Text = session.Digest(text)
	return t, true, nil
}
