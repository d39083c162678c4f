package webhook

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/identity"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

// batch is how many records are read at once, and how far the stored cursor may stay behind where there was nothing to tell: a
// gateway without webhooks pays one commit for so many records.
const batch = 256

// Chain is where events come from.
type Chain interface {
	// Entries are the entries of the audit chain from a sequence number on. It ends after the first error.
	Entries(ctx context.Context, from int64) iter.Seq2[audit.Entry, error]
	// AgentByID finds an agent, a deleted one too; ok is false when there is none.
	AgentByID(ctx context.Context, id string) (a session.Agent, ok bool, err error)
	Head(ctx context.Context) (audit.Head, error)
}

// Outbox keeps events and how far the chain was told.
type Outbox interface {
	// Cursor is the sequence number of the last record that was told.
	Cursor(ctx context.Context) (int64, error)
	// Subscribers are the endpoints of all accounts, disabled ones too.
	Subscribers(ctx context.Context) ([]Endpoint, error)
	// Advance moves the cursor and stores events and deliveries in the same transaction. When the cursor is not at from, somebody
	// else was faster: nothing happens and ok is false. Deliveries to endpoints that are gone are left out.
	Advance(ctx context.Context, from, to int64, events []Event, deliveries []Delivery) (ok bool, err error)
}

// tail reads the chain and puts into the outbox what endpoints ask for. Several processes may do so on one store.
type tail struct {
	chain  Chain
	outbox Outbox
	log    *slog.Logger

	begun  bool
	stored int64 // the cursor as it is in the store
	at     int64 // the last record that was read: up to there nobody has asked for anything
}

// step reads one batch. more is true when there may be another one.
func (t *tail) step(ctx context.Context, now time.Time) (more bool, err error) {
	if !t.begun {
		if t.stored, err = t.outbox.Cursor(ctx); err != nil {
			return false, err
		}
		t.begun, t.at = true, t.stored
	}
	// The end of the chain before the endpoints, and no further than that: an endpoint that is made meanwhile, and not seen
	// here, wants nothing of what was there before it.
	head, err := t.chain.Head(ctx)
	if err != nil || head.Seq <= t.at {
		return false, err
	}
	endpoints, err := t.outbox.Subscribers(ctx)
	if err != nil {
		return false, err
	}
	var p parcel
	more, last := false, head.Seq
	if len(endpoints) > 0 { // otherwise nobody needs to read what it says
		entries, err := t.read(ctx, head.Seq)
		if err != nil || len(entries) == 0 {
			return false, err
		}
		if p, err = t.pack(ctx, entries, endpoints, now); err != nil {
			return false, err
		}
		more, last = len(entries) == batch, entries[len(entries)-1].Seq
	}
	if len(p.events) == 0 && last-t.stored < batch {
		t.at = last
		return more, nil
	}
	ok, err := t.outbox.Advance(ctx, t.stored, last, p.events, p.deliveries)
	if err != nil {
		return false, err
	}
	if !ok {
		t.begun = false
		return true, nil
	}
	t.stored, t.at = last, last
	return more, nil
}

// read reads entries up to and including one.
func (t *tail) read(ctx context.Context, end int64) (list []audit.Entry, err error) {
	for e, err := range t.chain.Entries(ctx, t.at+1) {
		if err != nil {
			return nil, err
		}
		if list = append(list, e); len(list) == batch || e.Seq >= end {
			break
		}
	}
	return list, nil
}

// parcel is what becomes of a batch.
type parcel struct {
	events     []Event
	deliveries []Delivery
}

func (t *tail) pack(ctx context.Context, entries []audit.Entry, endpoints []Endpoint, now time.Time) (p parcel, err error) {
	accounts := map[string]string{}
	for _, entry := range entries {
		r, err := entry.Decode()
		if err != nil {
			// Verification of the chain names it; what follows is not held up.
			t.log.Error("an audit record cannot be read: webhooks do not hear of it", "seq", entry.Seq, "error", err)
			continue
		}
		events, err := Derive(r, "")
		if err != nil {
			return parcel{}, err
		}
		if len(events) == 0 {
			continue
		}
		account, err := t.account(ctx, r, accounts)
		if err != nil {
			return parcel{}, err
		}
		for _, ev := range events {
			ev.Account = account
			p.add(ev, entry.Seq, endpoints, now)
		}
	}
	return p, nil
}

// add takes an event in when an endpoint asks for it. While that is disabled nothing is sent, but the event can be replayed.
func (p *parcel) add(ev Event, seq int64, endpoints []Endpoint, now time.Time) {
	wanted := false
	for _, e := range endpoints {
		if e.Account != ev.Account || seq <= e.After || !e.gets(ev) {
			continue
		}
		if wanted = true; !e.Disabled {
			p.deliveries = append(p.deliveries, newDelivery(e, ev, now))
		}
	}
	if wanted {
		p.events = append(p.events, ev)
	}
}

// account is whose a record's events are: of the key that was shown; what the administrator does, and what is done without a key,
// is the affair of the agent's account.
func (t *tail) account(ctx context.Context, r audit.Record, known map[string]string) (string, error) {
	if r.Account != "" && r.Key != identity.AdminID {
		return r.Account, nil
	}
	account, agent := cmp.Or(r.Account, identity.DefaultAccount), r.Subject()
	if agent == "" {
		return account, nil
	}
	if account, ok := known[agent]; ok {
		return account, nil
	}
	a, ok, err := t.chain.AgentByID(ctx, agent)
	if err != nil {
		return "", fmt.Errorf("find the account of a record: %w", err)
	}
	if ok && a.Account != "" {
		account = a.Account
	}
	known[agent] = account
	return account, nil
}
