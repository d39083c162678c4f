package bench

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestOpenLoopCountsFromTheScheduledTime(t *testing.T) {
	// A server that answers one request at a time, each in 20 ms, cannot keep up with 100 requests a second: the later ones
	// have waited for the earlier ones, and that must show.
	var one sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one.Lock()
		defer one.Unlock()
		time.Sleep(20 * time.Millisecond)
		io.WriteString(w, "{}")
	}))
	defer server.Close()
	l := Load{Rate: 100, Duration: 300 * time.Millisecond, Prompts: Prompts{Size: 64}}
	s, err := l.Send(context.Background(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	if s.Requests < 25 || s.Failed > 0 {
		t.Fatalf("%d answered, %d failed", s.Requests, s.Failed)
	}
	if p := s.Latency(); p.P99 < 150*time.Millisecond {
		t.Errorf("the slowest took %v: the wait before sending does not count", p.P99)
	}
}

func TestClosedLoopKeepsItsClients(t *testing.T) {
	var mu sync.Mutex
	now, most := 0, 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		time.Sleep(5 * time.Millisecond)
		mu.Lock()
		now--
		mu.Unlock()
		io.WriteString(w, "{}")
	}))
	defer server.Close()
	l := Load{Concurrency: 3, Duration: 100 * time.Millisecond, Prompts: Prompts{Size: 64}}
	s, err := l.Send(context.Background(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	if most != 3 || s.Requests < 6 {
		t.Errorf("%d at once, %d requests", most, s.Requests)
	}
}

func TestFailuresCount(t *testing.T) {
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch n++; n % 3 {
		case 0:
			w.WriteHeader(http.StatusTooManyRequests)
		case 1:
			io.WriteString(w, "{}")
		}
	}))
	defer server.Close()
	s, err := Load{Concurrency: 1, Duration: 50 * time.Millisecond}.Send(context.Background(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	if s.Failed < s.Requests || s.Requests == 0 {
		t.Errorf("%d answered, %d failed: a third is refused and a third is empty", s.Requests, s.Failed)
	}
}

func TestNothingAnsweredIsAnError(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	_, err := Load{Concurrency: 1, Duration: 10 * time.Millisecond}.Send(context.Background(), server.URL)
	if err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("error %v", err)
	}
}

func TestPromptsAreUniqueJSON(t *testing.T) {
	for _, p := range []Prompts{{Size: 1024}, {Size: 1024, Trigger: true}, {Size: 1024, Stream: true}} {
		seen := map[string]bool{}
		for range 200 {
			body := p.next()
			if seen[string(body)] {
				t.Fatalf("%+v: a prompt came twice", p)
			}
			seen[string(body)] = true
			var c completion
			if err := json.Unmarshal(body, &c); err != nil {
				t.Fatal(err)
			}
			last := c.Messages[len(c.Messages)-1].Content
			if len(last) < 1000 || len(last) > 1100 {
				t.Fatalf("%+v: %d bytes", p, len(last))
			}
			if p.Trigger != strings.Contains(last, "ghp_") || p.Trigger != (len(c.Tools) > 0) || p.Stream != c.Stream {
				t.Fatalf("%+v: %s", p, body)
			}
		}
	}
}

func TestFloorPassesAnswersOn(t *testing.T) {
	model := httptest.NewServer(Model{})
	defer model.Close()
	address, err := url.Parse(model.URL)
	if err != nil {
		t.Fatal(err)
	}
	floor := httptest.NewServer(Floor(address))
	defer floor.Close()
	for _, p := range []Prompts{{Size: 100}, {Size: 400, Trigger: true}} {
		res, err := http.Post(floor.URL+"/v1/chat/completions", "application/json", strings.NewReader(string(p.next())))
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Choices []struct {
				Message message `json:"message"`
				Reason  string  `json:"finish_reason"`
			} `json:"choices"`
		}
		err = json.NewDecoder(res.Body).Decode(&got)
		res.Body.Close()
		if err != nil || len(got.Choices) != 1 || len(got.Choices[0].Message.Content) < 300 {
			t.Fatalf("%+v: %v %+v", p, err, got)
		}
		if c := got.Choices[0]; p.Trigger != (len(c.Message.Calls) == 1) || p.Trigger != (c.Reason == "tool_calls") {
			t.Errorf("%+v: %+v", p, c)
		}
	}
}

func TestModelStreams(t *testing.T) {
	model := httptest.NewServer(Model{})
	defer model.Close()
	for _, p := range []Prompts{{Size: 100, Stream: true}, {Size: 400, Stream: true, Trigger: true}} {
		res, err := http.Post(model.URL, "application/json", strings.NewReader(string(p.next())))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		events := strings.Split(strings.TrimSpace(string(raw)), "\n\n")
		if last := events[len(events)-1]; last != "data: [DONE]" || len(events) < 20 {
			t.Fatalf("%d events, the last is %s", len(events), last)
		}
		for _, e := range events[:len(events)-1] {
			if !json.Valid([]byte(strings.TrimPrefix(e, "data: "))) {
				t.Errorf("not JSON: %s", e)
			}
		}
	}
}
