package proxy

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/surface"
	"github.com/gatehouse-gateway/gatehouse/internal/upstream"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// Settings are what an operator decides about the doors.
type Settings struct {
	Upstreams map[string]Upstream
	Body      int64                 // most bytes of a request body, before and after decompression
	KeysOnly  bool                  // callers must show an API key, also while there is none
	Rate      int                   // requests a minute for each agent; 0: no limit
	Codecs    map[string]wire.Codec // by format, and by format/endpoint where a format has several
	Limits    upstream.Limits
	Streaming string        // auto, buffer, window: see docs/streaming.md
	KeepAlive time.Duration // how long a stream may be silent; 0: for ever
	Replay    bool          // an approved call of the last turn is delivered without the model
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

// allows reports whether the operator lets a path pass that cannot be inspected. In what he lists, * stands for any part of one
// segment.
func (u Upstream) allows(rest string) bool {
	return slices.ContainsFunc(u.AllowUninspected, func(pattern string) bool {
		match, err := path.Match(pattern, rest)
		return match && err == nil
	})
}

// credential takes the caller's key from the provider's own slot.
func (u Upstream) credential(r *http.Request) string {
	if name := upstream.KeySlot(u.Format); name != "" && r.Header.Get(name) != "" {
		return r.Header.Get(name)
	}
	if keys := queryKeys(r.URL.RawQuery); u.Format == "gemini" && len(keys) > 0 {
		return keys[0]
	}
	return surface.Bearer(r.Header)
}

// authorize puts the gateway's own key into the provider's slot, in place of whatever the caller sent.
func (u Upstream) authorize(r *http.Request) {
	if u.Key == "" {
		return
	}
	for _, name := range slots {
		r.Header.Del(name)
	}
	if u.Format == "gemini" { // to others the names mean something else
		r.URL.RawQuery = filterQuery(r.URL.RawQuery, func(string) bool { return false })
	}
	upstream.Authorize(r.Header, u.Format, u.Key)
}
