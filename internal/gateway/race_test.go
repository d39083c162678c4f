//go:build race

package gateway_test

// slowed says that the race detector makes everything many times as slow: time is not measured.
const slowed = true
