package wire

import (
	"bytes"

	"github.com/gatehouse-gateway/gatehouse"
)

// Bare is a request about something that the provider has stored, to get it or to cancel it: it has no body, or none that a model reads.
type Bare struct{ doc []byte }

// BareRequest takes what may stand in such a request: nothing, or an object nested no deeper than depth.
func BareRequest(body []byte, depth int) (Request, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return Bare{}, nil
	}
	if _, err := ParseObject(body, depth); err != nil {
		return nil, err
	}
	return Bare{body}, nil
}

// Parts implements [Request].
func (Bare) Parts() []gatehouse.Part { return nil }

// Model implements [Request].
func (Bare) Model() string { return "" }

// Stream implements [Request].
func (Bare) Stream() bool { return false }

// Bytes implements [Request].
func (b Bare) Bytes([]gatehouse.Part) ([]byte, error) { return b.doc, nil }
