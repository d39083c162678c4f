package store_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
	"github.com/gatehouse-gateway/gatehouse/internal/store/storetest"
)

func TestMain(m *testing.M) {
	if storetest.Child() {
		return
	}
	os.Exit(m.Run())
}

func TestSQLite(t *testing.T) {
	storetest.Run(t, sqlite())
}

func BenchmarkSQLite(b *testing.B) {
	storetest.Benchmark(b, sqlite())
}

func sqlite() storetest.Backend {
	return storetest.Backend{
		URL: func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "gatehouse.db") },
		Exec: func(t testing.TB, url, query string) {
			db, err := sql.Open("sqlite", strings.TrimPrefix(url, "sqlite:"))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Exec(query); err != nil {
				t.Fatal(err)
			}
		},
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(text, []byte(strings.Repeat("these are notes, not a database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, url, want string }{
		{"an unknown scheme", "mysql://localhost/x", "unknown kind of store"},
		{"a path without a scheme", "gatehouse.db", "unknown kind of store"},
		{"no path", "sqlite:", "without a file"},
		{"a database in memory", "sqlite::memory:", "without a file"},
		{"a missing directory", "sqlite:" + filepath.Join(dir, "no", "x.db"), "no directory for the database"},
		{"a directory", "sqlite:" + dir, "is a directory"},
		{"a file that is no database", "sqlite:" + text, "damaged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := store.Open(t.Context(), c.url)
			if err == nil {
				s.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
}

func TestErrorsDoNotQuotePasswords(t *testing.T) {
	_, err := store.Open(t.Context(), "mysql://me:hunter2@localhost/x")
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}

func TestReadOnlyRefusesAMissingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	if s, err := store.OpenReadOnly(t.Context(), "sqlite:"+path); err == nil {
		s.Close()
		t.Error("opened")
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("a file was made")
	}
}

func TestNewFileIsPrivate(t *testing.T) {
	// A name that is not a plain URL path, and relative.
	t.Chdir(t.TempDir())
	s, err := store.Open(t.Context(), "sqlite:my gate?house#100%.db")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat("my gate?house#100%.db" + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%q has mode %v", suffix, info.Mode())
		}
	}
}

func TestErasedKeyLeavesNoBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	s, err := store.Open(t.Context(), "sqlite:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	key, err := s.ContentKey(t.Context(), "mnm-a")
	if err != nil {
		t.Fatal(err)
	}
	if !onDisk(t, path, key) {
		t.Fatal("the key is not on disk, so the test shows nothing")
	}
	if err := s.EraseContentKey(t.Context(), "mnm-a"); err != nil {
		t.Fatal(err)
	}
	if onDisk(t, path, key) {
		t.Error("the key is still on disk")
	}
}

func onDisk(t *testing.T, path string, key []byte) bool {
	for _, suffix := range []string{"", "-wal"} {
		raw, err := os.ReadFile(path + suffix)
		if err == nil && strings.Contains(string(raw), string(key)) {
			return true
		}
	}
	return false
}

func TestTruncatedFileIsDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	s, err := store.Open(t.Context(), "sqlite:"+path)
	if err != nil {
		t.Fatal(err)
	}
	storetest.Fill(t, s, 500)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()/2+100); err != nil {
		t.Fatal(err)
	}
	if err := verify("sqlite:" + path); err == nil || !strings.Contains(err.Error(), "the database is damaged") {
		t.Errorf("got %v", err)
	}
}

// However short the file was cut, a record is named, and never a later one than with more of the file.
func TestTruncatedFileNamesTheRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	s, err := store.Open(t.Context(), "sqlite:"+path)
	if err != nil {
		t.Fatal(err)
	}
	storetest.Fill(t, s, 500)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	last := int64(501)
	for _, left := range []int64{9, 7, 5, 3} { // tenths of the file
		if err := os.Truncate(path, info.Size()*left/10); err != nil {
			t.Fatal(err)
		}
		err := verify("sqlite:" + path)
		var broken *audit.Broken
		if !errors.As(err, &broken) {
			t.Fatalf("%d tenths: no record is named: %v", left, err)
		}
		if broken.Seq < 1 || broken.Seq > last {
			t.Errorf("%d tenths: record %d is named, after %d with more of the file", left, broken.Seq, last)
		}
		last = broken.Seq
	}
}

func verify(url string) error {
	s, err := store.OpenReadOnly(context.Background(), url)
	if err != nil {
		return err
	}
	defer s.Close()
	_, err = s.Verify(context.Background())
	return err
}

// A full disk, as far as SQLite is concerned: the database may not grow.
func TestFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	s, err := store.Open(t.Context(), "sqlite:"+path)
	if err != nil {
		t.Fatal(err)
	}
	storetest.Fill(t, s, 1)
	store.LimitPages(t, s, 1)
	storetest.AppendUntilUnhealthy(t, s)
	if err := s.Append(t.Context(), storetest.Record("durable"), nil, true); err == nil {
		t.Error("a durable record was accepted")
	}
	store.LimitPages(t, s, 1<<30)
	storetest.WaitHealthy(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := verify("sqlite:" + path); err != nil {
		t.Error(err)
	}
}

func TestCloseSaysWhatIsNotWritten(t *testing.T) {
	s, err := store.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	store.LimitPages(t, s, 1)
	storetest.AppendUntilUnhealthy(t, s)
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), "not written") {
		t.Errorf("got %v", err)
	}
}
