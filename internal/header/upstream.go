package header

import (
	"net/http"
	"strings"
)

// Clean makes the headers or trailers of a message fit to be passed on: without anything in the gateway's namespaces,
// without hop-by-hop fields and those that Connection names (RFC 9110, section 7.6.1), and without the CORS answers of a
// server that the browser did not speak to: an upstream's "Access-Control-Allow-Origin: *" would open the gateway, and the
// keys it holds, to every page. It works on a response's headers and trailers, and on a request's after [Take].
func Clean(h http.Header) {
	named := connectionNames(h)
	for name := range h {
		lower := strings.ToLower(name)
		if inNamespace(name) || hopByHop(lower) || named[lower] || strings.HasPrefix(lower, corsPrefix) {
			delete(h, name)
		}
	}
}

func hopByHop(lower string) bool {
	switch lower {
	case "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade":
		return true
	}
	return strings.HasPrefix(lower, "proxy-")
}

// connectionNames are the fields that the sender says are for this hop alone, in lower case.
func connectionNames(h http.Header) map[string]bool {
	names := map[string]bool{}
	for key, values := range h {
		if !strings.EqualFold(key, "Connection") {
			continue
		}
		for name := range strings.SplitSeq(strings.Join(values, ","), ",") {
			names[strings.ToLower(strings.TrimSpace(name))] = true
		}
	}
	return names
}
