package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/gatehouse-gateway/gatehouse/internal/audit"
)

// inTransaction is the key of the running transaction in a context.
type inTransaction struct{}

// running is a transaction, and what is to be done when it has been committed.
type running struct {
	*sql.Tx
	after  []func(context.Context) error
	failed error       // why a record could not be added; then nothing is committed, whatever the caller makes of it
	put    *statements // of the writer's transaction, where this is a part of one
}

// Transact runs do in one transaction that holds the write lock: what do makes the store write, with the context that it is
// given, is committed together, records included, or not at all when do returns an error. Transactions do not nest: one
// that begins within another is part of it.
func (s *Store) Transact(ctx context.Context, do func(context.Context) error) error {
	if s.write == nil {
		return ErrReadOnly
	}
	if transaction(ctx) != nil {
		return do(ctx)
	}
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin transaction: %w", s.explain(err))
	}
	defer tx.Rollback()
	r := &running{Tx: tx}
	if err := do(context.WithValue(ctx, inTransaction{}, r)); err != nil {
		return err
	}
	if r.failed != nil {
		return r.failed
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", s.explain(err))
	}
	for _, then := range r.after {
		if err := then(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// transaction is the one that runs in this context, nil when there is none.
func transaction(ctx context.Context) *running {
	r, _ := ctx.Value(inTransaction{}).(*running) //nolint:errcheck // as it says
	return r
}

// changer writes.
type changer interface {
	querier
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// reads is where to read in this context: in its transaction, so that it sees what that has written.
func (s *Store) reads(ctx context.Context) querier {
	if tx := transaction(ctx); tx != nil {
		return tx
	}
	return s.read
}

// writes is where to write in this context.
func (s *Store) writes(ctx context.Context) (changer, error) {
	switch tx := transaction(ctx); {
	case tx != nil:
		return tx, nil
	case s.write == nil:
		return nil, ErrReadOnly
	}
	return s.write, nil
}

// appendIn adds a record to the chain within a transaction, which is lost when it cannot.
func (s *Store) appendIn(ctx context.Context, tx *running, it item) (err error) {
	defer func() { tx.failed = errors.Join(tx.failed, err) }()
	put := tx.put
	if put == nil || it.update != nil { // an update remembers what it has seen, and this part may be undone
		own := s.writer.put.in(ctx, tx.Tx)
		put = &own
	}
	head, err := put.readHead(ctx)
	if err != nil {
		return fmt.Errorf("append audit record: %w", s.explain(err))
	}
	var e audit.Entry
	if e, err = put.item(ctx, head, it); err == nil {
		err = put.writeHead(ctx, head.Next(e))
	}
	if err != nil {
		return fmt.Errorf("append audit record: %w", s.explain(err))
	}
	return nil
}
