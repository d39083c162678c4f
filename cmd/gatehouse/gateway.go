package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/checkpoint"
	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
	"github.com/gatehouse-gateway/gatehouse/internal/proxy"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
	"github.com/gatehouse-gateway/gatehouse/internal/upstream"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
	"github.com/gatehouse-gateway/gatehouse/internal/wire/anthropic"
	"github.com/gatehouse-gateway/gatehouse/internal/wire/openai"
)

// gateway is the parts list: what stands between an agent and its models, put together.
type gateway struct {
	log    *slog.Logger
	store  *store.Store
	engine *checkpoint.Engine
	proxy  *proxy.Proxy
}

func open(ctx context.Context, cfg *config.Config, log *slog.Logger) (*gateway, error) {
	if !loopback(cfg.Listen) {
		return nil, fmt.Errorf("listen: %s is not a loopback address: listening openly needs API keys, which this version cannot make; use 127.0.0.1 and put an authenticating proxy in front", cfg.Listen)
	}
	detectors, err := detect.Default()
	if err != nil {
		return nil, fmt.Errorf("load detectors: %w", err)
	}
	db, err := store.Open(ctx, cfg.Store)
	if err != nil {
		return nil, err
	}
	key, err := db.GatewayKey(ctx)
	if err != nil {
		return nil, fmt.Errorf("gateway key: %w", err)
	}
	sessions := &session.Resolver{Store: db, Key: key}
	g := &gateway{log: log, store: db}
	g.engine = &checkpoint.Engine{Scanner: detectors, Detectors: detect.Version, Ledger: db, Sessions: sessions, Log: log}
	g.proxy = &proxy.Proxy{Checker: g.engine, Sessions: sessions, Ready: db.Ready, Log: log,
		Client: &upstream.Client{Transport: upstream.NewTransport()}}
	if err := g.use(cfg); err != nil {
		db.Close()
		return nil, err
	}
	return g, nil
}

// Close writes what is still waiting to be written.
func (g *gateway) Close() error { return g.store.Close() }

// use makes a configuration effective, now and for every exchange that begins later; all of it or nothing.
func (g *gateway) use(cfg *config.Config) error {
	tools, err := policy.Compile(cfg.Tools)
	if err != nil {
		return fmt.Errorf("tools: %w", err)
	}
	upstreams := map[string]proxy.Upstream{}
	for name, u := range cfg.Upstreams {
		base, err := url.Parse(u.URL)
		if err != nil {
			return fmt.Errorf("upstreams.%s.url: not a URL", name)
		}
		upstreams[name] = proxy.Upstream{Name: name, Format: u.Format, URL: base, Key: u.Key, NoAuth: u.Auth == "none",
			AllowUninspected: u.AllowUninspected}
	}
	open := map[gatehouse.Checkpoint]bool{}
	for at, word := range cfg.OnError {
		open[at] = word == "open"
	}
	p, l := cfg.Protection, cfg.Limits
	g.engine.Use(&checkpoint.Settings{
		Protection: p.Mode, Autonomy: cfg.Alignment.AutonomyMode, Integrity: cfg.Alignment.IntegrityMode,
		Warn: p.Thresholds.Warn, Quarantine: p.Thresholds.Quarantine, Block: p.Thresholds.Block,
		Incoming: p.Screen.Incoming, Outgoing: p.Screen.Outgoing, ToolCalls: p.Screen.ToolCalls, ToolResponses: p.Screen.ToolResponses,
		PII: p.PII, Secrets: p.Secrets, Uninspected: cfg.Uninspected, BlockWithError: cfg.OnBlock == "error", OpenOnError: open,
		ScanTime: l.Scan, Durability: cfg.Audit.Durability, Policy: tools,
	})
	g.proxy.Use(&proxy.Settings{
		Upstreams: upstreams, Body: l.Body, Origins: cfg.CORS.Origins, AutoCreate: cfg.Agents.AutoCreate, Rate: l.Rate,
		Loopback: true, BodyTime: bodyTime,
		Codecs: map[string]wire.Codec{"openai": openai.Codec{Depth: l.Depth}, "anthropic": anthropic.Codec{Depth: l.Depth}},
		Limits: upstream.Limits{Idle: l.UpstreamIdle, Buffer: l.StreamBuffer, Body: l.Body},
	})
	return nil
}

// bodyTime is the longest time for one request body: 32 MiB over a slow mobile line.
const bodyTime = 5 * time.Minute

func loopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
