package detect

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
)

// shared is a reading that several look at at once.
type shared struct {
	*Normalized
	text  Text
	tasks []task // by detector
}

// task is what a detector does with a reading. It is over when nothing is left of it, and whoever does the last joins what was found.
type task struct {
	left  atomic.Int64
	join  func() []gatehouse.Finding
	found []gatehouse.Finding
	took  atomic.Int64 // nanoseconds; where somebody asks
}

// partly is a detector whose work on one reading consists of parts that may be done at once. What join tells, behind the last of them, is
// what Detect finds.
type partly interface {
	Detector
	parts(ctx context.Context, t Text, n *Normalized) (parts []part, join func() []gatehouse.Finding)
}

// part is a piece of a detector's work, and about how long it takes, in nanoseconds.
type part struct {
	weight int
	do     func()
}

func (d *division) share(n *Normalized) *shared {
	r := &shared{Normalized: n, text: d.text, tasks: make([]task, len(d.detectors))}
	r.text.Text = n.Original
	for i := range r.tasks {
		r.tasks[i].left.Store(1)
	}
	return r
}

// give hands out what a detector does with a reading.
func (d *division) give(r *shared, detector, weight int) {
	if r.suits(d.detectors[detector].Name()) {
		d.crew.add(weight, func() { d.detect(r, detector) })
	}
}

// detect does what a detector does with a reading. Parts of it are handed out, but for the first.
func (d *division) detect(r *shared, detector int) {
	if d.ctx.Err() != nil {
		return
	}
	start, l := d.clock(), &r.tasks[detector]
	if p, ok := d.detectors[detector].(partly); ok {
		var parts []part
		parts, l.join = p.parts(d.ctx, r.text, r.Normalized)
		l.left.Add(int64(len(parts)))
		for i := len(parts) - 1; i > 0; i-- {
			d.crew.add(parts[i].weight, func() { d.do(r, detector, parts[i]) })
		}
		if len(parts) > 0 {
			parts[0].do()
			l.left.Add(-1)
		}
	} else {
		l.found = d.detectors[detector].Detect(d.ctx, r.text, r.Normalized)
	}
	d.done(r, detector, start)
}

// do does a part of what a detector does with a reading.
func (d *division) do(r *shared, detector int, p part) {
	start := d.clock()
	p.do()
	d.done(r, detector, start)
}

// done is told when something is done of what a detector does with a reading, and when that was begun.
func (d *division) done(r *shared, detector int, start time.Time) {
	l := &r.tasks[detector]
	last := l.left.Add(-1) == 0
	if last && l.join != nil {
		l.found = l.join()
	}
	if d.watch == nil {
		return
	}
	if took := l.took.Add(int64(time.Since(start))); last {
		d.watch(d.detectors[detector].Name(), time.Duration(took))
	}
}
