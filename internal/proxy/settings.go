package proxy

import (
	"net/http"
	"net/url"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/surface"
	"github.com/gatehouse-gateway/gatehouse/internal/upstream"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// Settings are what an operator decides about the doors.
type Settings struct {
	Upstreams  map[string]Upstream
	Body       int64                 // most bytes of a request body, before and after decompression
	AutoCreate bool                  // unknown credentials make agents
	KeysOnly   bool                  // callers must show an API key, also while there is none
	Rate       int                   // requests a minute for each agent; 0: no limit
	Codecs     map[string]wire.Codec // by format
	Limits     upstream.Limits
	Streaming  string        // auto, buffer, window: see docs/streaming.md
	KeepAlive  time.Duration // how long a stream may be silent; 0: for ever
	Replay     bool          // an approved call of the last turn is delivered without the model
}

// Upstream is a model server that requests can be sent to.
type Upstream struct {
	Name             string
	Format           string // openai, anthropic, gemini
	URL              *url.URL
	Key              string // of the gateway; empty: the caller's own is passed on
	NoAuth           bool   // neither is needed
	AllowUninspected []string
}

// credential takes the caller's key from the provider's own slot.
func (u Upstream) credential(h http.Header) string {
	if key := h.Get("X-Api-Key"); key != "" && u.Format == "anthropic" {
		return key
	}
	return surface.Bearer(h)
}

// authorize puts the gateway's own key into the provider's slot, in place of whatever the caller sent.
func (u Upstream) authorize(h http.Header) {
	if u.Key == "" {
		return
	}
	for _, name := range slots {
		h.Del(name)
	}
	if u.Format == "anthropic" {
		h.Set("X-Api-Key", u.Key)
		return
	}
	h.Set("Authorization", "Bearer "+u.Key)
}
