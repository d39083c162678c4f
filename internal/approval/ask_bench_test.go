package approval_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/approval"
)

// BenchmarkAsk measures what asking adds to a flagged call: while nobody has decided, the first time, and when it is let through.
// The last two are on the disk when Ask returns.
func BenchmarkAsk(b *testing.B) {
	for name, prepare := range map[string]func(h *house, d approval.Demand){
		"pending": func(h *house, d approval.Demand) { h.ask(d) },
		"request": func(*house, approval.Demand) {},
		"consume": func(h *house, d approval.Demand) { h.decide(h.Approve, h.ask(d).Approval) },
	} {
		b.Run(name, func(b *testing.B) {
			h := newHouse(b, newURL(b))
			var took []time.Duration
			for n := 0; b.Loop(); n++ {
				d := h.demand(fmt.Sprint(n))
				binary.BigEndian.PutUint64(d.Digest[:], uint64(n))
				prepare(h, d)
				start := time.Now()
				h.ask(d)
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e3, "p99-µs")
		})
	}
}
