package checkpoint

import (
	"context"

	"github.com/gatehouse-gateway/gatehouse"
)

// gatekeeper judges calls while a response grows. What it has let through has left, so its word is kept for the check at the end.
type gatekeeper struct {
	known  *ambience
	passed map[int]passed
}

// passed is a call that was let through, by the text of its arguments.
type passed struct {
	text string
	judged
}

// allow reports whether the policy lets a complete call through without asking anybody.
func (g *gatekeeper) allow(ctx context.Context, l look, p *gatehouse.Part) bool {
	delete(g.passed, p.ID)
	if g.known == nil {
		ctx, cancel := context.WithTimeout(ctx, l.s.ScanTime)
		defer cancel()
		var err error
		if g.known, err = l.ambience(ctx); err != nil {
			return false // the check at the end will fail by it
		}
	}
	c := l.ask(g.known, p)
	if c.Verdict != gatehouse.Allow {
		return false
	}
	if g.passed == nil {
		g.passed = map[int]passed{}
	}
	g.passed[p.ID] = passed{p.Text, c}
	return true
}

// kept is the judgement by which a call has left.
func (f *follower) kept(p *gatehouse.Part) (judged, bool) {
	if f == nil {
		return judged{}, false
	}
	c, ok := f.calls.passed[p.ID]
	c.part = p
	return c.judged, ok && c.text == p.Text
}
