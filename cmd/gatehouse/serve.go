package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/gateway"
	"github.com/gatehouse-gateway/gatehouse/internal/telemetry"
)

func serveCommand() *cobra.Command {
	var file, listen string
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the gateway",
		Long: `Run the gateway. Without a configuration file it starts on the defaults: SQLite in the working directory, the real
provider URLs, callers' own provider keys passed through. The file is read again on SIGHUP and whenever it changes; a file
with a problem is refused and the old one stays in force. Only listen, store, the names in tls, limits.header_timeout and
notify.private_targets need a restart.

Listening on other addresses than loopback needs an API key first; the refusal prints the command that makes one. The
administrator's token is that of the file or of GATEHOUSE_ADMIN_TOKEN; without either, one is made at the first start and
printed this once.`,
		Example: `  gatehouse serve
  gatehouse serve --config gatehouse.yaml --listen 127.0.0.1:9000`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			if err := serve(ctx, file, listen, c.ErrOrStderr()); err != nil {
				return exitError{1, err.Error()}
			}
			return nil
		},
	}
	c.Flags().StringVar(&file, "config", "", "configuration file (YAML)")
	c.Flags().StringVar(&listen, "listen", "", "address to listen on, in place of the file's")
	return c
}

func serve(ctx context.Context, file, listen string, stderr io.Writer) error {
	log := slog.New(telemetry.Logs(slog.NewJSONHandler(stderr, nil)))
	cfg := config.Default()
	if file != "" {
		var err error
		if cfg, err = config.Load(file); err != nil {
			return err
		}
	}
	if err := complete(cfg, listen); err != nil {
		return err
	}
	var secure *certificate
	if cfg.TLS.Cert != "" {
		var err error
		if secure, err = openCertificate(cfg.TLS.Cert, cfg.TLS.Key, log); err != nil {
			return err
		}
	}
	g, err := gateway.Open(ctx, cfg, gateway.Parts{Log: log})
	if err != nil {
		return err
	}
	defer func() {
		if err := g.Close(); err != nil {
			log.Error("records were lost at the end", "error", err)
		}
	}()
	token, err := g.FirstToken(ctx, cfg)
	if err != nil {
		return err
	}
	if token != "" {
		fmt.Fprintln(stderr, "admin token:", token)
	}
	l, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	l = gateway.Patient(l, cfg.Limits.UpstreamIdle)
	if file != "" {
		if err := follow(ctx, g, file, listen, *cfg, log); err != nil {
			return fmt.Errorf("watch configuration: %w", err)
		}
	}
	if secure != nil {
		l = tls.NewListener(l, secure.config())
	}
	log.Info("listening", "address", l.Addr().String(), "store", cfg.Store, "tls", secure != nil)
	return serveOn(ctx, l, g, cfg.Limits, log)
}

// complete adds to a configuration what the command line and the environment say.
func complete(cfg *config.Config, listen string) error {
	if listen != "" {
		cfg.Listen = listen
	}
	if cfg.Auth.AdminToken == "" {
		cfg.Auth.AdminToken = os.Getenv("GATEHOUSE_ADMIN_TOKEN")
	}
	if n := len(cfg.Auth.AdminToken); n > 0 && n < 20 {
		return errors.New("GATEHOUSE_ADMIN_TOKEN must have 20 bytes or more") // as in a file
	}
	return nil
}

// leftToRestart names the keys that a configuration has otherwise than it was at the start, and that are read then alone.
func leftToRestart(start, c *config.Config) []string {
	var names []string
	for _, key := range []struct {
		name string
		same bool
	}{
		{"listen", c.Listen == start.Listen},
		{"store", c.Store == start.Store},
		{"tls", c.TLS == start.TLS},
		{"limits.header_timeout", c.Limits.HeaderTimeout == start.Limits.HeaderTimeout},
		{"notify.private_targets", slices.Equal(c.Notify.PrivateTargets, start.Notify.PrivateTargets)},
	} {
		if !key.same {
			names = append(names, key.name)
		}
	}
	return names
}

// follow takes over a changed configuration file. Address, store and certificate files stay what they were at the start: they
// need a restart, and who may call depends on them.
func follow(ctx context.Context, g *gateway.Gateway, file, listen string, start config.Config, log *slog.Logger) error {
	refuse := func(err error) {
		log.Error("configuration refused, the old one stays in force", "file", file, "error", err)
	}
	take := func(c *config.Config) {
		if err := complete(c, listen); err != nil {
			refuse(err)
			return
		}
		if names := leftToRestart(&start, c); len(names) > 0 {
			log.Warn("taken over at the next start", "file", file, "keys", names)
		}
		c.Listen, c.Store, c.TLS = start.Listen, start.Store, start.TLS
		if err := g.Use(c); err != nil {
			refuse(err)
			return
		}
		log.Info("configuration taken over", "file", file)
	}
	if err := config.Watch(ctx, file, take, refuse); err != nil {
		return err
	}
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	go func() {
		defer signal.Stop(hup)
		for {
			select {
			case <-ctx.Done():
				return
			case <-hup:
				if c, err := config.Load(file); err != nil {
					refuse(err)
				} else {
					take(c)
				}
			}
		}
	}()
	return nil
}

// serveOn serves until the context ends, and then lets running exchanges finish.
func serveOn(ctx context.Context, l net.Listener, h http.Handler, limits config.Limits, log *slog.Logger) error {
	server := gateway.Server(h, limits, log)
	if os.Getenv("GOGC") == "" {
		// What lives is small and what is garbage is not: to collect half as often costs some 30 MiB and saves a tenth of the CPU.
		debug.SetGCPercent(200)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	const patience = 30 * time.Second // less than what orchestrators give before they kill
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if err := server.Shutdown(grace); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("shut down: %w", err)
	}
	return nil
}
