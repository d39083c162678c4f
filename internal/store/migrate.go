package store

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
)

// migrate brings the schema to the newest version, one version and one transaction at a time. It never goes back: a
// database of a newer version is refused.
func (s *Store) migrate(ctx context.Context) error {
	files, err := fs.Glob(s.dialect.migrations, "*.sql")
	if err != nil {
		return err
	}
	if _, err := s.write.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)`); err != nil {
		return err
	}
	for n := range files {
		if err := s.migrateTo(ctx, n+1, files[n]); err != nil {
			return fmt.Errorf("migrate to version %d: %w", n+1, err)
		}
	}
	return s.checkVersion(ctx, s.write, len(files))
}

func (s *Store) migrateTo(ctx context.Context, version int, file string) error {
	script, err := fs.ReadFile(s.dialect.migrations, file)
	if err != nil {
		return err
	}
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	// Read under the lock: another process may be doing the same.
	at, err := schemaVersion(ctx, tx)
	if err != nil || at >= version {
		return err
	}
	if _, err := tx.ExecContext(ctx, string(script)); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO schema_version (version) VALUES (?)`, version); err != nil {
		return err
	}
	return tx.Commit()
}

// checkVersion refuses a schema that this program does not know.
func (s *Store) checkVersion(ctx context.Context, q querier, known int) error {
	at, err := schemaVersion(ctx, q)
	switch {
	case err != nil:
		return err
	case at > known:
		return fmt.Errorf("the database has version %d, this program knows %d: use a newer one", at, known)
	case at < known:
		return fmt.Errorf("the database has version %d, this program wants %d: start the gateway on it once", at, known)
	}
	return nil
}

func schemaVersion(ctx context.Context, q querier) (int, error) {
	var version sql.NullInt64
	err := q.QueryRowContext(ctx, `SELECT MAX(version) FROM schema_version`).Scan(&version)
	return int(version.Int64), err
}
