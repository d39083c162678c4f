package store

import (
	"context"
	"database/sql"
	"sync"
	"time"
)

// maxPrepared bounds the statements that a reader keeps: one query has a form for each length of its list.
const maxPrepared = 64

// reader is the database to read from. It prepares each query once for each connection: for queries as small as those of
// an exchange, parsing takes longer than looking.
type reader struct {
	*sql.DB

	mu       sync.RWMutex
	prepared map[string]*sql.Stmt
}

func openReader(d dialect) (*reader, error) {
	db, err := sql.Open(d.driver, d.reading)
	if err != nil {
		return nil, err
	}
	const most = 8
	db.SetMaxOpenConns(most)
	db.SetMaxIdleConns(most) // under load: to open one takes longer than most queries
	db.SetConnMaxIdleTime(5 * time.Second)
	return &reader{DB: db, prepared: map[string]*sql.Stmt{}}, nil
}

// QueryContext is that of [sql.DB].
func (r *reader) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if s := r.statement(ctx, query); s != nil { //nolint:sqlclosecheck // kept for the next query
		return s.QueryContext(ctx, args...)
	}
	return r.DB.QueryContext(ctx, query, args...)
}

// QueryRowContext is that of [sql.DB].
func (r *reader) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if s := r.statement(ctx, query); s != nil && ctx.Err() == nil { //nolint:sqlclosecheck // as above
		// A look-up of one row is over before it could be interrupted, and watching for that takes two goroutines.
		return s.QueryRowContext(context.WithoutCancel(ctx), args...)
	}
	return r.DB.QueryRowContext(ctx, query, args...)
}

// statement is the prepared query; nil where there are too many, and where it cannot be prepared: then the query itself
// will say why.
func (r *reader) statement(ctx context.Context, query string) *sql.Stmt {
	r.mu.RLock()
	s := r.prepared[query]
	r.mu.RUnlock()
	if s != nil {
		return s
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s = r.prepared[query]; s != nil || len(r.prepared) >= maxPrepared {
		return s
	}
	s, err := r.PrepareContext(ctx, query) //nolint:sqlclosecheck // closing the database closes it
	if err != nil {
		return nil
	}
	r.prepared[query] = s
	return s
}
