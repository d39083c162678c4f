package conformance_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/checkpoint"
	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
	"github.com/gatehouse-gateway/gatehouse/internal/gateway"
)

// detectors compile once for all cases.
var detectors = sync.OnceValues(detect.Default)

// baseline is the configuration that a case's own is put over: every record is safe before a response ends, so that it can
// be looked up at once, and slow machines do not run into the scan's deadline.
const baseline = "audit: {durability: all}\nlimits: {scan: 20s}\n"

// settings reads the configuration of a case over the baseline. A section that the case has replaces the baseline's.
func settings(t *testing.T, c *testcase) *config.Config {
	t.Helper()
	doc := string(c.config)
	for line := range strings.Lines(baseline) {
		key, _, _ := strings.Cut(line, ":")
		if !strings.HasPrefix(doc, key+":") && !strings.Contains(doc, "\n"+key+":") {
			doc += line
		}
	}
	cfg, err := config.Parse(c.name, []byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// serve starts a whole gateway on a real socket, in front of one upstream that speaks the format it is named after.
func serve(t *testing.T, c *testcase, with equipment, format, model, streaming string) (address string) {
	t.Helper()
	cfg := settings(t, c)
	cfg.Streaming = streaming
	cfg.Upstreams = map[string]config.Upstream{format: {Format: format, URL: model, AllowUninspected: cfg.Upstreams[format].AllowUninspected}}
	server := httptest.NewUnstartedServer(openWith(t, c, with, cfg))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

// open makes a gateway of a case's configuration, for what has no upstream.
func open(t *testing.T, c *testcase, with equipment) *gateway.Gateway {
	t.Helper()
	return openWith(t, c, with, settings(t, c))
}

func openWith(t *testing.T, c *testcase, with equipment, cfg *config.Config) *gateway.Gateway {
	t.Helper()
	set, err := detectors()
	if err != nil {
		t.Fatal(err)
	}
	var scanner checkpoint.Scanner = touchy{set, c.panics}
	if with.memory != nil {
		scanner = known{touchy{set, c.panics}, with.memory}
	}
	g, err := gateway.Open(t.Context(), cfg, gateway.Parts{Store: with.store, Scanner: scanner})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() }) //nolint:errcheck // nothing is lost: every record is safe before its exchange ends
	return g
}

// touchy is a scanner that panics on a certain text.
type touchy struct {
	*detect.Set
	on string
}

func (s touchy) Scan(ctx context.Context, text detect.Text) detect.Result {
	if s.on != "" && strings.Contains(text.Text, s.on) {
		panic("a case wants the detectors to fail")
	}
	return s.Set.Scan(ctx, text)
}
