package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// dialect is what one kind of database does its own way. The SQL of this package is what all of them understand.
type dialect struct {
	driver     string // as database/sql knows it
	migrations fs.FS  // NNNN_name.sql, in order
	writing    string // data source in which every transaction takes the write lock when it begins
	reading    string // data source that cannot write
	keyFile    string // where the key of sealed secrets is kept; empty: nowhere beside this database

	// rejected reports whether the database refused the row rather than could not write.
	rejected func(error) bool
	// damaged reports whether what is stored is not a database, or not a whole one.
	damaged func(error) bool
	// scrub removes what deleted rows have left in logs. It is not done while somebody reads what was there before, and it
	// does not wait long for that.
	scrub func(context.Context) (done bool, err error)
}

//go:embed sqlite/*.sql
var sqliteMigrations embed.FS

// open finds the dialect for a URL and makes sure that there is a database, unless it is only to be read.
func open(address string, readOnly bool) (dialect, error) {
	scheme, path, ok := strings.Cut(address, ":")
	switch {
	case !ok || scheme != "sqlite":
		return dialect{}, errors.New("unknown kind of store: want sqlite:PATH")
	case path == "" || strings.HasPrefix(path, ":"):
		return dialect{}, errors.New("store without a file: want sqlite:PATH")
	}
	path = strings.TrimPrefix(path, "//")
	if err := databaseFile(path, readOnly); err != nil {
		return dialect{}, err
	}
	return sqliteDialect(path)
}

// databaseFile makes the file if it is missing, so that nobody else can read the keys in it; the files that SQLite puts
// beside it take its mode.
func databaseFile(path string, readOnly bool) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a directory, not a database", path)
	case err == nil:
		return nil
	case readOnly:
		return fmt.Errorf("no database: %w", err)
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return fmt.Errorf("no directory for the database: %w", err)
	}
	// Only a file that is not there is opened here: closing any handle of a file drops this process's SQLite locks on it.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("make database: %w", err)
	}
	return f.Close()
}

func sqliteDialect(path string) (dialect, error) {
	migrations, err := fs.Sub(sqliteMigrations, "sqlite")
	if err != nil {
		return dialect{}, err
	}
	file := "file:" + (&url.URL{Path: path}).EscapedPath()
	return dialect{
		driver:     "sqlite",
		keyFile:    path + ".key",
		migrations: migrations,
		// FULL: a commit has reached the disk when it returns. secure_delete: an erased key leaves no bytes behind.
		writing: file + "?_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)" +
			"&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_pragma=secure_delete(1)" +
			// Digests land on pages at random: 16 MiB of them stay in memory, and go from the log to the file in one piece.
			"&_pragma=cache_size(-16384)&_pragma=wal_autocheckpoint(4096)",
		// writable_schema: with nothing writable here, all it does is let a file that was cut short be read up to the cut,
		// so that verification can name the first record that is gone.
		reading:  file + "?mode=ro&_pragma=busy_timeout(10000)&_pragma=query_only(1)&_pragma=writable_schema(1)",
		rejected: sqliteCode(lib.SQLITE_CONSTRAINT, lib.SQLITE_MISMATCH, lib.SQLITE_TOOBIG),
		damaged:  sqliteCode(lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB),
		scrub: func(ctx context.Context) (bool, error) {
			// On a connection of its own: the one that writes has work to do, and more patience.
			db, err := sql.Open("sqlite", file+"?_pragma=busy_timeout(200)")
			if err != nil {
				return false, err
			}
			defer db.Close()
			var busy, pages, moved int
			err = db.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &pages, &moved)
			return busy == 0, err
		},
	}, nil
}

// sqliteCode reports whether an error has one of the primary result codes (https://sqlite.org/rescode.html).
func sqliteCode(codes ...int) func(error) bool {
	return func(err error) bool {
		var e *sqlite.Error
		if !errors.As(err, &e) {
			return false
		}
		for _, code := range codes {
			if e.Code()&0xff == code {
				return true
			}
		}
		return false
	}
}
