// Package responses is the codec of OpenAI Responses (https://platform.openai.com/docs/api-reference/responses): requests,
// answers whole and in events, answers that the provider has stored, and lists of stored items. It promises that bytes which no
// edit touches stay as they were, that an edit reaches every copy of a text that the format carries, and that what it writes is
// legal: indices, statuses and items that hang together follow from what was removed. It leaves transport to the proxy and
// judgement to the checkpoints.
package responses

import (
	"encoding/json"

	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// Codec is the format; its zero value is ready. It keeps no state.
type Codec struct {
	wire.Codec     // of the provider's errors
	Depth      int // most nested arrays and objects of a request; 0: [wire.MaxDepth]

	asked *echo // what the request said that is answered; nil: nothing is known of it
}

var _ wire.Codec = Codec{}

// encode writes what the gateway authors itself.
func encode(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err) // only strings and numbers come here
	}
	return out
}
