package proxy_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/checkpoint"
	"github.com/gatehouse-gateway/gatehouse/internal/fake"
	"github.com/gatehouse-gateway/gatehouse/internal/proxy"
	"github.com/gatehouse-gateway/gatehouse/internal/surface"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
	"github.com/gatehouse-gateway/gatehouse/internal/wire/openai"
)

// crashingCodec panics at one place.
type crashingCodec struct {
	openai.Codec
	at string
}

func (c crashingCodec) Request(body []byte) (wire.Request, error) {
	if c.at == "request" {
		panic("request")
	}
	return c.Codec.Request(body)
}

func (c crashingCodec) Stopped(wire.Request, wire.Notice) ([]byte, string) { panic("stopped") }

func (c crashingCodec) Response(body []byte, to wire.Sink) (wire.Response, error) {
	if c.at == "response" {
		panic("response")
	}
	r, err := c.Codec.Response(body, to)
	return crashingResponse{r}, err
}

type crashingResponse struct{ wire.Response }

func (crashingResponse) Bytes([]gatehouse.Part) ([]byte, error) { panic("bytes") }

func crashing(at string) func(*proxy.Settings) {
	return func(s *proxy.Settings) { s.Codecs["openai"] = crashingCodec{at: at} }
}

func unreachable(s *proxy.Settings) {
	u := s.Upstreams["openai"]
	u.URL = &url.URL{Scheme: "http", Host: "127.0.0.1:1"}
	s.Upstreams["openai"] = u
}

func TestEveryStatus(t *testing.T) {
	chat, hello := doors[0].path, doors[0].body(false, user("hello"))
	hanging := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	answers := func(turn fake.Turn) options {
		return options{script: func(fake.Request) fake.Turn { return turn }}
	}
	tests := []struct {
		name    string
		o       options
		path    string
		body    []byte
		headers []string
		status  int
		says    string
	}{
		{"fine", options{}, chat, hello, nil, 200, "You said: hello"},
		{"not JSON", options{}, chat, []byte("{"), nil, 400, "invalid_json_body"},
		{"no body", options{}, chat, nil, nil, 400, "invalid_json_body"},
		{"duplicate keys", options{}, chat, []byte(`{"model":"m","model":"n","messages":[]}`), nil, 400, "duplicate_key"},
		{"wrong shape", options{}, chat, []byte(`{"model":"m","messages":{"role":"user"}}`), nil, 400, "invalid_request"},
		{"too deep", options{}, chat, []byte(strings.Repeat("[", 5000)), nil, 400, "too_deep"},
		{"invalid UTF-8", options{}, chat, []byte("{\"model\":\"\xff\",\"messages\":[]}"), nil, 400, "invalid_utf8"},
		{"agent name", options{}, chat, hello, []string{"X-Mnemom-Agent", "-"}, 400, "invalid_agent_name"},
		{"no credential", options{}, chat, hello, []string{"Authorization", ""}, 401, "auth_required"},
		{"unknown gateway key", options{}, chat, hello, []string{"X-Mnemom-Api-Key", "mnm_x"}, 401, "invalid_credentials"},
		{"upstream's 401", answers(fake.Turn{Status: 401, Error: "bad key"}), chat, hello, nil, 401, "bad key"},
		{"not inspected", options{}, "/openai/v1/batches", hello, nil, 403, "uninspected_endpoint"},
		{"foreign host", options{}, chat, hello, []string{"Host", "evil.example"}, 403, "host_not_allowed"},
		{"unknown agent", options{desk: func(d *surface.Desk) { d.KnownOnly(true) }}, chat, hello, nil, 403, "agent_unknown"},
		{"no such path", options{}, "/nowhere", hello, nil, 404, "not_found"},
		{"no such upstream", options{}, "/u/nobody/v1/chat/completions", hello, nil, 404, "not_found"},
		{"too large", options{}, chat, make([]byte, 3<<19), nil, 413, "request_too_large"},
		{"far too large", options{}, chat, make([]byte, 2<<20), nil, 413, "request_too_large"},
		{"unknown coding", options{}, chat, hello, []string{"Content-Encoding", "compress"}, 415, "unsupported_encoding"},
		{"two codings", options{}, chat, hello, []string{"Content-Encoding", "gzip, br"}, 415, "unsupported_encoding"},
		{"upstream's 429", answers(fake.Turn{Status: 429, Error: "slow down", Header: http.Header{"Retry-After": {"7"}}}), chat, hello, nil, 429, "slow down"},
		{"upstream's 500", answers(fake.Turn{Status: 500, Error: "oh no"}), chat, hello, nil, 500, "oh no"},
		{"panic in request", options{doors: crashing("request")}, chat, hello, nil, 500, "internal_error"},
		{"panic in response", options{doors: crashing("response")}, chat, hello, nil, 500, "internal_error"},
		{"panic in answer", options{doors: crashing("bytes")}, chat, hello, nil, 500, "internal_error"},
		{"panic in stop", options{doors: crashing("stopped")}, chat, doors[0].body(false, user(attack)), nil, 500, "internal_error"},
		{"unreachable", options{doors: unreachable}, chat, hello, nil, 502, "upstream_unreachable"},
		{"malformed", answers(fake.Turn{Raw: []byte("{")}), chat, hello, nil, 502, "upstream_malformed"},
		{"empty", answers(fake.Turn{Raw: []byte("")}), chat, hello, nil, 502, "upstream_malformed"},
		{"empty stream", answers(fake.Turn{Raw: []byte("")}), chat, doors[0].body(true, user("hello")), nil, 502, "upstream_interrupted"},
		{"answer too large", answers(fake.Turn{Text: strings.Repeat("x", 2<<20)}), chat, hello, nil, 502, "upstream_too_large"},
		{"stream too large", answers(fake.Turn{Text: strings.Repeat("x", 2<<20)}), chat, doors[0].body(true, user("hello")), nil, 503, "checkpoint_unavailable"},
		{"idle", options{handler: hanging, doors: func(s *proxy.Settings) { s.Limits.Idle = 50 * time.Millisecond }}, chat, hello, nil, 504, "upstream_timeout"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			g := start(t, c.o)
			a := g.send("POST", c.path, c.body, c.headers...)
			if a.status != c.status || !strings.Contains(a.body, c.says) {
				t.Errorf("%d, %.300s; want %d, %s", a.status, a.body, c.status, c.says)
			}
			r := g.record(a)
			if len(g.records()) != 1 {
				t.Errorf("%d records", len(g.records()))
			}
			if r.Status != c.status && !strings.HasPrefix(c.name, "panic in") {
				t.Errorf("the record says %d", r.Status)
			}
			if c.name == "upstream's 429" && a.header.Get("Retry-After") != "7" {
				t.Errorf("Retry-After: %q", a.header.Get("Retry-After"))
			}
			// The gateway goes on working, whatever came.
			if g.send("GET", "/health/live", nil).status != 200 || g.store.Err() != nil {
				t.Errorf("unhealthy: %v", g.store.Err())
			}
		})
	}
}

// What the operator will not have forwarded unread is refused, and the record says so.
func TestUninspectedRefused(t *testing.T) {
	g := start(t, options{settings: func(s *checkpoint.Settings) { s.Uninspected = "refuse" }})
	a := g.send("GET", "/openai/v1/models", nil)
	if r := g.record(a); a.status != 403 || r.Status != 403 || r.Error != "uninspected_endpoint" || len(g.received()) > 0 {
		t.Errorf("%d, recorded %d %s", a.status, r.Status, r.Error)
	}
}

// A record that could be written twice would be refused later, and the store with it.
func TestPanicBehindAnUnwaitedRecord(t *testing.T) {
	g := start(t, options{doors: crashing("bytes"), settings: func(s *checkpoint.Settings) { s.Durability = "decisions" }})
	for range 3 {
		if a := g.ask(doors[0], false, user("hello")); a.status != 500 {
			t.Errorf("status %d", a.status)
		}
		time.Sleep(150 * time.Millisecond) // until the record is committed
	}
	if err := g.store.Err(); err != nil {
		t.Error(err)
	}
}

func TestOwnRateLimit(t *testing.T) {
	g := start(t, options{doors: func(s *proxy.Settings) { s.Rate = 2 }})
	for i, want := range []int{200, 200, 429} {
		a := g.ask(doors[0], false, user("hello"))
		if a.status != want {
			t.Errorf("request %d: %d", i+1, a.status)
		}
		if want == 429 && a.header.Get("Retry-After") != "30" {
			t.Errorf("Retry-After: %q", a.header.Get("Retry-After"))
		}
	}
	if n := len(g.received()); n != 2 {
		t.Errorf("%d requests upstream", n)
	}
}

func TestSlowBody(t *testing.T) {
	g := start(t, options{ways: func(s *surface.Settings) { s.BodyTime = 50 * time.Millisecond }})
	res := g.raw(t, "POST "+doors[0].path+" HTTP/1.1", "Host: 127.0.0.1", "Authorization: Bearer k", "Content-Length: 100", "", "{")
	checkSurface(t, res.Header)
	if res.StatusCode != 408 {
		t.Errorf("status %d", res.StatusCode)
	}
}

// A client that writes everything before it reads still sees the answer.
func TestTooLargeForAClientThatOnlyWrites(t *testing.T) {
	g := start(t, options{})
	conn, err := net.Dial("tcp", strings.TrimPrefix(g.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := bytes.Repeat([]byte("x"), 2<<20)
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer k\r\nContent-Length: %d\r\n\r\n", doors[0].path, len(body))
	if n, err := conn.Write(body); err != nil {
		t.Fatalf("after %d bytes: %v", n, err)
	}
	head := make([]byte, 12)
	if _, err := io.ReadFull(conn, head); err != nil || string(head) != "HTTP/1.1 413" {
		t.Errorf("%q, %v", head, err)
	}
}

func TestPreflight(t *testing.T) {
	const page = "https://app.example"
	g := start(t, options{ways: func(s *surface.Settings) { s.Origins = []string{page} }})
	a := g.send("OPTIONS", doors[0].path, nil, "Origin", page, "Access-Control-Request-Method", "POST", "Authorization", "")
	if a.status != 204 || a.header.Get("Access-Control-Allow-Origin") != page {
		t.Errorf("%d, %v", a.status, a.header)
	}
	for _, path := range []string{doors[0].path, "/nowhere"} {
		a = g.send("POST", path, doors[0].body(false, user("hello")), "Origin", page)
		if !strings.Contains(a.header.Get("Access-Control-Expose-Headers"), "X-Mnemom-Verdict") {
			t.Errorf("%s exposes %q", path, a.header.Get("Access-Control-Expose-Headers"))
		}
	}
}
