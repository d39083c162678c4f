package detect

import (
	"sync/atomic"
	"testing"
)

// TestHelpersMakeWay: a helper begins nothing more when a scan has come that needs its core. The goroutine that scans does the rest.
func TestHelpersMakeWay(t *testing.T) {
	c := cores{count: func() int { return 2 }}
	c.begin()
	k := c.crew()
	all := make(chan struct{})
	k.add(2, func() {
		<-all
		c.begin() // another scan
	})
	var done atomic.Int64
	for range 3 {
		k.add(1, func() { done.Add(1) })
	}
	close(all)
	k.helpers.Wait()
	if n := done.Load(); n != 0 {
		t.Errorf("the helper did %d more jobs", n)
	}
	k.finish()
	if n := done.Load(); n != 3 {
		t.Errorf("%d jobs were done, not 3", n)
	}
	if n := c.busy.Load(); n != 2 {
		t.Errorf("%d are busy, not the two scans", n)
	}
}
