package proxy

import (
	"net/http"
	"path"
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

	upgrade  string // the protocol that the client asks to go on with; empty: none
	wordless bool   // the answer counts or measures the request: no model speaks in it
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
	d := door{up: u, path: rest, shape: s.Codecs[u.Format], upgrade: r.Header.Get("Upgrade")}
	switch use := endpoint(u.Format, r.Method, rest); {
	case d.upgrade != "" && !u.allows(rest):
		return d, surface.Failure(http.StatusForbidden, "uninspected_endpoint",
			"protocol upgrades cannot be inspected; upstreams."+name+".allow_uninspected lists the paths that may pass all the same")
	case d.upgrade != "":
		return d, nil
	case (use == inspected || use == measured) && d.shape != nil:
		d.codec, d.wordless = d.shape, use == measured
		if c, ok := d.codec.(wire.Addressed); ok {
			d.codec = c.At(rest, r.URL.Query())
		}
		return d, nil
	case use == silent, u.allows(rest):
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

// upstreamOf reads the upstream's name and the path on it from a URL: /openai/…, /u/NAME/…, or bare: /v1beta is Gemini's, and
// under /v1 it is Anthropic's by its paths or its version header, Gemini's by its methods or its header for the key, else
// OpenAI's.
func upstreamOf(r *http.Request) (name, rest string) {
	first, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch first {
	case "openai", "anthropic", "gemini":
		return first, "/" + rest
	case "u":
		name, rest, _ = strings.Cut(rest, "/")
		return name, "/" + rest
	case "v1beta":
		return "gemini", r.URL.Path
	case "v1":
		if r.Header.Get("Anthropic-Version") != "" || rest == "messages" || strings.HasPrefix(rest, "messages/") {
			return "anthropic", r.URL.Path
		}
		google := r.Header.Get("X-Goog-Api-Key") != "" || strings.Contains(rest, ":")
		if google && endpoint("gemini", r.Method, r.URL.Path) != unknown {
			return "gemini", r.URL.Path
		}
		if endpoint("openai", r.Method, r.URL.Path) != unknown {
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
	measured             // a codec reads the request; the answer counts or measures it, and has no words of a model
	silent               // generates nothing: forwarded by the setting uninspected
	opaque               // generates, and no codec reads it: refused
)

// endpoint classifies a path of a provider's API. The list names what is known; everything else is refused.
func endpoint(format, method, path string) use {
	if format == "gemini" {
		return geminiEndpoint(method, path)
	}
	first, rest, deeper := strings.Cut(strings.TrimPrefix(path, "/v1/"), "/")
	if !strings.HasPrefix(path, "/v1/") {
		return unknown
	}
	post, get := method == http.MethodPost, method == http.MethodGet || method == http.MethodHead
	switch format + " " + first {
	case "openai chat":
		if rest == "completions" && post {
			return inspected
		}
		return opaque
	case "openai models", "anthropic models":
		if get {
			return silent
		}
	case "openai embeddings", "openai moderations":
		if post && !deeper {
			return silent
		}
	case "openai files", "openai uploads", "anthropic files":
		return silent
	case "openai responses", "openai completions", "openai batches", "openai assistants", "openai threads", "openai realtime", "openai audio", "openai images",
		"openai videos", "openai fine_tuning", "openai evals", "openai containers", "openai conversations", "openai vector_stores", "anthropic complete":
		return opaque
	case "anthropic messages":
		switch {
		case !deeper && post:
			return inspected
		case rest == "count_tokens" && post:
			return measured
		}
		return opaque
	}
	return unknown
}
