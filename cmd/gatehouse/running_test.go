package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// running is a gateway that serves in this process, and its log.
type running struct {
	address string

	mu  sync.Mutex
	log bytes.Buffer
}

// startServe runs what the command serve runs, until the test ends.
func startServe(t *testing.T, file, listen string) *running {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	in, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := serve(ctx, file, listen, out)
		out.Close()
		ended <- err
	}()
	r, listening := &running{}, make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(in)
		for lines.Scan() {
			r.mu.Lock()
			r.log.Write(append(lines.Bytes(), '\n'))
			r.mu.Unlock()
			var line struct{ Msg, Address string }
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "listening" {
				listening <- line.Address
			}
		}
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case r.address = <-listening:
	case err := <-ended:
		ended <- err
		t.Fatal("it did not start")
	case <-time.After(20 * time.Second):
		t.Fatal("it does not start")
	}
	return r
}

func (r *running) logged() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.String()
}

// awaitLog waits until the log has a text a number of times.
func (r *running) awaitLog(t *testing.T, text string, times int) {
	t.Helper()
	for range 500 {
		if strings.Count(r.logged(), text) >= times {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("the log does not say %q %d times:\n%s", text, times, r.logged())
}

// said is an answer over HTTP.
type said struct {
	status int
	header http.Header
	body   []byte
}

// ask makes a request of a gateway. headers are pairs; Host sets the host. Status 0 is no answer.
func ask(t *testing.T, method, url, body string, headers ...string) said {
	t.Helper()
	return askWith(t, http.DefaultClient, method, url, body, headers...)
}

func askWith(t *testing.T, client *http.Client, method, url, body string, headers ...string) said {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		} else {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	res, err := client.Do(r)
	if err != nil {
		return said{}
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return said{}
	}
	return said{res.StatusCode, res.Header, raw}
}

// code is the code of a native error.
func (s said) code() string {
	var body struct{ Error struct{ Code string } }
	if json.Unmarshal(s.body, &body) != nil {
		return ""
	}
	return body.Error.Code
}

// await asks until a status comes, and returns how long that took.
func await(t *testing.T, status int, do func() said) time.Duration {
	t.Helper()
	start := time.Now()
	var last said
	for time.Since(start) < 5*time.Second {
		if last = do(); last.status == status {
			return time.Since(start)
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("still %d %s, want %d", last.status, last.body, status)
	return 0
}
