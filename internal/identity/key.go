// Package identity knows who asks. It promises that a key is known by its hash alone, that one that was revoked is refused
// everywhere at once, and that containment follows an agent and its credential whatever name it takes. What a caller may do
// with which resource is left to the surfaces.
package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Prefix begins every API key, so that one can be told from a provider's and found by secret scanners.
const Prefix = "mnm_"

// DefaultAccount has the agents of callers who show no key.
const DefaultAccount = "default"

var accountPattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$`)

// ValidAccount reports whether a text may name an account: 1 to 32 lower-case letters, digits and inner hyphens.
func ValidAccount(name string) bool { return accountPattern.MatchString(name) }

// Key is an API key, without the key.
type Key struct {
	ID      string // mk-<16 hex>
	Account string
	Name    string   // for people
	Hash    [32]byte // SHA-256 of the key
	Scopes  []Scope
	Agents  []string // ids of agents that it may act as and see; empty: all of the account
	Created time.Time
	Expires time.Time // zero: never
	Revoked time.Time // zero: not
}

// Active reports whether the key is good at a time.
func (k Key) Active(now time.Time) bool {
	return k.Revoked.IsZero() && (k.Expires.IsZero() || now.Before(k.Expires))
}

// NewKey makes a key: the token is shown once and kept nowhere.
func NewKey() (id, token string) { return NewID("mk-"), NewToken() }

// NewToken is a fresh secret: 32 random bytes after the prefix.
func NewToken() string {
	b := make([]byte, 32)
	rand.Read(b) // never fails: crypto/rand ends the program instead
	return Prefix + base64.RawURLEncoding.EncodeToString(b)
}

// NewID is a fresh identifier: 8 random bytes in hex after the prefix.
func NewID(prefix string) string {
	b := make([]byte, 8)
	rand.Read(b) // as above
	return prefix + hex.EncodeToString(b)
}

// HashToken is what of a key is kept.
func HashToken(token string) [32]byte { return sha256.Sum256([]byte(token)) }

// LooksLike reports whether a credential is an API key rather than a provider's.
func LooksLike(credential string) bool { return strings.HasPrefix(credential, Prefix) }

// Caller is who asks.
type Caller struct {
	Key     string // id of the key; "admin" for the administrator's token
	Account string
	Scopes  []Scope
	Agents  []string  // as in [Key]
	Expires time.Time // as in [Key]
	Root    bool      // the administrator's token: every account
}

// Can reports whether the caller has a scope.
func (c Caller) Can(s Scope) bool { return slices.Contains(c.Scopes, s) }

// Sees reports whether an agent of an account is the caller's to know of.
func (c Caller) Sees(account, agent string) bool {
	return c.Root || c.Account == account && (len(c.Agents) == 0 || slices.Contains(c.Agents, agent))
}
