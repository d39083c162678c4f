package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
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
with a problem is refused and the old one stays in force.`,
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
	if listen != "" {
		cfg.Listen = listen
	}
	if cfg.Auth.AdminToken == "" {
		cfg.Auth.AdminToken = os.Getenv("GATEHOUSE_ADMIN_TOKEN")
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
	if file != "" {
		if err := follow(ctx, g, file, log); err != nil {
			return fmt.Errorf("watch configuration: %w", err)
		}
	}
	log.Info("listening", "address", l.Addr().String(), "store", cfg.Store)
	return serveOn(ctx, l, g, cfg.Limits.HeaderTimeout, log)
}

// follow takes over a changed configuration file. Address and store stay what they were: they need a restart.
func follow(ctx context.Context, g *gateway.Gateway, file string, log *slog.Logger) error {
	take := func(c *config.Config) {
		if err := g.Use(c); err != nil {
			log.Error("configuration refused, the old one stays in force", "file", file, "error", err)
			return
		}
		log.Info("configuration taken over", "file", file)
	}
	refuse := func(err error) {
		log.Error("configuration refused, the old one stays in force", "file", file, "error", err)
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
func serveOn(ctx context.Context, l net.Listener, h http.Handler, headerTime time.Duration, log *slog.Logger) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: headerTime, IdleTimeout: 2 * time.Minute,
		DisableGeneralOptionsHandler: true, // its answer to OPTIONS * would lack the header surface
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
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
