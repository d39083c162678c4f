package surface

import (
	"net"
	"net/http"
	"strings"

	"github.com/gatehouse-gateway/gatehouse/internal/header"
)

// plain answers what is no exchange with a model: preflights, health, and requests that a browser was tricked into.
func (c *Call) plain() (done bool) {
	switch {
	case c.settings.Loopback && c.R.Host != "" && !loopbackHost(c.R.Host): // HTTP/1.0 has none, and browsers always send it
		c.Refuse(Failure(http.StatusForbidden, "host_not_allowed", "this address answers only to loopback names"))
	case c.R.Method == http.MethodOptions && c.R.Header.Get("Access-Control-Request-Method") != "":
		header.CORS(c.W.Header(), c.R.Header.Get("Origin"), c.settings.Origins, true)
		header.AllowRequested(c.W.Header(), c.R.Header.Get("Access-Control-Request-Headers"))
		header.Set(c.W.Header(), c.X)
		c.begun = true
		c.W.WriteHeader(http.StatusNoContent)
	case healthPath(c.R.URL.Path) && c.R.Method != http.MethodGet && c.R.Method != http.MethodHead:
		c.W.Header().Set("Allow", "GET, HEAD")
		c.Refuse(Failure(http.StatusMethodNotAllowed, "method_not_allowed", "this path knows GET, HEAD"))
	case c.R.URL.Path == "/health/live":
		c.Write(http.StatusOK, "application/json", []byte(`{"status":"ok"}`))
	case c.R.URL.Path == "/health/ready":
		c.ready()
	default:
		return false
	}
	return true
}

func healthPath(path string) bool { return path == "/health/live" || path == "/health/ready" }

// ready says whether a request would be served now: without a place for its record it would not.
func (c *Call) ready() {
	if err := c.handler.Ready(c.R.Context()); err != nil {
		c.handler.Log.Error("not ready", "request_id", c.X.ID, "error", err)
		c.Write(http.StatusServiceUnavailable, "application/json", []byte(`{"status":"unavailable"}`))
		return
	}
	c.Write(http.StatusOK, "application/json", []byte(`{"status":"ok"}`))
}

// loopbackHost reports whether a Host header names loopback: a page that rebinds its own name to 127.0.0.1 is not let in.
func loopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}
