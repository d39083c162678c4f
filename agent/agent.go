// Package agent runs a model with tools behind the checkpoints: what the user says is checked before the model reads it, each
// tool call before the tool runs, and what a tool returns before the model reads that.
//
//	result, err := agent.Run(ctx, agent.Config{
//		Checker: checker, // local.Open, or a gatehouse.Client of a gateway elsewhere
//		Model:   openai.New("gpt-4o-mini"),
//		Tools: map[string]agent.Tool{
//			"send_email": {Handler: sendEmail, Policy: gatehouse.Flag},
//			"search":     {Handler: search, Policy: gatehouse.Allow},
//			"delete":     {Handler: remove, Policy: gatehouse.Block},
//		},
//		Prompt: userInput,
//	})
//
// It promises that no tool runs that the gate has not let through; that each call of the model gets exactly one result, in the
// order of the calls; that a call which needs a human's approval pauses the run, which is plain data then and goes on in any
// process; and that a call which was begun is never begun again unless its tool says that this does no harm. What is
// allowed is the checker's to decide, and the order of the checkpoints is [gatehouse.Guard]'s. The package imports the
// standard library only.
package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
)

// Checkpoint is one of the three places of an agent's loop where something is checked.
type Checkpoint string

// The three checkpoints of an agent.
const (
	Input      Checkpoint = "input"       // what the user says, before the model reads it
	ToolCall   Checkpoint = "tool-call"   // what the model wants done, before it is done
	ToolResult Checkpoint = "tool-result" // what a tool returned, before the model reads it
)

// Limits of a run whose [Config] names none.
const (
	DefaultMaxTurns     = 20
	DefaultMaxToolCalls = 100
	DefaultParallel     = 8
)

// Config says what runs. Checker, Model and, in [Run], Prompt must be given; everything else may be left out.
type Config struct {
	Checker gatehouse.Checker // decides: of this process or of a gateway elsewhere
	Model   Model
	Tools   map[string]Tool // by name
	System  string          // the operator's word to the model
	Prompt  string          // what the user asks

	// Checkpoints are those that are used; nil: all three. What leaves is checked in any case.
	Checkpoints []Checkpoint
	// Session names the conversation for the gateway: 1 to 128 letters, digits, dots, colons, underscores and hyphens. Empty:
	// each run is a session of its own. Runs that share one need a model whose call ids are unique.
	Session string

	MaxTurns     int           // calls of the model; 0: [DefaultMaxTurns]
	MaxToolCalls int           // the tool budget: handlers begun; 0: [DefaultMaxToolCalls]; negative: none may run
	MaxTime      time.Duration // of work, pauses apart; 0: no limit
	Parallel     int           // handlers at a time; 0: [DefaultParallel]

	// Events hears what happens, one event at a time. It must not block.
	Events func(Event)
	// Save keeps the run, at every change of its state: before a handler begins, too. A run whose Save fails does not go on.
	// Save must not keep the pointer. [File.Save] is one.
	Save func(*State) error
}

// Status says how a run stands.
type Status string

// The states of a run.
const (
	Running Status = "running" // or was, when its process ended: Resume goes on
	Paused  Status = "paused"  // calls wait for a human's approval: Resume asks again
	Done    Status = "done"    // the model has answered
	Stopped Status = "stopped" // a checkpoint has ended it
	Limit   Status = "limit"   // of turns, tools or time: Resume goes on under a higher one
)

// Result is what a run has come to.
type Result struct {
	Status Status
	Reason string // why it paused, stopped or met a limit; quotes nothing
	// Text is what the model said last. Of a stopped run, it is the notice for the user.
	Text      string
	Run       *State // the whole of it: plain data, to be kept and resumed
	Turns     int    // answers of the model
	ToolCalls int    // handlers begun
	Usage     gatehouse.Usage
}

// Waiting lists the calls that wait for an approval.
func (r Result) Waiting() []Step {
	if r.Run == nil {
		return nil
	}
	return r.Run.Waiting()
}

// ErrConfig is part of every error about a [Config] or a [State] that cannot be used.
var ErrConfig = errors.New("agent")

// Run asks the model and runs the tools it calls, until it answers, a call needs an approval, a checkpoint stops it or a limit
// is met: the result's status says which. An error is of the configuration ([ErrConfig]), the model, a checkpoint that could not
// decide, Save, or the context; but for the first kind, the result then holds the run as it stands, and [Resume] goes on with it.
func Run(ctx context.Context, cfg Config) (Result, error) {
	if cfg.Prompt == "" {
		return Result{}, fmt.Errorf("%w: no prompt", ErrConfig)
	}
	s := &State{Version: stateVersion, ID: newID(), Session: cfg.Session, Entries: []Entry{{Message: Message{Role: gatehouse.User, Text: cfg.Prompt}}}}
	if s.Session == "" {
		s.Session = "run-" + s.ID
	}
	return start(ctx, cfg, s)
}

// Resume goes on with a run that paused, met a limit, failed, or whose process ended: in any process that has the same tools and
// a checker of the same gateway and agent. Calls that wait are checked again, and those run that were approved. A run that is done
// or stopped stays as it is. The prompt of the configuration does not count. Errors are those of [Run].
func Resume(ctx context.Context, cfg Config, run *State) (Result, error) {
	if err := run.check(); err != nil {
		return Result{}, err
	}
	s := run.clone()
	if s.Status == Done || s.Status == Stopped {
		return s.result(), nil
	}
	return start(ctx, cfg, s)
}

// Continue adds the configuration's prompt to the conversation of a run that has ended, and goes on: the user's next message.
// Turns and tool calls count anew. Errors are those of [Run].
func Continue(ctx context.Context, cfg Config, run *State) (Result, error) {
	if err := run.check(); err != nil {
		return Result{}, err
	}
	if cfg.Prompt == "" || len(run.Steps) > 0 {
		return Result{}, fmt.Errorf("%w: to continue needs a prompt and a run without open calls", ErrConfig)
	}
	s := run.clone()
	s.Turns, s.ToolCalls, s.Spent, s.Text, s.Reason = 0, 0, 0, "", ""
	s.Entries = append(s.Entries, Entry{Message: Message{Role: gatehouse.User, Text: cfg.Prompt}})
	return start(ctx, cfg, s)
}

func start(ctx context.Context, cfg Config, s *State) (Result, error) {
	if err := cfg.complete(s); err != nil {
		return Result{}, err
	}
	l := &loop{cfg: cfg, s: s, began: time.Now(), spent: s.Spent}
	if cfg.MaxTime > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, max(0, cfg.MaxTime-s.Spent), errTime)
		defer stop()
	}
	return l.run(ctx)
}

// complete checks the configuration and puts defaults into it.
func (c *Config) complete(s *State) error {
	switch {
	case c.Checker == nil:
		return fmt.Errorf("%w: no checker", ErrConfig)
	case c.Model == nil:
		return fmt.Errorf("%w: no model", ErrConfig)
	case !validSession(s.Session):
		return fmt.Errorf("%w: a session has 1 to 128 letters, digits and any of . _ : -", ErrConfig)
	case c.MaxTurns < 0 || c.MaxTime < 0 || c.Parallel < 0:
		return fmt.Errorf("%w: a limit is negative", ErrConfig)
	}
	for _, at := range c.Checkpoints {
		if !slices.Contains([]Checkpoint{Input, ToolCall, ToolResult}, at) {
			return fmt.Errorf("%w: no checkpoint %q: there are input, tool-call and tool-result", ErrConfig, at)
		}
	}
	for name, t := range c.Tools {
		if err := t.check(name); err != nil {
			return err
		}
	}
	if c.Checkpoints == nil {
		c.Checkpoints = []Checkpoint{Input, ToolCall, ToolResult}
	}
	if c.MaxTurns == 0 {
		c.MaxTurns = DefaultMaxTurns
	}
	if c.MaxToolCalls == 0 {
		c.MaxToolCalls = DefaultMaxToolCalls
	}
	if c.Parallel == 0 {
		c.Parallel = DefaultParallel
	}
	return nil
}

func validSession(id string) bool {
	return id != "" && len(id) <= 128 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:-") == ""
}
