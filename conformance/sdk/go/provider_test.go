package sdk

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"
)

// fakeProvider is where the fake providers listen.
type fakeProvider struct{ OpenAI, Anthropic, Gemini string }

// seen is a request as it reached a provider.
type seen struct {
	Method, URL string
	Headers     http.Header
	Body        string
}

// recorder tells what reached a provider since it was made.
type recorder struct {
	url    string
	before int
}

func record(t *testing.T, url string) recorder {
	t.Helper()
	r := recorder{url: url}
	r.before = len(r.requests(t))
	return r
}

func (r recorder) requests(t *testing.T) []seen {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url+"/_requests", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var list []seen
	if err := json.NewDecoder(res.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	return list[r.before:]
}

// only is the one request that reached the provider.
func (r recorder) only(t *testing.T) seen {
	t.Helper()
	list := r.requests(t)
	if len(list) != 1 {
		t.Fatalf("%d requests reached the provider, want 1", len(list))
	}
	return list[0]
}

// none checks that the provider was not asked.
func (r recorder) none(t *testing.T) {
	t.Helper()
	if list := r.requests(t); len(list) != 0 {
		t.Errorf("%d requests reached the provider, want none", len(list))
	}
}

// wait waits until a request has reached the provider.
func (r recorder) wait(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if len(r.requests(t)) > 0 {
			return
		}
	}
	t.Fatal("no request reached the provider")
}
