package checkpoint

import (
	"cmp"
	"context"
	"slices"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/provenance"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

// piecewise reports whether a conversation is told one piece at a time, each an exchange of its own. On other surfaces every
// exchange brings all of it.
func piecewise(x *gatehouse.Exchange) bool { return x.Surface == "api" }

// told is what the session was told before; not known where exchanges bring their conversation themselves.
func (l look) told(ctx context.Context) (session.Conversation, error) {
	if x := l.x; !piecewise(x) || x.Agent == "" || x.Session == "" || x.Fresh {
		return session.Conversation{}, nil
	}
	return l.sessions.Store.Conversation(ctx, l.x.Agent, l.x.Session)
}

// said is what an exchange tells of its conversation, as it is kept: of each text the hashes of its words, and of a tainted
// result an excerpt for the human who is asked about its consequences. What there is no room for, or cannot be hashed, is
// kept as something that was lost.
func (e *Engine) said(ctx context.Context, x *gatehouse.Exchange, s *Settings) []session.Said {
	if len(x.Request) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.ScanTime)
	defer cancel()
	l := look{scanner: e.scanner(x, s), sessions: e.Sessions, s: s, x: x}
	scores, err := l.everScored(ctx)
	if err != nil {
		e.Log.Error("store cannot be read", "request_id", x.ID, "error", err)
		scores = l.worstScores()
	}
	turns := turnsOf(x.Request)
	var parts []*gatehouse.Part
	var list []session.Said
	for i := range x.Request {
		p := &x.Request[i]
		told, ok := l.says(p, scores)
		if !ok || told.Text == "" {
			continue
		}
		t := session.Said{Text: e.Sessions.TextDigest("said", *p), Source: string(told.Source), Tainted: told.Tainted}
		switch told.Source {
		case provenance.ToolResult:
			t.Tool, t.CallID, t.Score = clip(p.Tool), clip(p.CallID), scores[p.ID]
		case provenance.User:
			t.Turn, t.Score = turns[i], scores[p.ID]
		}
		parts, list = append(parts, p), append(list, t)
	}
	l.trace(ctx, list, parts)
	return list
}

// worstScores are those that stand in for scores that are not known: who said a text in an earlier turn may have had any.
func (l look) worstScores() map[int]float64 {
	out := scores(l.x)
	for i := range l.x.Request {
		if p := &l.x.Request[i]; p.Replayed {
			out[p.ID] = 1
		}
	}
	return out
}

// trace adds the traces and the excerpts of as many texts as a conversation may have: of the user's and the operator's first, then
// of tainted ones, then of the newest.
func (l look) trace(ctx context.Context, list []session.Said, parts []*gatehouse.Part) {
	key, err := l.sessions.TraceKey(l.x.Agent, l.x.Session)
	if err != nil {
		return
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	urgency := func(i int) int {
		switch t := list[i]; {
		case t.Tainted:
			return 1
		case t.Source == string(provenance.System) || t.Source == string(provenance.User):
			return 0
		}
		return 2
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(urgency(i)-urgency(j), j-i) })
	room := session.MaxSaidBytes
	for _, i := range order[:min(len(order), session.MaxSaid)] {
		text := parts[i].Original()
		if len(text) > room {
			continue
		}
		t := &list[i]
		t.Trace = provenance.Trace(key, text)
		if t.Tainted && parts[i].Kind == gatehouse.ToolResult {
			t.Excerpt = l.sealedExcerpt(ctx, parts[i], t.Text)
		}
		room -= len(t.Trace) + len(t.Excerpt)
	}
}
