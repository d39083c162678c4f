package detect

import (
	"runtime"
	"sync/atomic"
)

// cores counts the goroutines that scan, so that a long text is shared among several where cores are idle, and nowhere else: under load each
// text has the core that it came on.
type cores struct {
	count func() int   // how many there are
	from  int          // the length, in bytes, from which a text is worth a second goroutine
	busy  atomic.Int64 // scans and helpers
}

// sharedFrom is the length, in bytes, from which a text is worth a second goroutine on common machines.
const sharedFrom = 16 << 10

// machine is what this process has. Sets are made anew with each configuration, cores are not.
var machine = cores{count: func() int { return runtime.GOMAXPROCS(0) }, from: sharedFrom}

// begin is told by a scan, which waits for nobody.
func (c *cores) begin() {
	if c != nil {
		c.busy.Add(1)
	}
}

// end is told by whoever has begun, and by helpers.
func (c *cores) end() {
	if c != nil {
		c.busy.Add(-1)
	}
}

// take is for a helper. It is true where fewer scan than there are cores: as scans count, helpers are never more than all cores but one.
func (c *cores) take(most int) bool {
	for {
		busy := c.busy.Load()
		if busy >= int64(most) {
			return false
		}
		if c.busy.CompareAndSwap(busy, busy+1) {
			return true
		}
	}
}
