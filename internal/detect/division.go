package detect

import (
	"context"
	"math"
	"sync"

	"github.com/gatehouse-gateway/gatehouse"
)

// division is the work on one chunk, divided among a crew: detectors look at a reading while others are decoded. It finds what [Set.view]
// finds in one reading after the other, in that order. Where one leaves something for another it keeps the order: patterns count phrases
// from reading to reading, the linear detector is told what is payload anyway, and secrets are looked for where decoding has seen their words.
type division struct {
	*Set
	ctx  context.Context //nolint:containedctx // it lives as long as the call
	text Text
	crew *crew

	patterns, linear, secrets int // where they stand in the set; -1: nowhere

	readings []*shared // in order; for the goroutine that scans alone

	mu       sync.Mutex
	waiting  []*shared // those that patterns have not seen
	counting bool      // somebody is at it
}

// divide is nil where one goroutine is to scan a chunk of some bytes.
func (s *Set) divide(ctx context.Context, t Text, size int) *division {
	if s.cores == nil || size < s.cores.from {
		return nil
	}
	d := &division{Set: s, ctx: ctx, text: t, patterns: -1, linear: -1, secrets: -1}
	if !d.ordered() {
		return nil
	}
	if d.crew = s.cores.crew(); d.crew == nil {
		return nil
	}
	return d
}

// ordered finds those that leave something for others. It reports whether they stand in the set as they do in [Default].
func (d *division) ordered() bool {
	for i, detector := range d.detectors {
		var place *int
		switch detector.(type) {
		case *patterns:
			place = &d.patterns
		case *linear:
			place = &d.linear
		case *secrets:
			place = &d.secrets
		default:
			continue
		}
		if *place >= 0 {
			return false
		}
		*place = i
	}
	return d.linear < 0 || d.linear > d.patterns
}

// finish works until all is done.
func (d *division) finish() {
	if d != nil {
		d.crew.finish()
	}
}

// found is what was found in the i-th reading.
func (d *division) found(i int) []gatehouse.Finding {
	var all []gatehouse.Finding
	for k := range d.detectors {
		all = append(all, d.readings[i].tasks[k].found...)
	}
	return all
}

// end waits for those who still work, if something went wrong.
func (d *division) end() {
	if d != nil {
		d.crew.dismiss()
	}
}

// Rough weights of work, in nanoseconds: for a byte, and for a word that may name a secret.
const (
	weightByte   = 4
	weightLinear = 16
	weightWord   = 800
)

// begun is told of each reading when it is there. What is found out about it once is found out before several look. Sentences are weighed
// before patterns have seen them, and forgotten if they turn out to be payload anyway.
func (d *division) begun(n *Normalized) {
	if d == nil {
		return
	}
	n.unescaped()
	r := d.share(n)
	d.readings = append(d.readings, r)
	if d.patterns >= 0 {
		if d.linear >= 0 {
			r.tasks[d.linear].left.Add(1)
		}
		d.queue(r)
	}
	for i := range d.detectors {
		switch i {
		case d.patterns, d.secrets:
		case d.linear:
			d.give(r, i, weightLinear*len(n.Text))
		default:
			d.give(r, i, weightByte*len(n.Original))
		}
	}
}

// decoded is told of the i-th reading when all is known that decoding finds out about it.
func (d *division) decoded(i int) {
	if d != nil && d.secrets >= 0 {
		r := d.readings[i]
		d.give(r, d.secrets, weightWord*len(r.stands)+len(r.Original))
	}
}

// queue has patterns see a reading, behind those before it. Others wait for that, so nothing comes before it.
func (d *division) queue(r *shared) {
	d.mu.Lock()
	d.waiting = append(d.waiting, r)
	idle := !d.counting
	d.counting = true
	d.mu.Unlock()
	if idle {
		d.crew.add(math.MaxInt, d.count)
	}
}

// count lets patterns see the readings that wait. The linear detector waits for that.
func (d *division) count() {
	for r := d.first(); r != nil; r = d.first() {
		d.detect(r, d.patterns)
		if d.linear >= 0 {
			d.done(r, d.linear, d.clock())
		}
	}
}

// first takes the first of the readings that wait.
func (d *division) first() *shared {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.counting = len(d.waiting) > 0; !d.counting {
		return nil
	}
	r := d.waiting[0]
	d.waiting = d.waiting[1:]
	return r
}
