package webhook

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/seal"
)

const (
	atOnce     = 4                      // attempts of one endpoint at a time: a slow one takes no more of those who send
	senders    = 64                     // attempts at a time in all; each is a goroutine that mostly waits
	pollTime   = 250 * time.Millisecond // how often the chain and the clock are looked at
	gatherTime = 10 * time.Millisecond  // how long an attempt that has ended may wait for others, to be written with them
	leaseTime  = attemptTime + 30*time.Second
	pruneTime  = time.Hour
	pruneSize  = 1000                // events at a time, so that no exchange waits long for the store
	keepTime   = 30 * 24 * time.Hour // how long events and deliveries are kept
)

// Claim asks for deliveries that are due.
type Claim struct {
	Holder     string    // of this claim alone
	Now, Until time.Time // a claim ends by itself at Until, as when its process was killed
	Most       int       // deliveries in all
	Each       int       // deliveries of one endpoint
	Busy       []string  // endpoints to leave alone
}

// Queue keeps deliveries that wait.
type Queue interface {
	// Claim takes deliveries that are due, whose endpoint is enabled, and that nobody else has claimed; the oldest first.
	Claim(ctx context.Context, c Claim) ([]Attempt, error)
	// Settle stores what came of attempts, those apart whose claim somebody else has by now, and counts the failures of
	// their endpoints. It returns the endpoints that were disabled by it.
	Settle(ctx context.Context, list []Result) (disabled []string, err error)
	// Prune removes up to a number of events from before a time, with their deliveries, and says how many.
	Prune(ctx context.Context, before time.Time, most int) (int, error)
}

// Dispatcher tells the endpoints what the audit chain says. Several may run on one store, in one process or in many. Its fields are
// set before Run.
type Dispatcher struct {
	Chain   Chain
	Outbox  Outbox
	Queue   Queue
	Box     *seal.Box
	Targets Targets
	Log     *slog.Logger
	Now     func() time.Time // nil: time.Now
}

// Run delivers until the context ends. Attempts that run then are broken off and made again by whoever is next.
func (d *Dispatcher) Run(ctx context.Context) {
	r := d.begin()
	defer r.leave(ctx)
	tick := time.NewTicker(pollTime)
	defer tick.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			err = r.look(ctx)
		case first := <-r.done:
			err = r.gather(ctx, first)
		}
		r.report(ctx, errors.Join(err, r.claim(ctx)))
	}
}

// round is the state of one run. It belongs to one goroutine; attempts are others, which answer on done.
type round struct {
	d       *Dispatcher
	tail    tail
	sender  sender
	busy    map[string]int // attempts that run, by endpoint
	running int
	done    chan Result
	prune   time.Time // when to prune next
	told    time.Time // when an error was logged last
}

func (d *Dispatcher) begin() *round {
	now := d.Now
	if now == nil {
		now = time.Now
	}
	return &round{
		d: d, tail: tail{chain: d.Chain, outbox: d.Outbox, log: d.Log},
		sender: sender{client: d.Targets.client(), box: d.Box, limit: attemptTime, now: func() time.Time { return now().UTC() }},
		busy:   map[string]int{}, done: make(chan Result, senders),
	}
}

// look reads what is new in the chain, and removes what is old.
func (r *round) look(ctx context.Context) (err error) {
	for more := true; more && ctx.Err() == nil; {
		if more, err = r.tail.step(ctx, r.sender.now()); err != nil {
			return err
		}
	}
	now := r.sender.now()
	if now.Before(r.prune) {
		return nil
	}
	n, err := r.d.Queue.Prune(ctx, now.Add(-keepTime), pruneSize)
	if err == nil && n < pruneSize {
		r.prune = now.Add(pruneTime)
	}
	return err
}

// claim takes what is due, as far as there are hands for it, and begins the attempts.
func (r *round) claim(ctx context.Context) error {
	if r.running == senders {
		return nil
	}
	now := r.sender.now()
	c := Claim{Holder: newID(""), Now: now, Until: now.Add(leaseTime), Most: senders - r.running, Each: atOnce}
	for id := range r.busy {
		c.Busy = append(c.Busy, id)
	}
	list, err := r.d.Queue.Claim(ctx, c)
	if err != nil {
		return err
	}
	for _, a := range list {
		r.running++
		r.busy[a.Endpoint.ID]++
		go func() { r.done <- r.sender.make(ctx, a) }()
	}
	return nil
}

// gather waits a little for more attempts to end and writes all of them at once.
func (r *round) gather(ctx context.Context, first Result) error {
	list := []Result{r.ended(first)}
	time.Sleep(gatherTime)
	for {
		select {
		case next := <-r.done:
			list = append(list, r.ended(next))
			continue
		default:
		}
		return r.settle(ctx, list)
	}
}

func (r *round) ended(res Result) Result {
	r.running--
	if r.busy[res.Endpoint.ID]--; r.busy[res.Endpoint.ID] == 0 {
		delete(r.busy, res.Endpoint.ID)
	}
	return res
}

// settle writes what came of attempts, also when the context has ended: it saves those that were made from being made twice. Where
// that fails their claims run out, and they are made again.
func (r *round) settle(ctx context.Context, list []Result) error {
	disabled, err := r.d.Queue.Settle(context.WithoutCancel(ctx), list)
	for _, id := range disabled {
		r.d.Log.Warn("a webhook was disabled: its endpoint fails", "webhook", id)
	}
	return err
}

// leave waits for the attempts, which end with the context, and writes what came of them.
func (r *round) leave(ctx context.Context) {
	var list []Result
	for r.running > 0 {
		list = append(list, r.ended(<-r.done))
	}
	if len(list) > 0 {
		r.report(context.WithoutCancel(ctx), r.settle(ctx, list))
	}
	r.sender.client.CloseIdleConnections()
}

// report logs an error of the store, at most once a minute.
func (r *round) report(ctx context.Context, err error) {
	if err == nil || ctx.Err() != nil || time.Since(r.told) < time.Minute {
		return
	}
	r.told = time.Now()
	r.d.Log.Error("webhooks are held up", "error", err)
}
