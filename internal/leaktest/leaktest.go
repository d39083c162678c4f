// Package leaktest fails tests that leave goroutines running.
package leaktest

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"time"
)

// patience is how long what is about to end may take: connections that are closed, and stores that write their last.
const patience = 10 * time.Second

// Run runs the tests of a package and exits. It is for TestMain. Idle connections of http.DefaultClient are closed; everything else a
// test has to end itself.
func Run(m interface{ Run() int }) {
	before := runtime.NumGoroutine()
	code := m.Run()
	if fuzz := flag.Lookup("test.fuzz"); code == 0 && (fuzz == nil || fuzz.Value.String() == "") {
		http.DefaultClient.CloseIdleConnections()
		if !settled(runtime.NumGoroutine, before) {
			fmt.Fprintf(os.Stderr, "the tests leave %d goroutines:\n%s", runtime.NumGoroutine()-before, profile())
			code = 1
		}
	}
	os.Exit(code)
}

// Left waits until no more goroutines than before have a function of the given packages on their stacks, by the beginning of its
// name, and returns those that still have when that takes too long; empty: none. What waits for a next request on an open connection
// is no work.
func Left(prefix string, before int) string {
	if settled(func() int { return Count(prefix) }, before) {
		return ""
	}
	return profile()
}

// Count is how many goroutines have a function of the given packages on their stacks, by the beginning of its name.
func Count(prefix string) (n int) {
	for group := range strings.SplitSeq(profile(), "\n\n") {
		var same int
		if _, err := fmt.Sscanf(group, "%d @", &same); err == nil && strings.Contains(group, "\t"+prefix) {
			n += same
		}
	}
	return n
}

func settled(count func() int, before int) bool {
	for start := time.Now(); time.Since(start) < patience; time.Sleep(10 * time.Millisecond) {
		if count() <= before {
			return true
		}
	}
	return false
}

// profile is the stacks of all goroutines, each with the number of those that have it.
func profile() string {
	var out strings.Builder
	pprof.Lookup("goroutine").WriteTo(&out, 1)      //nolint:errcheck // a builder takes everything
	_, groups, _ := strings.Cut(out.String(), "\n") // behind the number of all
	return groups
}
