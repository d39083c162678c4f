package scorecard

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/gatehouse-gateway/gatehouse/internal/detect"
)

// Scanner is what is measured: a [detect.Set].
type Scanner interface {
	Scan(ctx context.Context, t detect.Text) detect.Result
}

// verdict is what a scanner makes of a row.
type verdict struct {
	score    float64
	complete bool
	repair   *repair // of a tool result with a payload
}

// judge scans the rows on all cores. What is cut is cut from score warn up.
func judge(ctx context.Context, s Scanner, rows []Row, warn float64) ([]verdict, error) {
	out := make([]verdict, len(rows))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(rows) {
					return
				}
				out[i] = judgeOne(ctx, s, rows[i], warn)
			}
		})
	}
	workers.Wait()
	return out, ctx.Err()
}

func judgeOne(ctx context.Context, s Scanner, row Row, warn float64) verdict {
	r := s.Scan(ctx, row.Text)
	v := verdict{score: r.Score, complete: r.Complete}
	if len(row.Payload) > 0 && row.Text.Channel == detect.ToolResult {
		made := repaired(row, r, warn)
		v.repair = &made
	}
	return v
}
