// Package store keeps what must survive: the audit chain, agents, sessions and keys. It promises that a record and what
// its exchange adds to its session are committed together or not at all, that the chain has no fork however many processes
// write, and that what it accepted and could not write is reported. What the records mean is left to package audit.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"sync"
)

// The errors that callers can tell apart.
var (
	ErrClosed   = errors.New("the store is closed")
	ErrReadOnly = errors.New("the store is open for reading only")
	ErrDamaged  = errors.New("the database is damaged")
)

// Store is an open database. It may be used by many goroutines.
type Store struct {
	dialect dialect
	write   *sql.DB // one connection, which the writer, keys and agents take turns in; nil when read-only
	read    *reader
	writer  *writer // nil when read-only

	keys   keyring
	recent recent

	beside  sync.WaitGroup // what runs beside the callers
	quit    chan struct{}  // closed when the store closes
	closing sync.Once
	closed  error
}

// Open opens the database that a URL names, makes it if it is missing, and brings its schema up to date. The one kind of URL is
// sqlite:PATH, absolute or relative to the working directory. A new file can be read by its owner only.
func Open(ctx context.Context, url string) (*Store, error) {
	d, err := open(url, false)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s := &Store{dialect: d, quit: make(chan struct{})}
	if err := s.connect(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", s.explain(err)), s.Close())
	}
	return s, nil
}

func (s *Store) connect(ctx context.Context) (err error) {
	if s.write, err = sql.Open(s.dialect.driver, s.dialect.writing); err != nil {
		return err
	}
	s.write.SetMaxOpenConns(1)
	if err := s.migrate(ctx); err != nil {
		return err
	}
	if s.read, err = openReader(s.dialect); err != nil {
		return err
	}
	s.writer, err = startWriter(ctx, s.write, s.dialect)
	return err
}

// OpenReadOnly opens a database that is there, while a gateway writes to it or not. Everything that writes returns
// [ErrReadOnly].
func OpenReadOnly(ctx context.Context, url string) (*Store, error) {
	d, err := open(url, true)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s := &Store{dialect: d, quit: make(chan struct{})}
	if err := s.connectReadOnly(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", s.explain(err)), s.Close())
	}
	return s, nil
}

func (s *Store) connectReadOnly(ctx context.Context) (err error) {
	if s.read, err = openReader(s.dialect); err != nil {
		return err
	}
	files, err := fs.Glob(s.dialect.migrations, "*.sql")
	if err != nil {
		return err
	}
	return s.checkVersion(ctx, s.read, len(files))
}

// Close writes what is still waiting and closes the database. The error says what could not be written.
func (s *Store) Close() error {
	s.closing.Do(func() {
		close(s.quit)
		s.beside.Wait()
		var unwritten, read, write error
		if s.writer != nil {
			unwritten = s.writer.stop()
		}
		// The readers first: the last writer to go folds the write-ahead log into the database.
		if s.read != nil {
			read = s.read.Close()
		}
		if s.write != nil {
			write = s.write.Close()
		}
		s.closed = errors.Join(unwritten, read, write)
	})
	return s.closed
}

// Err is why the store is unhealthy, nil when it is not. It is set when something could not be written, and cleared when
// writing works again; it stays when a record that was accepted with durable=false was refused by the database, because
// that record is missing from then on.
func (s *Store) Err() error {
	if s.writer == nil {
		return ErrReadOnly
	}
	return s.writer.err()
}

// Ready reports whether a record could be written now, as far as that can be known without writing one. It is meant to be
// asked before a request goes to the upstream.
func (s *Store) Ready(ctx context.Context) error {
	if err := s.Err(); err != nil {
		return err
	}
	if s.writer.wrote() {
		return nil
	}
	return s.Ping(ctx)
}

// Ping reports whether the database answers and the store is healthy. A store that is open for reading only needs to answer.
func (s *Store) Ping(ctx context.Context) error {
	if s.writer != nil {
		if err := s.Err(); err != nil {
			return err
		}
	}
	_, err := s.Head(ctx)
	return err
}

// KeyFile is where the key of sealed secrets is kept, beside the database; empty for a database that has no place beside it.
func (s *Store) KeyFile() string { return s.dialect.keyFile }

// explain marks an error that says that the file is damaged.
func (s *Store) explain(err error) error {
	if err != nil && s.dialect.damaged(err) && !errors.Is(err, ErrDamaged) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// querier is a database, or a transaction in it.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}
