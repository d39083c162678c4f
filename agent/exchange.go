package agent

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
)

// script is the conversation as an exchange, and where in it the entries stand.
type script struct {
	x      *gatehouse.Exchange
	system int         // part of the system text; -1: none
	parts  map[int]int // entry → part of its text
}

// write makes an exchange of the conversation. While calls of the last turn are open, those stand there that have a result.
func (l *loop) write() script {
	w := script{system: -1, parts: map[int]int{}, x: &gatehouse.Exchange{
		ID: newID(), Time: time.Now(), Surface: "sdk", Session: l.s.Session}}
	for _, d := range l.cfg.declarations() {
		w.x.Ask(gatehouse.Part{Kind: gatehouse.ToolDef, Role: gatehouse.System, Path: "tools." + d.Name, Tool: d.Name, Text: d.definition(),
			Policy: l.cfg.Tools[d.Name].Policy, Skip: !l.uses(ToolCall)})
	}
	if l.cfg.System != "" {
		w.system = len(w.x.Request)
		w.x.Ask(gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.System, Path: "system", Text: l.cfg.System, Skip: !l.uses(Input)})
	}
	last := -1
	for i, e := range l.s.Entries {
		if e.Role == gatehouse.Assistant {
			last = i
		}
	}
	for i := range l.s.Entries {
		l.writeEntry(&w, i, i > last)
	}
	for _, p := range l.s.Steps {
		if p.State == Settled {
			w.x.Ask(l.result(p.Call, p.Lost, p.Result, len(l.s.Entries), true))
		}
	}
	return w
}

func (l *loop) writeEntry(w *script, at int, latest bool) {
	e := &l.s.Entries[at]
	path := fmt.Sprintf("messages[%d]", at)
	for _, t := range e.Thoughts {
		w.x.Ask(gatehouse.Part{Kind: gatehouse.Reasoning, Role: e.Role, Path: path, Text: t.Text, Signed: true})
	}
	switch text := e.original(); {
	case e.Role == gatehouse.Tool:
		w.parts[at] = len(w.x.Request)
		w.x.Ask(l.result(Call{ID: e.CallID, Tool: e.Tool}, e.Lost, text, at, latest))
	case text != "":
		w.parts[at] = len(w.x.Request)
		w.x.Ask(gatehouse.Part{Kind: gatehouse.Text, Role: e.Role, Path: path, Text: text, Latest: latest,
			Skip: e.Role == gatehouse.User && !l.uses(Input)})
	}
	open := l.s.open()
	for _, c := range e.Calls {
		if !slices.Contains(open, c) {
			w.x.Ask(gatehouse.Part{Kind: gatehouse.ToolCall, Role: e.Role, Path: path, Tool: c.Tool, CallID: c.ID, Text: c.Arguments})
		}
	}
}

// result is a tool's. One that is lost answers no call.
func (l *loop) result(c Call, lost bool, text string, at int, latest bool) gatehouse.Part {
	if lost {
		c = Call{}
	}
	return gatehouse.Part{Kind: gatehouse.ToolResult, Role: gatehouse.Tool, Path: fmt.Sprintf("messages[%d]", at), Tool: c.Tool, CallID: c.ID,
		Text: text, Latest: latest, Skip: !l.uses(ToolResult)}
}

// take keeps what the checkpoints have made of the conversation. An edit that was made once stays made.
func (l *loop) take(w script) {
	for at, id := range w.parts {
		p, e := w.x.Part(id), &l.s.Entries[at]
		if p == nil || !p.Edited && !p.Removed {
			continue
		}
		if e.Was == nil {
			was := e.Text
			e.Was = &was
		}
		if e.Text = p.Text; p.Removed {
			e.Text = p.Notice
		}
	}
}

// request is what the model reads: the conversation as the checkpoints left it.
func (l *loop) request(w script) Request {
	r := Request{Tools: l.cfg.declarations()}
	if p := w.x.Part(w.system); p != nil {
		r.System = p.Text
	}
	for _, e := range l.s.Entries {
		r.Messages = append(r.Messages, e.Message)
	}
	for _, p := range w.x.Request {
		if p.Inserted {
			r.Messages = append(r.Messages, Message{Role: gatehouse.User, Text: p.Text})
		}
	}
	return r
}

func (l *loop) uses(at Checkpoint) bool { return slices.Contains(l.cfg.Checkpoints, at) }

// chosen asks the checkpoints that the run uses.
type chosen struct {
	gatehouse.Checker
	gate bool // the tool-call gate is one of them
}

// Check implements [gatehouse.Checker].
func (c chosen) Check(ctx context.Context, x *gatehouse.Exchange, at gatehouse.Checkpoint) gatehouse.Decision {
	if at == gatehouse.Autonomy && !c.gate {
		return gatehouse.Decision{At: at, Mode: gatehouse.Off, Verdict: gatehouse.Allow, Would: gatehouse.Allow, Outcome: gatehouse.Pass}
	}
	return c.Checker.Check(ctx, x, at)
}
