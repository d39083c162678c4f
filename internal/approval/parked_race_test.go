//go:build race

package approval_test

import "time"

// The race detector has room for 8,128 goroutines, and makes all of it slow.
const (
	parked    = 4_000
	mostBytes = 64 << 10
	mostTime  = time.Second
)
