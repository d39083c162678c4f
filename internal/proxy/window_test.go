package proxy_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/checkpoint"
	"github.com/gatehouse-gateway/gatehouse/internal/fake"
	"github.com/gatehouse-gateway/gatehouse/internal/proxy"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

// live is a model whose answer a test writes piece by piece, and the answer as the client gets it.
type live struct {
	t     *testing.T
	g     *gateway
	write chan string        // events, by the model; closed when it has ended
	left  chan struct{}      // closed when the gateway has left the model
	res   *http.Response     // as the client gets it
	lines chan string        // of its body; closed at its end
	err   error              // why it ended, once lines is closed
	leave context.CancelFunc // the client goes
}

// stream asks for a stream in the window and gives both of its ends.
func stream(t *testing.T, o options) *live {
	t.Helper()
	l := &live{t: t, write: make(chan string), left: make(chan struct{}), lines: make(chan string, 100)}
	o.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) //nolint:errcheck // what was asked does not matter
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			select {
			case s, open := <-l.write:
				if !open {
					return
				}
				if s == cut {
					panic(http.ErrAbortHandler)
				}
				io.WriteString(w, s)                  //nolint:errcheck // the test sees what arrives
				http.NewResponseController(w).Flush() //nolint:errcheck // as above
			case <-r.Context().Done():
				close(l.left)
				return
			}
		}
	})
	adjust := o.doors
	o.doors = func(s *proxy.Settings) {
		if s.Streaming = "window"; adjust != nil {
			adjust(s)
		}
	}
	l.g = start(t, o)
	ctx, leave := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(leave)
	l.leave = leave
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, l.g.url+doors[0].path, strings.NewReader(string(doors[0].body(true, user("hello")))))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer sk-test")
	go l.say("", chunk(`{"role":"assistant","content":""}`, "null"))
	if l.res, err = l.g.client.Do(r); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(l.lines)
		defer l.res.Body.Close()
		body := bufio.NewReader(l.res.Body)
		for {
			line, err := body.ReadString('\n')
			if line != "" {
				l.lines <- line
			}
			if err != nil {
				l.err = err
				return
			}
		}
	}()
	return l
}

// cut makes the model's connection break.
const cut = "cut"

func chunk(delta, finish string) string {
	return `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + "}]}\n\n"
}

func text(s string) string { return chunk(`{"content":"`+s+`"}`, "null") }

func (l *live) say(_ string, events ...string) {
	for _, e := range events {
		select {
		case l.write <- e:
		case <-l.left:
			return
		}
	}
}

// until reads what the client gets up to a line that holds a text.
func (l *live) until(want string) (all string) {
	l.t.Helper()
	for {
		select {
		case line, open := <-l.lines:
			if all += line; !open || strings.Contains(line, want) {
				if !open {
					l.t.Fatalf("the stream ended before %q: %s", want, all)
				}
				return all
			}
		case <-time.After(10 * time.Second):
			l.t.Fatalf("no %q after %s", want, all)
		}
	}
}

// rest reads what the client gets up to the end.
func (l *live) rest() (all string) {
	for line := range l.lines {
		all += line
	}
	return all
}

const end = "data: [DONE]\n\n"

func TestWindowLetsGoOfWhatIsDecided(t *testing.T) {
	l := stream(t, options{})
	if h := l.res.Header; h.Get("X-AIP-Verdict") != "pending" || h.Get("X-Mnemom-Verdict") != "front=pass; autonomy=pass; integrity=pass; back=pass" {
		t.Errorf("headers: %v", h)
	}
	for _, name := range []string{"X-Mnemom-Verdict", "X-Aip-Verdict", "X-Aip-Checkpoint-Id"} {
		if _, announced := l.res.Trailer[name]; !announced {
			t.Errorf("%s is not announced: %v", name, l.res.Trailer)
		}
	}
	l.say("", text("Hel"))
	l.until("Hel") // at once, although the word goes on
	l.say("", text("lo, here"), text(" it is: "+secret[:6]))
	if got := l.until("lo, here"); strings.Contains(got, "it is") {
		t.Errorf("more than the word is held: %s", got)
	}
	l.say("", text(secret[6:]+" and that is all that there is to it."), text(" Bye now"))
	got := l.until("that is all")
	l.say("", chunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"lookup","arguments":"{}"}}]}`, "null"), text(" x "))
	l.say("", chunk("{}", `"tool_calls"`), end)
	close(l.write)
	got += l.rest()
	if strings.Contains(got, secret[:8]) || strings.Contains(got, secret[6:20]) || !strings.Contains(got, "REDACTED") || !strings.HasSuffix(got, end) {
		t.Errorf("got %s", got)
	}
	final := "front=pass; autonomy=pass; integrity=pass; back=enforced"
	if !strings.Contains(got, ": X-Mnemom-Verdict: "+final+"\n: X-AIP-Verdict: skipped\n"+end) {
		t.Errorf("no comment before the terminal event: %s", got)
	}
	if l.res.Trailer.Get("X-Mnemom-Verdict") != final || l.res.Trailer.Get("X-AIP-Verdict") != "skipped" {
		t.Errorf("trailers: %v", l.res.Trailer)
	}
	if r := l.g.records(); len(r) != 1 || r[0].Status != http.StatusOK || r[0].Verdicts["back"] != "enforced" {
		t.Errorf("records: %+v", r)
	}
}

// A call waits until it is decided; text behind it waits for the call.
func TestWindowHoldsCalls(t *testing.T) {
	l := stream(t, options{script: nil})
	l.say("", text("One moment, please. "), chunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"send_email","arguments":"{"}}]}`, "null"))
	l.until("moment")
	l.say("", chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}`, "null"), chunk("{}", `"tool_calls"`), end)
	close(l.write)
	if got := l.rest(); strings.Contains(got, "tool_calls") || !strings.Contains(got, "send_email") || !strings.Contains(got, `"stop"`) {
		t.Errorf("got %s", got)
	}
}

// A call leaves when the next one begins, as it is complete then and the gate lets it through; that the next one is refused
// changes nothing about it.
func TestWindowLetsGoOfCallsThatAreDecided(t *testing.T) {
	call := func(index int, name, arguments string) string {
		return chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":"call_%d","function":{"name":"%s","arguments":"%s"}}]}`, index, index, name, arguments), "null")
	}
	l := stream(t, options{})
	l.say("", call(0, "lookup", "{"), chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}`, "null"), call(1, "send_email", "{}"))
	if got := l.until(`"arguments":"}"`); !strings.Contains(got, "lookup") || strings.Contains(got, "send_email") {
		t.Errorf("got %s", got)
	}
	l.say("", call(2, "lookup", `{\"n\":2}`), chunk("{}", `"tool_calls"`), end)
	close(l.write)
	got := l.rest()
	for _, want := range []string{`"id":"call_2"`, `"index":1,"id":"call_2"`, "was refused", `"finish_reason":"tool_calls"`} {
		if !strings.Contains(strings.ReplaceAll(got, "was withheld", "was refused"), want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if strings.Contains(got, `"id":"call_1"`) || strings.Contains(got, `"id":"call_0"`) || !strings.HasSuffix(got, end) {
		t.Errorf("got %s", got)
	}
}

func TestWindowEndsAsTheUpstreamDid(t *testing.T) {
	l := stream(t, options{})
	l.say("", text("Some words "), text("and "+secret), cut)
	got := l.rest()
	if !strings.Contains(got, "Some words") || strings.Contains(got, secret) || strings.Contains(got, "[DONE]") || errors.Is(l.err, io.EOF) {
		t.Errorf("%v, %s", l.err, got)
	}
	if r := l.g.records(); len(r) != 1 || r[0].Error != "upstream_interrupted" {
		t.Errorf("records: %+v", r)
	}
}

// A stream that cannot be read any more ends like one that broke off.
func TestWindowOfAMalformedStream(t *testing.T) {
	l := stream(t, options{})
	l.say("", text("Some words "), "data: {\n\n")
	if got := l.rest(); !strings.Contains(got, "Some words") || errors.Is(l.err, io.EOF) {
		t.Errorf("%v, %s", l.err, got)
	}
	if r := l.g.records(); len(r) != 1 || r[0].Error != "upstream_malformed" {
		t.Errorf("records: %+v", r)
	}
}

func TestWindowOfAClientThatLeaves(t *testing.T) {
	l := stream(t, options{})
	l.say("", text("Some words "))
	l.until("Some")
	l.leave()
	select {
	case <-l.left:
	case <-time.After(10 * time.Second):
		t.Fatal("the model is still asked")
	}
	for range 100 {
		if r := l.g.records(); len(r) == 1 {
			if r[0].Error != "client_closed_request" {
				t.Errorf("records: %+v", r)
			}
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("no record")
}

// late is a ledger that fails when the answer has been read.
type late struct{ checkpoint.Ledger }

func (late) Append(context.Context, audit.Record, *session.Update, bool) error {
	return errors.New("disk full")
}

func TestWindowWithoutARecordHasNoEnd(t *testing.T) {
	l := stream(t, options{engine: func(e *checkpoint.Engine) { e.Ledger = late{e.Ledger} }})
	l.say("", text("Some words "), chunk("{}", `"stop"`), end)
	close(l.write)
	if got := l.rest(); !strings.Contains(got, "Some words") || strings.Contains(got, "[DONE]") || errors.Is(l.err, io.EOF) {
		t.Errorf("%v, %s", l.err, got)
	}
}

// What is held is bounded, what has left is not counted.
func TestWindowOverflow(t *testing.T) {
	l := stream(t, options{doors: func(s *proxy.Settings) { s.Limits.Buffer = 4 << 10 }})
	for range 100 {
		l.say("", text("These are words. "))
	}
	l.until("words")
	go func() {
		for range 100 {
			l.say("", chunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"lookup","arguments":"xxxxxxxxxxxxxxxxxxxxxxxxxxxx"}}]}`, "null"))
		}
	}()
	got := l.rest()
	if strings.Contains(got, "xxx") || !strings.Contains(got, "This request was stopped by the") || !strings.Contains(got, `"content_filter"`) || !strings.HasSuffix(got, end) {
		t.Errorf("got %s", got)
	}
	if r := l.g.records(); len(r) != 1 || r[0].Error == "" || l.res.Trailer.Get("X-Mnemom-Verdict") != "front=pass; autonomy=pass; integrity=enforced; back=pass" {
		t.Errorf("%v, records: %+v", l.res.Trailer, r)
	}
}

func TestWindowKeepsAlive(t *testing.T) {
	l := stream(t, options{doors: func(s *proxy.Settings) { s.KeepAlive = 20 * time.Millisecond }})
	l.until(": waiting")
	l.until(": waiting")
	l.say("", text("Bye. "), chunk("{}", `"stop"`), end)
	close(l.write)
	if got := l.rest(); !strings.HasSuffix(got, end) {
		t.Errorf("got %s", got)
	}
}

// TestAutoStreams: what auto is follows from the mode of integrity and from what the client speaks.
func TestAutoStreams(t *testing.T) {
	for _, c := range []struct {
		integrity gatehouse.Mode
		protocol  string
		streaming string
		early     bool
	}{
		{gatehouse.Observe, "1.1", "auto", true}, {gatehouse.Off, "1.1", "auto", true}, {gatehouse.Enforce, "1.1", "auto", false},
		{gatehouse.Observe, "1.0", "auto", false}, {gatehouse.Observe, "1.1", "buffer", false}, {gatehouse.Enforce, "1.1", "window", true},
	} {
		t.Run(fmt.Sprintf("%s/HTTP %s/%s", c.integrity, c.protocol, c.streaming), func(t *testing.T) {
			g := start(t, options{
				script:   func(fake.Request) fake.Turn { return fake.Turn{Text: "Hello, you."} },
				settings: func(s *checkpoint.Settings) { s.Integrity = c.integrity },
				doors:    func(s *proxy.Settings) { s.Streaming = c.streaming },
			})
			body := doors[0].body(true, user("hello"))
			conn, err := net.Dial("tcp", strings.TrimPrefix(g.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			fmt.Fprintf(conn, "POST %s HTTP/%s\r\nHost: localhost\r\nAuthorization: Bearer sk-test\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", doors[0].path, c.protocol, len(body), body)
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			all, err := httputil.DumpResponse(res, true)
			if err != nil {
				t.Fatal(err)
			}
			word := res.Header.Get("X-AIP-Verdict")
			if early := word == "pending" || strings.Contains(string(all), ": X-Mnemom-Verdict"); early != c.early {
				t.Errorf("early: %v, X-AIP-Verdict %q\n%s", early, word, all)
			}
			if !strings.Contains(string(all), ", you") || !strings.HasSuffix(string(all), end) && c.protocol == "1.0" {
				t.Errorf("got %s", all)
			}
		})
	}
}
