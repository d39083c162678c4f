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

// surroundings are what is known around the calls of this exchange, as far as the policy can ask for it.
func (l look) surroundings(ctx context.Context) (policy.Call, error) {
	if !l.s.Policy.NeedsContext() {
		return policy.Call{}, nil
	}
	return l.around(ctx)
}

// around is all that is known around the calls of this exchange: the conversation that it brings, and where conversations are
// told piece by piece, what its session was told before, which may be nothing. Elsewhere nothing is known of a conversation
// that the exchange does not bring.
func (l look) around(ctx context.Context) (policy.Call, error) {
	var c policy.Call
	x := l.x
	c.Now = x.Time
	if x.Agent != "" {
		c.Agent = &policy.Agent{ID: x.Agent, Name: x.AgentName, Account: x.Account}
	}
	told, err := l.told(ctx)
	if err != nil || len(x.Request) == 0 && !piecewise(x) {
		return c, err
	}
	scores, err := l.everScored(ctx)
	if err != nil {
		return c, err
	}
	c.Session = &policy.Session{ID: x.Session, Turns: told.Turns + userTurns(x.Request), Risk: min(told.Risk, 1), Tainted: told.Tainted}
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
	conversation, err := l.conversation(scores, told)
	if err != nil {
		return c, err
	}
	c.Origin, c.Words = conversation.Origin, conversation
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
		if !p.Replayed || p.Kind != gatehouse.ToolResult && p.Role != gatehouse.User {
			continue
		}
		if d := memoOf(p).decided; d != nil {
			if score := scoreOf(d.edits); score > 0 {
				all[p.ID] = max(all[p.ID], score)
			}
		} else { // another process has looked it up, for an exchange that is decided in several requests
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

// tainted reports whether a text held an injection, from the threshold on at which a user's text would be taken away: below it honest
// texts are found now and then, and what was found in a result was cut out all the same.
func (l look) tainted(p *gatehouse.Part, scores map[int]float64) bool {
	score, ok := scores[p.ID]
	return ok && score > 0 && score >= l.s.Quarantine
}

// conversation is who has said what, in the words that came: what was cut out of a result was said all the same. What the
// session was told before comes first.
func (l look) conversation(scores map[int]float64, told session.Conversation) (*provenance.Conversation, error) {
	said := make([]provenance.Said, 0, len(told.Said)+len(l.x.Request))
	for _, t := range told.Said {
		said = append(said, trusted(provenance.Said{Source: provenance.Source(t.Source), Tool: t.Tool, Tainted: t.Tainted, At: int(t.ID), Trace: t.Trace}))
	}
	for i := range l.x.Request {
		if s, ok := l.says(&l.x.Request[i], scores); ok {
			said = append(said, trusted(s))
		}
	}
	if !told.Known {
		return provenance.New(said), nil
	}
	key, err := l.sessions.TraceKey(l.x.Agent, l.x.Session)
	return provenance.NewTraced(key, said, provenance.Lost{Some: told.Lost, Tainted: told.LostTainted}), err
}

// trusted is a text as far as it is to be trusted: what came from the user and was an injection is no word of the user's.
func trusted(s provenance.Said) provenance.Said {
	if s.Source == provenance.User && s.Tainted {
		s.Source = provenance.ToolResult
	}
	return s
}

// says is a part of the request as somebody's word; ok is false when it is nobody's. The place of a part is negative, that of a
// text that the session was told before its id.
func (l look) says(p *gatehouse.Part, scores map[int]float64) (s provenance.Said, ok bool) {
	s = provenance.Said{Source: provenance.Model, Text: p.Original(), At: -1 - p.ID}
	switch {
	case p.Inserted || p.Kind == gatehouse.Opaque || p.Kind == gatehouse.ToolDef:
		return s, false
	case p.Kind == gatehouse.ToolResult:
		s.Source, s.Tool, s.Tainted = provenance.ToolResult, p.Tool, l.tainted(p, scores)
	case p.Role == gatehouse.System:
		s.Source = provenance.System
	case p.Role == gatehouse.User:
		s.Source, s.Tainted = provenance.User, l.tainted(p, scores)
	}
	return s, true
}

// userTurns counts the user's turns.
func userTurns(request []gatehouse.Part) int {
	if n := len(request); n > 0 {
		return turnsOf(request)[n-1]
	}
	return 0
}

// turnsOf counts, for each part, the user's turns up to it: texts that follow one another are one.
func turnsOf(request []gatehouse.Part) []int {
	out := make([]int, len(request))
	n, last := 0, gatehouse.Role("")
	for i := range request {
		p := &request[i]
		if !p.Inserted && p.Kind != gatehouse.ToolDef && p.Role != gatehouse.System {
			if p.Role == gatehouse.User && p.Kind != gatehouse.ToolResult && last != gatehouse.User {
				n++
			}
			if last = p.Role; p.Kind == gatehouse.ToolResult {
				last = gatehouse.Tool
			}
		}
		out[i] = n
	}
	return out
}
