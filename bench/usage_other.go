//go:build !unix

package bench

import "errors"

// usage is what this process has used.
func usage() (Usage, error) {
	return Usage{}, errors.New("the CPU time of a process cannot be read on this system")
}
