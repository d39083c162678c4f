// Package bench measures what a gateway costs: a load generator, a model server that answers at once, and the plainest
// proxy that could stand in the gateway's place, as the floor to compare with. It knows nothing of the gateway's code and
// speaks OpenAI Chat Completions to it.
//
// CPU time is that of the measured process, user and system, as the operating system counts it, so each of the three
// runs in a process of its own. No prompt is sent twice, so that no cache of a gateway answers.
package bench

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Table is one comparison: pairs of runs, the floor and the gateway in turn, under the same load.
type Table struct {
	Name  string `json:"name"`
	Load  Load   `json:"load"`
	Pairs []Pair `json:"pairs"`
}

// Pair is one run of the floor and one of the gateway, next to each other in time.
type Pair struct {
	Floor   Run `json:"floor"`
	Gateway Run `json:"gateway"`
}

// Run is what one server process did under load.
type Run struct {
	Requests  int           `json:"requests"`       // of the closed loop
	Failed    int           `json:"failed"`         // of both loops: not 200, or not whole
	CPU       time.Duration `json:"cpu_ns"`         // for one request, user and system
	Rate      float64       `json:"rate"`           // requests a second of the closed loop
	Latency   Percentiles   `json:"latency"`        // of the open loop, from the scheduled time of sending
	FirstByte Percentiles   `json:"first_byte"`     // as above, to the first byte of the body
	Peak      int64         `json:"peak_rss_bytes"` // most resident memory so far; 0 where the system does not say
}

// Ratio is the CPU time of one request of the gateway over that of the floor, the median over all pairs.
func (t Table) Ratio() float64 {
	ratios := make([]float64, 0, len(t.Pairs))
	for _, p := range t.Pairs {
		ratios = append(ratios, float64(p.Gateway.CPU)/float64(p.Floor.CPU))
	}
	return median(ratios)
}

// Failed is the number of requests that failed in any run.
func (t Table) Failed() int {
	n := 0
	for _, p := range t.Pairs {
		n += p.Floor.Failed + p.Gateway.Failed
	}
	return n
}

// Compare runs the pairs. Which of the two goes first changes from pair to pair. warm is how long each is under load
// before anything is measured.
func Compare(ctx context.Context, t *Table, pairs int, warm time.Duration, floor, gateway *Process) error {
	for _, p := range []*Process{floor, gateway} {
		l := t.Load
		l.Rate, l.Duration = 0, warm
		if _, err := l.Send(ctx, p.URL); err != nil {
			return fmt.Errorf("warm up: %w", err)
		}
	}
	if err := gateway.Profile(); err != nil {
		return fmt.Errorf("begin profile: %w", err)
	}
	for i := range pairs {
		var pair Pair
		sides := []struct {
			p  *Process
			to *Run
		}{{floor, &pair.Floor}, {gateway, &pair.Gateway}}
		if i%2 == 1 {
			slices.Reverse(sides)
		}
		for _, s := range sides {
			var err error
			if *s.to, err = measure(ctx, t.Load, s.p); err != nil {
				return err
			}
		}
		t.Pairs = append(t.Pairs, pair)
	}
	return nil
}

// measure puts one process under a closed loop for the CPU time, and then under an open one for the latency.
func measure(ctx context.Context, l Load, p *Process) (Run, error) {
	closed := l
	closed.Rate = 0
	before, err := p.Usage()
	if err != nil {
		return Run{}, err
	}
	c, err := closed.Send(ctx, p.URL)
	if err != nil {
		return Run{}, err
	}
	after, err := p.Usage()
	if err != nil {
		return Run{}, err
	}
	r := Run{Requests: c.Requests, Failed: c.Failed, Rate: c.Rate(), Peak: after.Peak}
	r.CPU = (after.CPU - before.CPU) / time.Duration(max(c.Requests, 1))
	o := c
	if l.Rate > 0 {
		if o, err = l.Send(ctx, p.URL); err != nil {
			return Run{}, err
		}
		r.Failed += o.Failed
	}
	r.Latency, r.FirstByte = o.Latency(), o.FirstByte()
	return r, nil
}

func median(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(all))
	mid := len(s) / 2
	if len(s)%2 == 0 {
		return (s[mid-1] + s[mid]) / 2
	}
	return s[mid]
}
