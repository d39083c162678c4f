package proxy_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/gatehouse-gateway/gatehouse/internal/fake"
)

const (
	oddRequest   = "{ \"model\" :\"m\",\n\t\"max_tokens\":100, \"seed\":12345678901234567890, \"vendor\":{\"x\":[1e400, -0.0,\"\\u00e9\\/\"]} ,\"messages\":[ {\"role\":\"user\",\"content\":\"caf\\u00e9 \\/ \U0001F600\", \"odd\": null } ]%s }\n"
	oddOpenAI    = "{\"id\": \"x\" , \"n\":12345678901234567890,\r\n \"choices\":[{\"index\":0,\"vendor\":{},\"message\":{\"role\":\"assistant\",\"content\":\"caf\\u00e9\"},\"finish_reason\":\"stop\"}] }\n"
	oddAnthropic = "{\"id\": \"x\" , \"n\":12345678901234567890,\r\n \"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"caf\\u00e9\",\"odd\":1},{\"type\":\"new_thing\"}],\"stop_reason\":\"end_turn\" }\n"
	oddChunks    = ": hello\r\n\r\ndata:{\"choices\":[{\"index\":0, \"delta\":{\"content\":\"caf\\u00e9\"}}],\"n\":12345678901234567890}\n\nid: 7\ndata: {\"choices\":[],\"odd\":1}\n\ndata: [DONE]\n\n"
	oddEvents    = ": hello\r\n\r\nevent: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"content\":[],\"n\":12345678901234567890}}\n\n" +
		"event:content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
		"event: content_block_delta\ndata:  {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"caf\\u00e9\"}}\n\n" +
		"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: new_thing\ndata: {\"type\":\"new_thing\"}\n\n" +
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
)

func TestBytesPassUnchanged(t *testing.T) {
	answers := map[string]map[bool]string{"openai": {false: oddOpenAI, true: oddChunks}, "anthropic": {false: oddAnthropic, true: oddEvents}}
	eachWay(t, func(t *testing.T, d door, stream bool) {
		g := start(t, options{script: func(fake.Request) fake.Turn { return fake.Turn{Raw: []byte(answers[d.name][stream])} }})
		body := fmt.Sprintf(oddRequest, map[bool]string{true: ` , "stream" : true`}[stream])
		a := g.send("POST", d.path+"?beta=true&x=%20y", []byte(body), "X-Custom", "kept")
		if a.status != 200 || a.body != answers[d.name][stream] {
			t.Errorf("%d\ngot  %q\nwant %q", a.status, a.body, answers[d.name][stream])
		}
		r := g.received()[0]
		if string(r.Body) != body || !strings.HasSuffix(r.URL, "?beta=true&x=%20y") || r.Header.Get("X-Custom") != "kept" {
			t.Errorf("%s\ngot  %q\nwant %q", r.URL, r.Body, body)
		}
	})
}

func compress(t *testing.T, coding string, body []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser
	switch coding {
	case "gzip":
		w = gzip.NewWriter(&out)
	case "br":
		w = brotli.NewWriter(&out)
	case "zstd":
		e, err := zstd.NewWriter(&out)
		if err != nil {
			t.Fatal(err)
		}
		w = e
	}
	if _, err := w.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestCompressedBodies(t *testing.T) {
	d := doors[0]
	hello := d.body(false, user("hello"))
	for _, coding := range []string{"gzip", "br", "zstd"} {
		g := start(t, options{})
		if a := g.send("POST", d.path, compress(t, coding, hello), "Content-Encoding", coding); a.status != 200 || string(g.received()[0].Body) != string(hello) {
			t.Errorf("%s: %d, %s", coding, a.status, a.body)
		}
		if a := g.send("POST", d.path, compress(t, coding, d.body(false, user(attack))), "Content-Encoding", coding); a.verdict(t).Front != "enforced" {
			t.Errorf("%s: %d, %s", coding, a.status, a.body)
		}
		if a := g.send("POST", d.path, compress(t, coding, make([]byte, 64<<20)), "Content-Encoding", coding); a.status != 413 {
			t.Errorf("%s bomb: %d", coding, a.status)
		}
		if a := g.send("POST", d.path, hello, "Content-Encoding", coding); a.status != 400 {
			t.Errorf("not %s: %d", coding, a.status)
		}
		if n := len(g.received()); n != 1 {
			t.Errorf("%s: %d requests upstream", coding, n)
		}
	}
}

func TestRoutes(t *testing.T) {
	hello := doors[0].body(false, user("hello"))
	tests := []struct {
		method, path string
		status       int
		upstream     string // what the model's server saw; empty: nothing
		headers      []string
	}{
		{"GET", "/openai/v1/models", 200, "/v1/models", nil},
		{"GET", "/v1/models", 200, "/v1/models", nil},
		{"GET", "/u/openai/v1/models", 200, "/v1/models", nil},
		{"GET", "/openai/v1/models/ft%3Agpt", 404, "/v1/models/ft%3Agpt", nil},
		{"POST", "/openai/v1/files/..%252Fresponses", 404, "", nil},
		{"POST", "/v1/chat/completions", 200, "/v1/chat/completions", nil},
		{"POST", "/u/openai/v1/chat/completions", 200, "/v1/chat/completions", nil},
		{"POST", "/v1/messages", 200, "/v1/messages", nil},
		{"GET", "/v1/models", 200, "/v1/models", []string{"Anthropic-Version", "2023-06-01"}},
		{"POST", "/v1/responses", 400, "/v1/responses", nil}, // the model's server misses an input
		{"POST", "/openai/v1/responses", 400, "/v1/responses", nil},
		{"POST", "/v1/responses/input_tokens", 404, "/v1/responses/input_tokens", nil},
		{"GET", "/u/openai/v1/responses/resp_1", 404, "/v1/responses/resp_1", nil},
		{"GET", "/v1/responses/resp_1/input_items?limit=2", 404, "/v1/responses/resp_1/input_items?limit=2", nil},
		{"POST", "/v1/responses/resp_1/cancel", 404, "/v1/responses/resp_1/cancel", nil},
		{"DELETE", "/v1/responses/resp_1", 404, "/v1/responses/resp_1", nil},
		{"POST", "/v1/completions", 400, "/v1/completions", nil},
		{"POST", "/v1/embeddings", 400, "/v1/embeddings", nil},
		{"GET", "/v1/responses", 403, "", nil},
		{"GET", "/v1/responses/resp_1?starting_after=3&stream=true", 403, "", nil},
		{"GET", "/v1/responses/resp_1/else", 403, "", nil},
		{"POST", "/openai/v1/conversations", 403, "", nil},
		{"POST", "/v1/batches", 403, "", nil},
		{"POST", "/openai/v1/embeddings/x", 403, "", nil},
		{"POST", "/openai/v1/realtime", 403, "", nil},
		{"POST", "/openai/v1/unheard-of", 403, "", nil},
		{"POST", "/anthropic/v1/messages/batches", 403, "", nil},
		{"GET", "/openai/v1/models", 403, "", []string{"Connection", "Upgrade", "Upgrade", "websocket"}},
		{"POST", "/openai/v1//chat/completions", 404, "", nil},
		{"POST", "//openai/v1/chat/completions", 404, "", nil},
		{"GET", "/openai/v1/models/../chat/completions", 404, "", nil},
		{"GET", "/openai/v1/models/%2e%2e/responses", 404, "", nil},
		{"POST", "/openai/v1%2Fbatches", 403, "", nil},
		{"GET", "/openai/v1/models%2F..%2Fresponses", 404, "", nil},
		{"POST", "/v1/sessions", 404, "", nil},
		{"GET", "/", 404, "", nil},
	}
	for _, c := range tests {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			g := start(t, options{})
			a := g.send(c.method, c.path, hello, append(c.headers, "X-Api-Key", "sk-ant")...)
			if a.status != c.status {
				t.Errorf("%d, want %d: %s", a.status, c.status, a.body)
			}
			if c.status == 403 && !strings.Contains(a.body, "uninspected_endpoint") {
				t.Errorf("%s", a.body)
			}
			saw := ""
			for _, r := range g.received() {
				saw += r.URL
			}
			if saw != c.upstream {
				t.Errorf("upstream saw %q, want %q", saw, c.upstream)
			}
			if r := g.record(a); r.Status != c.status {
				t.Errorf("the record says %d", r.Status)
			}
		})
	}
}

func TestConcurrency(t *testing.T) {
	g := start(t, options{script: func(r fake.Request) fake.Turn {
		turn := fake.Echo(r)
		if strings.Contains(turn.Text, "die") {
			turn.Text, turn.DropAfter = strings.Repeat("long ", 500), 900
		}
		return turn
	}})
	g.ask(doors[0], false, user("hello"))
	settled := func() int {
		g.client.CloseIdleConnections()
		g.proxy.Client.Transport.(*http.Transport).CloseIdleConnections()
		time.Sleep(50 * time.Millisecond)
		return runtime.NumGoroutine()
	}
	before := settled()
	texts := []string{"hello", attack, "tell me " + secret, "die", "another"}
	var wg sync.WaitGroup
	slots := make(chan struct{}, 32)
	for i := range 200 {
		wg.Add(1)
		slots <- struct{}{}
		go func() {
			defer func() { <-slots; wg.Done() }()
			text := texts[i%len(texts)]
			r, err := http.NewRequest("POST", g.url+doors[i%2].path, bytes.NewReader(doors[i%2].body(i%4 < 2, user(text))))
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set("Authorization", "Bearer sk-test")
			res, err := g.client.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			if (err != nil || res.StatusCode != 200) && text != "die" {
				t.Errorf("%q: %d %v %s", text, res.StatusCode, err, body)
			}
		}()
	}
	wg.Wait()
	if n := len(g.records()); n != 201 {
		t.Errorf("%d records", n)
	}
	if _, err := g.store.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	after := settled()
	for i := 0; after > before && i < 40; i++ {
		after = settled()
	}
	if after > before {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}
