package header

import (
	"net/http"
	"slices"
	"strings"
)

const corsPrefix = "access-control-"

// What a preflight may ask for at most. SDKs ask for about twenty names; the answer goes into one line.
const (
	maxRequested     = 64
	maxRequestedName = 64
)

// CORS answers a browser's question whether a page may read this response, and for a preflight also what it may send. The
// page's origin must be in allowed, letter for letter, or allowed must contain "*"; otherwise h says nothing, and the
// browser refuses. Whatever h said of CORS before is replaced. Cookies are never asked for: the gateway knows none.
func CORS(h http.Header, origin string, allowed []string, preflight bool) {
	for name := range h {
		if strings.HasPrefix(strings.ToLower(name), corsPrefix) {
			delete(h, name)
		}
	}
	if len(allowed) == 0 {
		return
	}
	vary(h, "Origin") // also on a refusal: a cache must not hand it to a page that is allowed
	if origin == "" || !slices.Contains(allowed, origin) && !slices.Contains(allowed, "*") {
		return
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", strings.Join(Exposed(), ", "))
	if preflight {
		h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE, OPTIONS")
		h.Set(allowHeaders, strings.Join(accepted(), ", "))
		h.Set("Access-Control-Max-Age", "86400")
	}
}

const allowHeaders = "Access-Control-Allow-Headers"

// AllowRequested adds the names that a preflight asks for (Access-Control-Request-Headers) to those that [CORS] allowed:
// SDKs send many of their own, and which ones changes with their versions. Names in the gateway's namespaces other than the
// four that clients may send are left out, and so is what is no header name. Without an allowing CORS before it, it does
// nothing.
func AllowRequested(h http.Header, requested string) {
	if h.Get(allowHeaders) == "" {
		return
	}
	vary(h, "Access-Control-Request-Headers")
	names := accepted()
	for name := range strings.SplitSeq(requested, ",") {
		name = strings.TrimSpace(name)
		if !token(name) || inNamespace(name) || slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) }) {
			continue
		}
		if len(names) == len(accepted())+maxRequested {
			break
		}
		names = append(names, name)
	}
	h.Set(allowHeaders, strings.Join(names, ", "))
}

// accepted lists the request headers that every page may send.
func accepted() []string {
	return []string{
		"Content-Type", "Authorization", "x-api-key", "anthropic-version", "anthropic-beta", "x-goog-api-key",
		apiKeyName, agentName, sessionName, versionName, "Idempotency-Key", "If-Match",
	}
}

// token reports whether the name is a field name (RFC 9110, section 5.6.2) of sensible length.
func token(name string) bool {
	if name == "" || len(name) > maxRequestedName {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && (r > '~' || !strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	})
}

// vary adds a name to Vary unless it is there.
func vary(h http.Header, name string) {
	for n := range strings.SplitSeq(strings.Join(h.Values("Vary"), ","), ",") {
		if n = strings.TrimSpace(n); n == "*" || strings.EqualFold(n, name) {
			return
		}
	}
	h.Add("Vary", name)
}
