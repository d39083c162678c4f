package bench

import (
	"slices"
	"time"
)

// Sample is what one run of a load saw.
type Sample struct {
	Requests int // answered with 200, to the end
	Failed   int

	took      time.Duration
	latency   []time.Duration
	firstByte []time.Duration
}

// Rate is the number of answers a second.
func (s *Sample) Rate() float64 { return float64(s.Requests) / s.took.Seconds() }

// Latency is the time to the last byte of the answer.
func (s *Sample) Latency() Percentiles { return percentiles(s.latency) }

// FirstByte is the time to the first byte of the answer's body.
func (s *Sample) FirstByte() Percentiles { return percentiles(s.firstByte) }

// Percentiles are three points of a distribution.
type Percentiles struct {
	P50 time.Duration `json:"p50_ns"`
	P90 time.Duration `json:"p90_ns"`
	P99 time.Duration `json:"p99_ns"`
}

// percentiles takes the nearest rank: the smallest value that p of all values do not exceed.
func percentiles(all []time.Duration) Percentiles {
	if len(all) == 0 {
		return Percentiles{}
	}
	slices.Sort(all)
	rank := func(percent int) time.Duration { return all[(len(all)*percent+99)/100-1] }
	return Percentiles{P50: rank(50), P90: rank(90), P99: rank(99)}
}
