// Package surface is what all ways in over HTTP have in common. It promises that every response bears the header surface,
// that every request that is turned away leaves its record, that nothing forged is read, and that a panic ends one exchange
// and not the program. What a request means is left to the surfaces.
package surface

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/header"
)

// Surface is a way in.
type Surface interface {
	// Serve answers a call. It returns false, and has done nothing, when the path is none of its own.
	Serve(c *Call) bool
}

// Handler is an http.Handler in front of the surfaces. Its fields are set before its first use.
type Handler struct {
	Checker  gatehouse.Checker
	Ready    func(context.Context) error // why a record could not be kept now
	Log      *slog.Logger
	Surfaces []Surface // asked in order

	settings atomic.Pointer[Settings]
}

// Settings are what an operator decides about all of them.
type Settings struct {
	Origins  []string      // for CORS
	Loopback bool          // listens on loopback only, so that Host is checked
	BodyTime time.Duration // longest time for one request body
}

// Use makes the handler work by these settings from now on.
func (h *Handler) Use(s *Settings) { h.settings.Store(s) }

// ServeHTTP answers every request, the failed ones too, with the header surface.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &Call{W: w, R: r, In: header.Take(r.Header), handler: h, settings: h.settings.Load(), X: &gatehouse.Exchange{
		ID: uuid.NewString(), Time: time.Now(), Surface: "proxy"}}
	defer func() {
		if v := recover(); v != nil {
			if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(v) // the connection ends as the upstream's did
			}
			c.crashed(v)
		}
	}()
	if c.plain() {
		return
	}
	for _, s := range h.Surfaces {
		if s.Serve(c) {
			return
		}
	}
	c.Refuse(Failure(http.StatusNotFound, "not_found", "no such path"))
}

// crashed answers a request whose handling panicked, as far as it still can.
func (c *Call) crashed(v any) {
	f := &gatehouse.Failure{Status: http.StatusInternalServerError, Code: "internal_error",
		Err: fmt.Errorf("panic of type %T\n%s", v, debug.Stack())}
	switch {
	case c.begun:
		c.Log(f)
		panic(http.ErrAbortHandler)
	case c.Recorded:
		c.Fail(f)
		c.Log(f)
	default:
		c.Refuse(f)
	}
}

// Failure is an error that the client is told: an HTTP status, a code in snake case, and a sentence that quotes nothing.
func Failure(status int, code, message string) error {
	return &gatehouse.Failure{Status: status, Code: code, Message: message}
}
