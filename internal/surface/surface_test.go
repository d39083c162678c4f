package surface_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/header"
	"github.com/gatehouse-gateway/gatehouse/internal/surface"
	"github.com/gatehouse-gateway/gatehouse/verdict"
)

// ledger is a checker that keeps what it is given.
type ledger struct {
	mu   sync.Mutex
	kept []gatehouse.Exchange
	err  error
}

func (l *ledger) Check(context.Context, *gatehouse.Exchange, gatehouse.Checkpoint) gatehouse.Decision {
	return gatehouse.Decision{}
}

func (l *ledger) Finish(_ context.Context, x *gatehouse.Exchange) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, *x)
	return l.err
}

// does is a surface of one function.
type does func(c *surface.Call) bool

func (d does) Serve(c *surface.Call) bool { return d(c) }

// house is a handler with one surface, and what it has logged and recorded.
type house struct {
	*surface.Handler
	ledger *ledger
	log    *bytes.Buffer
}

func newHouse(s surface.Settings, do does) house {
	h := house{ledger: &ledger{}, log: &bytes.Buffer{}}
	h.Handler = &surface.Handler{Checker: h.ledger, Ready: func(context.Context) error { return nil },
		Log: slog.New(slog.NewJSONHandler(h.log, nil)), Surfaces: []surface.Surface{do}}
	h.Use(&s)
	return h
}

func (h house) ask(method, target string, body io.Reader, headers ...string) *httptest.ResponseRecorder {
	w, r := httptest.NewRecorder(), httptest.NewRequest(method, target, body)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	h.ServeHTTP(w, r)
	return w
}

// bears looks at the header surface.
func bears(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	if w.Header().Get("X-Mnemom-Request-Id") == "" {
		t.Error("no request id")
	}
	if _, err := verdict.ParseStrict(w.Header().Get("X-Mnemom-Verdict")); err != nil {
		t.Error(err)
	}
	for name := range w.Header() {
		if !header.Known(name) {
			t.Errorf("unknown header %s", name)
		}
	}
}

// A panic ends one exchange: with the headers, with one record, and without a word of what was said.
func TestPanics(t *testing.T) {
	const said = "marked text of a panic"
	for name, do := range map[string]does{
		"before the answer": func(*surface.Call) bool { panic(said) },
		"with an error":     func(*surface.Call) bool { panic(errors.New(said)) },
		"of the runtime":    func(c *surface.Call) bool { return c.X.Decisions[len(said)].Stop },
		"once recorded":     func(c *surface.Call) bool { c.Recorded = true; panic(said) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(surface.Settings{}, do)
			w := h.ask("GET", "/x", nil)
			bears(t, w)
			if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), `"internal_error"`) {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			if strings.Contains(w.Body.String()+h.log.String(), said) {
				t.Error("what the panic said is told")
			}
			if want := map[bool]int{true: 0, false: 1}[name == "once recorded"]; len(h.ledger.kept) != want {
				t.Errorf("%d records, want %d", len(h.ledger.kept), want)
			}
		})
	}
}

// After the status line there is nothing to say any more: the connection ends.
func TestPanicInTheAnswer(t *testing.T) {
	for name, do := range map[string]does{
		"any":   func(c *surface.Call) bool { c.Head(http.StatusOK); panic("x") },
		"abort": func(*surface.Call) bool { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if v := recover(); v != http.ErrAbortHandler {
					t.Errorf("%v", v)
				}
			}()
			newHouse(surface.Settings{}, do).ask("GET", "/x", nil)
		})
	}
}

// Without a place for its record a refusal is another one.
func TestRefusalThatCannotBeRecorded(t *testing.T) {
	h := newHouse(surface.Settings{}, func(*surface.Call) bool { return false })
	h.ledger.err = errors.New("disk full at /var/lib/secret")
	w := h.ask("GET", "/x", nil)
	bears(t, w)
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "checkpoint_unavailable") || strings.Contains(w.Body.String(), "disk") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// On loopback only loopback's names are answered: a page that has rebound its own name is turned away.
func TestHost(t *testing.T) {
	h := newHouse(surface.Settings{Loopback: true}, func(c *surface.Call) bool { c.Write(http.StatusOK, "text/plain", nil); return true })
	for host, status := range map[string]int{"localhost": 200, "LOCALHOST:8787": 200, "127.0.0.1:1": 200, "127.9.9.9": 200, "[::1]:8787": 200, "[::1]": 200, "a.localhost": 200,
		"localhost.": 200, "evil.example": 403, "localhost.evil.example": 403, "127.0.0.1.evil.example": 403, "10.0.0.1": 403, "0.0.0.0": 403,
		"2130706433": 403, "127.1": 403, "notlocalhost": 403, "[::ffff:10.0.0.1]": 403} {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/x", nil)
		r.Host = host
		h.ServeHTTP(w, r)
		bears(t, w)
		if w.Code != status {
			t.Errorf("%s: %d, want %d", host, w.Code, status)
		}
	}
}

func TestBearer(t *testing.T) {
	for value, want := range map[string]string{"Bearer a": "a", "bearer a": "a", "BEARER  a ": "a", "Basic a": "", "Bearer": "", "": "", "Bearera": "", "a": ""} {
		if got := surface.Bearer(http.Header{"Authorization": {value}}); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

// What clients make up has no place in logs, and nothing forged gets in or out.
func TestWhatClientsMakeUp(t *testing.T) {
	h := newHouse(surface.Settings{}, func(c *surface.Call) bool {
		if len(c.R.Header.Values("X-Mnemom-Verdict"))+len(c.R.Header.Values("X_mnemom_agent")) > 0 {
			t.Error("a forged header is read")
		}
		c.W.Header().Set("X-Mnemom-Verdict", "forged")
		c.W.Header().Set("X-Aip-Proceed", "forged")
		c.Write(http.StatusOK, "text/plain", nil)
		c.Log(nil)
		return true
	})
	w := h.ask("MARKEDMETHOD", "/x", nil, "X-Mnemom-Verdict", "forged", "X_mnemom_agent", "forged", "X-Mnemom-Session", "marked-session")
	bears(t, w)
	if log := h.log.String(); strings.Contains(log, "MARKEDMETHOD") || strings.Contains(log, "forged") {
		t.Error(log)
	}
}

func TestReady(t *testing.T) {
	h := newHouse(surface.Settings{}, nil)
	for path, status := range map[string]int{"/health/live": 200, "/health/ready": 503} {
		h.Ready = func(context.Context) error { return errors.New("disk full") }
		w := h.ask("GET", path, nil)
		bears(t, w)
		if w.Code != status || strings.Contains(w.Body.String(), "disk") || len(h.ledger.kept) != 0 {
			t.Errorf("%s: %d %s, %d records", path, w.Code, w.Body, len(h.ledger.kept))
		}
	}
}
