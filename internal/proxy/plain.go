package proxy

import (
	"net"
	"net/http"
	"strings"

	"github.com/gatehouse-gateway/gatehouse/internal/header"
)

// plain answers what is no exchange with a model: preflights, health, and requests that a browser was tricked into.
func (p *Proxy) plain(t *turn) (done bool) {
	switch {
	case t.s.Loopback && t.r.Host != "" && !loopbackHost(t.r.Host): // HTTP/1.0 has none, and browsers always send it
		p.refuse(t, failure(http.StatusForbidden, "host_not_allowed", "this address answers only to loopback names"))
	case t.r.Method == http.MethodOptions && t.r.Header.Get("Access-Control-Request-Method") != "":
		header.CORS(t.w.Header(), t.r.Header.Get("Origin"), t.s.Origins, true)
		header.AllowRequested(t.w.Header(), t.r.Header.Get("Access-Control-Request-Headers"))
		header.Set(t.w.Header(), t.x)
		t.w.WriteHeader(http.StatusNoContent)
	case t.r.URL.Path == "/health/live":
		p.write(t, http.StatusOK, "application/json", []byte(`{"status":"ok"}`))
	case t.r.URL.Path == "/health/ready":
		p.ready(t)
	default:
		return false
	}
	return true
}

// ready says whether a request would be served now: without a place for its record it would not.
func (p *Proxy) ready(t *turn) {
	if err := p.Ready(t.r.Context()); err != nil {
		p.Log.Error("not ready", "request_id", t.x.ID, "error", err)
		p.write(t, http.StatusServiceUnavailable, "application/json", []byte(`{"status":"unavailable"}`))
		return
	}
	p.write(t, http.StatusOK, "application/json", []byte(`{"status":"ok"}`))
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
