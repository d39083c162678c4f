package store

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"
)

const (
	keySize    = 32          // bytes, the output size of the hash that the keys are for
	keysCached = 4096        // agents whose key is kept in memory
	keyAge     = time.Minute // how long, so that a key that another process erased is forgotten here too
)

// keyring remembers keys that were read.
type keyring struct {
	mu      sync.Mutex // held while the database is asked, so that an erased key cannot come back
	gateway []byte
	content map[string]cachedKey // by agent id
}

type cachedKey struct {
	value []byte
	until time.Time
}

// GatewayKey is the key of this gateway's own keyed hashes, 32 random bytes made at first use. All processes on one database have the
// same.
func (s *Store) GatewayKey(ctx context.Context) ([]byte, error) {
	s.keys.mu.Lock()
	defer s.keys.mu.Unlock()
	if s.keys.gateway != nil {
		return s.keys.gateway, nil
	}
	key, err := s.key(ctx, `SELECT value FROM secrets WHERE name = ?`,
		`INSERT INTO secrets (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING`, "gateway")
	if err != nil {
		return nil, fmt.Errorf("gateway key: %w", s.explain(err))
	}
	s.keys.gateway = key
	return key, nil
}

// ContentKey is the key under which an agent's texts are hashed, 32 random bytes made at first use.
func (s *Store) ContentKey(ctx context.Context, agentID string) ([]byte, error) {
	if transaction(ctx) != nil {
		// Without the lock, because whoever holds it may be waiting for this transaction to end; and not kept, because the
		// transaction may come to nothing.
		return s.contentKey(ctx, agentID)
	}
	s.keys.mu.Lock()
	defer s.keys.mu.Unlock()
	if k, ok := s.keys.content[agentID]; ok && time.Now().Before(k.until) {
		return k.value, nil
	}
	key, err := s.contentKey(ctx, agentID)
	if err == nil {
		s.keys.keep(agentID, key)
	}
	return key, err
}

func (s *Store) contentKey(ctx context.Context, agentID string) ([]byte, error) {
	key, err := s.key(ctx, `SELECT value FROM content_keys WHERE agent = ?`,
		`INSERT INTO content_keys (agent, value, owner) VALUES (?, ?, '') ON CONFLICT (agent) DO NOTHING`, agentID)
	if err != nil {
		return nil, fmt.Errorf("content key: %w", s.explain(err))
	}
	return key, nil
}

// EraseContentKey makes the hashes of an agent's texts unprovable: its key is overwritten on disk. The chain verifies as before. Other
// processes on the database forget the key within a minute. A later text of the agent gets a new key.
func (s *Store) EraseContentKey(ctx context.Context, agentID string) error {
	return s.Transact(ctx, func(ctx context.Context) error {
		tx := transaction(ctx)
		if _, err := tx.ExecContext(ctx, `DELETE FROM content_keys WHERE agent = ? OR owner = ?`, agentID, agentID); err != nil {
			return fmt.Errorf("erase content key: %w", s.explain(err))
		}
		tx.after = append(tx.after, s.forgetContentKeys)
		return nil
	})
}

// forgetContentKeys empties the cache and the log after keys were erased. It waits for whoever is reading a key.
func (s *Store) forgetContentKeys(ctx context.Context) error {
	s.keys.mu.Lock()
	s.keys.content = nil
	s.keys.mu.Unlock()
	// The write-ahead log still has pages with the key: fold it into the database and cut it.
	done, err := s.dialect.scrub(ctx)
	if err != nil {
		return fmt.Errorf("erase content key from the log: %w", s.explain(err))
	}
	if !done {
		s.beside.Go(s.scrubLater)
	}
	return nil
}

// scrubLater cuts the log once nobody reads from it any more, or the store closes, which cuts it too.
func (s *Store) scrubLater() {
	const again = time.Second
	for {
		select {
		case <-s.quit:
			return
		case <-time.After(again):
		}
		if done, err := s.dialect.scrub(context.Background()); done && err == nil {
			return
		}
	}
}

// key reads a key and makes it if there is none. Whoever inserts first has made it.
func (s *Store) key(ctx context.Context, query, insert, name string) (key []byte, err error) {
	err = s.reads(ctx).QueryRowContext(ctx, query, name).Scan(&key)
	if ok, err := found(err); ok || err != nil {
		return key, err
	}
	db, err := s.writes(ctx)
	if err != nil {
		return nil, err
	}
	fresh := make([]byte, keySize)
	rand.Read(fresh) // never fails: crypto/rand ends the program instead
	if _, err := db.ExecContext(ctx, insert, name, fresh); err != nil {
		return nil, err
	}
	err = db.QueryRowContext(ctx, query, name).Scan(&key)
	return key, err
}

// keep puts a key into the cache; a full cache begins anew.
func (k *keyring) keep(agentID string, key []byte) {
	if k.content == nil || len(k.content) >= keysCached {
		k.content = map[string]cachedKey{}
	}
	k.content[agentID] = cachedKey{key, time.Now().Add(keyAge)}
}
