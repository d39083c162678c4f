// Package config reads the gateway's one YAML file. It promises that a file is taken whole or not at all, that every
// problem in it is named with its line and path, and that no key is silently ignored: what this version cannot do is
// refused. It leaves acting on the values to others.
package config

import (
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
)

// Config is the effective configuration: the defaults, and over them what the file says.
type Config struct {
	Listen      string // host:port
	Store       string // sqlite:PATH
	Upstreams   map[string]Upstream
	Protection  Protection
	Alignment   Alignment
	Tools       policy.Tools
	OnBlock     string                          // replace or error
	OnError     map[gatehouse.Checkpoint]string // closed or open, for all four checkpoints
	Uninspected string                          // forward or refuse
	Streaming   string                          // auto, buffer or window
	Approvals   Approvals
	Limits      Limits
	Audit       Audit
	Judge       Judge
	Auth        Auth
	TLS         TLS
	CORS        CORS
	Notify      Notify
	Telemetry   Telemetry
	Agents      Agents
}

// Upstream is a model server.
type Upstream struct {
	Format           string   // openai, anthropic or gemini
	URL              string   // base URL, without a trailing slash
	Key              string   // held by the gateway; secret; empty when callers bring their own
	Auth             string   // empty, or none: calls without a credential are let through
	AllowUninspected []string // endpoints that generate, cannot be inspected and are forwarded all the same
}

// Protection governs the front and back checkpoints.
type Protection struct {
	Mode       gatehouse.Mode
	Thresholds Thresholds
	Screen     Screen
	PII        map[string]string // class → redact, report or off, for every class of [detect.PII]
	Secrets    string            // redact, report or off
	Model      string            // auto or off: the transformer
}

// Thresholds are injection scores, 0..1, from which on something happens.
type Thresholds struct{ Warn, Quarantine, Block float64 }

// Screen says what is scanned at all.
type Screen struct{ Incoming, Outgoing, ToolCalls, ToolResponses bool }

// Alignment governs the autonomy and integrity checkpoints.
type Alignment struct{ AutonomyMode, IntegrityMode gatehouse.Mode }

// Limits bound what one exchange may cost.
type Limits struct {
	Body          int64 // bytes of a request body
	Depth         int   // nested arrays and objects in a body
	Scan          time.Duration
	HeaderTimeout time.Duration
	UpstreamIdle  time.Duration // between two reads of a response
	StreamBuffer  int64         // bytes of a response that is held back
	Rate          int           // requests a minute for each agent; 0 is no limit
	Cache         int64         // bytes that hold what detectors have found; 0 is none
}

// Audit governs the record.
type Audit struct {
	Durability string // all, decisions or batched
}

// Auth governs who may call.
type Auth struct {
	Mode       string // auto or keys
	AdminToken string // secret; empty: the one in the store
}

// TLS names the files of a certificate; both empty: plain HTTP.
type TLS struct{ Cert, Key string }

// CORS lists the origins whose pages may call the gateway.
type CORS struct{ Origins []string }

// Telemetry governs what is told of exchanges while they happen.
type Telemetry struct {
	OTLP       string // base URL of a collector; empty: no spans
	Prometheus bool   // GET /metrics answers
	Content    bool   // spans hold texts
}

// Agents governs parties that are not known yet.
type Agents struct {
	AutoCreate bool // an unknown credential makes an agent
}

// Default is the configuration without a file.
func Default() *Config {
	return &Config{
		Listen: "127.0.0.1:8787",
		Store:  "sqlite:gatehouse.db",
		Upstreams: map[string]Upstream{
			"openai":    {Format: "openai", URL: "https://api.openai.com"},
			"anthropic": {Format: "anthropic", URL: "https://api.anthropic.com"},
			"gemini":    {Format: "gemini", URL: "https://generativelanguage.googleapis.com"},
		},
		Protection: Protection{
			Mode:       gatehouse.Enforce,
			Thresholds: Thresholds{Warn: 0.60, Quarantine: 0.80, Block: 0.95},
			Screen:     Screen{Incoming: true, Outgoing: true, ToolCalls: true, ToolResponses: true},
			PII:        defaultPII(),
			Secrets:    "redact",
			Model:      "auto",
		},
		Alignment:   Alignment{AutonomyMode: gatehouse.Enforce, IntegrityMode: gatehouse.Observe},
		OnBlock:     "replace",
		OnError:     sameForAll("closed"),
		Uninspected: "forward",
		Streaming:   "auto",
		Approvals:   Approvals{Expire: 24 * time.Hour, Resume: "replay"},
		Limits: Limits{
			Body:          32 << 20,
			Depth:         128,
			Scan:          2 * time.Second,
			HeaderTimeout: 10 * time.Second,
			UpstreamIdle:  10 * time.Minute,
			StreamBuffer:  8 << 20,
			Cache:         32 << 20,
		},
		Audit:     Audit{Durability: "decisions"},
		Judge:     Judge{Timeout: 10 * time.Second},
		Auth:      Auth{Mode: "auto"},
		Telemetry: Telemetry{Prometheus: true},
		Agents:    Agents{AutoCreate: true},
	}
}

func sameForAll(word string) map[gatehouse.Checkpoint]string {
	m := make(map[gatehouse.Checkpoint]string, len(gatehouse.Checkpoints))
	for _, at := range gatehouse.Checkpoints {
		m[at] = word
	}
	return m
}
