//go:build !race

package approval_test

import "time"

// What TestAwaitWakesItsOwn promises.
const (
	parked    = 10_000
	mostBytes = 8 << 10 // for each
	mostTime  = 100 * time.Millisecond
)
