package detect

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime is what the calling thread has had of a processor: other work on the machine does not count.
func processorTime() time.Duration { return clock(unix.CLOCK_THREAD_CPUTIME_ID) }

// processTime is what all threads have had.
func processTime() time.Duration { return clock(unix.CLOCK_PROCESS_CPUTIME_ID) }

func clock(id int32) time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		panic(err)
	}
	return time.Duration(ts.Nano())
}
