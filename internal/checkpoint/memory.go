package checkpoint

import (
	"context"
	"slices"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

// recall marks the texts that this session has had decided, and makes the edits again that were made then. A text that was
// refused stays refused: it is judged again as the newest message, and further back a notice stands for it.
func (e *Engine) recall(ctx context.Context, x *gatehouse.Exchange, s *Settings) error {
	if x.Agent == "" || x.Fresh {
		return nil
	}
	texts := remembered(x)
	if err := e.known(ctx, x, s, texts); err != nil {
		return err
	}
	for _, p := range texts {
		d := memoOf(p).decided
		if d == nil || d.refused() && p.Latest {
			continue
		}
		p.Replayed = true
		again := make([]gatehouse.Edit, len(d.edits))
		for j, edit := range d.edits {
			edit.Part = p.ID
			if edit.Op == gatehouse.Remove {
				edit = whole(p, edit.Text)
			}
			again[j] = edit
		}
		x.Apply(again)
	}
	return nil
}

// remembered are the parts of a request that a session remembers the decision on.
func remembered(x *gatehouse.Exchange) []*gatehouse.Part {
	var out []*gatehouse.Part
	for i := range x.Request {
		p := &x.Request[i]
		if p.Kind != gatehouse.Opaque && !p.Inserted && p.Original() != "" {
			out = append(out, p)
		}
	}
	return out
}

// anchors are the keyed hashes of what injections of this exchange have named, for later turns to be held against. What
// is only quoted or stands in other results too is not worth it.
func (e *Engine) anchors(ctx context.Context, x *gatehouse.Exchange, s *Settings) []session.Digest {
	if s.mode(gatehouse.Integrity) == gatehouse.Off || x.Session == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.ScanTime)
	defer cancel()
	var out []session.Digest
	for _, n := range (look{scanner: e.scanner(x, s), s: s, x: x}).brought(ctx) {
		address := n.kind == anchorHost || n.kind == anchorURL
		if n.kind != anchorPhrase && !n.elsewhere && (!n.near || !address) && len(out) < maxKept {
			out = append(out, e.Sessions.AnchorDigest(x.Session, n.kind, n.value))
		}
	}
	return out
}

// update is what the exchange adds to its session; nil when nothing may be remembered.
func (e *Engine) update(ctx context.Context, x *gatehouse.Exchange, s *Settings) *session.Update {
	if !x.Known {
		return nil
	}
	u := &session.Update{Session: x.Session, Time: x.Time, Agent: session.Agent{
		ID: x.Agent, Hash: x.AgentHash, Name: x.AgentName, Account: x.Account, Credential: x.AgentCredential, Proof: x.AgentProof,
		Created: x.Time, LastSeen: x.Time}}
	if x.Session == "" || x.Wordless { // it was turned away before that was known, tells an event, or is no turn
		return u
	}
	if x.Error == "" || x.Stopped() != nil {
		u.Transcripts = append(e.Sessions.Transcripts(x), e.Sessions.Keys(x)...)
		u.Decided = e.withheld(x)
	}
	u.Reminders, u.Results = queued(x), results(x)
	made := map[int][]gatehouse.Edit{}
	decided, heard := false, false
	for _, d := range x.Decisions {
		if d.At != gatehouse.Front {
			continue
		}
		decided, heard = !d.Failed, !d.Failed || !d.Stop
		for _, edit := range d.Edits {
			if edit.Op == gatehouse.Replace {
				made[edit.Part] = append(made[edit.Part], edit)
			}
		}
	}
	if piecewise(x) {
		if u.Heard = true; heard {
			u.Said = e.said(ctx, x, s)
		}
	}
	if !decided {
		return u
	}
	// A model that was not reached has heard nothing; who asks over the API is told at once.
	if x.Reminded != nil && (x.Answered || x.Surface == "api") {
		u.Reminded = x.Reminded.IDs
		if x.Reminded.Edit.Op == gatehouse.Replace {
			made[x.Reminded.Edit.Part] = append(made[x.Reminded.Edit.Part], x.Reminded.Edit)
		}
	}
	u.Evidence = look{sessions: e.Sessions, s: s, x: x}.accumulated()
	u.Anchors = e.anchors(ctx, x, s)
	refused, scored, hurried := refusedTexts(x, s), scores(x), hurriedTexts(x)
	u.Anchors = append(u.Anchors, look{sessions: e.Sessions, s: s, x: x}.taint(scored)...)
	for _, p := range remembered(x) {
		if p.Replayed || p.Skip || hurried[p.ID] && !refused[p.ID] {
			continue
		}
		edits := made[p.ID]
		if refused[p.ID] {
			edits = []gatehouse.Edit{{Op: gatehouse.Remove, Text: noticeQuarantined}}
		}
		u.Decided = append(u.Decided, session.Decided{Text: e.digest(p, s), Edits: marked(edits, scored[p.ID])})
	}
	// What the assistant said comes back as history, and has been decided on its way out.
	for _, said := range spoken(x) {
		u.Decided = append(u.Decided, session.Decided{Text: e.Sessions.TextDigest(s.decidedUnder, said)})
	}
	return u
}

// results are the calls whose results this exchange brings: what was approved for them is done.
func results(x *gatehouse.Exchange) (list []session.Result) {
	for i := range x.Request {
		if p := &x.Request[i]; p.Kind == gatehouse.ToolResult && p.Latest {
			list = append(list, session.Result{CallID: p.CallID, Tool: p.Tool})
		}
	}
	return list
}

// spoken are the assistant's parts as they come back: each alone, and the text of a choice with what the gateway has added to
// it, which formats that have one text for all of it run together.
func spoken(x *gatehouse.Exchange) []gatehouse.Part {
	var out []gatehouse.Part
	last := map[int]int{} // of each choice, the place of its last text
	for _, p := range x.Response {
		if p.Removed || p.Text == "" || p.Kind == gatehouse.Opaque {
			continue
		}
		said := gatehouse.Part{Role: gatehouse.Assistant, Kind: p.Kind, Text: p.Text}
		if at, ok := last[p.Choice]; ok && p.Inserted {
			for _, between := range [...]string{"", "\n\n"} { // streamed and whole
				joined := said
				joined.Text = out[at].Text + between + p.Text
				out = append(out, joined)
			}
		}
		out = append(out, said)
		if p.Kind == gatehouse.Text && !p.Inserted {
			last[p.Choice] = len(out) - 1
		}
	}
	return out
}

// hurriedTexts are the parts that front would have read more of, had there been time. They are new again in the next turn.
func hurriedTexts(x *gatehouse.Exchange) map[int]bool {
	hurried := map[int]bool{}
	for _, d := range x.Decisions {
		if d.At != gatehouse.Front {
			continue
		}
		for _, c := range d.Coverage {
			if slices.ContainsFunc(c.Partial, gatehouse.Partial.Hurried) {
				hurried[c.Part] = true
			}
		}
	}
	return hurried
}

// refusedTexts are the parts for which front has stopped the exchange.
func refusedTexts(x *gatehouse.Exchange, s *Settings) map[int]bool {
	refused := map[int]bool{}
	if d := x.Stopped(); d != nil && d.At == gatehouse.Front {
		for _, f := range d.Findings {
			if p := x.Part(f.Part); p.Latest && f.Kind == "injection" && f.Score >= s.Block {
				refused[f.Part] = true
			}
		}
		if len(refused) > 0 {
			return refused
		}
		for _, p := range x.Request { // none of them alone: what they said together
			if p.Latest && p.Role == gatehouse.User && p.Kind == gatehouse.Text {
				refused[p.ID] = true
			}
		}
	}
	return refused
}
