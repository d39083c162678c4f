// Package gateway puts the parts together: what stands between an agent and its models, as one http.Handler. It is a parts
// list and decides nothing. Only commands and tests import it.
package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/api"
	"github.com/gatehouse-gateway/gatehouse/internal/approval"
	"github.com/gatehouse-gateway/gatehouse/internal/checkpoint"
	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
	"github.com/gatehouse-gateway/gatehouse/internal/identity"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
	"github.com/gatehouse-gateway/gatehouse/internal/proxy"
	"github.com/gatehouse-gateway/gatehouse/internal/seal"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
	"github.com/gatehouse-gateway/gatehouse/internal/slack"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
	"github.com/gatehouse-gateway/gatehouse/internal/surface"
	"github.com/gatehouse-gateway/gatehouse/internal/telemetry"
	"github.com/gatehouse-gateway/gatehouse/internal/upstream"
	"github.com/gatehouse-gateway/gatehouse/internal/webhook"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
	"github.com/gatehouse-gateway/gatehouse/internal/wire/anthropic"
	"github.com/gatehouse-gateway/gatehouse/internal/wire/completions"
	"github.com/gatehouse-gateway/gatehouse/internal/wire/embeddings"
	"github.com/gatehouse-gateway/gatehouse/internal/wire/gemini"
	"github.com/gatehouse-gateway/gatehouse/internal/wire/openai"
	"github.com/gatehouse-gateway/gatehouse/internal/wire/responses"
)

// bodyTime is the longest time for one request body: 32 MiB over a slow mobile line.
const bodyTime = 5 * time.Minute

// keepAlive is how long a stream may be silent before a comment is sent: proxies on the way give up after 30 seconds or more.
const keepAlive = 10 * time.Second

// Parts are those that a caller may bring along. What is nil is made.
type Parts struct {
	Store   *store.Store // stays the caller's to close
	Scanner checkpoint.Scanner
	Log     *slog.Logger
	Targets webhook.Targets // where webhooks may be sent
	// Silent tells nobody: no webhook is delivered, and those of the store are left as they are. It is for a process that shares
	// the store with a gateway, whose affair that is.
	Silent bool
	// Still starts nothing beside the requests: for a command that asks a few things and ends. It delivers no webhook, and
	// of keys that another process changes it knows what it read at first.
	Still bool
	// BodyTime is the longest time for one request body; 0: five minutes.
	BodyTime time.Duration
}

// Gateway is an http.Handler.
type Gateway struct {
	http.Handler

	store   *store.Store
	body    time.Duration // longest time for one request body
	owned   bool          // the store is the gateway's to close
	engine  *checkpoint.Engine
	surface *surface.Handler
	proxy   *proxy.Proxy
	api     *api.API
	desk    *surface.Desk
	probe   *telemetry.Probe
	client  *http.Transport
	models  *upstream.Client
	judged  judged // changes with the configuration
	queue   *approval.Queue
	slack   *slack.Slack

	webhooks *webhook.Registry // nil: those of the configuration are left as they are

	authority *identity.Authority
	keysOnly  atomic.Bool        // callers must show an API key, also while there is none
	stop      context.CancelFunc // ends what runs beside the requests
	beside    sync.WaitGroup     // what runs beside them and needs the store
}

// Open makes a gateway of a configuration.
func Open(ctx context.Context, cfg *config.Config, p Parts) (*Gateway, error) {
	g := &Gateway{store: p.Store, body: cmp.Or(p.BodyTime, bodyTime), client: upstream.NewTransport()}
	if err := g.open(ctx, cfg, p); err != nil {
		g.Close() //nolint:errcheck // what went wrong first is what matters
		return nil, err
	}
	return g, nil
}

// ofTranscripts is the share of the memory that remembers transcripts: one in so many.
const ofTranscripts = 8

func (g *Gateway) open(ctx context.Context, cfg *config.Config, p Parts) (err error) {
	ctx, g.stop = context.WithCancel(ctx)
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
	sessions := &session.Resolver{Store: g.store, Key: key, Memory: session.NewMemory(int(cfg.Limits.Cache) / ofTranscripts)}
	g.engine = &checkpoint.Engine{Scanner: p.Scanner, Detectors: detect.Version, Ledger: g.store, Sessions: sessions, Log: p.Log,
		Memory: checkpoint.NewMemory(int(cfg.Limits.Cache) - int(cfg.Limits.Cache)/ofTranscripts)}
	g.probe = telemetry.New(p.Scanner, p.Log)
	g.probe.Remembers(g.engine.Memory.Findings)
	if set, ok := p.Scanner.(*detect.Set); ok {
		g.engine.Scanner, g.engine.Detectors = set.Watched(g.probe.Detector), set.Version()
		if set.Without() == "slow" {
			p.Log.Warn("the transformer is off: this CPU takes too long for it")
		}
	}
	checker := g.probe.Checker(g.engine)
	g.authority = &identity.Authority{Store: g.store, Log: p.Log}
	know := g.authority.Start
	if p.Still {
		know = g.authority.Refresh
	}
	if err := know(ctx); err != nil {
		return err
	}
	desk := &surface.Desk{Authority: g.authority, Sessions: sessions}
	g.desk = desk
	g.probe.Allow = func(c *surface.Call) error {
		who, err := desk.Who(c.In, surface.Bearer(c.R.Header), g.keysOnly.Load())
		if err == nil && who.Keyed {
			err = who.Need(identity.Read)
			if err == nil && !who.Root && who.Account != identity.DefaultAccount {
				err = surface.Failure(http.StatusForbidden, "insufficient_scope", "the metrics are of all accounts: this needs a key of the operator's account")
			}
		}
		return err
	}
	g.models = &upstream.Client{Transport: g.probe.Transport(g.client)}
	g.proxy = &proxy.Proxy{Checker: checker, Desk: desk, Sessions: sessions, Log: p.Log, Client: g.models}
	g.api = &api.API{Checker: checker, Desk: desk, Authority: g.authority, Log: p.Log, Transact: g.store.Transact,
		Answers: g.store, Keys: g.store, Agents: g.store, Records: g.store, Reminders: g.store, Redact: g.engine.Redact}
	for _, network := range cfg.Notify.PrivateTargets {
		prefix, err := netip.ParsePrefix(network)
		if err != nil {
			return errors.New("notify.private_targets: not a network")
		}
		p.Targets.Allow = append(p.Targets.Allow, prefix)
	}
	if err := g.openWebhooks(ctx, p); err != nil {
		return err
	}
	g.surface = &surface.Handler{Checker: checker, Ready: g.store.Ready, Log: p.Log, Surfaces: []surface.Surface{g.probe, g.api, g.slack, g.proxy}}
	g.Handler = g.probe.Handler(g.surface)
	if !loopback(cfg.Listen) && g.authority.Keyless() {
		return fmt.Errorf("listen: %s is not a loopback address, and there is no API key yet that callers could show: "+
			"make one with gatehouse keys create --store %s", cfg.Listen, shellWord(cfg.Store))
	}
	return g.Use(cfg)
}

// openWebhooks lets the API change webhooks, and begins to tell them of what is recorded.
func (g *Gateway) openWebhooks(ctx context.Context, p Parts) error {
	box, err := seal.Load(g.store.KeyFile())
	if err != nil {
		return err
	}
	g.engine.Sessions.Box = box
	g.queue = &approval.Queue{Store: g.store, Box: box, Record: g.engine.Record, Log: p.Log}
	g.engine.Approvals, g.proxy.Approvals = g.queue, g.queue
	g.api.Approvals, g.api.Life = g.queue, ctx
	g.slack = &slack.Slack{Queue: g.queue, Store: g.store, Transact: g.store.Transact, Checker: g.api.Checker, Account: identity.DefaultAccount, Log: p.Log}
	g.api.Webhooks = &webhook.Registry{Endpoints: g.store, Deliveries: g.store, Transact: g.store.Transact, Box: box, Targets: p.Targets}
	if p.Still {
		return nil
	}
	g.beside.Go(func() { g.queue.Run(ctx) })
	if p.Silent {
		return nil
	}
	g.webhooks = g.api.Webhooks
	g.beside.Go(func() { g.slack.Run(ctx) })
	d := &webhook.Dispatcher{Chain: g.store, Outbox: g.store, Queue: g.store, Box: box, Targets: p.Targets, Log: p.Log}
	g.beside.Go(func() { d.Run(ctx) })
	return nil
}

// FirstToken makes the administrator's token, if the configuration names none and the store has none yet; otherwise it is empty.
// It is the only time that it can be seen.
func (g *Gateway) FirstToken(ctx context.Context, cfg *config.Config) (token string, err error) {
	if cfg.Auth.AdminToken != "" {
		return "", nil
	}
	err = g.store.Transact(ctx, func(ctx context.Context) error {
		if _, made, err := g.store.KeyByID(ctx, identity.AdminID); made || err != nil {
			return err
		}
		token = identity.NewToken()
		return g.store.PutKey(ctx, identity.Key{ID: identity.AdminID, Account: identity.DefaultAccount, Name: "administrator",
			Hash: identity.HashToken(token), Scopes: identity.Scopes(), Created: time.Now().UTC()})
	})
	if err != nil {
		return "", fmt.Errorf("make admin token: %w", err)
	}
	return token, g.authority.Refresh(ctx)
}

// Close lets go of connections, and of the store if the gateway has opened it: what is still waiting is written first.
func (g *Gateway) Close() error {
	g.stop()
	if g.api != nil {
		g.api.Close()
	}
	g.beside.Wait()
	g.client.CloseIdleConnections()
	if g.probe != nil {
		g.probe.Close()
	}
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
	asked, err := g.judge(cfg)
	if err != nil {
		return err
	}
	if err := g.probe.Use(telemetry.Settings(cfg.Telemetry)); err != nil {
		return err
	}
	if err := g.notify(cfg); err != nil {
		return err
	}
	p, l := cfg.Protection, cfg.Limits
	g.engine.Memory.Limit(int(l.Cache) - int(l.Cache)/ofTranscripts)
	g.engine.Sessions.Memory.Limit(int(l.Cache) / ofTranscripts)
	g.engine.Use(&checkpoint.Settings{
		Protection: p.Mode, Autonomy: cfg.Alignment.AutonomyMode, Integrity: cfg.Alignment.IntegrityMode,
		Warn: p.Thresholds.Warn, Quarantine: p.Thresholds.Quarantine, Block: p.Thresholds.Block,
		Incoming: p.Screen.Incoming, Outgoing: p.Screen.Outgoing, ToolCalls: p.Screen.ToolCalls, ToolResponses: p.Screen.ToolResponses,
		PII: p.PII, Secrets: p.Secrets, Uninspected: cfg.Uninspected, BlockWithError: cfg.OnBlock == "error", OpenOnError: open,
		ScanTime: l.Scan, WithoutModel: p.Model == "off", Durability: cfg.Audit.Durability, Policy: tools, Judge: asked,
		ApprovalWait: cfg.Approvals.Wait, ApprovalAge: cfg.Approvals.Expire, ApprovalURL: publicURL(cfg),
	})
	g.keysOnly.Store(cfg.Auth.Mode == "keys" || !loopback(cfg.Listen))
	g.authority.SetAdmin(cfg.Auth.AdminToken)
	g.desk.KnownOnly(!cfg.Agents.AutoCreate)
	g.surface.Use(&surface.Settings{Origins: cfg.CORS.Origins, Loopback: loopback(cfg.Listen), BodyTime: g.body})
	g.api.Keyless(!g.keysOnly.Load())
	g.api.Limit(l.Body, l.Rate)
	g.api.At(publicURL(cfg))
	g.proxy.Use(&proxy.Settings{
		Upstreams: upstreams, Body: l.Body, KeysOnly: g.keysOnly.Load(), Rate: l.Rate,
		Codecs:    codecs(l.Depth),
		Limits:    upstream.Limits{Idle: l.UpstreamIdle, Buffer: l.StreamBuffer, Body: l.Body},
		Streaming: cfg.Streaming, KeepAlive: keepAlive,
		Replay: cfg.Approvals.Resume == "replay",
	})
	return nil
}

// codecs are the formats that can be inspected.
func codecs(depth int) map[string]wire.Codec {
	answers := responses.Codec{Codec: openai.Codec{}, Depth: depth}
	stored := responses.Stored{Codec: answers}
	return map[string]wire.Codec{
		"anthropic":               anthropic.Codec{Depth: depth},
		"gemini":                  gemini.Codec{Depth: depth},
		"openai":                  openai.Codec{Depth: depth},
		"openai/stored":           openai.Stored{Codec: openai.Codec{Depth: depth}},
		"openai/responses":        answers,
		"openai/responses/stored": stored,
		"openai/responses/items":  responses.Items{Stored: stored},
		"openai/completions":      completions.Codec{Codec: openai.Codec{}, Depth: depth},
		"openai/embeddings":       embeddings.Codec{Codec: openai.Codec{}, Depth: depth},
	}
}

// publicURL is where people reach the gateway, without a slash at its end; empty when the configuration does not say it.
func publicURL(cfg *config.Config) string {
	switch {
	case cfg.Approvals.URL != "":
		return cfg.Approvals.URL
	case !loopback(cfg.Listen) || strings.HasSuffix(cfg.Listen, ":0"):
		return ""
	case cfg.TLS.Cert != "":
		return "https://" + cfg.Listen
	}
	return "http://" + cfg.Listen
}

// shellWord is a text as a shell reads it back.
func shellWord(text string) string {
	if strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:/._-") == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
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
