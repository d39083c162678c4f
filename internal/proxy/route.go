package proxy

import (
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/gatehouse-gateway/gatehouse/internal/surface"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// door is where a request goes: an upstream, the path there, and the codec when the exchange can be inspected.
type door struct {
	up    Upstream
	path  string // on the upstream
	codec wire.Codec
	shape wire.Codec // for errors, in the provider's own shape
	keys  []string   // the provider's names for what the path asks for, of what it has stored
	mute  bool       // the answer has no room for words

	stream bool // the answer comes in events, as the query says and not the body
}

// route finds the door of a request. What generates and cannot be inspected has none, unless the operator allows it.
func route(r *http.Request, s *Settings) (door, error) {
	if !plainPath(r.URL.Path) {
		return door{}, surface.Failure(http.StatusNotFound, "not_found", "no such path")
	}
	name, rest := upstreamOf(r)
	u, ok := s.Upstreams[name]
	if !ok {
		return door{}, surface.Failure(http.StatusNotFound, "not_found", "no such path or upstream")
	}
	d := door{up: u, path: rest, shape: s.Codecs[u.Format]}
	at := endpoint(u.Format, r.Method, rest)
	switch {
	case r.Header.Get("Upgrade") != "":
		return d, surface.Failure(http.StatusForbidden, "uninspected_endpoint", "protocol upgrades cannot be inspected")
	case at.use == inspected && at.key != "" && r.URL.Query().Has("starting_after"):
		return d, surface.Failure(http.StatusForbidden, "uninspected_endpoint", "a stream that begins in its middle cannot be inspected: leave starting_after out")
	case at.use == inspected && s.Codecs[at.codec] != nil:
		d.codec, d.mute = s.Codecs[at.codec], at.mute
		if at.key != "" {
			d.keys, d.stream = []string{at.key}, r.URL.Query().Get("stream") == "true"
		}
		return d, nil
	case at.use == silent, slices.Contains(u.AllowUninspected, rest):
		return d, nil
	}
	return d, surface.Failure(http.StatusForbidden, "uninspected_endpoint",
		"this endpoint cannot be inspected; upstreams."+name+".allow_uninspected lists the paths that may pass all the same")
}

// plainPath reports whether a decoded path means the same to every server: no empty or dot segments, and nothing that a second
// decoding would change.
func plainPath(p string) bool {
	clean := path.Clean(p)
	return (p == clean || p == clean+"/") && !strings.ContainsAny(p, "%\\")
}

// upstreamOf reads the upstream's name and the path on it from a URL: /openai/…, /u/NAME/…, or bare /v1, where
// Anthropic's paths and its version header decide.
func upstreamOf(r *http.Request) (name, rest string) {
	first, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch first {
	case "openai", "anthropic", "gemini":
		return first, "/" + rest
	case "u":
		name, rest, _ = strings.Cut(rest, "/")
		return name, "/" + rest
	case "v1":
		if r.Header.Get("Anthropic-Version") != "" || rest == "messages" || strings.HasPrefix(rest, "messages/") {
			return "anthropic", r.URL.Path
		}
		if endpoint("openai", r.Method, r.URL.Path).use != unknown {
			return "openai", r.URL.Path
		}
	}
	return "", ""
}

// What an endpoint is to the gateway.
type use int

const (
	unknown   use = iota // not listed: refused
	inspected            // a codec reads it
	silent               // generates nothing: forwarded by the setting uninspected
	opaque               // generates, and no codec reads it: refused
)

// target is an endpoint of a provider's API.
type target struct {
	use   use
	codec string // of an inspected one: the name of its codec in [Settings]
	key   string // the id of what the provider has stored and the path asks for
	mute  bool   // the answer has no room for words
}

// endpoint classifies a path of a provider's API. The list names what is known; everything else is refused.
func endpoint(format, method, path string) target {
	first, rest, deeper := strings.Cut(strings.TrimPrefix(path, "/v1/"), "/")
	if !strings.HasPrefix(path, "/v1/") {
		return target{}
	}
	post, get := method == http.MethodPost, method == http.MethodGet || method == http.MethodHead
	switch format + " " + first {
	case "openai chat":
		if rest == "completions" && post {
			return target{use: inspected, codec: "openai"}
		}
		return target{use: opaque}
	case "openai responses":
		return responses(method, rest)
	case "openai completions":
		if post && !deeper {
			return target{use: inspected, codec: "openai/completions"}
		}
		return target{use: opaque}
	case "openai embeddings":
		if post && !deeper {
			return target{use: inspected, codec: "openai/embeddings", mute: true}
		}
	case "openai models", "anthropic models":
		if get {
			return target{use: silent}
		}
	case "openai moderations":
		if post && !deeper {
			return target{use: silent}
		}
	case "openai files", "anthropic files":
		return target{use: silent}
	case "openai batches", "openai assistants", "openai threads", "openai conversations", "openai realtime", "openai audio", "openai images":
		return target{use: opaque}
	case "anthropic messages":
		switch {
		case !deeper && post:
			return target{use: inspected, codec: "anthropic"}
		case rest == "count_tokens" && post:
			return target{use: silent}
		}
		return target{use: opaque}
	}
	return target{}
}

// responses classifies the paths below /v1/responses.
func responses(method, rest string) target {
	id, more, _ := strings.Cut(rest, "/")
	switch post, get := method == http.MethodPost, method == http.MethodGet; {
	case post && (rest == "" || rest == "compact"):
		return target{use: inspected, codec: "openai/responses"}
	case post && rest == "input_tokens":
		return target{use: silent}
	case id == "":
	case post && more == "cancel", get && more == "":
		return target{use: inspected, codec: "openai/responses/stored", key: id}
	case get && more == "input_items":
		return target{use: inspected, codec: "openai/responses/items", key: id}
	case method == http.MethodDelete && more == "":
		return target{use: silent}
	}
	return target{use: opaque}
}
