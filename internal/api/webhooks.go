package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/identity"
	"github.com/gatehouse-gateway/gatehouse/internal/surface"
	"github.com/gatehouse-gateway/gatehouse/internal/webhook"
)

func (a *API) webhookRoutes() []route {
	return []route{
		{method: "POST", path: "/v1/webhooks", scope: identity.Write, do: a.createWebhook, change: true},
		{method: "GET", path: "/v1/webhooks", scope: identity.Read, do: a.listWebhooks},
		{method: "GET", path: "/v1/webhooks/{id}", scope: identity.Read, do: a.getWebhook},
		{method: "PATCH", path: "/v1/webhooks/{id}", scope: identity.Write, do: a.changeWebhook, change: true},
		{method: "DELETE", path: "/v1/webhooks/{id}", scope: identity.Write, do: a.deleteWebhook, change: true},
		{method: "POST", path: "/v1/webhooks/{id}/rotate", scope: identity.Write, do: a.rotateWebhook, change: true},
		{method: "POST", path: "/v1/webhooks/{id}/test", scope: identity.Write, do: a.testWebhook, change: true},
		{method: "GET", path: "/v1/webhooks/{id}/deliveries", scope: identity.Read, do: a.listDeliveries},
		{method: "POST", path: "/v1/webhooks/{id}/deliveries/{delivery}/redeliver", scope: identity.Write, do: a.redeliver, change: true},
		{method: "POST", path: "/v1/webhooks/events/{event}/replay", scope: identity.Write, do: a.replayEvent, change: true},
	}
}

// webhookBody is an endpoint on the wire.
type webhookBody struct {
	ID          string       `json:"id"`
	Account     string       `json:"account"`
	URL         string       `json:"url"`
	Description string       `json:"description"`
	EventTypes  []string     `json:"event_types"`
	Disabled    bool         `json:"disabled"`
	Why         *webhook.Why `json:"disabled_reason"`
	Failures    int          `json:"failures"` // in a row
	Created     time.Time    `json:"created_at"`
	Updated     time.Time    `json:"updated_at"`
	Secret      string       `json:"signing_secret,omitempty"` // shown once, when it is made
}

func webhookShape(e webhook.Endpoint) webhookBody {
	b := webhookBody{ID: e.ID, Account: e.Account, URL: e.URL, Description: e.Description, EventTypes: list(e.EventTypes),
		Disabled: e.Disabled, Failures: e.Failures, Created: e.Created, Updated: e.Updated}
	if e.Disabled {
		b.Why = &e.Why
	}
	return b
}

// deliveryBody is a delivery on the wire.
type deliveryBody struct {
	ID         string         `json:"id"`
	Webhook    string         `json:"webhook_id"`
	Event      string         `json:"event_id"`
	Type       string         `json:"event_type"`
	State      webhook.State  `json:"state"`
	Attempts   int            `json:"attempts"`
	NextAt     *time.Time     `json:"next_attempt_at"`
	LastStatus *int           `json:"last_status"`
	LastError  *webhook.Fault `json:"last_error"`
	Created    time.Time      `json:"created_at"`
	Updated    time.Time      `json:"updated_at"`
}

func deliveryShape(d webhook.Delivery) deliveryBody {
	b := deliveryBody{ID: d.ID, Webhook: d.Webhook, Event: d.Event, Type: d.Type, State: d.State, Attempts: d.Attempts,
		NextAt: optional(d.NextAt), Created: d.Created, Updated: d.Updated}
	if d.LastStatus != 0 {
		b.LastStatus = &d.LastStatus
	}
	if d.LastError != "" {
		b.LastError = &d.LastError
	}
	return b
}

func deliveryShapes(list []webhook.Delivery) []deliveryBody {
	shapes := []deliveryBody{}
	for _, d := range list {
		shapes = append(shapes, deliveryShape(d))
	}
	return shapes
}

// hearing is whose webhooks the caller may see; empty: everyone's. They hear of all agents of their account, so that a key for some
// of these has none of them.
func (r *request) hearing() (account string, err error) {
	if len(r.who.Agents) > 0 {
		return "", surface.Failure(http.StatusForbidden, "insufficient_scope", "webhooks hear of every agent of the account, and this key is for some of them")
	}
	return r.account(), nil
}

// webhookError is what a caller hears of an error of the registry.
func webhookError(err error) error {
	var wrong *webhook.Invalid
	switch {
	case errors.As(err, &wrong):
		return invalid(wrong.Field, wrong.Reason)
	case errors.Is(err, webhook.ErrUnknown):
		return notFound("webhook")
	case errors.Is(err, webhook.ErrUnknownDelivery):
		return notFound("delivery")
	case errors.Is(err, webhook.ErrTooMany):
		return surface.Failure(http.StatusConflict, "webhook_limit", webhook.ErrTooMany.Error())
	case errors.Is(err, webhook.ErrDisabled):
		return surface.Failure(http.StatusConflict, "webhook_disabled", "this webhook is disabled: enable it first")
	}
	return err
}

func (a *API) createWebhook(ctx context.Context, r *request) (answer, error) {
	if _, err := r.hearing(); err != nil {
		return answer{}, err
	}
	var body struct {
		Account     string    `json:"account"`
		URL         *string   `json:"url"`
		Description *string   `json:"description"`
		EventTypes  *[]string `json:"event_types"`
		Disabled    *bool     `json:"disabled"`
	}
	if err := r.decode(&body); err != nil {
		return answer{}, err
	}
	if body.Account == "" {
		body.Account = r.who.Account
	}
	switch {
	case !identity.ValidAccount(body.Account):
		return answer{}, invalid("account", "must be 1 to 32 lower-case letters, digits and hyphens")
	case body.Account != r.who.Account && !r.who.Root:
		return answer{}, surface.Failure(http.StatusForbidden, "insufficient_scope", "only the administrator's token makes webhooks of other accounts")
	}
	e, secret, err := a.Webhooks.Create(ctx, body.Account, webhook.Spec{URL: body.URL, Description: body.Description,
		EventTypes: body.EventTypes, Disabled: body.Disabled})
	if err != nil {
		return answer{}, webhookError(err)
	}
	r.X.Account = e.Account // what the administrator does to a webhook is the affair of its account
	shape := webhookShape(e)
	shape.Secret = secret
	return answer{http.StatusCreated, "webhook/v1", shape}, r.did("webhook.created", e.ID, nil)
}

func (a *API) listWebhooks(ctx context.Context, r *request) (answer, error) {
	account, err := r.hearing()
	if err != nil {
		return answer{}, err
	}
	p, err := r.page()
	if err != nil {
		return answer{}, err
	}
	found, total, err := a.Webhooks.Endpoints.Webhooks(ctx, account, p.limit, p.offset)
	if err != nil {
		return answer{}, err
	}
	shapes := []webhookBody{}
	for _, e := range found {
		shapes = append(shapes, webhookShape(e))
	}
	return answer{schema: "webhook_list/v1", body: map[string]any{"webhooks": shapes, "total": total, "limit": p.limit, "offset": p.offset}}, nil
}

func (a *API) getWebhook(ctx context.Context, r *request) (answer, error) {
	account, err := r.hearing()
	if err != nil {
		return answer{}, err
	}
	e, err := a.Webhooks.Find(ctx, account, r.params["id"])
	if err != nil {
		return answer{}, webhookError(err)
	}
	return answer{schema: "webhook/v1", body: webhookShape(e)}, nil
}

func (a *API) changeWebhook(ctx context.Context, r *request) (answer, error) {
	account, err := r.hearing()
	if err != nil {
		return answer{}, err
	}
	var body struct {
		URL         *string   `json:"url"`
		Description *string   `json:"description"`
		EventTypes  *[]string `json:"event_types"`
		Disabled    *bool     `json:"disabled"`
	}
	if err := r.decode(&body); err != nil {
		return answer{}, err
	}
	e, err := a.Webhooks.Change(ctx, account, r.params["id"], webhook.Spec(body))
	if err != nil {
		return answer{}, webhookError(err)
	}
	r.X.Account = e.Account
	return answer{schema: "webhook/v1", body: webhookShape(e)}, r.did("webhook.updated", e.ID, nil)
}

func (a *API) deleteWebhook(ctx context.Context, r *request) (answer, error) {
	account, err := r.hearing()
	if err != nil {
		return answer{}, err
	}
	e, err := a.Webhooks.Find(ctx, account, r.params["id"])
	if err == nil {
		err = a.Webhooks.Delete(ctx, account, e.ID)
	}
	if err != nil {
		return answer{}, webhookError(err)
	}
	r.X.Account = e.Account
	return answer{}, r.did("webhook.deleted", r.params["id"], nil)
}

func (a *API) rotateWebhook(ctx context.Context, r *request) (answer, error) {
	account, err := r.hearing()
	if err != nil {
		return answer{}, err
	}
	e, secret, err := a.Webhooks.Rotate(ctx, account, r.params["id"])
	if err != nil {
		return answer{}, webhookError(err)
	}
	r.X.Account = e.Account
	shape := webhookShape(e)
	shape.Secret = secret
	return answer{schema: "webhook/v1", body: shape}, r.did("webhook.rotated", e.ID, nil)
}

// testWebhook sends an event to one endpoint. The record of this request is that event.
func (a *API) testWebhook(ctx context.Context, r *request) (answer, error) {
	account, err := r.hearing()
	if err != nil {
		return answer{}, err
	}
	e, err := a.Webhooks.Find(ctx, account, r.params["id"])
	if err == nil && e.Disabled {
		err = webhook.ErrDisabled
	}
	if err != nil {
		return answer{}, webhookError(err)
	}
	r.X.Account = e.Account // where the endpoint hears of it, whoever asks
	return answer{http.StatusAccepted, "webhook_test/v1", map[string]string{"webhook_id": e.ID,
		"event_id": webhook.EventID(r.X.ID, webhook.TypeTest), "event_type": webhook.TypeTest}}, r.did(webhook.TypeTest, e.ID, nil)
}

func (a *API) listDeliveries(ctx context.Context, r *request) (answer, error) {
	account, err := r.hearing()
	if err != nil {
		return answer{}, err
	}
	p, err := r.page()
	if err != nil {
		return answer{}, err
	}
	word, err := r.query("state")
	if err != nil {
		return answer{}, err
	}
	state := webhook.State(word)
	if state != "" && !state.Known() {
		return answer{}, surface.Failure(http.StatusBadRequest, "invalid_state_parameter", "state must be pending, delivered or dead")
	}
	found, total, err := a.Webhooks.Sent(ctx, account, r.params["id"], state, p.limit, p.offset)
	if err != nil {
		return answer{}, webhookError(err)
	}
	return answer{schema: "delivery_list/v1", body: map[string]any{"deliveries": deliveryShapes(found), "total": total,
		"limit": p.limit, "offset": p.offset}}, nil
}

func (a *API) redeliver(ctx context.Context, r *request) (answer, error) {
	account, err := r.hearing()
	if err != nil {
		return answer{}, err
	}
	e, err := a.Webhooks.Find(ctx, account, r.params["id"])
	if err != nil {
		return answer{}, webhookError(err)
	}
	d, err := a.Webhooks.Redeliver(ctx, account, e.ID, r.params["delivery"])
	if err != nil {
		return answer{}, webhookError(err)
	}
	r.X.Account = e.Account
	return answer{http.StatusAccepted, "delivery/v1", deliveryShape(d)}, r.did("webhook.redelivered", d.Webhook, map[string]string{"delivery": d.ID})
}

// replayEvent sends an event to all endpoints that ask for it now.
func (a *API) replayEvent(ctx context.Context, r *request) (answer, error) {
	account, err := r.hearing()
	if err != nil {
		return answer{}, err
	}
	event := r.params["event"]
	ev, ok, err := a.Webhooks.Deliveries.WebhookEvent(ctx, account, event)
	if err != nil {
		return answer{}, err
	}
	if !ok {
		return answer{}, notFound("event")
	}
	made, err := a.Webhooks.Replay(ctx, ev.Account, event)
	if err != nil {
		return answer{}, err
	}
	r.X.Account = ev.Account
	return answer{http.StatusAccepted, "event_replay/v1", map[string]any{"event_id": event, "deliveries": deliveryShapes(made)}},
		r.did("webhook.replayed", event, nil)
}
