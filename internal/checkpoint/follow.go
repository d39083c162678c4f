package checkpoint

import (
	"context"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
)

// follower implements [gatehouse.Follower]. The checks at the end decide by its settings, and back takes what it has decided.
type follower struct {
	engine *Engine
	ctx    context.Context // without an end: what has come is looked at also when the client has left
	s      *Settings
	x      *gatehouse.Exchange
	texts  map[int]*sifting // by the part's ID
	calls  gatekeeper
	broken bool // nothing more may leave before the end
}

type followerKey struct{}

// Follow implements [gatehouse.Early].
func (e *Engine) Follow(ctx context.Context, x *gatehouse.Exchange) (context.Context, gatehouse.Follower) {
	f := &follower{engine: e, ctx: context.WithoutCancel(ctx), s: e.settings.Load(), x: x, texts: map[int]*sifting{}}
	return context.WithValue(ctx, followerKey{}, f), f
}

// followed is the follower of an exchange, nil when it has none.
func followed(ctx context.Context, x *gatehouse.Exchange) *follower {
	if f, ok := ctx.Value(followerKey{}).(*follower); ok && f.x == x {
		return f
	}
	return nil
}

// under are the settings that a check is to decide by.
func (e *Engine) under(ctx context.Context, x *gatehouse.Exchange) *Settings {
	if f := followed(ctx, x); f != nil {
		return f.s
	}
	return e.settings.Load()
}

// Mode implements [gatehouse.Follower].
func (f *follower) Mode(at gatehouse.Checkpoint) gatehouse.Mode { return f.s.mode(at) }

// Grow implements [gatehouse.Follower]. Integrity has to have read all of an answer before any of it may leave. A call may as soon
// as it is complete, when back and the gate let it through; one that they do not waits for the check at the end.
func (f *follower) Grow(p *gatehouse.Part, delta string, whole bool) (free int, edits []gatehouse.Edit) {
	defer func() {
		if v := recover(); v != nil { // the check at the end will see it, too, and it is its failure
			f.engine.Log.Error("a growing response cannot be read", "request_id", f.x.ID, "error", detect.Panicked(v))
			f.broken, free, edits = true, 0, nil
		}
	}()
	switch {
	case f.broken, f.s.Integrity == gatehouse.Enforce:
		return 0, nil
	case p.Kind == gatehouse.Opaque:
		return gatehouse.Everything, nil
	case p.Kind == gatehouse.ToolCall && (!p.Hosted() || p.Media == gatehouse.LeaveAsked):
		return f.call(p, whole), nil
	case f.s.Protection != gatehouse.Enforce, p.Kind != gatehouse.ToolCall && !f.s.Outgoing, p.Kind == gatehouse.ToolCall && !f.s.ToolCalls:
		return gatehouse.Everything, nil
	case p.Kind == gatehouse.ToolCall || p.Signed:
		return f.unless(!whole || f.withheld(p)), nil
	}
	t := f.texts[p.ID]
	if t == nil {
		if t = f.s.sifting(f.engine.Scanner, p.ID); t == nil {
			return 0, nil
		}
		f.texts[p.ID] = t
	}
	free, edits = t.grow(f.ctx, delta)
	if whole && t.end(f.ctx, p.Text) {
		return gatehouse.Everything, t.edits
	}
	return free, edits
}

// call says whether a call may leave.
func (f *follower) call(p *gatehouse.Part, whole bool) int {
	switch {
	case !f.intervenes():
		return gatehouse.Everything
	case !whole,
		f.s.Protection == gatehouse.Enforce && f.s.ToolCalls && f.withheld(p),
		f.s.Autonomy == gatehouse.Enforce && !f.calls.allow(f.ctx, f.look(), p):
		return 0
	}
	return gatehouse.Decided
}

// look is what the gate sees with while the response grows.
func (f *follower) look() look {
	return look{scanner: f.engine.Scanner, sessions: f.engine.Sessions, s: f.s, x: f.x, follower: f, enforcing: true}
}

func (f *follower) unless(held bool) int {
	if held {
		return 0
	}
	return gatehouse.Everything
}

// intervenes reports whether any checkpoint may change an answer, or add to it.
func (f *follower) intervenes() bool {
	for _, at := range gatehouse.Checkpoints {
		if m := f.s.mode(at); at != gatehouse.Front && m != gatehouse.Observe && m != gatehouse.Off {
			return true
		}
	}
	return false
}

// withheld reports whether back will take away a part that cannot be edited.
func (f *follower) withheld(p *gatehouse.Part) bool {
	r := f.engine.scanner(f.x, f.s).Scan(f.ctx, detect.Text{Channel: detect.Output, Tool: p.Tool, Text: p.Text})
	for _, found := range r.Findings {
		if f.s.private(found) == "redact" && (found.Kind != "pii" || p.Kind != gatehouse.ToolCall) {
			return true
		}
	}
	return !r.Complete
}

// sifting is what became of a text while it grew; nil when it did not, or was edited since.
func (f *follower) sifting(p *gatehouse.Part) *sifting {
	if f == nil || f.broken || p.Edited {
		return nil
	}
	return f.texts[p.ID]
}
