package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/bench"
)

func TestBenchLoadBadUsage(t *testing.T) {
	for _, args := range [][]string{
		{"--duration", "0s"}, {"--concurrency", "0"}, {"--pairs", "0"}, {"--size", "0"}, {"--rate", "-1"}, {"--nope"}, {"x"},
	} {
		if got := command(t, "", append([]string{"bench", "load"}, args...)...); got.code != 2 || got.stderr == "" || got.stdout != "" {
			t.Errorf("%v: got %+v, want 2 and words on standard error alone", args, got)
		}
	}
}

func TestBenchLoadOfATarget(t *testing.T) {
	model := httptest.NewServer(bench.Model{})
	defer model.Close()
	got := command(t, "", "bench", "load", "--target", model.URL, "--duration", "100ms", "--concurrency", "2", "--json")
	var r loadResult
	if err := json.Unmarshal([]byte(got.stdout), &r); err != nil || got.code != 0 {
		t.Fatalf("%v: %+v", err, got)
	}
	if r.Requests == 0 || r.Failed != 0 || r.Load.Rate != 0 || r.Latency.P50 <= 0 || r.FirstByte.P50 > r.Latency.P50 {
		t.Errorf("%+v", r)
	}
}

func TestBenchLoadExitsOneWhenRequestsFail(t *testing.T) {
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n++; n%2 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		bench.Model{}.ServeHTTP(w, r)
	}))
	defer server.Close()
	got := command(t, "", "bench", "load", "--target", server.URL, "--duration", "50ms", "--concurrency", "1")
	if got.code != 1 || got.stdout == "" || got.stderr == "" {
		t.Errorf("half failed: got %+v", got)
	}
	server.Close()
	if got := command(t, "", "bench", "load", "--target", server.URL, "--duration", "50ms"); got.code != 1 || got.stdout != "" {
		t.Errorf("nobody there: got %+v", got)
	}
}

// The servers answer what the load generator sends, through each other, and tell what they have used.
func TestBenchServers(t *testing.T) {
	dir := t.TempDir()
	model := startRole(t, "model")
	floor := startRole(t, "floor", "--upstream", model.url)
	profile := filepath.Join(dir, "profile")
	gateway := startRole(t, "gateway", "--upstream", model.url, "--store", "sqlite:"+filepath.Join(dir, "gatehouse.db"), "--profile", profile)
	gateway.ask("profile")
	for name, url := range map[string]string{"floor": floor.url, "gateway": gateway.url} {
		for _, p := range []bench.Prompts{{Size: 512}, {Size: 512, Trigger: true}, {Size: 512, Stream: true}} {
			l := bench.Load{Concurrency: 2, Duration: 50 * time.Millisecond, Key: "bench", Prompts: p}
			if s, err := l.Send(t.Context(), url); err != nil || s.Failed > 0 {
				t.Errorf("%s, %+v: %v, %+v", name, p, err, s)
			}
		}
	}
	gateway.ask("usage")
	var u bench.Usage
	if err := gateway.out.Decode(&u); err != nil || u.CPU <= 0 {
		t.Errorf("usage %+v, %v", u, err)
	}
	gateway.close()
	for _, end := range []string{".cpu.pprof", ".allocs.pprof"} {
		if info, err := os.Stat(profile + end); err != nil || info.Size() == 0 {
			t.Errorf("profile %s: %v", end, err)
		}
	}
}

// role is a server of bench load that runs in the test's own process.
type role struct {
	t    *testing.T
	url  string
	in   *io.PipeWriter
	out  *json.Decoder
	code chan int
}

func startRole(t *testing.T, args ...string) *role {
	t.Helper()
	inRead, in := io.Pipe()
	outRead, out := io.Pipe()
	r := &role{t: t, in: in, out: json.NewDecoder(outRead), code: make(chan int, 1)}
	var stderr bytes.Buffer
	go func() {
		r.code <- run(t.Context(), append([]string{"bench", "server"}, args...), inRead, out, &stderr)
		out.Close()
	}()
	var hello struct{ URL string }
	if err := r.out.Decode(&hello); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	r.url = hello.URL
	t.Cleanup(r.close)
	return r
}

func (r *role) ask(line string) { io.WriteString(r.in, line+"\n") }

// close ends the server, once.
func (r *role) close() {
	if r.in.Close(); r.code == nil {
		return
	}
	if code := <-r.code; code != 0 {
		r.t.Errorf("the server exited with %d", code)
	}
	r.code = nil
}
