package agent_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/agent"
)

func TestFileTakesOneOfTwo(t *testing.T) {
	g, w := &gate{}, &world{}
	file := agent.File(filepath.Join(t.TempDir(), "run.json"))
	cfg := agent.Config{Checker: g, Model: &play{answers: []agent.Answer{mixed()}}, Tools: w.tools(), Prompt: "go", Save: file.Save}
	if r, err := agent.Run(t.Context(), cfg); err != nil || r.Status != agent.Paused {
		t.Fatal(r, err)
	}
	g.decide("b", gatehouse.Allow)
	var all sync.WaitGroup
	var won atomic.Int32
	runs := make([]*agent.State, 8)
	for i := range runs {
		var err error
		if runs[i], err = file.Load(); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range runs {
		all.Go(func() {
			mine := cfg
			mine.Model = &play{}
			switch r, err := agent.Resume(t.Context(), mine, s); {
			case err == nil && r.Status == agent.Done:
				won.Add(1)
			case !errors.Is(err, agent.ErrConflict):
				t.Errorf("%v %v", r.Status, err)
			}
		})
	}
	all.Wait()
	if mails := strings.Count(w.did(), "send_email"); won.Load() != 1 || mails != 1 {
		t.Errorf("%d went on, %d mails: %s", won.Load(), mails, w.did())
	}
	if s, err := file.Load(); err != nil || s.Status != agent.Done {
		t.Errorf("%v %v", s, err)
	}
	if err := file.Save(&agent.State{Version: 1, ID: "other", Revision: 1}); err == nil {
		t.Error("another run took the file")
	}
}

// A process that was killed while it saved has left its claim: what it claimed is the run.
func TestFileKilledWhileSaving(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.json")
	file := agent.File(path)
	if _, err := file.Load(); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	s := &agent.State{Version: 1, ID: "x", Revision: 1}
	if err := file.Save(s); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".2", []byte(`{"version":1,"id":"x","revision":2,"status":"running"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Revision = 2
	if err := file.Save(s); !errors.Is(err, agent.ErrConflict) {
		t.Errorf("a claimed revision was saved: %v", err)
	}
	if s, err := file.Load(); err != nil || s.Revision != 2 || s.Status != agent.Running {
		t.Fatalf("%+v %v", s, err)
	}
	s.Revision = 3
	if err := file.Save(s); err != nil {
		t.Fatal(err)
	}
	if s, err := file.Load(); err != nil || s.Revision != 3 {
		t.Errorf("%+v %v", s, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}

// A process that is killed while a tool runs has saved that it had begun: another begins it again only if that does no harm,
// and then under the same key.
func TestKilledWhileAToolRuns(t *testing.T) {
	for _, c := range []struct {
		idempotent bool
		times      int
		read       string
	}{
		{true, 2, "a=found"},
		{false, 1, "a=The program was interrupted while this tool ran: it is not known whether the tool has done its work. It was not run again."},
	} {
		w := &world{}
		tool := w.tool("found", "")
		tool.Idempotent = c.idempotent
		var killed *agent.State
		g := &gate{}
		cfg := agent.Config{Checker: g, Tools: map[string]agent.Tool{"search": tool}, Prompt: "go",
			Model: &play{answers: []agent.Answer{calls(agent.Call{ID: "a", Tool: "search"})}},
			Save: func(s *agent.State) error {
				if len(s.Steps) == 1 && s.Steps[0].State == agent.Begun {
					killed = reread(t, s)
				}
				return nil
			}}
		if _, err := agent.Run(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		m := &play{}
		cfg.Model = m
		if r, err := agent.Resume(t.Context(), cfg, killed); err != nil || r.Status != agent.Done {
			t.Fatalf("%+v %v", r, err)
		}
		answered := false // for the gateway
		for _, p := range g.exchanges[len(g.exchanges)-1].Request {
			answered = answered || p.Kind == gatehouse.ToolResult && p.CallID == "a"
		}
		if answered != c.idempotent {
			t.Errorf("idempotent %v: the gateway was told of a result: %v", c.idempotent, answered)
		}
		if len(w.done) != c.times || len(w.keys) != 1 || results(m.asked[0]) != c.read {
			t.Errorf("idempotent %v: ran %d times under %d keys, the model read %s", c.idempotent, len(w.done), len(w.keys), results(m.asked[0]))
		}
	}
}

// Without a place for the run nothing is done.
func TestSaveFails(t *testing.T) {
	for fails := 1; fails <= 3; fails++ {
		w, n := &world{}, 0
		full := errors.New("disk full")
		r, err := agent.Run(t.Context(), agent.Config{Checker: &gate{}, Tools: w.tools(), Prompt: "go",
			Model: &play{answers: []agent.Answer{calls(agent.Call{ID: "a", Tool: "search"})}},
			Save: func(*agent.State) error {
				if n++; n >= fails {
					return full
				}
				return nil
			}})
		if !errors.Is(err, full) || w.did() != "" || n != fails || r.ToolCalls != 0 {
			t.Errorf("%d: %v, tools did %q, saved %d times", fails, err, w.did(), n)
		}
	}
}
