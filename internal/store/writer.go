package store

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

const (
	queueSize  = 1024                   // items that may wait; beyond it callers wait, nothing is dropped
	batchSize  = 256                    // items of one transaction: bounds what a failed commit holds up
	batchDelay = 50 * time.Millisecond  // how long an item that nobody waits for may wait for others: half of the promised 100 ms
	retryDelay = 200 * time.Millisecond // how long to wait before a database that could not write is tried again
)

// item is one thing to be committed: a record, or work. Without either it commits nothing, but is answered after all items before
// it.
type item struct {
	record audit.Record
	raw    []byte // the record encoded; nil without one
	update *session.Update
	work   *work      // nil: none
	done   chan error // buffered; nil when nobody waits
}

// writer is the one goroutine that writes records. It commits what has gathered in one transaction (group commit), so that
// one flush of the disk serves all who wait for it.
type writer struct {
	db       *sql.DB
	put      statements
	rejected func(error) bool
	queue    chan item
	quit     chan struct{} // closed when the store closes: nobody is let in, nobody waits for room
	finished chan struct{} // closed when the writer is gone
	kept     []item        // accepted, could not be written, to be tried again; the writer's own

	entering sync.RWMutex // held for reading while an item enters the queue
	leaving  bool

	mu      sync.Mutex
	last    time.Time      // when a commit has last succeeded
	failure error          // why the last commit failed; nil after one that did not
	refused error          // why an accepted record was refused for good
	pending map[string]int // by agent id and agent hash: updates that reads cannot see yet
}

func startWriter(ctx context.Context, db *sql.DB, d dialect) (*writer, error) {
	put, err := prepare(ctx, db)
	if err != nil {
		return nil, err
	}
	w := &writer{
		db: db, put: put, rejected: d.rejected,
		queue: make(chan item, queueSize), quit: make(chan struct{}), finished: make(chan struct{}),
		pending: map[string]int{},
	}
	go w.run()
	return w, nil
}

// enter queues an item and waits for room.
func (w *writer) enter(ctx context.Context, it item) error {
	w.entering.RLock()
	defer w.entering.RUnlock()
	if w.leaving {
		return ErrClosed
	}
	w.expect(it.update, 1)
	select {
	case w.queue <- it:
		return nil
	case <-ctx.Done():
		w.expect(it.update, -1)
		return ctx.Err()
	case <-w.quit:
		w.expect(it.update, -1)
		return ErrClosed
	}
}

// settle waits until everything that entered before it is committed.
func (w *writer) settle(ctx context.Context) error {
	if w.failing() {
		return w.err()
	}
	it := item{done: make(chan error, 1)}
	if err := w.enter(ctx, it); err != nil {
		return err
	}
	return wait(ctx, it.done)
}

func wait(ctx context.Context, done <-chan error) error {
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stop lets the writer commit what is queued and waits for its end.
func (w *writer) stop() error {
	close(w.quit)
	w.entering.Lock()
	w.leaving = true
	w.entering.Unlock()
	close(w.queue)
	<-w.finished
	if n := len(w.kept); n > 0 {
		return fmt.Errorf("%d accepted records are not written: %w", n, w.err())
	}
	return nil
}

func (w *writer) err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refused != nil {
		return w.refused
	}
	return w.failure
}

func (w *writer) run() {
	defer close(w.finished)
	defer w.put.close()
	for open := true; open; {
		var batch []item
		batch, open = w.collect()
		w.commit(batch)
		if w.failing() && w.stopping() {
			w.abandon()
			return
		}
	}
}

func (w *writer) stopping() bool {
	select {
	case <-w.quit:
		return true
	default:
		return false
	}
}

// abandon empties the queue of a store that closes while it cannot write.
func (w *writer) abandon() {
	for it := range w.queue {
		if it.done != nil {
			it.done <- w.err()
		} else {
			w.kept = append(w.kept, it)
		}
	}
}

// collect gathers the next batch: what is kept, and what comes until somebody waits for the commit, the batch is full, or the
// oldest item has waited long enough. open is false when the queue is closed and empty.
func (w *writer) collect() (batch []item, open bool) {
	batch, w.kept = w.kept, nil
	limit := batchSize
	if w.failing() {
		// Those who wait shall hear of it, so more is taken than one transaction should have.
		limit = queueSize
		w.pause()
	} else if len(batch) == 0 {
		it, ok := <-w.queue
		if !ok {
			return nil, false
		}
		batch = append(batch, it)
	}
	timer := time.NewTimer(batchDelay)
	defer timer.Stop()
	for len(batch) < limit && !urgent(batch) && !w.failing() {
		select {
		case it, ok := <-w.queue:
			if !ok {
				return batch, false
			}
			batch = append(batch, it)
		case <-timer.C:
			return batch, true
		}
	}
	for len(batch) < limit {
		select {
		case it, ok := <-w.queue:
			if !ok {
				return batch, false
			}
			batch = append(batch, it)
		default:
			return batch, true
		}
	}
	return batch, true
}

// urgent reports whether somebody waits for the newest item; older ones have been looked at before.
func urgent(batch []item) bool { return len(batch) > 0 && batch[len(batch)-1].done != nil }

func (w *writer) pause() {
	select {
	case <-time.After(retryDelay):
	case <-w.quit:
	}
}

func (w *writer) failing() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failure != nil
}

// commit writes a batch and answers those who wait. When the database refuses an item, the items are written one by one, so that
// only that one fails. When the database cannot write, those who wait are told, and the others are kept: they were
// accepted.
func (w *writer) commit(batch []item) {
	err := w.transact(batch)
	if err != nil && w.rejected(err) && len(batch) > 1 {
		for i := range batch {
			w.commit(batch[i : i+1])
		}
		return
	}
	w.note(batch, err)
	for _, it := range batch {
		switch {
		case it.done != nil:
			w.expect(it.update, -1)
			it.done <- err
		case err != nil && !w.rejected(err):
			w.kept = append(w.kept, it)
		default:
			w.expect(it.update, -1)
		}
	}
}

// note remembers how a commit went.
func (w *writer) note(batch []item, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err == nil:
		w.failure = nil
		if carries(batch) {
			w.last = time.Now()
		}
	case !w.rejected(err) || len(batch) == 0:
		w.failure = fmt.Errorf("write audit records: %w", err)
	case batch[0].done == nil:
		w.refused = fmt.Errorf("an accepted audit record was refused: %w", err)
	}
}

// transact commits a batch in one transaction. The head is read under the write lock, so that two processes on one database
// make one chain.
func (w *writer) transact(batch []item) error {
	if !w.failing() && !carries(batch) {
		return nil
	}
	ctx := context.Background()
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	put := w.put.in(ctx, tx)
	head, err := put.readHead(ctx)
	if err != nil {
		return err
	}
	for _, it := range batch {
		if it.work != nil {
			if head, err = it.work.in(ctx, tx, put, head); err != nil {
				return err
			}
		}
		if it.raw == nil {
			continue
		}
		e, err := put.item(ctx, head, it)
		if err != nil {
			return err
		}
		head = head.Next(e)
	}
	// Without a record too: that is how a database that could not write is tried again.
	if err := put.finish(ctx, head); err != nil {
		return err
	}
	return tx.Commit()
}

func carries(batch []item) bool {
	for _, it := range batch {
		if it.raw != nil || it.work != nil {
			return true
		}
	}
	return false
}

// expect counts the updates that are queued, by n.
func (w *writer) expect(u *session.Update, n int) {
	if u == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range [2]string{u.Agent.ID, u.Agent.Hash} {
		if w.pending[key] += n; w.pending[key] == 0 {
			delete(w.pending, key)
		}
	}
}

// wrote reports whether a commit has succeeded just now: no look at the database says more about the next one.
func (w *writer) wrote() bool {
	const justNow = 100 * time.Millisecond
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Since(w.last) < justNow
}

// owes reports whether updates of an agent, named by its id or its hash, are queued.
func (w *writer) owes(agent string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pending[agent] > 0
}

// Append adds a record to the chain, and to its session what the exchange adds to it, in one transaction; u may be nil.
//
// With durable it returns when both have reached the disk, or with the reason why not. When ctx ends first, it returns
// the context's error and the record may still be written. Without durable it returns when the record is queued, waiting for room
// if there is none, and the record is committed within 100 ms; if that fails it is tried again for as long as the
// store is open, and [Store.Err] says so meanwhile.
//
// Within [Store.Transact] the record is part of the transaction, and durable when that is committed.
//
// When two exchanges made the same agent at once, the one that is stored wins: the record then bears its id, not the id that r has.
func (s *Store) Append(ctx context.Context, r audit.Record, u *session.Update, durable bool) error {
	if s.writer == nil {
		return ErrReadOnly
	}
	raw, err := r.Encode()
	if err != nil {
		return err
	}
	it := item{record: r, raw: raw, update: u}
	if tx := transaction(ctx); tx != nil {
		return s.appendIn(ctx, tx, it)
	}
	if !durable {
		return s.writer.enter(ctx, it)
	}
	// While nothing can be written, nobody is made to wait to hear it.
	if s.writer.failing() {
		return s.Err()
	}
	it.done = make(chan error, 1)
	if err := s.writer.enter(ctx, it); err != nil {
		return err
	}
	if err := wait(ctx, it.done); err != nil {
		return fmt.Errorf("append audit record: %w", s.explain(err))
	}
	return nil
}
