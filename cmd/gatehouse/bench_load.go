package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatehouse-gateway/gatehouse/bench"
)

// benchLoad is one run of the command.
type benchLoad struct {
	load     bench.Load
	target   string
	pairs    int
	warm     time.Duration
	profiles string
	maxRatio float64
	turns    int
	json     bool
}

func benchLoadCommand() *cobra.Command {
	var b benchLoad
	cmd := &cobra.Command{
		Use:   "load",
		Short: "A load test of the gateway, or of any address",
		Long: `Without --target the gateway measures itself: a model server that answers at once, a plain reverse proxy that buffers
bodies, and the gateway with all four checkpoints enforcing, each in a process of its own. Both get the same load in turn, in
pairs. Three tables: ordinary prompts, prompts with tools, instructions and secrets in them, and ordinary prompts streamed.
CPU time is user and system of the server's process under the closed loop; latency is from the open loop. Every prompt is
different from every other.

With --turns it is one conversation of so many turns that is sent again whole with each of them, by one client, in pairs: what
a KiB of old text costs beyond the plain proxy.

With --target one load is sent to an OpenAI-compatible base URL, the part before /v1/chat/completions: an open loop with
--rate, else a closed one. The provider key is taken from OPENAI_API_KEY.

Exits 1 when a request failed, or when the ratio of the first table is above --max-ratio.`,
		Example: `  gatehouse bench load
  gatehouse bench load --pairs 1 --duration 2s --profile profiles
  gatehouse bench load --turns 200
  gatehouse bench load --target http://127.0.0.1:8787/openai --rate 50 --duration 30s --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt)
			defer stop()
			if err := b.check(c.Flags().Changed("rate")); err != nil {
				return err
			}
			if b.target != "" {
				return b.send(ctx, c.OutOrStdout())
			}
			if b.turns > 0 {
				return b.retell(ctx, c.OutOrStdout())
			}
			return b.compare(ctx, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&b.target, "target", "", "base URL to send the load to, in place of measuring the gateway itself")
	f.Float64Var(&b.load.Rate, "rate", 100, "requests a second of the open loop; 0: closed loop only")
	f.IntVar(&b.load.Concurrency, "concurrency", 8, "clients of the closed loop")
	f.DurationVar(&b.load.Duration, "duration", 4*time.Second, "time of each loop")
	f.IntVar(&b.load.Prompts.Size, "size", 1<<10, "bytes of each prompt")
	f.BoolVar(&b.load.Prompts.Stream, "stream", false, "ask for event streams")
	f.BoolVar(&b.load.Prompts.Trigger, "trigger", false, "with --target: prompts with tools, instructions and secrets in them")
	f.IntVar(&b.pairs, "pairs", 5, "pairs of runs for each table")
	f.DurationVar(&b.warm, "warm", time.Second, "time under load before anything is measured")
	f.StringVar(&b.profiles, "profile", "", "folder for pprof profiles of the gateway: CPU and allocations of each table")
	f.Float64Var(&b.maxRatio, "max-ratio", 0, "exit 1 when the gateway takes more than this many times the CPU of the plain proxy; 0: never")
	f.IntVar(&b.turns, "turns", 0, "measure a conversation of so many turns")
	f.BoolVar(&b.json, "json", false, "print JSON")
	return cmd
}

// check refuses what makes no load. Against a target the loop is open only when a rate was asked for.
func (b *benchLoad) check(rated bool) error {
	switch {
	case b.load.Duration <= 0 || b.warm < 0:
		return exitError{2, "--duration must be more than nothing, and --warm not less"}
	case b.turns < 0 || b.turns > 0 && b.target != "":
		return exitError{2, "--turns must be 1 or more, and goes without --target"}
	case b.load.Concurrency < 1 || b.pairs < 1 || b.load.Prompts.Size < 1:
		return exitError{2, "--concurrency, --pairs and --size must be 1 or more"}
	case b.load.Rate < 0:
		return exitError{2, "--rate must not be below 0"}
	}
	b.load.Key = "bench"
	if b.target != "" {
		if key := os.Getenv("OPENAI_API_KEY"); key != "" {
			b.load.Key = key
		}
		if !rated {
			b.load.Rate = 0
		}
	}
	return nil
}

// loadResult is what one load against a target came to.
type loadResult struct {
	Load      bench.Load        `json:"load"`
	Requests  int               `json:"requests"`
	Failed    int               `json:"failed"`
	Rate      float64           `json:"rate"` // answers a second
	Latency   bench.Percentiles `json:"latency"`
	FirstByte bench.Percentiles `json:"first_byte"`
}

func (b *benchLoad) send(ctx context.Context, out io.Writer) error {
	s, err := b.load.Send(ctx, b.target)
	if err != nil {
		return exitError{1, err.Error()}
	}
	r := loadResult{b.load, s.Requests, s.Failed, s.Rate(), s.Latency(), s.FirstByte()}
	if b.json {
		err = writeJSON(out, r)
	} else {
		_, err = fmt.Fprintf(out, "%d answers, %d failed, %.1f a second\nlatency     p50 %v  p90 %v  p99 %v\nfirst byte  p50 %v  p90 %v  p99 %v\n",
			r.Requests, r.Failed, r.Rate, r.Latency.P50, r.Latency.P90, r.Latency.P99, r.FirstByte.P50, r.FirstByte.P90, r.FirstByte.P99)
	}
	if err == nil && r.Failed > 0 {
		err = exitError{1, fmt.Sprintf("%d requests failed", r.Failed)}
	}
	return err
}

// compare measures the gateway against the floor.
func (b *benchLoad) compare(ctx context.Context, out, progress io.Writer) error {
	tables, failed := b.tables(), 0
	for i := range tables {
		fmt.Fprintf(progress, "measuring: %s\n", tables[i].Name)
		if err := b.measure(ctx, &tables[i]); err != nil {
			return exitError{1, err.Error()}
		}
		failed += tables[i].Failed()
		if b.json {
			continue
		}
		if err := tables[i].Print(out); err != nil {
			return err
		}
	}
	if b.json {
		type row struct {
			bench.Table
			Ratio float64 `json:"ratio"`
		}
		rows := make([]row, 0, len(tables))
		for _, t := range tables {
			rows = append(rows, row{t, t.Ratio()})
		}
		if err := writeJSON(out, rows); err != nil {
			return err
		}
	}
	switch ratio := tables[0].Ratio(); {
	case failed > 0:
		return exitError{1, fmt.Sprintf("%d requests failed", failed)}
	case b.maxRatio > 0 && ratio > b.maxRatio:
		return exitError{1, fmt.Sprintf("the ratio %.2f is above %.2f", ratio, b.maxRatio)}
	}
	return nil
}

// tables are the comparisons to make; with --stream all of them are streamed.
func (b *benchLoad) tables() []bench.Table {
	plain := bench.Table{Name: "plain", Load: b.load}
	plain.Load.Prompts.Trigger = false
	trigger := bench.Table{Name: "trigger", Load: b.load}
	trigger.Load.Prompts.Trigger = true
	if b.load.Prompts.Stream {
		return []bench.Table{plain, trigger}
	}
	stream := bench.Table{Name: "stream", Load: plain.Load}
	stream.Load.Prompts.Stream = true
	return []bench.Table{plain, trigger, stream}
}

// measure fills one table.
func (b *benchLoad) measure(ctx context.Context, t *bench.Table) error {
	return b.beside(ctx, t.Name, func(floor, gateway *bench.Process) error {
		return bench.Compare(ctx, t, b.pairs, b.warm, floor, gateway)
	})
}

// retell measures what old text costs.
func (b *benchLoad) retell(ctx context.Context, out io.Writer) error {
	r := bench.Retelling{Conversation: bench.Conversation{Turns: b.turns, Size: b.load.Prompts.Size, Key: b.load.Key}}
	err := b.beside(ctx, "conversation", func(floor, gateway *bench.Process) error {
		return bench.Retell(ctx, &r, b.pairs, floor, gateway)
	})
	switch {
	case err != nil:
		return exitError{1, err.Error()}
	case b.json:
		return writeJSON(out, struct {
			bench.Retelling
			Slope time.Duration `json:"old_kib_ns"`
			Whole time.Duration `json:"old_kib_whole_ns"`
		}{r, r.Slope(), r.Whole()})
	}
	return r.Print(out)
}

// beside starts what is compared, with processes and a store of their own, for as long as do runs.
func (b *benchLoad) beside(ctx context.Context, name string, do func(floor, gateway *bench.Process) error) (err error) {
	dir, err := os.MkdirTemp("", "gatehouse-bench-")
	if err != nil {
		return fmt.Errorf("make a folder for the store: %w", err)
	}
	defer os.RemoveAll(dir)
	model, err := startServer(ctx, dir, "model", "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	floor, err := startServer(ctx, dir, "floor", model.URL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, floor.Close()) }()
	var profile []string
	if b.profiles != "" {
		if err := os.MkdirAll(b.profiles, 0o700); err != nil {
			return fmt.Errorf("make the folder for profiles: %w", err)
		}
		profile = []string{"--profile", filepath.Join(b.profiles, name)}
	}
	gateway, err := startServer(ctx, dir, "gateway", model.URL, append(profile, "--store", "sqlite:"+filepath.Join(dir, "gatehouse.db"))...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, gateway.Close()) }()
	return do(floor, gateway)
}

// startServer starts this program again as one of the servers. What it logs goes to a file, as an operator's logs do.
func startServer(ctx context.Context, dir, role, upstream string, more ...string) (*bench.Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	logs, err := os.Create(filepath.Join(dir, role+".log"))
	if err != nil {
		return nil, err
	}
	defer logs.Close()
	cmd := exec.CommandContext(ctx, self, append([]string{"bench", "server", role, "--upstream", upstream}, more...)...)
	cmd.Stderr = logs
	p, err := bench.Start(cmd)
	if err != nil {
		said, _ := os.ReadFile(logs.Name()) //nolint:errcheck // it only explains
		return nil, fmt.Errorf("%s: %w: %s", role, err, said)
	}
	return p, nil
}
