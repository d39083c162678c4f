package gateway_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/gateway"
)

// slow is a model that says a sentence word by word, with a pause before each.
type slow struct {
	words int
	pause time.Duration
}

func (m slow) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body) //nolint:errcheck // what was asked does not matter
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(delta, finish string) {
		fmt.Fprintf(w, `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", delta, finish)
		http.NewResponseController(w).Flush() //nolint:errcheck // a client that has left is noticed below
	}
	send(`{"role":"assistant","content":""}`, "null")
	for i := 0; i < m.words && r.Context().Err() == nil; i++ {
		time.Sleep(m.pause)
		word := [...]string{"Hello", " there", ",", " this", " is", " number", fmt.Sprint(" ", 1000+i), " of", " many", "."}[i%10]
		send(`{"content":"`+word+`"}`, "null")
	}
	send("{}", `"stop"`)
	io.WriteString(w, "data: [DONE]\n\n") //nolint:errcheck // as above
}

// streaming is a gateway in front of a model, and the addresses of both.
func streaming(t *testing.T, m slow) (direct, through string) {
	t.Helper()
	model := httptest.NewServer(m)
	t.Cleanup(model.Close)
	cfg := config.Default()
	cfg.Store = "sqlite:" + filepath.Join(t.TempDir(), "gatehouse.db")
	cfg.Upstreams = map[string]config.Upstream{"openai": {Format: "openai", URL: model.URL}}
	g, err := gateway.Open(t.Context(), cfg, gateway.Parts{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() }) //nolint:errcheck // nothing waits to be written any more
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	return model.URL + "/v1/chat/completions", server.URL + "/openai/v1/chat/completions"
}

// hear asks for a stream and tells when each piece of its content came.
func hear(ctx context.Context, url, key string, heard func(n int)) error {
	body := `{"model":"m","stream":true,"messages":[{"role":"user","content":"hello"}]}`
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	n := 0
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if line := lines.Text(); strings.Contains(line, `"content":"`) && !strings.Contains(line, `"content":""`) {
			heard(n)
			n++
		}
	}
	return nil
}

// TestFirstContent measures how much later the first and the later pieces of an answer's text come through the gateway than
// from the model itself. STREAMFIGURES=1 runs it.
func TestFirstContent(t *testing.T) {
	if os.Getenv("STREAMFIGURES") == "" {
		t.Skip("a measurement: STREAMFIGURES=1")
	}
	const rounds, words = 200, 20
	direct, through := streaming(t, slow{words: words, pause: 5 * time.Millisecond})
	var first, later [2][]time.Duration
	for i := range rounds + 20 {
		for k, url := range [...]string{direct, through} {
			start, times := time.Now(), make([]time.Duration, 0, words)
			if err := hear(t.Context(), url, "sk-test", func(int) { times = append(times, time.Since(start)) }); err != nil || len(times) != words {
				t.Fatalf("%d pieces, %v", len(times), err)
			}
			if i >= 20 { // the first ones open connections
				first[k] = append(first[k], times[0])
				for _, at := range times[1:] {
					later[k] = append(later[k], at-times[0])
				}
			}
		}
	}
	p := func(list []time.Duration, share float64) time.Duration {
		slices.Sort(list)
		return list[int(share*float64(len(list)-1))].Round(10 * time.Microsecond)
	}
	for _, share := range []float64{0.5, 0.9, 0.99} {
		a, b := p(first[0], share), p(first[1], share)
		t.Logf("first content, p%.0f: direct %v, through the gateway %v, %v later", 100*share, a, b, b-a)
	}
	if d := p(first[1], 0.5) - p(first[0], 0.5); d > 2*time.Millisecond {
		t.Errorf("the first content comes %v later", d)
	}
}

// TestManySlowStreams measures what a thousand streams at once hold, and whether it grows. STREAMFIGURES=1 runs it.
func TestManySlowStreams(t *testing.T) {
	if os.Getenv("STREAMFIGURES") == "" {
		t.Skip("a measurement: STREAMFIGURES=1")
	}
	const streams = 1000
	_, through := streaming(t, slow{words: 40, pause: 500 * time.Millisecond})
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return (m.HeapAlloc + m.StackInuse) >> 10
	}
	idle, idlers := heap(), runtime.NumGoroutine()
	var done sync.WaitGroup
	var heard atomic.Int64
	for i := range streams {
		done.Go(func() {
			time.Sleep(time.Duration(i) * time.Millisecond)
			if err := hear(t.Context(), through, "sk-test", func(int) { heard.Add(1) }); err != nil {
				t.Error(err)
			}
		})
	}
	var sizes []uint64
	for range 8 {
		time.Sleep(2 * time.Second)
		sizes = append(sizes, heap()-idle)
		t.Logf("%d pieces heard; %d KiB for each stream, of model, gateway and client together", heard.Load(), sizes[len(sizes)-1]/streams)
	}
	done.Wait()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections() //nolint:errcheck // it is one
	time.Sleep(time.Second)
	t.Logf("afterwards %d KiB more than before, %d goroutines more", int64(heap())-int64(idle), runtime.NumGoroutine()-idlers) //nolint:gosec // small
	if early, last := sizes[1], sizes[len(sizes)-1]; last > early+early/4 {
		t.Errorf("it grows from %d to %d KiB", early, last)
	}
}
