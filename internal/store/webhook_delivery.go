package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/webhook"
)

var (
	_ webhook.Deliveries = (*Store)(nil)
	_ webhook.Queue      = (*Store)(nil)
)

const deliveryColumns = `d.id, d.webhook, d.event, v.type, d.state, d.attempts, d.next, d.status, d.error, d.created, d.updated`

// WebhookEvent implements [webhook.Deliveries].
func (s *Store) WebhookEvent(ctx context.Context, account, id string) (e webhook.Event, ok bool, err error) {
	var created int64
	ok, err = found(s.reads(ctx).QueryRowContext(ctx, `SELECT id, account, type, target, data, created FROM webhook_events
		WHERE id = ? AND (? = '' OR account = ?)`, id, account, account).
		Scan(&e.ID, &e.Account, &e.Type, &e.Target, (*[]byte)(&e.Data), &created))
	if err != nil {
		return webhook.Event{}, false, fmt.Errorf("find event: %w", s.explain(err))
	}
	e.CreatedAt = moment(created)
	return e, ok, nil
}

// AddDelivery implements [webhook.Deliveries].
func (s *Store) AddDelivery(ctx context.Context, d webhook.Delivery) error {
	db, err := s.writes(ctx)
	if err != nil {
		return err
	}
	if err := addDelivery(ctx, db, d); err != nil {
		return fmt.Errorf("store delivery: %w", s.explain(err))
	}
	return nil
}

// addDelivery stores a delivery if its endpoint is still there.
func addDelivery(ctx context.Context, db changer, d webhook.Delivery) error {
	_, err := db.ExecContext(ctx, `INSERT INTO webhook_deliveries
		(id, webhook, event, state, attempts, next, status, error, holder, leased, created, updated)
		SELECT ?, id, ?, ?, ?, ?, ?, ?, '', 0, ?, ? FROM webhooks WHERE id = ?`,
		d.ID, d.Event, string(d.State), d.Attempts, stored(d.NextAt), d.LastStatus, string(d.LastError),
		stored(d.Created), stored(d.Updated), d.Webhook)
	return err
}

// WebhookDelivery implements [webhook.Deliveries].
func (s *Store) WebhookDelivery(ctx context.Context, endpoint, id string) (d webhook.Delivery, ok bool, err error) {
	list, err := s.deliveriesWhere(ctx, `d.webhook = ? AND d.id = ?`, endpoint, id)
	if err != nil || len(list) == 0 {
		return webhook.Delivery{}, false, err
	}
	return list[0], true, nil
}

// WebhookDeliveries lists the deliveries of an endpoint, newest first, and counts them: those in a state, or all when it is empty.
func (s *Store) WebhookDeliveries(ctx context.Context, endpoint string, state webhook.State, limit, offset int) (list []webhook.Delivery, total int, err error) {
	where, args := `d.webhook = ? AND (? = '' OR d.state = ?)`, []any{endpoint, string(state), string(state)}
	err = s.reads(ctx).QueryRowContext(ctx, `SELECT COUNT(*) FROM webhook_deliveries d WHERE `+where, args...).Scan(&total)
	if err != nil {
		return nil, 0, fmt.Errorf("count deliveries: %w", s.explain(err))
	}
	list, err = s.deliveriesWhere(ctx, where+` ORDER BY d.created DESC, d.id LIMIT ? OFFSET ?`, append(args, limit, offset)...)
	return list, total, err
}

func (s *Store) deliveriesWhere(ctx context.Context, where string, args ...any) (list []webhook.Delivery, err error) {
	rows, err := s.reads(ctx).QueryContext(ctx, `SELECT `+deliveryColumns+` FROM webhook_deliveries d
		JOIN webhook_events v ON v.id = d.event WHERE `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read deliveries: %w", s.explain(err))
	}
	defer rows.Close()
	for rows.Next() {
		var d webhook.Delivery
		times := [3]int64{}
		if err := rows.Scan(deliveryFields(&d, &times)...); err != nil {
			return nil, fmt.Errorf("read deliveries: %w", s.explain(err))
		}
		d.NextAt, d.Created, d.Updated = moment(times[0]), moment(times[1]), moment(times[2])
		list = append(list, d)
	}
	return list, s.explain(rows.Err())
}

// deliveryFields is where the deliveryColumns go; times are next, created and updated.
func deliveryFields(d *webhook.Delivery, times *[3]int64) []any {
	return []any{&d.ID, &d.Webhook, &d.Event, &d.Type, &d.State, &d.Attempts, &times[0], &d.LastStatus, &d.LastError, &times[1], &times[2]}
}

// due are deliveries that can be claimed, the oldest of each endpoint first: its parameters are now, now, how many of one endpoint, the
// busy endpoints, and how many in all. What waits behind those is not looked at.
//
// CROSS JOIN makes SQLite begin with the endpoints; the other way round it would go through all deliveries.
const due = `SELECT d.id FROM webhooks w CROSS JOIN webhook_deliveries d
	WHERE d.id IN (SELECT p.id FROM webhook_deliveries p WHERE p.webhook = w.id AND p.state = 'pending' AND p.next <= ? AND p.leased <= ?
		ORDER BY p.next, p.id LIMIT ?)
	AND w.disabled = 0 AND w.id NOT IN (%s) ORDER BY d.next, d.id LIMIT ?`

// Claim implements [webhook.Queue].
func (s *Store) Claim(ctx context.Context, c webhook.Claim) ([]webhook.Attempt, error) {
	args := []any{stored(c.Now), stored(c.Now), c.Each}
	for _, id := range c.Busy {
		args = append(args, id)
	}
	// Read first: mostly there is nothing, and the lock is held for as long as it takes to write.
	ids, err := s.texts(ctx, fmt.Sprintf(due, "''"+strings.Repeat(", ?", len(c.Busy))), append(args, c.Most)...)
	if err != nil {
		return nil, fmt.Errorf("look for deliveries: %w", s.explain(err))
	}
	if len(ids) == 0 {
		return nil, nil
	}
	db, err := s.writes(ctx)
	if err != nil {
		return nil, err
	}
	// Others may have been faster with some of them.
	_, err = db.ExecContext(ctx, `UPDATE webhook_deliveries SET holder = ?, leased = ?
		WHERE state = 'pending' AND leased <= ? AND id IN (?`+strings.Repeat(", ?", len(ids)-1)+`)`,
		append([]any{c.Holder, stored(c.Until), stored(c.Now)}, ids...)...)
	if err != nil {
		return nil, fmt.Errorf("claim deliveries: %w", s.explain(err))
	}
	return s.claimed(ctx, c)
}

// texts are the rows of a query that asks for one column.
func (s *Store) texts(ctx context.Context, query string, args ...any) (list []any, err error) {
	rows, err := s.reads(ctx).QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, rows.Err()
}

// claimed are the deliveries of a claim.
func (s *Store) claimed(ctx context.Context, c webhook.Claim) (list []webhook.Attempt, err error) {
	rows, err := s.reads(ctx).QueryContext(ctx, `SELECT w.`+strings.ReplaceAll(webhookColumns, ", ", ", w.")+`, `+deliveryColumns+`,
		v.account, v.target, v.data, v.created
		FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook JOIN webhook_events v ON v.id = d.event
		WHERE d.state = 'pending' AND d.holder = ? ORDER BY d.next, d.id`, c.Holder)
	if err != nil {
		return nil, fmt.Errorf("read claimed deliveries: %w", s.explain(err))
	}
	defer rows.Close()
	for rows.Next() {
		a := webhook.Attempt{Holder: c.Holder}
		var times [3]int64
		var created int64
		to := append(deliveryFields(&a.Delivery, &times), &a.Event.Account, &a.Event.Target, (*[]byte)(&a.Event.Data), &created)
		if a.Endpoint, err = scanWebhook(rows, to...); err != nil {
			return nil, fmt.Errorf("read claimed deliveries: %w", s.explain(err))
		}
		d := &a.Delivery
		d.NextAt, d.Created, d.Updated = moment(times[0]), moment(times[1]), moment(times[2])
		a.Event.ID, a.Event.Type, a.Event.CreatedAt = d.Event, d.Type, moment(created)
		list = append(list, a)
	}
	return list, s.explain(rows.Err())
}

// Settle implements [webhook.Queue].
func (s *Store) Settle(ctx context.Context, list []webhook.Result) (disabled []string, err error) {
	err = s.Transact(ctx, func(ctx context.Context) error {
		db, err := s.writes(ctx)
		if err != nil {
			return err
		}
		for _, r := range list {
			off, err := settle(ctx, db, r)
			if err != nil {
				return err
			}
			if off {
				disabled = append(disabled, r.Endpoint.ID)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("settle deliveries: %w", s.explain(err))
	}
	return disabled, nil
}

// settle stores one result and says whether it has disabled the endpoint.
func settle(ctx context.Context, db changer, r webhook.Result) (disabled bool, err error) {
	d := r.Delivery
	res, err := db.ExecContext(ctx, `UPDATE webhook_deliveries SET state = ?, attempts = ?, next = ?, status = ?, error = ?, updated = ?,
		holder = '', leased = 0 WHERE id = ? AND holder = ?`,
		string(d.State), d.Attempts, stored(d.NextAt), d.LastStatus, string(d.LastError), stored(d.Updated), d.ID, r.Holder)
	if err != nil {
		return false, err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return false, err
	}
	switch r.End {
	case webhook.Succeeded:
		_, err = db.ExecContext(ctx, `UPDATE webhooks SET failures = 0 WHERE id = ? AND failures > 0`, d.Webhook)
		return false, err
	case webhook.Failed, webhook.Refused:
		return countFailure(ctx, db, r)
	}
	return false, nil
}

func countFailure(ctx context.Context, db changer, r webhook.Result) (disabled bool, err error) {
	why, most := webhook.Failing, webhook.MaxFailures
	if r.End == webhook.Refused {
		why, most = webhook.Gone, 0
	}
	id, at := r.Delivery.Webhook, stored(r.Delivery.Updated)
	if _, err := db.ExecContext(ctx, `UPDATE webhooks SET failures = failures + 1 WHERE id = ?`, id); err != nil {
		return false, err
	}
	res, err := db.ExecContext(ctx, `UPDATE webhooks SET disabled = 1, why = ?, updated = ? WHERE id = ? AND disabled = 0 AND failures >= ?`,
		string(why), at, id, most)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

// Prune implements [webhook.Queue].
func (s *Store) Prune(ctx context.Context, before time.Time, most int) (int, error) {
	db, err := s.writes(ctx)
	if err != nil {
		return 0, err
	}
	// Nothing is written where there is nothing: see Claim.
	var one string
	if ok, err := found(s.reads(ctx).QueryRowContext(ctx, `SELECT id FROM webhook_events WHERE created < ? LIMIT 1`, stored(before)).Scan(&one)); err != nil || !ok {
		return 0, err
	}
	res, err := db.ExecContext(ctx, `DELETE FROM webhook_events WHERE id IN
		(SELECT id FROM webhook_events WHERE created < ? ORDER BY created LIMIT ?)`, stored(before), most)
	if err != nil {
		return 0, fmt.Errorf("remove old events: %w", s.explain(err))
	}
	n, err := res.RowsAffected()
	return int(n), err
}
