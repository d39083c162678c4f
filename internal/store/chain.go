package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/audit"
)

const (
	pageSize   = 256                    // entries read at once: a reader of a long chain holds up no checkpoint of the log
	followWait = 250 * time.Millisecond // how often Follow looks for new entries
)

const selectHead = `SELECT seq, hash, count FROM head WHERE one = 1`

// Head is the end of the chain as of the last commit.
func (s *Store) Head(ctx context.Context) (audit.Head, error) {
	h, err := scanHead(s.read.QueryRowContext(ctx, selectHead))
	if err != nil {
		return audit.Head{}, fmt.Errorf("read head: %w", s.explain(err))
	}
	return h, nil
}

// Entries are the entries from a sequence number on, those that are committed while it reads included. It ends after the first error.
// A row that cannot be an entry is a [*audit.Broken].
func (s *Store) Entries(ctx context.Context, fromSeq int64) iter.Seq2[audit.Entry, error] {
	return s.entries(ctx, s.read, fromSeq)
}

// Follow is [Store.Entries] that waits for more at the end. It ends, without an error, with the context.
func (s *Store) Follow(ctx context.Context, fromSeq int64) iter.Seq2[audit.Entry, error] {
	return func(yield func(audit.Entry, error) bool) {
		for ctx.Err() == nil {
			for e, err := range s.Entries(ctx, fromSeq) {
				if ctx.Err() != nil || !yield(e, err) || err != nil {
					return
				}
				fromSeq = e.Seq + 1
			}
			select {
			case <-ctx.Done():
			case <-time.After(followWait):
			}
		}
	}
}

// Verify verifies the whole chain as it is at one moment, as [audit.Verify] does. Where the database is damaged below the level
// of rows, as in a file that was cut short, the first record that cannot be read is the broken one, and the error is
// [ErrDamaged] too.
func (s *Store) Verify(ctx context.Context) (r audit.Report, err error) {
	err = s.snapshot(ctx, func(entries iter.Seq2[audit.Entry, error], head audit.Head) error {
		r, err = audit.Verify(entries, head)
		var broken *audit.Broken
		if err != nil && ctx.Err() == nil && !errors.As(err, &broken) {
			err = fmt.Errorf("%w: %w", &audit.Broken{Seq: r.Head.Seq + 1, Reason: "it cannot be read"}, damage(err))
		}
		return err
	})
	return r, err
}

// damage is the error of a row that could not be read: what is no row of ours is damage, whatever the driver calls it.
func damage(err error) error {
	if errors.Is(err, ErrDamaged) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// Export writes the whole chain as it is at one moment, as [audit.WriteExport] does, without verifying it.
func (s *Store) Export(ctx context.Context, w io.Writer) error {
	return s.snapshot(ctx, func(entries iter.Seq2[audit.Entry, error], head audit.Head) error {
		return audit.WriteExport(w, entries, head)
	})
}

// snapshot gives a view of the chain that does not change.
func (s *Store) snapshot(ctx context.Context, use func(iter.Seq2[audit.Entry, error], audit.Head) error) error {
	tx, err := s.read.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("read chain: %w", s.explain(err))
	}
	defer tx.Rollback()
	head, err := scanHead(tx.QueryRowContext(ctx, selectHead))
	if err != nil {
		return fmt.Errorf("read head: %w", s.explain(err))
	}
	// From the very first row: one that was put before record 1 is seen too.
	return use(s.entries(ctx, tx, math.MinInt64), head)
}

func (s *Store) entries(ctx context.Context, q querier, from int64) iter.Seq2[audit.Entry, error] {
	return func(yield func(audit.Entry, error) bool) {
		for {
			page, err := readPage(ctx, q, from)
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
				from = e.Seq + 1
			}
			if err != nil {
				var broken *audit.Broken
				if !errors.As(err, &broken) {
					err = fmt.Errorf("read records: %w", s.explain(err))
				}
				yield(audit.Entry{}, err)
				return
			}
			if len(page) < pageSize {
				return
			}
		}
	}
}

// readPage reads entries. With an error it returns those before it.
func readPage(ctx context.Context, q querier, from int64) (page []audit.Entry, err error) {
	rows, err := q.QueryContext(ctx, `SELECT seq, id, record, prev, hash, leaf FROM records WHERE seq >= ? ORDER BY seq LIMIT ?`, from, pageSize)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		e, err := scanEntry(rows)
		if err != nil {
			return page, err
		}
		page = append(page, e)
	}
	return page, rows.Err()
}

func scanEntry(rows *sql.Rows) (audit.Entry, error) {
	var e audit.Entry
	var id string
	var record, prev, hash, leaf []byte
	if err := rows.Scan(&e.Seq, &id, &record, &prev, &hash, &leaf); err != nil {
		return e, err
	}
	e.Record = record
	for _, h := range []struct {
		raw []byte
		to  *[32]byte
	}{{prev, &e.Prev}, {hash, &e.Hash}, {leaf, &e.Leaf}} {
		if len(h.raw) != len(h.to) {
			return e, &audit.Broken{Seq: e.Seq, ID: id, Reason: "a hash was edited: it does not have 32 bytes"}
		}
		copy(h.to[:], h.raw)
	}
	// The column is what records are looked up by: it must not lead to another record.
	if own := e.ID(); own != "" && own != id {
		return e, &audit.Broken{Seq: e.Seq, ID: id, Reason: "the record or its id column was edited: they do not agree"}
	}
	return e, nil
}

func scanHead(row *sql.Row) (h audit.Head, err error) {
	var hash []byte
	err = row.Scan(&h.Seq, &hash, &h.Count)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return h, errors.New("the chain has no head: its row was deleted")
	case err != nil:
		return h, err
	case len(hash) != len(h.Hash):
		return h, errors.New("the head was edited: its hash does not have 32 bytes")
	}
	copy(h.Hash[:], hash)
	return h, nil
}
