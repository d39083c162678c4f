//go:build !amd64 && !arm64

package encoder

// kernels lists those that this CPU runs, the fastest first.
func kernels() []kernel { return []kernel{portable()} }
