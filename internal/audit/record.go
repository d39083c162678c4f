// Package audit keeps the one record of each exchange: what was decided and why, chained by hashes, without the texts. It
// promises that an edited, reordered or missing record is found and named. It leaves writing to the store.
package audit

import (
	"strings"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
)

// Record is what is kept of one exchange. Its JSON encoding is what the hashes are computed over.
type Record struct {
	ID        string               `json:"id"`   // the request id
	Type      string               `json:"type"` // exchange, or event when Event says what was done
	Time      time.Time            `json:"time"` // UTC, nanoseconds
	Agent     string               `json:"agent,omitempty"`
	Session   string               `json:"session,omitempty"`
	Account   string               `json:"account,omitempty"`
	Key       string               `json:"key,omitempty"`   // id of the API key that was shown
	Event     *gatehouse.Event     `json:"event,omitempty"` // of an exchange that was not a call of a model
	Surface   string               `json:"surface"`
	Upstream  string               `json:"upstream,omitempty"`
	Endpoint  string               `json:"endpoint,omitempty"`
	Model     string               `json:"model,omitempty"`
	Stream    bool                 `json:"stream,omitempty"`
	Verdicts  map[string]string    `json:"verdicts"`            // checkpoint → outcome, all four
	Analysis  string               `json:"analysis,omitempty"`  // X-AIP-Verdict
	Decisions []gatehouse.Decision `json:"decisions,omitempty"` // with findings, edits (their texts are notices and typed tokens), coverage, timings
	Content   []ContentHash        `json:"content,omitempty"`   // one for each part, request then response
	Usage     gatehouse.Usage      `json:"usage"`
	Status    int                  `json:"status,omitempty"`
	Error     string               `json:"error,omitempty"`
	Took      time.Duration        `json:"took_ns"`
	Timings   map[string]int64     `json:"timings_ns,omitempty"` // checkpoint → nanoseconds spent in it
	Detectors string               `json:"detectors,omitempty"`  // version of the detector set
}

// ContentHash stands for one part's text: HMAC-SHA-256 under the agent's own key, in hex. When that key is erased the
// text can no longer be proved by anyone, and the chain still verifies.
//
// Several parts in a row that are replayed are one entry: without kind and path, with the bytes of all of them, and the
// HMAC-SHA-256 of the HMACs (32 bytes each) that they have one by one. Each has an entry of its own in the record of the
// exchange that it was new in.
type ContentHash struct {
	Part   int            `json:"part"`
	Parts  int            `json:"parts,omitempty"` // how many parts the entry stands for, from Part on; left out for one
	Kind   gatehouse.Kind `json:"kind,omitempty"`
	Path   string         `json:"path,omitempty"`
	Bytes  int            `json:"bytes"`
	HMAC   string         `json:"hmac"`
	Latest bool           `json:"latest,omitempty"`
	// Replayed says that the session had this text decided before, so that no detector read it now.
	Replayed bool `json:"replayed,omitempty"`
}

// Subject is the agent that the record is about: who spoke, or to whom something was done.
func (r Record) Subject() string {
	if r.Agent == "" && r.Event != nil && strings.HasPrefix(r.Event.Type, "agent.") {
		return r.Event.Target
	}
	return r.Agent
}

// Kind is what the record is of: an exchange, or the type of its event.
func (r Record) Kind() string {
	if r.Event != nil {
		return r.Event.Type
	}
	return r.Type
}

// Notable reports whether the record has an advisory.
func (r Record) Notable() bool {
	for _, d := range r.Decisions {
		if len(d.Advisories) > 0 {
			return true
		}
	}
	return false
}
