//go:build !race

package encoder

// watched says that the race detector is on: it makes pools forget, on purpose.
const watched = false
