package conformance_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/checkpoint"
	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
	"github.com/gatehouse-gateway/gatehouse/internal/proxy"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
	"github.com/gatehouse-gateway/gatehouse/internal/upstream"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
	wireanthropic "github.com/gatehouse-gateway/gatehouse/internal/wire/anthropic"
	wireopenai "github.com/gatehouse-gateway/gatehouse/internal/wire/openai"
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

// gateway is a whole one on a real socket, in front of one upstream that speaks the format it is named after.
func gateway(t *testing.T, c *testcase, with equipment, format, model string) (address string) {
	t.Helper()
	cfg := settings(t, c)
	set, err := detectors()
	if err != nil {
		t.Fatal(err)
	}
	key, err := with.store.GatewayKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tools, err := policy.Compile(cfg.Tools)
	if err != nil {
		t.Fatal(err)
	}
	base, err := url.Parse(model)
	if err != nil {
		t.Fatal(err)
	}
	log, sessions := slog.New(slog.DiscardHandler), &session.Resolver{Store: with.store, Key: key}
	engine := &checkpoint.Engine{Scanner: touchy{set, c.panics}, Detectors: detect.Version, Ledger: with.store, Sessions: sessions, Log: log}
	open := map[gatehouse.Checkpoint]bool{}
	for at, word := range cfg.OnError {
		open[at] = word == "open"
	}
	p, l := cfg.Protection, cfg.Limits
	engine.Use(&checkpoint.Settings{
		Protection: p.Mode, Autonomy: cfg.Alignment.AutonomyMode, Integrity: cfg.Alignment.IntegrityMode,
		Warn: p.Thresholds.Warn, Quarantine: p.Thresholds.Quarantine, Block: p.Thresholds.Block,
		Incoming: p.Screen.Incoming, Outgoing: p.Screen.Outgoing, ToolCalls: p.Screen.ToolCalls, ToolResponses: p.Screen.ToolResponses,
		Secrets: p.Secrets, Uninspected: cfg.Uninspected, BlockWithError: cfg.OnBlock == "error", OpenOnError: open,
		ScanTime: l.Scan, Durability: cfg.Audit.Durability, Policy: tools,
	})
	transport := upstream.NewTransport()
	t.Cleanup(transport.CloseIdleConnections)
	doors := &proxy.Proxy{Checker: engine, Sessions: sessions, Log: log, Client: &upstream.Client{Transport: transport}}
	doors.Use(&proxy.Settings{
		Upstreams: map[string]proxy.Upstream{format: {Name: format, Format: format, URL: base,
			AllowUninspected: cfg.Upstreams[format].AllowUninspected}},
		Body: l.Body, AutoCreate: cfg.Agents.AutoCreate, Rate: l.Rate, Loopback: true, BodyTime: time.Minute,
		Codecs: map[string]wire.Codec{"openai": wireopenai.Codec{Depth: l.Depth}, "anthropic": wireanthropic.Codec{Depth: l.Depth}},
		Limits: upstream.Limits{Idle: time.Minute, Buffer: l.StreamBuffer, Body: l.Body},
	})
	server := httptest.NewUnstartedServer(doors)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

// touchy is a scanner that panics on a certain text.
type touchy struct {
	checkpoint.Scanner
	on string
}

func (s touchy) Scan(ctx context.Context, text detect.Text) detect.Result {
	if s.on != "" && strings.Contains(text.Text, s.on) {
		panic("a case wants the detectors to fail")
	}
	return s.Scanner.Scan(ctx, text)
}
