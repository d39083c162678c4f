// Package gateway puts the parts together: what stands between an agent and its models, as one http.Handler. It is a parts
// list and decides nothing. Only commands and tests import it.
package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
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
	"github.com/gatehouse-gateway/gatehouse/internal/surface"
	"github.com/gatehouse-gateway/gatehouse/internal/upstream"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
	"github.com/gatehouse-gateway/gatehouse/internal/wire/anthropic"
	"github.com/gatehouse-gateway/gatehouse/internal/wire/openai"
)

// bodyTime is the longest time for one request body: 32 MiB over a slow mobile line.
const bodyTime = 5 * time.Minute

// Parts are those that a caller may bring along. What is nil is made.
type Parts struct {
	Store   *store.Store // stays the caller's to close
	Scanner checkpoint.Scanner
	Log     *slog.Logger
}

// Gateway is an http.Handler.
type Gateway struct {
	http.Handler

	store   *store.Store
	owned   bool // the store is the gateway's to close
	engine  *checkpoint.Engine
	surface *surface.Handler
	proxy   *proxy.Proxy
	client  *http.Transport
}

// Open makes a gateway of a configuration.
func Open(ctx context.Context, cfg *config.Config, p Parts) (*Gateway, error) {
	if !loopback(cfg.Listen) {
		return nil, fmt.Errorf("listen: %s is not a loopback address: listening openly needs API keys, which this version cannot make; use 127.0.0.1 and put an authenticating proxy in front", cfg.Listen)
	}
	g := &Gateway{store: p.Store, client: upstream.NewTransport()}
	if err := g.open(ctx, cfg, p); err != nil {
		g.Close() //nolint:errcheck // what went wrong first is what matters
		return nil, err
	}
	return g, nil
}

func (g *Gateway) open(ctx context.Context, cfg *config.Config, p Parts) (err error) {
	if p.Log == nil {
		p.Log = slog.New(slog.DiscardHandler)
	}
	if p.Scanner == nil {
		if p.Scanner, err = detect.Default(); err != nil {
			return fmt.Errorf("load detectors: %w", err)
		}
	}
	if g.store == nil {
		g.owned = true
		if g.store, err = store.Open(ctx, cfg.Store); err != nil {
			return err
		}
	}
	key, err := g.store.GatewayKey(ctx)
	if err != nil {
		return fmt.Errorf("gateway key: %w", err)
	}
	sessions := &session.Resolver{Store: g.store, Key: key}
	g.engine = &checkpoint.Engine{Scanner: p.Scanner, Detectors: detect.Version, Ledger: g.store, Sessions: sessions, Log: p.Log}
	g.proxy = &proxy.Proxy{Checker: g.engine, Sessions: sessions, Log: p.Log, Client: &upstream.Client{Transport: g.client}}
	g.surface = &surface.Handler{Checker: g.engine, Ready: g.store.Ready, Log: p.Log, Surfaces: []surface.Surface{g.proxy}}
	g.Handler = g.surface
	return g.Use(cfg)
}

// Close lets go of connections, and of the store if the gateway has opened it: what is still waiting is written first.
func (g *Gateway) Close() error {
	g.client.CloseIdleConnections()
	if !g.owned || g.store == nil {
		return nil
	}
	return g.store.Close()
}

// Use makes a configuration effective, now and for every exchange that begins later; all of it or nothing.
func (g *Gateway) Use(cfg *config.Config) error {
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
	g.surface.Use(&surface.Settings{Origins: cfg.CORS.Origins, Loopback: true, BodyTime: bodyTime})
	g.proxy.Use(&proxy.Settings{
		Upstreams: upstreams, Body: l.Body, AutoCreate: cfg.Agents.AutoCreate, Rate: l.Rate,
		Codecs: map[string]wire.Codec{"openai": openai.Codec{Depth: l.Depth}, "anthropic": anthropic.Codec{Depth: l.Depth}},
		Limits: upstream.Limits{Idle: l.UpstreamIdle, Buffer: l.StreamBuffer, Body: l.Body},
	})
	return nil
}

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
