package checkpoint

import (
	"context"
	"strconv"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
	"github.com/gatehouse-gateway/gatehouse/internal/provenance"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

// mark is an edit that changes nothing: beside the edits of a decided text it keeps how high its injection score was. Texts
// that only were observed have no other trace, and what was cut for another reason must not count.
const mark gatehouse.EditOp = "mark"

// marked adds the mark of a text to its edits.
func marked(edits []gatehouse.Edit, score float64) []gatehouse.Edit {
	if score == 0 {
		return edits
	}
	return append(edits, gatehouse.Edit{Op: mark, Text: strconv.FormatFloat(score, 'g', -1, 64)})
}

// scoreOf reads the mark of a text.
func scoreOf(edits []gatehouse.Edit) float64 {
	for _, e := range edits {
		if score, err := strconv.ParseFloat(e.Text, 64); e.Op == mark && err == nil {
			return score
		}
	}
	return 0
}

// scores are the injection scores of this exchange's parts by front's findings; a part without any has none.
func scores(x *gatehouse.Exchange) map[int]float64 {
	out := map[int]float64{}
	for _, f := range seen(x) {
		out[f.Part] = max(out[f.Part], f.Score)
	}
	return out
}

// surroundings are what is known around the calls of this exchange, as far as the policy can ask for it. A surface that shows
// a call alone knows of no conversation.
func (l look) surroundings(ctx context.Context) (policy.Call, error) {
	var c policy.Call
	if !l.s.Policy.NeedsContext() {
		return c, nil
	}
	x := l.x
	c.Now = x.Time
	if x.Agent != "" {
		c.Agent = &policy.Agent{ID: x.Agent, Name: x.AgentName, Account: x.Account}
	}
	if len(x.Request) == 0 || x.Surface == "api" {
		return c, nil
	}
	scores, err := l.everScored(ctx)
	if err != nil {
		return c, err
	}
	c.Session = &policy.Session{ID: x.Session, Turns: userTurns(x.Request)}
	for i := range x.Request {
		p := &x.Request[i]
		result := p.Kind == gatehouse.ToolResult
		if result || p.Role == gatehouse.User {
			c.Session.Risk = max(c.Session.Risk, min(scores[p.ID], 1))
		}
		c.Session.Tainted = c.Session.Tainted || result && l.tainted(p, scores)
	}
	if !c.Session.Tainted {
		if c.Session.Tainted, err = l.onceTainted(ctx); err != nil {
			return c, err
		}
	}
	if c.Session.Tainted {
		c.Session.Risk = max(c.Session.Risk, l.s.Warn)
	}
	c.Origin = l.conversation(scores).Origin
	return c, nil
}

// anchorTaint is the kind of the one anchor that says that a tool result of a session was tainted: clients leave out what
// stands far back, and the model has read it all the same.
const anchorTaint = "taint"

func taintOf(r *session.Resolver, sessionID string) session.Digest {
	return r.AnchorDigest(sessionID, anchorTaint, "")
}

// taint is what the session remembers when a tool result of this exchange was tainted.
func (l look) taint(scores map[int]float64) []session.Digest {
	for i := range l.x.Request {
		if p := &l.x.Request[i]; p.Kind == gatehouse.ToolResult && l.tainted(p, scores) {
			return []session.Digest{taintOf(l.sessions, l.x.Session)}
		}
	}
	return nil
}

// onceTainted reports whether a tool result of an earlier turn was tainted.
func (l look) onceTainted(ctx context.Context) (bool, error) {
	if l.x.Agent == "" || l.x.Session == "" || l.x.Fresh {
		return false, nil
	}
	d := taintOf(l.sessions, l.x.Session)
	known, err := l.sessions.Store.Anchors(ctx, l.x.Agent, l.x.Session, []session.Digest{d})
	return known[d], err
}

// everScored adds to the scores of this exchange those that texts had when they were decided in an earlier turn.
func (l look) everScored(ctx context.Context) (map[int]float64, error) {
	all := scores(l.x)
	var digests []session.Digest
	var replayed []*gatehouse.Part
	for i := range l.x.Request {
		p := &l.x.Request[i]
		if p.Replayed && (p.Kind == gatehouse.ToolResult || p.Role == gatehouse.User) {
			replayed = append(replayed, p)
			digests = append(digests, l.sessions.TextDigest(l.s.decidedUnder, *p))
		}
	}
	if len(replayed) == 0 {
		return all, nil
	}
	known, err := l.sessions.Store.DecidedTexts(ctx, l.x.Agent, l.x.Session, digests)
	if err != nil {
		return nil, err
	}
	for i, p := range replayed {
		all[p.ID] = max(all[p.ID], scoreOf(known[digests[i]]))
	}
	return all, nil
}

// tainted reports whether a text held an injection. What a user says counts from the threshold at which it is taken away.
func (l look) tainted(p *gatehouse.Part, scores map[int]float64) bool {
	least := l.s.Warn
	if p.Kind != gatehouse.ToolResult {
		least = l.s.Quarantine
	}
	score, ok := scores[p.ID]
	return ok && score > 0 && score >= least
}

// conversation is who has said what, in the words that came: what was cut out of a result was said all the same.
func (l look) conversation(scores map[int]float64) *provenance.Conversation {
	said := make([]provenance.Said, 0, len(l.x.Request))
	for i := range l.x.Request {
		p := &l.x.Request[i]
		s := provenance.Said{Text: p.Original()}
		switch {
		case p.Inserted || p.Kind == gatehouse.Opaque || p.Kind == gatehouse.ToolDef:
			continue
		case p.Kind == gatehouse.ToolResult:
			s.Source, s.Tool, s.Tainted = provenance.ToolResult, p.Tool, l.tainted(p, scores)
		case p.Role == gatehouse.System:
			s.Source = provenance.System
		case p.Role == gatehouse.User:
			s.Source, s.Tainted = provenance.User, l.tainted(p, scores)
		default:
			s.Source = provenance.Model
		}
		said = append(said, s)
	}
	return provenance.New(said)
}

// userTurns counts the user's turns: texts that follow one another are one.
func userTurns(request []gatehouse.Part) int {
	n, last := 0, gatehouse.Role("")
	for i := range request {
		p := &request[i]
		switch {
		case p.Inserted || p.Kind == gatehouse.ToolDef || p.Role == gatehouse.System:
			continue
		case p.Role == gatehouse.User && p.Kind != gatehouse.ToolResult && last != gatehouse.User:
			n++
		}
		if last = p.Role; p.Kind == gatehouse.ToolResult {
			last = gatehouse.Tool
		}
	}
	return n
}
