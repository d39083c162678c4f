// Package local is the gateway inside the program that it guards: the same checkpoints, policy, approvals and audit record as those
// of the server, over the same store, without a server. A human approves from another process:
//
//	gatehouse approvals approve apr-… --store sqlite:gatehouse.db
//
// It promises that what holds for an exchange over HTTP holds here, with one difference: the code that declares a tool runs in
// the gateway's own process, so that its word "allow" lifts the flag that a tool has by its name alone.
package local

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/gateway"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

// Options say where the configuration and the store are. The zero value is the built-in defaults over a file gatehouse.db in the
// working directory.
type Options struct {
	Config string // path of a configuration file (docs/configuration.md); read once
	Store  string // sqlite:PATH, in place of the configuration's
	// Agent names the agent, for policy, approvals and records: 2 to 32 letters, digits and hyphens, or nothing.
	Agent string
	Log   *slog.Logger // nil: no log. It never holds content
}

// Gateway is a [gatehouse.Checker] of this process. It may be used by many goroutines.
type Gateway struct {
	gatehouse.Checker
	gateway *gateway.Gateway
}

// Open opens a gateway. Several processes may have the same store open. With a configuration file it also delivers the webhooks
// of the store; without, that is left to others who have it open. Errors are of the file, with line and path, and of the store.
func Open(ctx context.Context, o Options) (*Gateway, error) {
	cfg := config.Default()
	if o.Config != "" {
		var err error
		if cfg, err = config.Load(o.Config); err != nil {
			return nil, err
		}
	}
	if o.Store != "" {
		cfg.Store = o.Store
	}
	if o.Agent != "" && !session.ValidName(o.Agent) {
		return nil, fmt.Errorf("the name of an agent has 2 to 32 letters, digits and hyphens")
	}
	cfg.Listen = "127.0.0.1:0" // nothing listens
	g, err := gateway.Open(ctx, cfg, gateway.Parts{Log: o.Log, Silent: o.Config == ""})
	if err != nil {
		return nil, err
	}
	return &Gateway{g.Inside(o.Agent), g}, nil
}

// Close writes what still waits, and lets go of the store.
func (g *Gateway) Close() error { return g.gateway.Close() }
