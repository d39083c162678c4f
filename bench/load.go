package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// Load is what to send, and how. With a rate the loop is open: requests are sent by the clock, whether earlier ones were
// answered or not, and latency counts from the scheduled time, so that a server that stalls cannot hide it (coordinated
// omission). Without one it is closed: each of Concurrency clients sends its next request when it has its answer.
type Load struct {
	Rate        float64       `json:"rate"`        // requests a second; 0: closed loop
	Concurrency int           `json:"concurrency"` // clients of the closed loop
	Duration    time.Duration `json:"duration_ns"`
	Prompts     Prompts       `json:"prompts"`
	Key         string        `json:"-"` // sent as the provider key
}

// inFlight bounds an open loop against a server that no longer answers.
const inFlight = 4096

// patience is how long one request may take.
const patience = 30 * time.Second

// Send sends requests to a base URL until the time is over or the context ends, and waits for the last answers.
func (l Load) Send(ctx context.Context, base string) (*Sample, error) {
	if l.Concurrency < 1 && l.Rate <= 0 {
		return nil, errors.New("neither a rate nor clients")
	}
	transport := &http.Transport{MaxIdleConnsPerHost: inFlight, DisableCompression: true}
	defer transport.CloseIdleConnections()
	s := &sender{load: l, url: base + "/v1/chat/completions", client: &http.Client{Transport: transport, Timeout: patience}}
	start := time.Now()
	if l.Rate > 0 {
		s.open(ctx, start)
	} else {
		s.closed(ctx, start)
	}
	s.took = time.Since(start)
	if s.Requests == 0 {
		return nil, fmt.Errorf("no request was answered: %w", errors.Join(s.first, ctx.Err()))
	}
	return &s.Sample, nil
}

// sender is one run of a load.
type sender struct {
	load   Load
	url    string
	client *http.Client

	mu sync.Mutex
	Sample
	first error // the first failure
}

func (s *sender) closed(ctx context.Context, start time.Time) {
	var all sync.WaitGroup
	for range s.load.Concurrency {
		all.Go(func() {
			for ctx.Err() == nil && time.Since(start) < s.load.Duration {
				s.send(ctx, time.Now())
			}
		})
	}
	all.Wait()
}

func (s *sender) open(ctx context.Context, start time.Time) {
	var all sync.WaitGroup
	defer all.Wait()
	slots := make(chan struct{}, inFlight)
	gap := time.Duration(float64(time.Second) / s.load.Rate)
	for at := start; at.Sub(start) < s.load.Duration; at = at.Add(gap) {
		select {
		case <-time.After(time.Until(at)):
		case <-ctx.Done():
			return
		}
		slots <- struct{}{} // a wait here counts, too: the time is the scheduled one
		all.Go(func() {
			s.send(ctx, at)
			<-slots
		})
	}
}

// send sends one request whose time counts from since.
func (s *sender) send(ctx context.Context, since time.Time) {
	first, err := s.exchange(ctx, s.load.Prompts.next(), io.Discard)
	done := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.Failed++
		if s.first == nil {
			s.first = err
		}
		return
	}
	s.Requests++
	s.latency = append(s.latency, done.Sub(since))
	s.firstByte = append(s.firstByte, first.Sub(since))
}

// exchange sends a body, copies the answer to its end and returns when its first byte came.
func (s *sender) exchange(ctx context.Context, body []byte, to io.Writer) (first time.Time, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return first, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+s.load.Key)
	res, err := s.client.Do(req)
	if err != nil {
		return first, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return first, fmt.Errorf("status %d", res.StatusCode)
	}
	buf := make([]byte, 4<<10)
	size := 0
	for {
		n, err := res.Body.Read(buf)
		if size == 0 && n > 0 {
			first = time.Now()
		}
		size += n
		to.Write(buf[:n]) //nolint:errcheck // it is memory, or nothing
		switch {
		case errors.Is(err, io.EOF) && size > 0:
			return first, nil
		case errors.Is(err, io.EOF):
			return first, errors.New("empty answer")
		case err != nil:
			return first, err
		}
	}
}
