package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/seal"
)

// maxEndpoints is how many an account may have: it bounds what one account takes of those who send.
const maxEndpoints = 20

// The errors that callers can tell apart, besides [*Invalid].
var (
	ErrUnknown         = errors.New("there is no such webhook")
	ErrUnknownDelivery = errors.New("there is no such delivery")
	ErrDisabled        = errors.New("the webhook is disabled")
	ErrTooMany         = fmt.Errorf("an account has at most %d webhooks", maxEndpoints)
)

// Endpoints keeps endpoints. An empty account means every account.
type Endpoints interface {
	// AddWebhook stores a new endpoint, with After as the end of the chain is now, and returns it as it is stored.
	AddWebhook(ctx context.Context, e Endpoint) (Endpoint, error)
	// PutWebhook stores what has changed of an endpoint: URL, description, types, secret, whether it is disabled, failures.
	PutWebhook(ctx context.Context, e Endpoint) error
	// DeleteWebhook removes an endpoint with its deliveries; ok is false when there is none.
	DeleteWebhook(ctx context.Context, account, id string) (ok bool, err error)
	// Webhook finds an endpoint; ok is false when there is none.
	Webhook(ctx context.Context, account, id string) (e Endpoint, ok bool, err error)
	// Webhooks lists endpoints, oldest first, and counts them.
	Webhooks(ctx context.Context, account string, limit, offset int) (list []Endpoint, total int, err error)
}

// Deliveries keeps what was and will be sent. An empty account means every account.
type Deliveries interface {
	// WebhookDelivery finds a delivery of an endpoint; ok is false when there is none.
	WebhookDelivery(ctx context.Context, webhook, id string) (d Delivery, ok bool, err error)
	// WebhookDeliveries lists the deliveries of an endpoint, newest first, and counts them: those in a state, or all when it
	// is empty.
	WebhookDeliveries(ctx context.Context, webhook string, state State, limit, offset int) (list []Delivery, total int, err error)
	// WebhookEvent finds an event; ok is false when there is none.
	WebhookEvent(ctx context.Context, account, id string) (e Event, ok bool, err error)
	// AddDelivery stores a new delivery.
	AddDelivery(ctx context.Context, d Delivery) error
}

// Registry makes and changes endpoints and asks for deliveries again. Secrets leave it once, when they are made. An empty account
// means every account; what is another account's is [ErrUnknown].
type Registry struct {
	Endpoints  Endpoints
	Deliveries Deliveries
	Transact   func(ctx context.Context, do func(context.Context) error) error // one transaction of the store
	Box        *seal.Box
	Targets    Targets
	Now        func() time.Time // nil: time.Now
}

// Create makes an endpoint and its signing secret, which is kept sealed and cannot be had again. URL must be there; without types
// nothing is sent. The error is [*Invalid] or [ErrTooMany] where the caller is wrong.
func (r *Registry) Create(ctx context.Context, account string, s Spec) (e Endpoint, secret string, err error) {
	now := r.now()
	e, secret = Endpoint{ID: newID("whe-"), Account: account, Created: now}, newSecret()
	if s.URL == nil {
		return Endpoint{}, "", &Invalid{"url", "is missing"}
	}
	if err := r.apply(&e, s); err != nil {
		return Endpoint{}, "", err
	}
	e.Updated, e.Sealed = now, r.Box.Seal([]byte(secret), e.owner())
	err = r.Transact(ctx, func(ctx context.Context) error {
		_, total, err := r.Endpoints.Webhooks(ctx, account, 1, 0)
		if err != nil {
			return err
		}
		if total >= maxEndpoints {
			return ErrTooMany
		}
		e, err = r.Endpoints.AddWebhook(ctx, e)
		return err
	})
	if err != nil {
		return Endpoint{}, "", err
	}
	return e, secret, nil
}

// Change changes an endpoint. One that is enabled again begins without failures; what waited for it is sent. The error is
// [ErrUnknown] or [*Invalid] where the caller is wrong. Of an endpoint of the configuration only whether it is disabled can be changed.
func (r *Registry) Change(ctx context.Context, account, id string, s Spec) (Endpoint, error) {
	return r.change(ctx, account, id, func(e *Endpoint) error {
		if s.URL != nil || s.Description != nil || s.EventTypes != nil {
			if err := e.fixed(); err != nil {
				return err
			}
		}
		return r.apply(e, s)
	})
}

// Rotate gives an endpoint a new signing secret. From then on every attempt is signed with the new one alone.
func (r *Registry) Rotate(ctx context.Context, account, id string) (e Endpoint, secret string, err error) {
	secret = newSecret()
	e, err = r.change(ctx, account, id, func(e *Endpoint) error {
		if err := e.fixed(); err != nil {
			return err
		}
		e.Sealed = r.Box.Seal([]byte(secret), e.owner())
		return nil
	})
	if err != nil {
		return Endpoint{}, "", err
	}
	return e, secret, nil
}

// Find finds an endpoint. The error is [ErrUnknown] when there is none.
func (r *Registry) Find(ctx context.Context, account, id string) (Endpoint, error) {
	e, ok, err := r.Endpoints.Webhook(ctx, account, id)
	if err == nil && !ok {
		err = ErrUnknown
	}
	return e, err
}

// Delete removes an endpoint with its deliveries. The error is [ErrUnknown] when there is none, and [*Invalid] for one of the
// configuration.
func (r *Registry) Delete(ctx context.Context, account, id string) error {
	return r.Transact(ctx, func(ctx context.Context) error {
		e, err := r.Find(ctx, account, id)
		if err == nil {
			err = e.fixed()
		}
		if err != nil {
			return err
		}
		_, err = r.Endpoints.DeleteWebhook(ctx, account, id)
		return err
	})
}

// Sent lists the deliveries of an endpoint as [Deliveries] does. The error is [ErrUnknown] when there is no such endpoint.
func (r *Registry) Sent(ctx context.Context, account, id string, state State, limit, offset int) ([]Delivery, int, error) {
	if _, err := r.Find(ctx, account, id); err != nil {
		return nil, 0, err
	}
	return r.Deliveries.WebhookDeliveries(ctx, id, state, limit, offset)
}

// Redeliver sends the event of a delivery once more, as a new delivery whose first attempt is due at once. The error is [ErrUnknown],
// [ErrUnknownDelivery] or [ErrDisabled] where the caller is wrong.
func (r *Registry) Redeliver(ctx context.Context, account, webhook, delivery string) (d Delivery, err error) {
	err = r.Transact(ctx, func(ctx context.Context) error {
		e, err := r.Find(ctx, account, webhook)
		if err != nil {
			return err
		}
		was, ok, err := r.Deliveries.WebhookDelivery(ctx, webhook, delivery)
		switch {
		case err != nil:
			return err
		case !ok:
			return ErrUnknownDelivery
		case e.Disabled:
			return ErrDisabled
		}
		d = newDelivery(e, Event{ID: was.Event, Type: was.Type}, r.now())
		return r.Deliveries.AddDelivery(ctx, d)
	})
	if err != nil {
		return Delivery{}, err
	}
	return d, nil
}

// Replay sends an event once more to every endpoint that asks for it now, and returns the new deliveries. The error is
// [ErrUnknown] when there is no such event.
func (r *Registry) Replay(ctx context.Context, account, event string) (list []Delivery, err error) {
	err = r.Transact(ctx, func(ctx context.Context) error {
		ev, ok, err := r.Deliveries.WebhookEvent(ctx, account, event)
		if err != nil {
			return err
		}
		if !ok {
			return ErrUnknown
		}
		endpoints, _, err := r.Endpoints.Webhooks(ctx, ev.Account, 2*maxEndpoints, 0) // as many may be configured besides
		if err != nil {
			return err
		}
		for _, e := range endpoints {
			if e.Disabled || !e.gets(ev) {
				continue
			}
			d := newDelivery(e, ev, r.now())
			if err := r.Deliveries.AddDelivery(ctx, d); err != nil {
				return err
			}
			list = append(list, d)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// change reads, changes and stores an endpoint in one transaction.
func (r *Registry) change(ctx context.Context, account, id string, do func(*Endpoint) error) (e Endpoint, err error) {
	err = r.Transact(ctx, func(ctx context.Context) error {
		if e, err = r.Find(ctx, account, id); err != nil {
			return err
		}
		if err := do(&e); err != nil {
			return err
		}
		e.Updated = r.now()
		return r.Endpoints.PutWebhook(ctx, e)
	})
	if err != nil {
		return Endpoint{}, err
	}
	return e, nil
}

// now is the time as it is stored and shown.
func (r *Registry) now() time.Time {
	now := r.Now
	if now == nil {
		now = time.Now
	}
	return now().UTC().Truncate(time.Millisecond)
}
