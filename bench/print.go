package bench

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// Print writes a table for people: the median over the pairs of each figure.
func (t Table) Print(w io.Writer) error {
	fmt.Fprintf(w, "%s: %d pairs, %d bytes, closed loop of %d", t.Name, len(t.Pairs), t.Load.Prompts.Size, t.Load.Concurrency)
	if t.Load.Rate > 0 {
		fmt.Fprintf(w, ", open loop of %g/s", t.Load.Rate)
	}
	fmt.Fprintln(w)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "\tCPU/request\trequests/s\tp50\tp90\tp99\tfirst byte p50\tp99\tpeak memory\t")
	floor, gateway := t.typical(func(p Pair) Run { return p.Floor }), t.typical(func(p Pair) Run { return p.Gateway })
	row(tw, "plain proxy", floor)
	row(tw, "gateway", gateway)
	l, m := gateway.Latency, floor.Latency
	fmt.Fprintf(tw, "added\t%s\t\t%s\t%s\t%s\t%s\t%s\t\t\n", micros(gateway.CPU-floor.CPU), micros(l.P50-m.P50), micros(l.P90-m.P90), micros(l.P99-m.P99),
		micros(gateway.FirstByte.P50-floor.FirstByte.P50), micros(gateway.FirstByte.P99-floor.FirstByte.P99))
	if err := tw.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "CPU of gateway / plain proxy: %.2f (median of pairs); failed requests: %d\n\n", t.Ratio(), t.Failed())
	return err
}

func row(w io.Writer, name string, r Run) {
	fmt.Fprintf(w, "%s\t%s\t%.0f\t%s\t%s\t%s\t%s\t%s\t%.0f MiB\t\n", name, micros(r.CPU), r.Rate, micros(r.Latency.P50), micros(r.Latency.P90),
		micros(r.Latency.P99), micros(r.FirstByte.P50), micros(r.FirstByte.P99), float64(r.Peak)/(1<<20))
}

func micros(d time.Duration) string { return fmt.Sprintf("%d µs", d.Microseconds()) }

// typical is the median of each figure by itself.
func (t Table) typical(side func(Pair) Run) Run {
	mid := func(figure func(Run) float64) float64 {
		all := make([]float64, 0, len(t.Pairs))
		for _, p := range t.Pairs {
			all = append(all, figure(side(p)))
		}
		return median(all)
	}
	span := func(figure func(Run) time.Duration) time.Duration {
		return time.Duration(mid(func(r Run) float64 { return float64(figure(r)) }))
	}
	points := func(of func(Run) Percentiles) Percentiles {
		return Percentiles{
			P50: span(func(r Run) time.Duration { return of(r).P50 }),
			P90: span(func(r Run) time.Duration { return of(r).P90 }),
			P99: span(func(r Run) time.Duration { return of(r).P99 }),
		}
	}
	return Run{
		CPU:       span(func(r Run) time.Duration { return r.CPU }),
		Rate:      mid(func(r Run) float64 { return r.Rate }),
		Latency:   points(func(r Run) Percentiles { return r.Latency }),
		FirstByte: points(func(r Run) Percentiles { return r.FirstByte }),
		Peak:      int64(mid(func(r Run) float64 { return float64(r.Peak) })),
	}
}

// Print writes a table for people: the median over the pairs of each stretch's CPU time for one request, and what a KiB of old
// text costs.
func (r Retelling) Print(w io.Writer) error {
	fmt.Fprintf(w, "conversation: %d pairs, %d turns, texts of %d bytes\n", len(r.Pairs), r.Conversation.Turns, r.Conversation.Size)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "requests\told text\tplain proxy\tgateway\tadded\t")
	from := 1
	for i, s := range r.Pairs[0].Gateway {
		each := func(side func(RetellingPair) []Stretch) time.Duration {
			return r.median(func(p RetellingPair) time.Duration { return side(p)[i].CPU / time.Duration(max(s.Requests, 1)) })
		}
		floor, gateway := each(func(p RetellingPair) []Stretch { return p.Floor }), each(func(p RetellingPair) []Stretch { return p.Gateway })
		fmt.Fprintf(tw, "%d–%d\t%d KiB\t%s\t%s\t%s\t\n", from, from+s.Requests-1, s.Old/max(s.Requests, 1)/1024, micros(floor), micros(gateway), micros(gateway-floor))
		from += s.Requests
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "A KiB of old text: %.2f µs more than the plain proxy; with new texts and all fixed costs %.2f µs\n\n",
		float64(r.Slope())/float64(time.Microsecond), float64(r.Whole())/float64(time.Microsecond))
	return err
}
