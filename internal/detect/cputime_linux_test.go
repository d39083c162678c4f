package detect

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime is what the calling thread has had of a processor: other work on the machine does not count.
func processorTime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		panic(err)
	}
	return time.Duration(ts.Nano())
}
