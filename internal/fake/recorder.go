package fake

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"sync"
)

// Recorded is a request as it arrived.
type Recorded struct {
	Method string
	URL    string // path and query
	Header http.Header
	Body   []byte
}

// recorder keeps every request of a server.
type recorder struct {
	mu       sync.Mutex
	requests []Recorded
	ids      int
}

// Requests are all requests so far, in order of arrival.
func (r *recorder) Requests() []Recorded {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.requests)
}

// record keeps the request, and leaves its body to be read again.
func (r *recorder) record(req *http.Request) error {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return err
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, Recorded{req.Method, req.URL.RequestURI(), req.Header.Clone(), body})
	return nil
}

// next counts up: for ids that are unique and the same in every run.
func (r *recorder) next() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids++
	return r.ids
}
