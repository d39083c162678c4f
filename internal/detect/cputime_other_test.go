//go:build !linux

package detect

import "time"

var begun = time.Now()

// processorTime is the time that has passed: there is no clock for a thread everywhere.
func processorTime() time.Duration { return time.Since(begun) }

func processTime() time.Duration { return time.Since(begun) }
