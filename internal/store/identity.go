package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gatehouse-gateway/gatehouse/internal/identity"
)

var _ identity.Store = (*Store)(nil)

const keyColumns = `id, account, name, hash, scopes, agents, created, expires, revoked`

// Identities implements [identity.Store].
func (s *Store) Identities(ctx context.Context) (keys []identity.Key, contained []identity.Containment, changes int64, err error) {
	// The count first: what changes after it was read is read again.
	if changes, err = s.IdentityChanges(ctx); err != nil {
		return nil, nil, 0, err
	}
	if keys, err = s.keysWhere(ctx, `1 = 1 ORDER BY created, id`); err != nil {
		return nil, nil, 0, err
	}
	contained, err = s.Containments(ctx)
	return keys, contained, changes, err
}

// IdentityChanges implements [identity.Store].
func (s *Store) IdentityChanges(ctx context.Context) (n int64, err error) {
	if err = s.reads(ctx).QueryRowContext(ctx, `SELECT count FROM identity_changes WHERE one = 1`).Scan(&n); err != nil {
		return 0, fmt.Errorf("count changes: %w", s.explain(err))
	}
	return n, nil
}

// changeIdentities runs a statement and counts the change.
func (s *Store) changeIdentities(ctx context.Context, query string, args ...any) error {
	return s.Transact(ctx, func(ctx context.Context) error {
		tx := transaction(ctx)
		if _, err := tx.ExecContext(ctx, query, args...); err != nil {
			if s.dialect.rejected(err) {
				return identity.ErrConflict
			}
			return s.explain(err)
		}
		_, err := tx.ExecContext(ctx, `UPDATE identity_changes SET count = count + 1 WHERE one = 1`)
		return s.explain(err)
	})
}

// Keys lists an account's keys, or those of every account when it is empty, oldest first, revoked ones too, and counts them.
func (s *Store) Keys(ctx context.Context, account string, limit, offset int) (list []identity.Key, total int, err error) {
	where := `id <> '` + identity.AdminID + `' AND (? = '' OR account = ?)`
	if err := s.reads(ctx).QueryRowContext(ctx, `SELECT COUNT(*) FROM keys WHERE `+where, account, account).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("count keys: %w", s.explain(err))
	}
	list, err = s.keysWhere(ctx, where+` ORDER BY created, id LIMIT ? OFFSET ?`, account, account, limit, offset)
	return list, total, err
}

// KeyByID finds a key; ok is false when there is none.
func (s *Store) KeyByID(ctx context.Context, id string) (k identity.Key, ok bool, err error) {
	list, err := s.keysWhere(ctx, `id = ?`, id)
	if err != nil || len(list) == 0 {
		return identity.Key{}, false, err
	}
	return list[0], true, nil
}

// PutKey stores a key, new or changed.
func (s *Store) PutKey(ctx context.Context, k identity.Key) error {
	scopes, err := json.Marshal(k.Scopes)
	if err != nil {
		return err
	}
	agents, err := json.Marshal(k.Agents)
	if err != nil {
		return err
	}
	err = s.changeIdentities(ctx, `INSERT INTO keys (`+keyColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, hash = excluded.hash, scopes = excluded.scopes,
			agents = excluded.agents, expires = excluded.expires, revoked = excluded.revoked`,
		k.ID, k.Account, k.Name, k.Hash[:], string(scopes), string(agents), stored(k.Created), stored(k.Expires), stored(k.Revoked))
	if err != nil {
		return fmt.Errorf("store key: %w", err)
	}
	return nil
}

func (s *Store) keysWhere(ctx context.Context, where string, args ...any) (list []identity.Key, err error) {
	rows, err := s.reads(ctx).QueryContext(ctx, `SELECT `+keyColumns+` FROM keys WHERE `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", s.explain(err))
	}
	defer rows.Close()
	for rows.Next() {
		k, err := scanKey(rows)
		if err != nil {
			return nil, fmt.Errorf("read keys: %w", s.explain(err))
		}
		list = append(list, k)
	}
	return list, s.explain(rows.Err())
}

func scanKey(row scanner) (k identity.Key, err error) {
	var hash, scopes, agents []byte
	var created, expires, revoked int64
	if err := row.Scan(&k.ID, &k.Account, &k.Name, &hash, &scopes, &agents, &created, &expires, &revoked); err != nil {
		return k, err
	}
	if len(hash) != len(k.Hash) || json.Unmarshal(scopes, &k.Scopes) != nil || json.Unmarshal(agents, &k.Agents) != nil {
		return k, errors.New("a key was edited: it cannot be read")
	}
	copy(k.Hash[:], hash)
	k.Created, k.Expires, k.Revoked = moment(created), moment(expires), moment(revoked)
	return k, nil
}

// Contain stores why an agent may not act; [identity.Active] lifts what was stored.
func (s *Store) Contain(ctx context.Context, c identity.Containment) (err error) {
	if c.State == identity.Active {
		err = s.changeIdentities(ctx, `DELETE FROM containments WHERE agent = ?`, c.Agent)
	} else {
		err = s.changeIdentities(ctx, `INSERT INTO containments (agent, credential, state, reason, actor, time) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (agent) DO UPDATE SET credential = excluded.credential, state = excluded.state, reason = excluded.reason,
				actor = excluded.actor, time = excluded.time`,
			c.Agent, c.Credential, string(c.State), c.Reason, c.Actor, stored(c.Time))
	}
	if err != nil {
		return fmt.Errorf("store containment: %w", err)
	}
	return nil
}

const containmentColumns = `agent, credential, state, reason, actor, time`

// Containments lists all of them.
func (s *Store) Containments(ctx context.Context) (list []identity.Containment, err error) {
	rows, err := s.reads(ctx).QueryContext(ctx, `SELECT `+containmentColumns+` FROM containments`)
	if err != nil {
		return nil, fmt.Errorf("read containments: %w", s.explain(err))
	}
	defer rows.Close()
	for rows.Next() {
		c, err := scanContainment(rows)
		if err != nil {
			return nil, fmt.Errorf("read containments: %w", s.explain(err))
		}
		list = append(list, c)
	}
	return list, s.explain(rows.Err())
}

// ContainmentOf finds what is against an agent; ok is false when nothing is.
func (s *Store) ContainmentOf(ctx context.Context, agent string) (c identity.Containment, ok bool, err error) {
	c, err = scanContainment(s.reads(ctx).QueryRowContext(ctx, `SELECT `+containmentColumns+` FROM containments WHERE agent = ?`, agent))
	if ok, err = found(err); err != nil {
		return identity.Containment{}, false, fmt.Errorf("find containment: %w", s.explain(err))
	}
	return c, ok, nil
}

func scanContainment(row scanner) (c identity.Containment, err error) {
	var state string
	var at int64
	err = row.Scan(&c.Agent, &c.Credential, &state, &c.Reason, &c.Actor, &at)
	c.State, c.Time = identity.State(state), moment(at)
	return c, err
}
