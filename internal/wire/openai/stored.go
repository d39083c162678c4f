package openai

import "github.com/gatehouse-gateway/gatehouse/internal/wire"

// Stored is the codec of requests for a completion that the provider has stored (`store: true`). The answer is a completion.
type Stored struct{ Codec }

// Request takes what may stand in such a request.
func (c Stored) Request(body []byte) (wire.Request, error) { return wire.BareRequest(body, c.Depth) }
