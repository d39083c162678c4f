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

	upgrade  string   // the protocol that the client asks to go on with; empty: none
	wordless bool     // the answer counts or measures the request: no model speaks in it
	keys     []string // the provider's names for what the path asks for, of what it has stored
	stream   bool     // the answer comes in events, as the query says and not the body
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
	at := endpoint(u.Format, r.Method, rest)
	switch read := at.use == inspected || at.use == measured; {
	case d.upgrade != "" && !u.allows(rest):
		return d, surface.Failure(http.StatusForbidden, "uninspected_endpoint",
			"protocol upgrades cannot be inspected; upstreams."+name+".allow_uninspected lists the paths that may pass all the same")
	case d.upgrade != "":
		return d, nil
	case read && at.key != "" && r.URL.Query().Has("starting_after"):
		return d, surface.Failure(http.StatusForbidden, "uninspected_endpoint", "a stream that begins in its middle cannot be inspected: leave starting_after out")
	case read && s.Codecs[at.codec] != nil:
		d.codec, d.wordless = s.Codecs[at.codec], at.use == measured
		if c, ok := d.codec.(wire.Addressed); ok {
			d.codec = c.At(rest, r.URL.Query())
		}
		if at.key != "" {
			d.keys, d.stream = []string{at.key}, r.URL.Query().Get("stream") == "true"
		}
		return d, nil
	case at.use == silent, u.allows(rest):
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
		if google && endpoint("gemini", r.Method, r.URL.Path).use != unknown {
			return "gemini", r.URL.Path
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
	measured             // a codec reads the request; the answer counts or measures it, and has no words of a model
	silent               // generates nothing: forwarded by the setting uninspected
	opaque               // generates, and no codec reads it: refused
)

// target is an endpoint of a provider's API.
type target struct {
	use   use
	codec string // of an inspected one: the name of its codec in [Settings]
	key   string // the id of what the provider has stored and the path asks for
}

// endpoint classifies a path of a provider's API. The list names what is known; everything else is refused.
func endpoint(format, method, path string) target {
	if format == "gemini" {
		return target{use: geminiEndpoint(method, path), codec: "gemini"}
	}
	first, rest, deeper := strings.Cut(strings.TrimPrefix(path, "/v1/"), "/")
	if !strings.HasPrefix(path, "/v1/") {
		return target{}
	}
	post, get := method == http.MethodPost, method == http.MethodGet || method == http.MethodHead
	switch format + " " + first {
	case "openai chat":
		return chat(method, rest)
	case "openai responses":
		return responses(method, rest)
	case "openai completions":
		if post && !deeper {
			return target{use: inspected, codec: "openai/completions"}
		}
		return target{use: opaque}
	case "openai embeddings":
		if post && !deeper {
			return target{use: measured, codec: "openai/embeddings"}
		}
	case "openai models", "anthropic models":
		if get {
			return target{use: silent}
		}
	case "openai moderations":
		if post && !deeper {
			return target{use: silent}
		}
	case "openai files", "openai uploads", "anthropic files":
		return target{use: silent}
	case "openai batches", "openai assistants", "openai threads", "openai conversations", "openai realtime", "openai audio", "openai images",
		"openai videos", "openai fine_tuning", "openai evals", "openai containers", "openai vector_stores", "anthropic complete":
		return target{use: opaque}
	case "anthropic messages":
		switch {
		case !deeper && post:
			return target{use: inspected, codec: "anthropic"}
		case rest == "count_tokens" && post:
			return target{use: measured, codec: "anthropic"}
		}
		return target{use: opaque}
	}
	return target{}
}

// chat classifies the paths below /v1/chat. Lists of what is stored are refused, as nothing reads them, and so are changes of what is noted
// beside it: a server that looks at the begin of a path alone would take one for a question.
func chat(method, rest string) target {
	id, stored := strings.CutPrefix(rest, "completions/")
	switch one := stored && id != "" && !strings.Contains(id, "/"); {
	case rest == "completions" && method == http.MethodPost:
		return target{use: inspected, codec: "openai"}
	case one && method == http.MethodGet:
		return target{use: inspected, codec: "openai/stored", key: id}
	case one && method == http.MethodDelete:
		return target{use: silent}
	}
	return target{use: opaque}
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
