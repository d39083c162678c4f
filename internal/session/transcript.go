package session

import (
	"slices"

	"github.com/gatehouse-gateway/gatehouse"
)

// TextDigest is the keyed hash that a decided text is remembered by. Role and kind are part of it: a text that was harmless
// as a tool's result has not been decided as a user's word. So is the policy it was decided under.
func (r *Resolver) TextDigest(policy string, p gatehouse.Part) Digest {
	return r.TextDigests(policy, []*gatehouse.Part{&p})[0]
}

// TextDigests are those of many texts.
func (r *Resolver) TextDigests(policy string, parts []*gatehouse.Part) []Digest {
	w := r.fields()
	out := make([]Digest, len(parts))
	for i, p := range parts {
		w.Reset()
		for _, field := range [...]string{"text", policy, string(p.Role), string(p.Kind), p.Original()} {
			w.field(field)
		}
		out[i] = w.sum()
	}
	return out
}

// AnchorDigest is the keyed hash that a session remembers an anchor by: a thing that an injection has named, such as an address
// or an account. The same thing has another hash in another session.
func (r *Resolver) AnchorDigest(session, kind, value string) Digest {
	return r.keyed("anchor", session, kind, value)
}

// Transcripts are the keyed hashes of the conversation as the client will send it back: the request's turns and then the
// answer, one for each choice. What clients drop or reformat (reasoning, white space, system prompts) does not count. Some drop
// the ids of calls, too, where the format lets them; while it is not known whether this one does, there is a second hash for that.
func (r *Resolver) Transcripts(x *gatehouse.Exchange) []Digest {
	choices := 1
	for _, p := range x.Response {
		choices = max(choices, p.Choice+1)
	}
	const most = 8 // more alternatives of one answer are not worth remembering
	kept := slices.ContainsFunc(x.Request, identified)
	out := make([]Digest, 0, 1)
	for c := range min(choices, most) {
		out = append(out, r.answered(x, c, false))
		if !kept && slices.ContainsFunc(x.Response, func(p gatehouse.Part) bool { return p.Choice == c && !p.Removed && identified(p) }) {
			out = append(out, r.answered(x, c, true))
		}
	}
	return out
}

// identified reports whether a part is a call that has an id.
func identified(p gatehouse.Part) bool { return p.Kind == gatehouse.ToolCall && p.CallID != "" }

// answered is the transcript of a request and of one choice of its answer, whose calls lose their ids where the client drops them.
func (r *Resolver) answered(x *gatehouse.Exchange, choice int, dropped bool) Digest {
	t, from := r.begun(x)
	t.with(x.Request[from:])
	if notice := x.Notice(); notice != "" {
		t.add(&gatehouse.Part{Role: gatehouse.Assistant, Kind: gatehouse.Text}, notice)
	}
	for _, p := range x.Response {
		switch {
		case p.Choice != choice:
			continue
		case p.Removed:
			p = gatehouse.Part{Kind: gatehouse.Text, Text: p.Notice}
		case dropped && identified(p):
			p.CallID = ""
		}
		p.Role = gatehouse.Assistant
		t.add(&p, p.Text)
	}
	return t.sum()
}

// lastTurn is the transcript up to and including the last assistant turn; later is false when there is none.
func (r *Resolver) lastTurn(x *gatehouse.Exchange) (d Digest, later bool) {
	end, later := lastTurnEnd(x)
	if !later {
		return d, false
	}
	if slices.ContainsFunc(x.Request[:end], func(p gatehouse.Part) bool { return p.Edited }) {
		t := r.transcript(x.Agent)
		for i := range x.Request[:end] {
			t.add(&x.Request[i], x.Request[i].Text)
		}
		return t.sum(), true
	}
	t, _ := r.begun(x)
	return t.sum(), true
}

// lastTurnEnd is how many parts of a request stand before those that are new; later says whether the assistant has a turn in them.
func lastTurnEnd(x *gatehouse.Exchange) (end int, later bool) {
	for ; end < len(x.Request) && !x.Request[end].Latest; end++ {
		later = later || x.Request[end].Role == gatehouse.Assistant
	}
	return end, later
}

// begun is the transcript of an exchange's parts before the one numbered from, which is the first that is new.
func (r *Resolver) begun(x *gatehouse.Exchange) (t *transcript, from int) {
	p := progressOf(x)
	if p.t == nil || p.agent != x.Agent || p.end > len(x.Request) {
		end, later := lastTurnEnd(x)
		if !later {
			return r.transcript(x.Agent), 0
		}
		p.agent, p.end, p.t = x.Agent, end, r.begin(x, end)
	}
	return p.t.clone(), p.end
}

type transcript struct {
	mac   *fields
	role  gatehouse.Role
	calls []string // of the present turn: their ids, or their tools where they have none
}

func (r *Resolver) transcript(agentID string) *transcript {
	t := &transcript{mac: r.fields()}
	t.mac.field("transcript")
	t.mac.field(agentID)
	return t
}

func (t *transcript) clone() *transcript {
	return &transcript{t.mac.clone(), t.role, slices.Clone(t.calls)}
}

// with adds parts of a request as they were sent.
func (t *transcript) with(parts []gatehouse.Part) *transcript {
	for i := range parts {
		t.add(&parts[i], parts[i].Original())
	}
	return t
}

// counts reports whether a part is one that transcripts are made of.
func counts(p *gatehouse.Part) bool {
	if p.Role == gatehouse.System || p.Inserted && p.Role != gatehouse.Assistant {
		return false
	}
	return p.Kind == gatehouse.Text || p.Kind == gatehouse.ToolResult || p.Kind == gatehouse.ToolCall
}

func (t *transcript) add(p *gatehouse.Part, text string) {
	if !counts(p) {
		return
	}
	if p.Role != t.role {
		t.end()
		t.role = p.Role
		t.mac.field("\x00" + string(p.Role))
	}
	if p.Kind == gatehouse.ToolCall {
		if t.calls = append(t.calls, p.CallID); p.CallID == "" {
			t.calls[len(t.calls)-1] = "\x00" + p.Tool
		}
		return
	}
	// Texts of one turn run together: clients join and split them as they like.
	t.mac.dense(text)
}

// end writes what counts at the end of a turn: its calls. Where among its texts they stood does not, because formats that have one
// text for all of a turn put it before them.
func (t *transcript) end() {
	for _, id := range t.calls {
		t.mac.dense(id)
	}
	t.calls = t.calls[:0]
}

func (t *transcript) sum() Digest {
	t.end()
	return t.mac.sum()
}
