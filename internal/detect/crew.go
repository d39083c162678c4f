package detect

import (
	"runtime/debug"
	"slices"
	"sync"
)

// crew is who works on one chunk: the goroutine that scans it, and helpers for as long as there is work for them and a core is idle. Nobody
// waits for a helper to come.
type crew struct {
	cores *cores
	most  int // cores that there are

	mu      sync.Mutex
	change  sync.Cond // for the goroutine that scans: there is work, or none is left
	waits   bool      // it does
	jobs    []job     // that nobody has begun, the heaviest last
	left    int       // jobs that are not done
	over    bool      // nothing more is begun
	failed  *Panic    // of the first helper that did
	helpers sync.WaitGroup
}

// job is a piece of work, and about how long it takes.
type job struct {
	weight int
	do     func()
}

// crew is nil where no core is idle.
func (c *cores) crew() *crew {
	most := c.count()
	if c.busy.Load() >= int64(most) {
		return nil
	}
	k := &crew{cores: c, most: most}
	k.change.L = &k.mu
	return k
}

// add adds a job, which may be begun at once, and calls for help. Jobs may add others.
func (c *crew) add(weight int, do func()) {
	c.mu.Lock()
	i, _ := slices.BinarySearchFunc(c.jobs, weight, func(j job, weight int) int { return j.weight - weight })
	c.jobs = slices.Insert(c.jobs, i, job{weight, do})
	c.left++
	waits := c.waits
	c.waits = false
	c.mu.Unlock()
	if waits {
		c.change.Signal()
		return
	}
	if c.cores.take(c.most) {
		c.helpers.Add(1) // whoever adds is of the crew, so that nobody has seen the last helper go
		go c.help()
	}
}

// next takes the heaviest job; nil where there is none to begin.
func (c *crew) next() (do func()) {
	last := len(c.jobs) - 1
	if last < 0 || c.over {
		return nil
	}
	do = c.jobs[last].do
	c.jobs[last].do = nil
	c.jobs = c.jobs[:last]
	return do
}

// done is told of each job that was begun.
func (c *crew) done() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left--; c.left == 0 || c.over {
		c.change.Signal()
	}
}

// help does what there is to do, and goes; before that, when scans have come that need the core.
func (c *crew) help() {
	defer c.helpers.Done()
	defer c.cores.end()
	for c.cores.busy.Load() <= int64(c.most) {
		c.mu.Lock()
		do := c.next()
		c.mu.Unlock()
		if do == nil {
			return
		}
		c.tried(do)
	}
}

// tried keeps the panic of a helper for the goroutine that scans: here it would end the process.
func (c *crew) tried(do func()) {
	defer c.done()
	defer func() {
		if v := recover(); v != nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.over = true; c.failed == nil {
				c.failed = &Panic{v, debug.Stack()}
			}
		}
	}()
	do()
}

// finish is called by the goroutine that scans. It works until all is done.
func (c *crew) finish() {
	for {
		c.mu.Lock()
		do := c.next()
		for do == nil && c.left > 0 && !c.over {
			c.waits = true
			c.change.Wait()
			do = c.next()
		}
		c.waits = false
		c.mu.Unlock()
		if do == nil {
			break
		}
		do()
		c.done()
	}
	c.dismiss()
	if c.failed != nil {
		panic(c.failed)
	}
}

// dismiss waits until nobody helps any more. What was not begun is left.
func (c *crew) dismiss() {
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
	c.helpers.Wait()
}
