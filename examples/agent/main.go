// Command agent is an agent that searches, mails and would delete, behind Gatehouse's three checkpoints. It needs nothing: its model
// is scripted, unless -model names one of OpenAI's.
//
//	go run ./examples/agent start                 # pauses: the mail needs a human
//	go run ./cmd/gatehouse approvals list --store sqlite:agent.db
//	go run ./cmd/gatehouse approvals approve apr-… --store sqlite:agent.db
//	go run ./examples/agent resume                # another process: mails, once
//
// With -gateway the checkpoints are those of a gateway elsewhere, and everything else stays as it is.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/agent"
	"github.com/gatehouse-gateway/gatehouse/agent/openai"
	"github.com/gatehouse-gateway/gatehouse/local"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to stop
	}
}

const usage = `An agent that searches, mails and would delete, behind Gatehouse's checkpoints.

  go run ./examples/agent start      pauses: the mail needs a human
  go run ./cmd/gatehouse approvals list --store sqlite:agent.db
  go run ./cmd/gatehouse approvals approve apr-… --store sqlite:agent.db
  go run ./examples/agent resume     another process: mails, once

Each takes --help.
`

// options are what the command line says.
type options struct {
	dir, gateway, key, model, prompt string
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 || args[0] != "start" && args[0] != "resume" {
		fmt.Fprint(out, usage)
		if len(args) > 0 && strings.HasSuffix(args[0], "-help") || len(args) > 0 && args[0] == "-h" {
			return nil
		}
		return errors.New("say start or resume")
	}
	var o options
	flags := flag.NewFlagSet("agent "+args[0], flag.ContinueOnError)
	flags.StringVar(&o.dir, "dir", ".", "where agent.db, run.json and outbox.jsonl are")
	flags.StringVar(&o.gateway, "gateway", "", "URL of a gateway, in place of the checkpoints of this process")
	flags.StringVar(&o.key, "key", os.Getenv("GATEHOUSE_API_KEY"), "API key for that gateway")
	flags.StringVar(&o.model, "model", "", "an OpenAI model, in place of the scripted one (OPENAI_API_KEY)")
	flags.StringVar(&o.prompt, "prompt", "Find our opening hours, mail them to ann@example.com, and delete the old page.", "what the user asks")
	if err := flags.Parse(args[1:]); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	checker, closed, err := o.checker(ctx)
	if err != nil {
		return err
	}
	file := agent.File(filepath.Join(o.dir, "run.json"))
	result, err := o.attempt(ctx, args[0], file, agent.Config{
		Checker: checker,
		Model:   o.scripted(out),
		Tools: map[string]agent.Tool{
			"send_email": {Description: "Sends a mail.", Schema: mailSchema, Handler: outbox(o.dir).send, Policy: gatehouse.Flag},
			"search":     {Description: "Searches the web.", Schema: searchSchema, Handler: search, Policy: gatehouse.Allow},
			"delete":     {Description: "Deletes a page.", Handler: remove, Policy: gatehouse.Block},
		},
		System: "You are the assistant of a small shop.",
		Prompt: o.prompt,
		Events: func(e agent.Event) { tell(out, e) },
		Save:   file.Save,
	})
	if err := errors.Join(err, closed()); err != nil {
		return err
	}
	report(out, o, result)
	return nil
}

// checker is the gateway: of this process, or elsewhere.
func (o options) checker(ctx context.Context) (c gatehouse.Checker, closed func() error, err error) {
	if o.gateway != "" {
		return &gatehouse.Client{URL: o.gateway, Key: cmp.Or(o.key, "the-example-agent")}, func() error { return nil }, nil
	}
	g, err := local.Open(ctx, local.Options{Store: "sqlite:" + filepath.Join(o.dir, "agent.db"), Agent: "example"})
	if err != nil {
		return nil, nil, err
	}
	return g, g.Close, nil
}

func (o options) scripted(out io.Writer) agent.Model {
	if o.model != "" {
		return openai.New(o.model)
	}
	return script{out}
}

func (o options) attempt(ctx context.Context, verb string, file agent.File, cfg agent.Config) (agent.Result, error) {
	if verb == "start" {
		return agent.Run(ctx, cfg)
	}
	paused, err := file.Load()
	if err != nil {
		return agent.Result{}, err
	}
	return agent.Resume(ctx, cfg, paused)
}

func tell(out io.Writer, e agent.Event) {
	switch e.Kind {
	case agent.CallHeld, agent.CallRefused, agent.CallBegun, agent.CallSettled:
		fmt.Fprintf(out, "%-13s %s (%s)\n", e.Kind, e.Step.Tool, e.Step.ID)
	}
}

func report(out io.Writer, o options, r agent.Result) {
	fmt.Fprintf(out, "%s after %d turns and %d tool calls\n", r.Status, r.Turns, r.ToolCalls)
	for _, w := range r.Waiting() {
		fmt.Fprintf(out, "waiting for %s: %s %s\n", w.Approval, w.Tool, w.Arguments)
		if o.gateway == "" {
			fmt.Fprintf(out, "  gatehouse approvals approve %s --store sqlite:%s\n", w.Approval, filepath.Join(o.dir, "agent.db"))
		}
	}
	if r.Text != "" {
		fmt.Fprintln(out, r.Text)
	}
}
