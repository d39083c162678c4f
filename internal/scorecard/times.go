package scorecard

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Times is how long scans take on one core, and alone on the machine.
type Times struct {
	Cores  int          `json:"cores"` // that a long text may use
	Sizes  []SizeTimes  `json:"sizes"`
	Stages []StageTimes `json:"stages"`
}

// SizeTimes are those of whole scans of texts of one size.
type SizeTimes struct {
	Size   string      `json:"size"`
	Texts  int         `json:"texts"`
	Scan   Percentiles `json:"scan_us"`    // microseconds for one text, on one core
	PerKiB Percentiles `json:"us_per_kib"` // microseconds for each KiB of it
	Wall   Percentiles `json:"wall_us"`    // microseconds for one text, on as many cores as it uses
}

// StageTimes are those of one stage, in microseconds for each KiB of a text, for texts of each size as in Times.Sizes.
type StageTimes struct {
	Stage string        `json:"stage"`
	Share float64       `json:"share"` // of the time of all stages
	Sizes []Percentiles `json:"us_per_kib"`
}

// Percentiles are by nearest rank; 0 of nothing.
type Percentiles struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

// class holds texts of up to so many bytes.
type class struct {
	name string
	upTo int
}

// sizes are the classes of texts; the last has no upper end.
var sizes = []class{{"≤ 1 KiB", 1 << 10}, {"≤ 10 KiB", 10 << 10}, {"≤ 100 KiB", 100 << 10}, {"> 100 KiB", math.MaxInt}}

// warm is how long is scanned before anything is measured.
const warm = 300 * time.Millisecond

// times scans every text three times, one text after the other: on one core, on those that it is given, and with its stages watched on one, so
// that watching costs the others nothing. No scan of a text comes right behind another of it.
func (r *Run) times(ctx context.Context) (*Times, error) {
	var stages stageClock
	watched := r.Watched(stages.took)
	r.warm(ctx, watched)
	scans, perKiB, walls := make([][]float64, len(sizes)), make([][]float64, len(sizes)), make([][]float64, len(sizes))
	for _, pass := range []func(row Row, size, n int){
		func(row Row, size, n int) {
			took := timed(ctx, r.alone(), row)
			scans[size], perKiB[size] = append(scans[size], took), append(perKiB[size], took/kib(n))
		},
		func(row Row, size, _ int) { walls[size] = append(walls[size], timed(ctx, r.Scanner, row)) },
		func(row Row, size, n int) {
			watched.Scan(ctx, row.Text)
			stages.text(size, n)
		},
	} {
		stages.reset()
		for _, row := range r.Rows {
			if n := len(row.Text.Text); n > 0 {
				pass(row, slices.IndexFunc(sizes, func(c class) bool { return n <= c.upTo }), n)
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
	}
	out := &Times{Cores: runtime.GOMAXPROCS(0), Stages: stages.result()}
	for i, s := range sizes {
		out.Sizes = append(out.Sizes, SizeTimes{s.name, len(scans[i]), percentiles(scans[i]), percentiles(perKiB[i]), percentiles(walls[i])})
	}
	return out, nil
}

func (r *Run) alone() Scanner {
	if r.Alone != nil {
		return r.Alone
	}
	return r.Scanner
}

// timed is how long one scan takes, in microseconds.
func timed(ctx context.Context, s Scanner, row Row) float64 {
	start := time.Now()
	s.Scan(ctx, row.Text)
	return micros(time.Since(start))
}

// warm scans for a while, and begins with little garbage.
func (r *Run) warm(ctx context.Context, watched Scanner) {
	begin := time.Now()
	for _, row := range r.Rows {
		if time.Since(begin) > warm {
			break
		}
		watched.Scan(ctx, row.Text)
	}
	runtime.GC()
}

// stageClock sums up what the stages of one text took, over its chunks and readings.
type stageClock struct {
	mu     sync.Mutex // a scan may use several goroutines
	names  []string   // in the order in which they were first seen
	now    map[string]time.Duration
	whole  map[string]time.Duration
	perKiB map[string][][]float64
	texts  []int
}

func (c *stageClock) reset() {
	c.names, c.now, c.whole, c.perKiB = nil, map[string]time.Duration{}, map[string]time.Duration{}, map[string][][]float64{}
	c.texts = make([]int, len(sizes))
}

func (c *stageClock) took(stage string, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now == nil {
		return // warming up
	}
	if _, known := c.perKiB[stage]; !known {
		c.names = append(c.names, stage)
		c.perKiB[stage] = make([][]float64, len(sizes))
	}
	c.now[stage] += took
}

// text ends a text of n bytes.
func (c *stageClock) text(size, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.texts[size]++
	for stage, took := range c.now {
		c.perKiB[stage][size] = append(c.perKiB[stage][size], micros(took)/kib(n))
		c.whole[stage] += took
	}
	clear(c.now)
}

func (c *stageClock) result() []StageTimes {
	var sum time.Duration
	for _, took := range c.whole {
		sum += took
	}
	var out []StageTimes
	for _, name := range c.names {
		s := StageTimes{Stage: name, Share: float64(c.whole[name]) / float64(max(1, sum))}
		for size, all := range c.perKiB[name] {
			idle := make([]float64, c.texts[size]-len(all)) // texts that the stage did not look at
			s.Sizes = append(s.Sizes, percentiles(append(all, idle...)))
		}
		out = append(out, s)
	}
	return out
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

func kib(bytes int) float64 { return float64(bytes) / 1024 }

func percentiles(all []float64) Percentiles {
	if len(all) == 0 {
		return Percentiles{}
	}
	slices.Sort(all)
	rank := func(q float64) float64 { return all[max(1, int(math.Ceil(q*float64(len(all)))))-1] }
	return Percentiles{rank(0.50), rank(0.99)}
}
