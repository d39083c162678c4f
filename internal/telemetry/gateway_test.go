package telemetry_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/gatehouse-gateway/gatehouse/internal/audit"
	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
	"github.com/gatehouse-gateway/gatehouse/internal/fake"
	"github.com/gatehouse-gateway/gatehouse/internal/gateway"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
	"github.com/gatehouse-gateway/gatehouse/internal/telemetry"
)

// receiver is a collector: it takes spans by OTLP over HTTP and keeps them.
type receiver struct {
	mu       sync.Mutex
	raw      bytes.Buffer
	spans    []*otlp.Span
	resource []*common.KeyValue
}

func (c *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var batch collector.ExportTraceServiceRequest
	if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &batch) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw.Write(body)
	for _, rs := range batch.ResourceSpans {
		c.resource = rs.Resource.Attributes
		for _, ss := range rs.ScopeSpans {
			c.spans = append(c.spans, ss.Spans...)
		}
	}
}

// world is a gateway as it is served, with a scripted model behind it and a collector beside it.
type world struct {
	t       *testing.T
	url     string
	model   *fake.OpenAI
	claude  *fake.Anthropic
	spans   *receiver
	log     *buffer
	store   *store.Store
	gateway *gateway.Gateway
	config  *config.Config
}

// buffer can be written and read by several goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

var detectors = sync.OnceValues(detect.Default)

// open starts a world. What a test wants to be different it changes in the configuration; otlp is the collector's address.
func open(t *testing.T, script fake.Script, change func(cfg *config.Config, otlp string)) *world {
	t.Helper()
	set, err := detectors()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, spans: &receiver{}, log: &buffer{}, config: buffered(),
		model: &fake.OpenAI{Script: script}, claude: &fake.Anthropic{Script: script}}
	if w.store, err = store.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "gatehouse.db")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.store.Close() })
	w.config.Audit.Durability = "all"
	w.config.Upstreams["openai"] = config.Upstream{Format: "openai", URL: listen(t, w.model)}
	w.config.Upstreams["anthropic"] = config.Upstream{Format: "anthropic", URL: listen(t, w.claude)}
	change(w.config, listen(t, w.spans))
	log := slog.New(telemetry.Logs(slog.NewJSONHandler(w.log, nil)))
	if w.gateway, err = gateway.Open(t.Context(), w.config, gateway.Parts{Store: w.store, Scanner: set, Log: log}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.gateway.Close() })
	w.url = listen(t, w.gateway)
	return w
}

func withSpans(cfg *config.Config, otlp string) { cfg.Telemetry.OTLP = otlp }

func listen(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// answer is a response, read to its end.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) id() string { return a.header.Get("X-Mnemom-Request-Id") }

// send sends one request; headers come in pairs of name and value.
func (w *world) send(method, path, body string, headers ...string) answer {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(raw)}
}

// delivered ends the gateway, so that every span has been delivered, and returns those of one exchange by name.
func (w *world) delivered(a answer) (exchange *otlp.Span, rest map[string][]*otlp.Span) {
	w.t.Helper()
	w.gateway.Close()
	w.spans.mu.Lock()
	defer w.spans.mu.Unlock()
	for _, s := range w.spans.spans {
		if text(s.Attributes, "gatehouse.request_id") == a.id() {
			exchange = s
		}
	}
	if exchange == nil {
		w.t.Fatalf("no span of the exchange %s among %d", a.id(), len(w.spans.spans))
	}
	rest = map[string][]*otlp.Span{}
	for _, s := range w.spans.spans {
		if bytes.Equal(s.ParentSpanId, exchange.SpanId) && bytes.Equal(s.TraceId, exchange.TraceId) {
			rest[s.Name] = append(rest[s.Name], s)
		}
	}
	return exchange, rest
}

// record is the audit record of an answer.
func (w *world) record(a answer) audit.Record {
	w.t.Helper()
	for e, err := range w.store.Entries(w.t.Context(), 1) {
		if err != nil {
			w.t.Fatal(err)
		}
		var r audit.Record
		if err := json.Unmarshal(e.Record, &r); err != nil {
			w.t.Fatal(err)
		}
		if r.ID == a.id() {
			return r
		}
	}
	w.t.Fatalf("no record of %s", a.id())
	return audit.Record{}
}

// lines are the log lines of an answer.
func (w *world) lines(a answer) (found []map[string]any) {
	w.t.Helper()
	for line := range strings.Lines(w.log.String()) {
		var l map[string]any
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			w.t.Fatalf("%q: %v", line, err)
		}
		if l["request_id"] == a.id() {
			found = append(found, l)
		}
	}
	return found
}

// value is an attribute as OTLP has it: a string, a bool, an int64, a float64; nil when there is none.
func value(attrs []*common.KeyValue, key string) any {
	for _, a := range attrs {
		if a.Key != key {
			continue
		}
		switch v := a.Value.Value.(type) {
		case *common.AnyValue_StringValue:
			return v.StringValue
		case *common.AnyValue_BoolValue:
			return v.BoolValue
		case *common.AnyValue_IntValue:
			return v.IntValue
		case *common.AnyValue_DoubleValue:
			return v.DoubleValue
		}
	}
	return nil
}

func text(attrs []*common.KeyValue, key string) string {
	s, _ := value(attrs, key).(string)
	return s
}

func check(t *testing.T, attrs []*common.KeyValue, want map[string]any) {
	t.Helper()
	for key, v := range want {
		if got := value(attrs, key); got != v {
			t.Errorf("%s: got %#v, want %#v", key, got, v)
		}
	}
}

func events(s *otlp.Span, name string) (found [][]*common.KeyValue) {
	for _, e := range s.Events {
		if e.Name == name {
			found = append(found, e.Attributes)
		}
	}
	return found
}

func hexOf(id []byte) string { return hex.EncodeToString(id) }

// buffered is the default configuration, but that streams are held until their end, so that headers tell all.
func buffered() *config.Config {
	c := config.Default()
	c.Streaming = "buffer"
	return c
}
