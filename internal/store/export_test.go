package store

import (
	"fmt"
	"testing"
)

// LimitPages sets how many pages the database may have; SQLite takes no fewer than it has.
func LimitPages(t *testing.T, s *Store, n int) {
	if _, err := s.write.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", n)); err != nil {
		t.Fatal(err)
	}
}
