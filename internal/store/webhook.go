package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gatehouse-gateway/gatehouse/internal/webhook"
)

var (
	_ webhook.Endpoints = (*Store)(nil)
	_ webhook.Chain     = (*Store)(nil)
	_ webhook.Outbox    = (*Store)(nil)
)

const webhookColumns = `id, account, url, description, types, secret, after_seq, disabled, why, failures, created, updated`

// AddWebhook implements [webhook.Endpoints].
func (s *Store) AddWebhook(ctx context.Context, e webhook.Endpoint) (webhook.Endpoint, error) {
	err := s.Transact(ctx, func(ctx context.Context) error {
		db, err := s.writes(ctx)
		if err != nil {
			return err
		}
		// Under the write lock: no record comes between.
		head, err := scanHead(db.QueryRowContext(ctx, selectHead))
		if err != nil {
			return err
		}
		e.After = head.Seq
		types, err := webhookTypes(e)
		if err != nil {
			return err
		}
		_, err = db.ExecContext(ctx, `INSERT INTO webhooks (`+webhookColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			e.ID, e.Account, e.URL, e.Description, types, e.Sealed, e.After, e.Disabled, string(e.Why), e.Failures,
			stored(e.Created), stored(e.Updated))
		return err
	})
	if err != nil {
		return webhook.Endpoint{}, fmt.Errorf("store webhook: %w", s.explain(err))
	}
	return e, nil
}

// PutWebhook implements [webhook.Endpoints].
func (s *Store) PutWebhook(ctx context.Context, e webhook.Endpoint) error {
	db, err := s.writes(ctx)
	if err != nil {
		return err
	}
	types, err := webhookTypes(e)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, `UPDATE webhooks SET url = ?, description = ?, types = ?, secret = ?, disabled = ?, why = ?,
		failures = ?, updated = ? WHERE id = ?`,
		e.URL, e.Description, types, e.Sealed, e.Disabled, string(e.Why), e.Failures, stored(e.Updated), e.ID)
	if err != nil {
		return fmt.Errorf("change webhook: %w", s.explain(err))
	}
	return nil
}

// webhookTypes is the list as it is stored: [] where there is none.
func webhookTypes(e webhook.Endpoint) (string, error) {
	raw, err := json.Marshal(append([]string{}, e.EventTypes...))
	return string(raw), err
}

// DeleteWebhook removes an account's endpoint with its deliveries; ok is false when there is none. An empty account means every
// account.
func (s *Store) DeleteWebhook(ctx context.Context, account, id string) (ok bool, err error) {
	db, err := s.writes(ctx)
	if err != nil {
		return false, err
	}
	res, err := db.ExecContext(ctx, `DELETE FROM webhooks WHERE id = ? AND (? = '' OR account = ?)`, id, account, account)
	if err != nil {
		return false, fmt.Errorf("delete webhook: %w", s.explain(err))
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

// Webhook implements [webhook.Endpoints].
func (s *Store) Webhook(ctx context.Context, account, id string) (e webhook.Endpoint, ok bool, err error) {
	list, err := s.webhooksWhere(ctx, `id = ? AND (? = '' OR account = ?)`, id, account, account)
	if err != nil || len(list) == 0 {
		return webhook.Endpoint{}, false, err
	}
	return list[0], true, nil
}

// Webhooks implements [webhook.Endpoints].
func (s *Store) Webhooks(ctx context.Context, account string, limit, offset int) (list []webhook.Endpoint, total int, err error) {
	where := `(? = '' OR account = ?)`
	err = s.reads(ctx).QueryRowContext(ctx, `SELECT COUNT(*) FROM webhooks WHERE `+where, account, account).Scan(&total)
	if err != nil {
		return nil, 0, fmt.Errorf("count webhooks: %w", s.explain(err))
	}
	list, err = s.webhooksWhere(ctx, where+` ORDER BY created, id LIMIT ? OFFSET ?`, account, account, limit, offset)
	return list, total, err
}

// Subscribers implements [webhook.Outbox].
func (s *Store) Subscribers(ctx context.Context) ([]webhook.Endpoint, error) {
	return s.webhooksWhere(ctx, `1 = 1`)
}

func (s *Store) webhooksWhere(ctx context.Context, where string, args ...any) (list []webhook.Endpoint, err error) {
	rows, err := s.reads(ctx).QueryContext(ctx, `SELECT `+webhookColumns+` FROM webhooks WHERE `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read webhooks: %w", s.explain(err))
	}
	defer rows.Close()
	for rows.Next() {
		e, err := scanWebhook(rows)
		if err != nil {
			return nil, fmt.Errorf("read webhooks: %w", s.explain(err))
		}
		list = append(list, e)
	}
	return list, s.explain(rows.Err())
}

// scanWebhook reads the webhookColumns, and what is behind them.
func scanWebhook(row scanner, more ...any) (e webhook.Endpoint, err error) {
	var types []byte
	var created, updated int64
	to := []any{&e.ID, &e.Account, &e.URL, &e.Description, &types, &e.Sealed, &e.After, &e.Disabled, &e.Why, &e.Failures,
		&created, &updated}
	if err := row.Scan(append(to, more...)...); err != nil {
		return e, err
	}
	if json.Unmarshal(types, &e.EventTypes) != nil {
		return e, errors.New("a webhook was edited: it cannot be read")
	}
	e.Created, e.Updated = moment(created), moment(updated)
	return e, nil
}

// Cursor implements [webhook.Outbox].
func (s *Store) Cursor(ctx context.Context) (seq int64, err error) {
	if err := s.reads(ctx).QueryRowContext(ctx, `SELECT seq FROM webhook_cursor WHERE one = 1`).Scan(&seq); err != nil {
		return 0, fmt.Errorf("read the webhooks' cursor: %w", s.explain(err))
	}
	return seq, nil
}

// Advance implements [webhook.Outbox].
func (s *Store) Advance(ctx context.Context, from, to int64, events []webhook.Event, deliveries []webhook.Delivery) (ok bool, err error) {
	err = s.Transact(ctx, func(ctx context.Context) error {
		db, err := s.writes(ctx)
		if err != nil {
			return err
		}
		res, err := db.ExecContext(ctx, `UPDATE webhook_cursor SET seq = ? WHERE one = 1 AND seq = ?`, to, from)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return err
		}
		ok = true
		for _, e := range events {
			_, err := db.ExecContext(ctx, `INSERT INTO webhook_events (id, account, type, target, data, created) VALUES (?, ?, ?, ?, ?, ?)
				ON CONFLICT (id) DO NOTHING`, e.ID, e.Account, e.Type, e.Target, string(e.Data), stored(e.CreatedAt))
			if err != nil {
				return err
			}
		}
		for _, d := range deliveries {
			if err := addDelivery(ctx, db, d); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("store events for webhooks: %w", s.explain(err))
	}
	return ok, nil
}
