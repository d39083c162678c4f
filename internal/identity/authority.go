package identity

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// pollTime is how often the store is asked for changes that other processes made.
const pollTime = 250 * time.Millisecond

// ErrUnknown says that a token is none, has expired or was revoked. Which of these is not told.
var ErrUnknown = errors.New("unknown API key")

// ErrConflict says that something which must be unique belongs to another already.
var ErrConflict = errors.New("it belongs to another already")

// Store keeps keys and containments.
type Store interface {
	// Identities is everything at one moment, with the count of changes so far.
	Identities(ctx context.Context) (keys []Key, contained []Containment, changes int64, err error)
	// IdentityChanges is the count of changes so far.
	IdentityChanges(ctx context.Context) (int64, error)
}

// Authority answers from memory what the store has. Its fields are set before Start.
type Authority struct {
	Store Store
	Log   *slog.Logger

	loading sync.Mutex
	now     atomic.Pointer[known]
	admin   atomic.Pointer[[32]byte] // from the configuration; nil: the stored one
}

// known is what the store had at one moment.
type known struct {
	changes   int64
	keys      map[[32]byte]Key
	agents    map[string]Containment // by agent id
	contained map[string]Containment // by credential
	keyed     bool                   // there is or was a key besides the administrator's
}

// Start loads what the store has, and follows its changes until the context ends. A change of this process is followed
// when [Authority.Refresh] returns, one of another process within 250 ms.
func (a *Authority) Start(ctx context.Context) error {
	if err := a.Refresh(ctx); err != nil {
		return err
	}
	go a.follow(ctx)
	return nil
}

func (a *Authority) follow(ctx context.Context) {
	tick := time.NewTicker(pollTime)
	defer tick.Stop()
	healthy := true
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		changes, err := a.Store.IdentityChanges(ctx)
		if err == nil && changes != a.now.Load().changes {
			err = a.Refresh(ctx)
		}
		if err != nil && healthy && ctx.Err() == nil {
			a.Log.Error("keys cannot be read again: those last read stay in force", "error", err)
		}
		healthy = err == nil
	}
}

// Refresh reads everything again, unless nothing has changed.
func (a *Authority) Refresh(ctx context.Context) error {
	a.loading.Lock()
	defer a.loading.Unlock()
	if n := a.now.Load(); n != nil {
		if changes, err := a.Store.IdentityChanges(ctx); err == nil && changes == n.changes {
			return nil
		}
	}
	keys, contained, changes, err := a.Store.Identities(ctx)
	if err != nil {
		return fmt.Errorf("read keys: %w", err)
	}
	n := &known{changes: changes, keys: map[[32]byte]Key{}, agents: map[string]Containment{}, contained: map[string]Containment{}}
	for _, k := range keys {
		n.keys[k.Hash] = k
		n.keyed = n.keyed || k.ID != AdminID
	}
	for _, c := range contained {
		n.agents[c.Agent] = c
		if c.Credential != "" {
			n.contained[c.Credential] = stricter(n.contained[c.Credential], c)
		}
	}
	a.now.Store(n)
	return nil
}

func stricter(a, b Containment) Containment {
	if a.State == Killed {
		return a
	}
	return b
}

// SetAdmin makes a token the administrator's, in place of the stored one; empty: the stored one.
func (a *Authority) SetAdmin(token string) {
	if token == "" {
		a.admin.Store(nil)
		return
	}
	hash := HashToken(token)
	a.admin.Store(&hash)
}

// Owns reports whether a credential is one of the gateway's own rather than a provider's: by its prefix, or because it is the
// administrator's token, which an operator may spell in any way.
func (a *Authority) Owns(credential string) bool {
	if LooksLike(credential) {
		return true
	}
	admin, hash := a.admin.Load(), HashToken(credential)
	return admin != nil && subtle.ConstantTimeCompare(admin[:], hash[:]) == 1
}

// AdminID is the id of the administrator's key.
const AdminID = "admin"

// Caller finds whose token it is. The error is [ErrUnknown].
func (a *Authority) Caller(token string) (Caller, error) {
	hash := HashToken(token)
	if admin := a.admin.Load(); admin != nil && subtle.ConstantTimeCompare(admin[:], hash[:]) == 1 {
		return administrator(), nil
	}
	// The map is asked for the hash of a secret: how long that takes says nothing about any key.
	k, ok := a.now.Load().keys[hash]
	switch {
	case !ok || subtle.ConstantTimeCompare(k.Hash[:], hash[:]) != 1 || !k.Active(time.Now()):
		return Caller{}, ErrUnknown
	case k.ID == AdminID && a.admin.Load() != nil:
		return Caller{}, ErrUnknown
	case k.ID == AdminID:
		return administrator(), nil
	}
	return Caller{Key: k.ID, Account: k.Account, Scopes: k.Scopes, Agents: k.Agents, Expires: k.Expires}, nil
}

func administrator() Caller {
	return Caller{Key: AdminID, Account: DefaultAccount, Scopes: Scopes(), Root: true}
}

// Keyless reports whether no API key was ever made: then, on loopback, callers are known by the credential they have. The
// administrator's token does not count, and a key that was revoked does: a gateway does not open again by itself.
func (a *Authority) Keyless() bool { return !a.now.Load().keyed }

// Contained is why an agent, or anyone with its credential, may not act; ok is false when nothing is against it.
func (a *Authority) Contained(agent, credential string) (c Containment, ok bool) {
	n := a.now.Load()
	if c, ok = n.agents[agent]; !ok && credential != "" {
		c, ok = n.contained[credential]
	}
	return c, ok
}
