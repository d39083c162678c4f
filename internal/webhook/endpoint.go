// Package webhook tells the owners of an account what happened. It promises that each event of the audit chain reaches every
// endpoint that asks for its type at least once, or ends as a dead letter that can be seen; that the way back to it costs no
// exchange any time; and that nobody can make the gateway send into networks that its operator has not opened. Where it is kept
// is left to the store, who may ask to the API.
package webhook

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"time"
)

// SecretPrefix begins every signing secret, so that secret scanners find it.
const SecretPrefix = "whsec_"

// TypeTest is the event that goes to one endpoint alone, which its target names, whatever types that asks for.
const TypeTest = "webhook.test"

// Endpoint is a place that events are sent to.
type Endpoint struct {
	ID          string // whe-<32 hex>
	Account     string
	URL         string
	Description string   // for people
	EventTypes  []string // exact names, agent.* for all that begin with "agent.", or * for all; none: nothing is sent
	Sealed      []byte   // the signing secret, sealed for the endpoint; see [Registry]
	After       int64    // sequence number of the last record when it was made: of that and what is older it hears nothing
	Disabled    bool
	Why         Why // why it is disabled
	Failures    int // attempts that failed since one succeeded
	Created     time.Time
	Updated     time.Time
}

// Why says why an endpoint is disabled.
type Why string

// The reasons there are.
const (
	Requested Why = "requested" // its owner did it
	Gone      Why = "gone"      // it answered 410
	Failing   Why = "failing"   // [MaxFailures] attempts failed, and none succeeded between them
)

// Wants reports whether the endpoint asks for events of a type.
func (e Endpoint) Wants(kind string) bool {
	return slices.ContainsFunc(e.EventTypes, func(pattern string) bool {
		prefix, all := strings.CutSuffix(pattern, "*")
		return pattern == kind || all && strings.HasPrefix(kind, prefix)
	})
}

// gets reports whether an event of the endpoint's account is for it.
func (e Endpoint) gets(ev Event) bool {
	if ev.Target != "" {
		return ev.Target == e.ID
	}
	return e.Wants(ev.Type)
}

// owner is whom the endpoint's secret is sealed for.
func (e Endpoint) owner() string { return "webhook:" + e.ID }

// newSecret is a fresh signing secret: 32 random bytes after the prefix.
func newSecret() string {
	b := make([]byte, 32)
	rand.Read(b) // never fails: crypto/rand ends the program instead
	return SecretPrefix + base64.RawURLEncoding.EncodeToString(b)
}

// newID is a fresh identifier: 16 random bytes in hex after the prefix.
func newID(prefix string) string {
	b := make([]byte, 16)
	rand.Read(b) // as above
	return prefix + hex.EncodeToString(b)
}
