package store

import (
	"context"
	"database/sql"
	"fmt"
	"runtime/debug"

	"github.com/gatehouse-gateway/gatehouse/internal/audit"
)

// work is what somebody wants to be part of the writer's next transaction.
type work struct {
	do     func(context.Context) error
	after  []func(context.Context) error // what is to be done once it is committed
	failed error                         // why it is not part of it
}

// Group is [Store.Transact] for many callers at once: what they do is committed together with each other and with the records that
// wait, by one flush of the disk. do runs alone, on the writer's goroutine: it must not take long, nor wait for anything. It
// may run twice, the first time in vain. What it returns an error for is undone, and nothing else. When ctx ends first, it may
// still be committed.
func (s *Store) Group(ctx context.Context, do func(context.Context) error) error {
	switch {
	case s.writer == nil:
		return ErrReadOnly
	case transaction(ctx) != nil:
		return do(ctx)
	case s.writer.failing():
		return s.Err()
	}
	it := item{work: &work{do: do}, done: make(chan error, 1)}
	if err := s.writer.enter(ctx, it); err != nil {
		return err
	}
	if err := wait(ctx, it.done); err != nil {
		return fmt.Errorf("commit: %w", s.explain(err))
	}
	if it.work.failed != nil {
		return it.work.failed
	}
	for _, then := range it.work.after {
		if err := then(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// in runs the work within a transaction, whose head it may move. The error is the transaction's; the work's own only undoes it.
func (k *work) in(ctx context.Context, tx *sql.Tx, put statements, head audit.Head) (audit.Head, error) {
	if err := put.writeHead(ctx, head); err != nil {
		return head, err
	}
	if _, err := tx.ExecContext(ctx, `SAVEPOINT work`); err != nil {
		return head, err
	}
	r := &running{Tx: tx, put: &put}
	k.failed = k.run(context.WithValue(ctx, inTransaction{}, r))
	if k.failed == nil {
		k.failed = r.failed
	}
	k.after = r.after
	if k.failed != nil {
		if _, err := tx.ExecContext(ctx, `ROLLBACK TO work`); err != nil {
			return head, err
		}
	}
	if _, err := tx.ExecContext(ctx, `RELEASE work`); err != nil {
		return head, err
	}
	return put.readHead(ctx)
}

// run keeps a panic from the others of the transaction. Its value is not told: it could quote content.
func (k *work) run(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic of type %T\n%s", p, debug.Stack())
		}
	}()
	return k.do(ctx)
}
