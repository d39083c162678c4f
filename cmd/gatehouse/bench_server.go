package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime/pprof"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/bench"
	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/gateway"
	"github.com/gatehouse-gateway/gatehouse/internal/telemetry"
)

// headerTime is how long a server waits for the head of a request: more than the load generator ever takes.
const headerTime = 10 * time.Second

// benchServer is one of the servers that bench load starts: this program again, in a process of its own.
type benchServer struct {
	role, upstream, store, profile string
}

func benchServerCommand() *cobra.Command {
	var s benchServer
	cmd := &cobra.Command{
		Use:       "server {model|floor|gateway}",
		Short:     "A server for bench load, which starts it",
		Example:   "  gatehouse bench server model",
		Hidden:    true,
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"model", "floor", "gateway"},
		RunE: func(c *cobra.Command, args []string) error {
			s.role = args[0]
			if err := s.run(c.Context(), c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr()); err != nil {
				return exitError{1, err.Error()}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&s.upstream, "upstream", "", "base URL of the model server")
	f.StringVar(&s.store, "store", "", "store of the gateway")
	f.StringVar(&s.profile, "profile", "", "where the profiles of the gateway go, less the end of the names")
	return cmd
}

// run serves until standard input ends.
func (s *benchServer) run(ctx context.Context, in io.Reader, out, stderr io.Writer) (err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	defer func() {
		cancel()
		err = errors.Join(err, <-ended)
	}()
	switch upstream, bad := url.Parse(s.upstream); {
	case bad != nil:
		ended <- fmt.Errorf("upstream: %w", bad)
		return nil
	case s.role == "gateway":
		log := slog.New(telemetry.Logs(slog.NewJSONHandler(stderr, nil)))
		g, err := s.gateway(ctx, log)
		if err != nil {
			ended <- err
			return nil
		}
		limits := config.Default().Limits
		go func() {
			ended <- errors.Join(serveOn(ctx, gateway.Patient(l, limits.UpstreamIdle), g, limits, log), g.Close())
		}()
	case s.role == "floor":
		go func() { ended <- serveBench(ctx, l, bench.Floor(upstream)) }()
	default:
		go func() { ended <- serveBench(ctx, l, bench.Model{}) }()
	}
	stop := func() error { return nil }
	defer func() { err = errors.Join(err, stop()) }()
	return bench.Report(in, out, "http://"+l.Addr().String(), func() (err error) {
		stop, err = startProfile(s.profile)
		return err
	})
}

// gateway is what serve runs, with all four checkpoints enforcing.
func (s *benchServer) gateway(ctx context.Context, log *slog.Logger) (*gateway.Gateway, error) {
	cfg := config.Default()
	cfg.Store = s.store
	cfg.Upstreams["openai"] = config.Upstream{Format: "openai", URL: s.upstream}
	cfg.Protection.Mode, cfg.Alignment.AutonomyMode, cfg.Alignment.IntegrityMode = gatehouse.Enforce, gatehouse.Enforce, gatehouse.Enforce
	return gateway.Open(ctx, cfg, gateway.Parts{Log: log})
}

// serveBench serves until the context ends.
func serveBench(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: headerTime}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// startProfile begins a CPU profile in NAME.cpu.pprof; stop ends it and writes all allocations to NAME.allocs.pprof.
// Without a name there is no profile.
func startProfile(name string) (stop func() error, err error) {
	if name == "" {
		return func() error { return nil }, nil
	}
	file, err := os.Create(name + ".cpu.pprof")
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		file.Close()
		return nil, err
	}
	return func() error {
		pprof.StopCPUProfile()
		allocs, err := os.Create(name + ".allocs.pprof")
		if err != nil {
			return errors.Join(err, file.Close())
		}
		return errors.Join(pprof.Lookup("allocs").WriteTo(allocs, 0), allocs.Close(), file.Close())
	}, nil
}
