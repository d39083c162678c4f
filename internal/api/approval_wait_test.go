package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/approval"
)

var decision = approval.Decision{By: "mk-1", From: "127.0.0.1", Note: "by hand"}

// later makes a request whose answer comes later.
func (h *house) later(token, path string) <-chan reply {
	answered := make(chan reply, 1)
	go func() {
		r, err := h.try(token, "GET", path, "")
		if err != nil {
			r.body = err.Error()
		}
		answered <- r
	}()
	return answered
}

func TestLongPoll(t *testing.T) {
	p := newParties(t)
	other := p.desk.ask(demand("acme", p.agent, `{}`, "call-2")).Approval

	start := time.Now()
	if got := p.want(http.StatusOK, "", p.agent1, "GET", p.path("?wait=1"), "").text("state"); got != "pending" || time.Since(start) < time.Second {
		t.Errorf("%s after %v", got, time.Since(start))
	}
	var waiters []<-chan reply
	for range 3 {
		waiters = append(waiters, p.later(p.agent1, p.path("?wait=30")))
	}
	parked := p.later(p.agent1, "/v1/approvals/"+other+"?wait=5")
	time.Sleep(200 * time.Millisecond)
	start = time.Now()
	p.want(http.StatusOK, "", p.approver, "POST", p.path("/deny"), "")
	for _, w := range waiters {
		if r := <-w; r.text("state") != "denied" {
			t.Errorf("%d %s", r.status, r.body)
		}
	}
	if d := time.Since(start); d > 4*time.Second {
		t.Errorf("they heard of it after %v", d)
	}
	select {
	case r := <-parked:
		t.Errorf("another approval's waiter was answered: %s", r.body)
	default:
	}
	if r := <-parked; r.text("state") != "pending" || time.Since(start) < time.Second {
		t.Errorf("%s after %v", r.body, time.Since(start))
	}
	// What is decided is answered at once.
	start = time.Now()
	p.want(http.StatusOK, "", p.agent1, "GET", p.path("?wait=30"), "")
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("%v", d)
	}
}

// A decision of another process wakes them as well, and what runs out does.
func TestLongPollOfAnotherProcess(t *testing.T) {
	p := newParties(t)
	soon := demand("acme", p.agent, `{}`, "call-2")
	soon.Expires = time.Now().Add(700 * time.Millisecond)
	expiring := p.desk.ask(soon).Approval
	expired, decided := p.later(p.reader, "/v1/approvals/"+expiring+"?wait=30"), p.later(p.reader, p.path("?wait=30"))
	time.Sleep(200 * time.Millisecond)
	if _, err := p.desk.Approve(t.Context(), p.id, decision); err != nil {
		t.Fatal(err)
	}
	if r := <-decided; r.text("state") != "approved" || r.text("note") != "by hand" {
		t.Errorf("%s", r.body)
	}
	if r := <-expired; r.text("state") != "expired" || r.doc()["arguments"] != nil {
		t.Errorf("%s", r.body)
	}
}

// Who loses the key while waiting is told nothing, and a gateway that ends lets nobody wait.
func TestLongPollEnds(t *testing.T) {
	p := newParties(t)
	id, key := p.key("acme", nil, "api:read")
	revoked, parked := p.later(key, p.path("?wait=30")), p.later(p.reader, p.path("?wait=30"))
	time.Sleep(200 * time.Millisecond)
	p.want(http.StatusOK, "", rootToken, "DELETE", "/v1/keys/"+id, "")
	if _, err := p.desk.Approve(t.Context(), p.id, decision); err != nil {
		t.Fatal(err)
	}
	if r := <-revoked; r.status != http.StatusUnauthorized {
		t.Errorf("%d %s", r.status, r.body)
	}
	<-parked
	other := p.desk.ask(demand("acme", p.agent, `{}`, "call-2")).Approval
	parked = p.later(p.reader, "/v1/approvals/"+other+"?wait=60")
	time.Sleep(200 * time.Millisecond)
	start := time.Now()
	ended := make(chan error, 1)
	go func() { ended <- p.gateway.Close() }()
	<-parked
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("it ended after %v", d)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// event is one of a stream.
type event struct {
	name, id string
	data     map[string]any
}

// stream follows approvals until the test ends or leave is called.
func (h *house) stream(token string, headers ...string) (events <-chan event, leave func()) {
	h.t.Helper()
	ctx, leave := context.WithCancel(h.t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, h.server.URL+"/v1/approvals/events", nil)
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("X-Mnemom-Api-Key", token)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := h.client.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" || res.Header.Get("Cache-Control") != "no-store" {
		h.t.Fatalf("%d %v", res.StatusCode, res.Header)
	}
	out := make(chan event, 100)
	h.t.Cleanup(leave)
	go func() {
		defer close(out)
		defer res.Body.Close()
		var e event
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "event":
				e.name = value
			case "id":
				e.id = value
			case "data":
				if json.Unmarshal([]byte(value), &e.data) != nil {
					e.data = nil
				}
				out <- e
				e = event{}
			}
		}
	}()
	return out, leave
}

// next is the next event of a stream, which must come.
func next(t *testing.T, events <-chan event) event {
	t.Helper()
	select {
	case e, open := <-events:
		if !open {
			t.Fatal("the stream has ended")
		}
		return e
	case <-time.After(5 * time.Second):
		t.Fatal("no event")
	}
	return event{}
}

func TestStream(t *testing.T) {
	p := newParties(t)
	events, leave := p.stream(p.reader)
	second := p.desk.ask(demand("acme", p.agent, `{"to":"bob@example.com"}`, "call-2")).Approval
	asked := next(t, events)
	if asked.name != "approval.requested" || asked.data["id"] != second || asked.data["state"] != "pending" || asked.data["arguments"] != nil || asked.data["evidence"] != nil || asked.id == "" {
		t.Errorf("%+v", asked)
	}
	p.want(http.StatusOK, "", p.approver, "POST", p.path("/approve"), "")
	if e := next(t, events); e.name != "approval.approved" || e.data["id"] != p.id {
		t.Errorf("%+v", e)
	}
	p.desk.ask(demand("acme", p.agent, toAlice, "call-1"))
	if e := next(t, events); e.name != "approval.consumed" || e.data["id"] != p.id {
		t.Errorf("%+v", e)
	}
	leave()
	p.want(http.StatusOK, "", p.approver, "POST", "/v1/approvals/"+second+"/deny", "")
	again, _ := p.stream(p.reader, "Last-Event-ID", asked.id)
	for _, want := range []string{"approval.consumed " + p.id, "approval.denied " + second} {
		if e := next(t, again); e.name+" "+fmt.Sprint(e.data["id"]) != want {
			t.Errorf("%+v, want %s", e, want)
		}
	}
}

// A stream has what the caller may see, and ends with the key and with the gateway.
func TestStreamIsOfTheCaller(t *testing.T) {
	p := newParties(t)
	_, all := p.key("acme", nil, "api:write")
	other := p.house.agent(all, "other")
	id, restricted := p.key("acme", []string{p.agent}, "api:read")
	_, globex := p.key("globex", nil, "approve")
	mine, _ := p.stream(restricted)
	own, _ := p.stream(p.agent1)
	theirs, _ := p.stream(globex)
	everything, _ := p.stream(rootToken)
	p.desk.ask(demand("acme", other, toAlice, "call-1"))
	last := p.desk.ask(demand("acme", p.agent, `{}`, "call-2")).Approval
	for _, events := range []<-chan event{mine, own} {
		if e := next(t, events); e.data["id"] != last {
			t.Errorf("%+v", e)
		}
	}
	if e := next(t, everything); e.data["agent_id"] != other {
		t.Errorf("%+v", e)
	}
	next(t, everything)
	select {
	case e := <-theirs:
		t.Errorf("another account hears of %+v", e)
	case <-time.After(200 * time.Millisecond):
	}
	p.want(http.StatusOK, "", rootToken, "DELETE", "/v1/keys/"+id, "")
	p.want(http.StatusOK, "", p.approver, "POST", "/v1/approvals/"+last+"/deny", "")
	if e, open := <-mine; open {
		t.Errorf("a revoked key hears of %+v", e)
	}
	next(t, everything)
	ended := make(chan error, 1)
	go func() { ended <- p.gateway.Close() }()
	select {
	case e, open := <-everything:
		if open {
			t.Errorf("%+v", e)
		}
	case <-time.After(5 * time.Second):
		t.Error("the gateway ends, and the stream does not")
	}
	<-ended
}

// Over HTTP/2 a connection cannot be taken from the server: the request waits where it is.
func TestLongPollOverHTTP2(t *testing.T) {
	p := newParties(t)
	s := httptest.NewUnstartedServer(p.gateway)
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	poll := func(ctx context.Context) (*http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+p.path("?wait=30"), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Mnemom-Api-Key", p.reader)
		return s.Client().Do(r)
	}
	gone, leave := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer leave()
	if _, err := poll(gone); err == nil {
		t.Error("it was answered before it was decided")
	}
	answered := make(chan string, 1)
	go func() {
		res, err := poll(t.Context())
		if err != nil {
			answered <- err.Error()
			return
		}
		defer res.Body.Close()
		raw, err := io.ReadAll(res.Body)
		answered <- fmt.Sprint(res.Proto, err, string(raw))
	}()
	time.Sleep(200 * time.Millisecond)
	p.want(http.StatusOK, "", p.approver, "POST", p.path("/deny"), "")
	if said := <-answered; !strings.HasPrefix(said, "HTTP/2.0<nil>") || !strings.Contains(said, `"state":"denied"`) {
		t.Error(said)
	}
}
