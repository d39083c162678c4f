package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/fake"
	"github.com/gatehouse-gateway/gatehouse/internal/gateway"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
)

func demoCommand() *cobra.Command {
	var exit, asJSON bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "Play an attack on an agent with and without each checkpoint",
		Long: `Play a multi-turn attack four times, offline, over real HTTP: an agent is asked to summarise a web page, and the page
carries an instruction to mail a secret away. With no checkpoint, with the input scan, with the tool-call gate added, and with
the tool-result scan added. Then the gateway keeps serving until interrupted, unless --exit.`,
		Example: `  gatehouse demo
  gatehouse demo --exit --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt)
			defer stop()
			if err := demo(ctx, c.OutOrStdout(), c.ErrOrStderr(), exit, asJSON); err != nil {
				return exitError{1, err.Error()}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&exit, "exit", false, "stop after the last play")
	c.Flags().BoolVar(&asJSON, "json", false, "print the four plays as JSON")
	return c
}

// play is one run of the conversation.
type play struct {
	Checkpoints []string `json:"checkpoints"`
	Leaked      bool     `json:"leaked"`    // the mail server has the secret
	CaughtBy    *string  `json:"caught_by"` // the agent checkpoint that took the attack out
	Turn        int      `json:"turn"`      // request to the model in which it was caught, or the secret was given away
	Verdict     string   `json:"verdict"`   // X-Mnemom-Verdict of that turn
	Advisory    string   `json:"-"`
}

// The agent checkpoints, in the order in which the plays add them.
var agentCheckpoints = []string{"input", "tool-call", "tool-result"}

func demo(ctx context.Context, stdout, stderr io.Writer, exit, asJSON bool) error {
	stage, err := newStage(ctx)
	if err != nil {
		return err
	}
	defer stage.Close()
	if !asJSON {
		fmt.Fprint(stdout, demoStory)
	}
	plays := make([]play, 0, len(agentCheckpoints)+1)
	for n := range len(agentCheckpoints) + 1 {
		p, err := stage.play(ctx, agentCheckpoints[:n])
		if err != nil {
			return fmt.Errorf("play with %d checkpoints: %w", n, err)
		}
		plays = append(plays, p)
		if !asJSON {
			printPlay(stdout, p)
		}
	}
	if asJSON {
		if err := json.NewEncoder(stdout).Encode(plays); err != nil {
			return fmt.Errorf("write result: %w", err)
		}
	} else {
		fmt.Fprint(stdout, demoMoral)
	}
	if exit {
		return nil
	}
	fmt.Fprintf(stderr, demoServing, stage.url, stage.url)
	<-ctx.Done()
	return nil
}

// stage is what the plays need: a gateway, a scripted model and the tools of the agent, each a real HTTP server.
type stage struct {
	gateway  *gateway.Gateway
	tools    *fake.Tools
	url      string // of the gateway
	toolURL  string
	modelURL string
	closers  []func()
}

func newStage(ctx context.Context) (_ *stage, err error) {
	s := &stage{tools: &fake.Tools{Pages: map[string]string{"roadmap": demoPage}}}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if s.modelURL, err = s.listen(&fake.OpenAI{Script: demoModel}, "127.0.0.1:0"); err != nil {
		return nil, err
	}
	if s.toolURL, err = s.listen(s.tools, "127.0.0.1:0"); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "gatehouse-demo-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the store: %w", err)
	}
	s.closers = append(s.closers, func() { os.RemoveAll(dir) })
	cfg := demoConfig(agentCheckpoints)
	cfg.Store = "sqlite:" + filepath.Join(dir, "gatehouse.db")
	cfg.Upstreams["openai"] = config.Upstream{Format: "openai", URL: s.modelURL}
	if s.gateway, err = gateway.Open(ctx, cfg, gateway.Parts{}); err != nil {
		return nil, err
	}
	s.closers = append(s.closers, func() { s.gateway.Close() })
	// The usual port if it is free, so that the commands printed at the end look like those of the manual.
	if s.url, err = s.listen(s.gateway, cfg.Listen); err != nil {
		s.url, err = s.listen(s.gateway, "127.0.0.1:0")
	}
	return s, err
}

func (s *stage) listen(h http.Handler, address string) (url string, err error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return "", fmt.Errorf("listen: %w", err)
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(l) //nolint:errcheck // it ends when the stage closes
	s.closers = append(s.closers, func() { server.Close() })
	return "http://" + l.Addr().String(), nil
}

// Close stops everything, the last started first.
func (s *stage) Close() {
	for i := len(s.closers) - 1; i >= 0; i-- {
		s.closers[i]()
	}
}

// demoConfig is the default configuration, less the checkpoints that are not to run. The policy allows send_email: the gate
// runs and has nothing against the call.
func demoConfig(checkpoints []string) *config.Config {
	cfg := config.Default()
	on := map[string]bool{}
	for _, name := range checkpoints {
		on[name] = true
	}
	cfg.Protection.Screen.Incoming = on["input"]
	cfg.Protection.Screen.ToolResponses = on["tool-result"]
	cfg.Tools.Rules = []policy.Rule{{Tool: "fetch_page", Verdict: gatehouse.Allow}, {Tool: "send_email", Verdict: gatehouse.Allow}}
	if !on["tool-call"] {
		cfg.Alignment.AutonomyMode = gatehouse.Off
	}
	if len(checkpoints) == 0 {
		cfg.Protection.Mode, cfg.Alignment.IntegrityMode = gatehouse.Off, gatehouse.Off
	}
	return cfg
}

// play runs the conversation once.
func (s *stage) play(ctx context.Context, checkpoints []string) (play, error) {
	cfg := demoConfig(checkpoints)
	cfg.Upstreams["openai"] = config.Upstream{Format: "openai", URL: s.modelURL}
	if err := s.gateway.Use(cfg); err != nil {
		return play{}, err
	}
	before := len(s.tools.Sent())
	a := &demoAgent{gateway: s.url, tools: s.toolURL}
	turns, err := a.run(ctx)
	if err != nil {
		return play{}, err
	}
	p := play{Checkpoints: append([]string{}, checkpoints...)}
	for _, mail := range s.tools.Sent()[before:] {
		p.Leaked = p.Leaked || strings.Contains(mail.Body, demoSecret)
	}
	last := turns[len(turns)-1]
	p.Turn, p.Verdict = last.number, last.verdict
	for _, t := range turns {
		switch {
		case t.caughtBy != "":
			p.CaughtBy, p.Turn, p.Verdict, p.Advisory = &t.caughtBy, t.number, t.verdict, t.advisory
			return p, nil
		case t.mailed:
			p.Turn, p.Verdict = t.number, t.verdict
			return p, nil
		}
	}
	return p, nil
}

func printPlay(w io.Writer, p play) {
	name := "no checkpoint"
	if len(p.Checkpoints) > 0 {
		name = strings.Join(p.Checkpoints, " + ")
	}
	result := fmt.Sprintf("LEAKED   the secret was mailed away in turn %d", p.Turn)
	if !p.Leaked {
		result = fmt.Sprintf("STOPPED  in turn %d", p.Turn)
		if p.CaughtBy != nil {
			result += ", by the " + *p.CaughtBy + " scan"
		}
	}
	fmt.Fprintf(w, "\n%-33s %s\n%-33s X-Mnemom-Verdict: %s\n", name, result, "", p.Verdict)
	if p.Advisory != "" {
		fmt.Fprintf(w, "%-33s X-Mnemom-Advisory: %s\n", "", p.Advisory)
	}
}
