package store

import (
	"context"
	"fmt"
	"time"
)

// Answer finds the answer that a caller's mutation got, not older than a time; ok is false when there is none.
func (s *Store) Answer(ctx context.Context, caller string, key [32]byte, since time.Time) (request [32]byte, answer []byte, ok bool, err error) {
	var hash []byte
	ok, err = found(s.reads(ctx).QueryRowContext(ctx, `SELECT request, answer FROM answers WHERE caller = ? AND key = ? AND time >= ?`,
		caller, key[:], stored(since)).Scan(&hash, &answer))
	if err != nil {
		return request, nil, false, fmt.Errorf("find answer: %w", s.explain(err))
	}
	copy(request[:], hash)
	return request, answer, ok, nil
}

// KeepAnswer stores the answer to a caller's mutation, and drops those of before a time.
func (s *Store) KeepAnswer(ctx context.Context, caller string, key, request [32]byte, answer []byte, at, before time.Time) error {
	db, err := s.writes(ctx)
	if err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, `DELETE FROM answers WHERE time < ?`, stored(before)); err != nil {
		return fmt.Errorf("drop answers: %w", s.explain(err))
	}
	if _, err := db.ExecContext(ctx, `INSERT INTO answers (caller, key, request, answer, time) VALUES (?, ?, ?, ?, ?)`,
		caller, key[:], request[:], answer, stored(at)); err != nil {
		return fmt.Errorf("keep answer: %w", s.explain(err))
	}
	return nil
}
