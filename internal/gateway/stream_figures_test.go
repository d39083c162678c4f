package gateway_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/gateway"
	"github.com/gatehouse-gateway/gatehouse/internal/leaktest"
)

// tongue is how a format streams a text.
type tongue struct {
	format, path string // of the upstream
	begin, end   string
	piece        string // $ stands for the word
}

func events(list ...string) string { return "data: " + strings.Join(list, "\n\ndata: ") + "\n\n" }

var tongues = map[string]tongue{
	"openai": {"openai", "/v1/chat/completions", events(`{"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`),
		events(`{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "[DONE]"), events(`{"id":"c","choices":[{"index":0,"delta":{"content":"$"},"finish_reason":null}]}`)},
	"completions": {"openai", "/v1/completions", "", events(`{"choices":[{"index":0,"text":"","finish_reason":"stop"}]}`, "[DONE]"),
		events(`{"choices":[{"index":0,"text":"$","finish_reason":null}]}`)},
	"responses": {"openai", "/v1/responses", events(`{"type":"response.created","response":{"id":"resp_1","output":[]}}`,
		`{"type":"response.output_item.added","output_index":0,"item":{"id":"m","type":"message","role":"assistant","content":[]}}`,
		`{"type":"response.content_part.added","output_index":0,"content_index":0,"part":{"type":"output_text","text":""}}`),
		events(`{"type":"response.completed","response":{"id":"resp_1","output":[]}}`),
		events(`{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"$"}`)},
	"gemini": {"gemini", "/v1beta/models/m:streamGenerateContent?alt=sse", "", events(`{"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":"STOP"}]}`),
		events(`{"candidates":[{"content":{"role":"model","parts":[{"text":"$"}]}}]}`)},
	"gemini array": {"gemini", "/v1beta/models/m:streamGenerateContent", `[{"candidates":[]}`, `,{"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":"STOP"}]}]`,
		`,{"candidates":[{"content":{"role":"model","parts":[{"text":"$"}]}}]` + "\n}"},
}

// slow is a model that says a sentence word by word, with a pause before each.
type slow struct {
	tongue
	words int
	pause time.Duration
}

func (m slow) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body) //nolint:errcheck // what was asked does not matter
	w.Header().Set("Content-Type", "text/event-stream")
	if !strings.HasPrefix(m.end, "data") {
		w.Header().Set("Content-Type", "application/json")
	}
	send := func(text string) {
		io.WriteString(w, text)               //nolint:errcheck // a client that has left is noticed below
		http.NewResponseController(w).Flush() //nolint:errcheck // as above
	}
	send(m.begin)
	for i := 0; i < m.words && r.Context().Err() == nil; i++ {
		time.Sleep(m.pause)
		word := [...]string{"Hello", " there", ",", " this", " is", " number", fmt.Sprint(" ", 1000+i), " of", " many", "."}[i%10]
		send(strings.ReplaceAll(m.piece, "$", word))
	}
	send(m.end)
}

// streaming is a gateway in front of a model, and the addresses of both.
func streaming(t *testing.T, m slow) (direct, through string) {
	t.Helper()
	model := httptest.NewServer(m)
	t.Cleanup(model.Close)
	cfg := config.Default()
	cfg.Store = "sqlite:" + filepath.Join(t.TempDir(), "gatehouse.db")
	cfg.Upstreams = map[string]config.Upstream{m.format: {Format: m.format, URL: model.URL}}
	g, err := gateway.Open(t.Context(), cfg, gateway.Parts{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() }) //nolint:errcheck // nothing waits to be written any more
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	return model.URL + m.path, server.URL + "/" + m.format + m.path
}

// content is a line with a piece of content.
var content = regexp.MustCompile(`"(content|text|delta)":"[^"]`)

// hear asks for a stream and tells when each piece of its content came.
func hear(ctx context.Context, url, key string, heard func(n int)) error {
	const body = `{"model":"m","stream":true,"messages":[{"role":"user","content":"hello"}],"prompt":"hello","input":"hello","contents":[{"parts":[{"text":"hello"}]}]}`
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
		if content.MatchString(lines.Text()) {
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
	for _, name := range slices.Sorted(maps.Keys(tongues)) {
		t.Run(name, func(t *testing.T) { measureFirst(t, tongues[name]) })
	}
}

func measureFirst(t *testing.T, said tongue) {
	const rounds, words = 100, 10
	direct, through := streaming(t, slow{said, words, 5 * time.Millisecond})
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
	_, through := streaming(t, slow{tongues["openai"], 40, 500 * time.Millisecond})
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return (m.HeapAlloc + m.StackInuse) >> 10
	}
	idle, idlers, working := heap(), runtime.NumGoroutine(), leaktest.Count(ours)
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
	if left := leaktest.Left(ours, working); left != "" {
		t.Errorf("the streams have ended, and this still runs:\n%s", left)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections() //nolint:errcheck // it is one
	time.Sleep(time.Second)
	t.Logf("afterwards %d KiB more than before, %d goroutines more: those of open connections to the model, which the gateway keeps",
		int64(heap())-int64(idle), runtime.NumGoroutine()-idlers) //nolint:gosec // small
	if early, last := sizes[1], sizes[len(sizes)-1]; last > early+early/4 {
		t.Errorf("it grows from %d to %d KiB", early, last)
	}
}
