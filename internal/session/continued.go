package session

import (
	"context"
	"fmt"

	"github.com/gatehouse-gateway/gatehouse"
)

// Keys are the keyed hashes of the names by which a later request can continue an exchange: those of the provider, and, of an
// answer that the gateway has written in its place, the exchange's own id.
func (r *Resolver) Keys(x *gatehouse.Exchange) []Digest {
	var out []Digest
	for _, key := range x.Leaves {
		out = append(out, r.keyed("continued", x.Agent, key))
	}
	if x.Stopped() != nil {
		out = append(out, r.keyed("continued", x.Agent, x.ID))
	}
	return out
}

// Continued finds the session of a request that continues what the provider keeps: of the first of these names that is known.
func (r *Resolver) Continued(ctx context.Context, agentID string, keys []string) (id string, ok bool, err error) {
	for _, key := range keys {
		if id, ok, err = r.Store.SessionByTranscript(ctx, agentID, r.keyed("continued", agentID, key)); err != nil {
			return "", false, fmt.Errorf("find session: %w", err)
		}
		if ok {
			return id, true, nil
		}
	}
	return "", false, nil
}

// WithheldDigest is what the calls that were taken out of a stored answer are remembered under.
func (r *Resolver) WithheldDigest(agentID, key string) Digest {
	return r.keyed("withheld", agentID, key)
}
