package surface

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/header"
)

// Call is one request on its way through a surface. One goroutine owns it.
type Call struct {
	W  http.ResponseWriter
	R  *http.Request // without anything in the gateway's namespaces
	In header.Inbound
	X  *gatehouse.Exchange

	// Shape writes errors as the client expects them; nil for the native envelope.
	Shape func(status int, code, message string) []byte
	// Own are headers of the surface's own in the gateway's namespaces (X-Mnemom-Version). They are written last.
	Own http.Header
	// Recorded says that the exchange has its one record.
	Recorded bool

	handler  *Handler
	settings *Settings
	begun    bool // the status line has been written
}

// Refuse answers a request that never reached the checkpoints, and writes its record.
func (c *Call) Refuse(err error) {
	f := gatehouse.AsFailure(err)
	c.X.Status, c.X.Error, c.Recorded = f.Status, f.Code, true
	if err := c.handler.Checker.Finish(context.WithoutCancel(c.R.Context()), c.X); err != nil {
		f = &gatehouse.Failure{Status: http.StatusServiceUnavailable, Code: "checkpoint_unavailable",
			Message: "the audit record could not be written", Err: errors.Join(err, f)}
	}
	c.Fail(f)
	c.Log(f)
}

// Fail writes an error, in the client's own shape or in the native envelope.
func (c *Call) Fail(f *gatehouse.Failure) {
	message := f.Message
	if message == "" {
		message = http.StatusText(f.Status)
	}
	if f.Status == http.StatusUnauthorized {
		c.W.Header().Set("WWW-Authenticate", "Bearer")
	}
	c.X.Status = f.Status
	shape := c.Shape
	if shape == nil {
		shape = envelope
	}
	c.Write(f.Status, "application/json", shape(f.Status, f.Code, message))
}

// envelope is the native API's error.
func envelope(_ int, code, message string) []byte {
	body, err := json.Marshal(map[string]any{"error": map[string]string{"code": code, "message": message}})
	if err != nil {
		panic(err) // strings always marshal
	}
	return body
}

// Write sends a whole response.
func (c *Call) Write(status int, contentType string, body []byte) {
	h := c.W.Header()
	if contentType != "" {
		h.Set("Content-Type", contentType)
	}
	if status != http.StatusNoContent {
		h.Set("Content-Length", strconv.Itoa(len(body)))
	}
	h.Set("Cache-Control", "no-store")
	c.Head(status)
	c.W.Write(body) //nolint:errcheck // a client that has left is no failure of ours
}

// Head writes the status line and the header surface, last of all, over whatever an upstream sent.
func (c *Call) Head(status int) {
	h := c.W.Header()
	header.CORS(h, c.R.Header.Get("Origin"), c.settings.Origins, false)
	header.Set(h, c.X)
	for name, values := range c.Own {
		h[name] = values
	}
	c.begun = true
	c.W.WriteHeader(status)
}

// method is the request's, or _OTHER for one that nobody has heard of: what clients make up has no place in logs.
func method(name string) string {
	switch name {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return name
	}
	return "_OTHER"
}

// Log writes the one line of the exchange; err is why it failed, nil when it did not.
func (c *Call) Log(err error) {
	x := c.X
	attrs := []any{"request_id", x.ID, "method", method(c.R.Method), "surface", x.Surface, "upstream", x.Upstream, "endpoint", x.Endpoint,
		"status", x.Status, "agent", x.Agent, "session", x.Session}
	for _, at := range gatehouse.Checkpoints {
		attrs = append(attrs, string(at), string(x.Outcome(at)))
	}
	if err == nil {
		c.handler.Log.InfoContext(c.R.Context(), "exchange", attrs...)
		return
	}
	f := gatehouse.AsFailure(err)
	attrs = append(attrs, "code", f.Code)
	if f.Err != nil {
		attrs = append(attrs, "error", f.Err)
	}
	c.handler.Log.WarnContext(c.R.Context(), "exchange", attrs...)
}
