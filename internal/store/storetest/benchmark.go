package storetest

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
)

// Benchmark measures durable appends by 32 writers at once.
func Benchmark(b *testing.B, of Backend) {
	s := open(b, of.URL(b))
	var n atomic.Int64
	b.SetParallelism(max(1, 32/runtime.GOMAXPROCS(0)))
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := s.Append(context.Background(), Record(fmt.Sprint(n.Add(1))), nil, true); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.StopTimer()
	verified(b, s, n.Load())
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
}
