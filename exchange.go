package gatehouse

import (
	"encoding/json"
	"sort"
	"strings"
	"time"
)

// Exchange is one request and its response, on any surface. It is plain data: it can be sent to a remote gateway,
// written to disk and read back. One goroutine owns it at a time.
type Exchange struct {
	ID        string     `json:"id"` // UUIDv4, the X-Mnemom-Request-Id
	Time      time.Time  `json:"time"`
	Surface   string     `json:"surface"` // proxy, api, mcp, sdk, adapter
	Upstream  string     `json:"upstream,omitempty"`
	Format    string     `json:"format,omitempty"` // openai, anthropic, gemini
	Endpoint  string     `json:"endpoint,omitempty"`
	Model     string     `json:"model,omitempty"`
	Stream    bool       `json:"stream,omitempty"`
	Agent     string     `json:"agent,omitempty"`
	Session   string     `json:"session,omitempty"`
	Account   string     `json:"account,omitempty"` // whose key it was, or whose agent
	Key       string     `json:"key,omitempty"`     // id of the API key that the caller has shown
	Event     *Event     `json:"event,omitempty"`   // what was done, where it was not a call of a model
	Request   []Part     `json:"request,omitempty"`
	Response  []Part     `json:"response,omitempty"`
	Decisions []Decision `json:"decisions,omitempty"`
	Usage     Usage      `json:"usage"`
	Status    int        `json:"status,omitempty"` // what the client gets
	Error     string     `json:"error,omitempty"`  // a code, never a text from outside

	// Fresh says that the session begins with this exchange, so that there is nothing to remember.
	Fresh bool `json:"fresh,omitempty"`
	// AgentHash and AgentName are what the agent was found by: a hash of the credential, never the credential.
	AgentHash string `json:"agent_hash,omitempty"`
	AgentName string `json:"agent_name,omitempty"`
	// AgentCredential is the hash of the agent's credential without the name: what containment follows.
	AgentCredential string `json:"agent_credential,omitempty"`
	// AgentProof is a keyed hash of what the agent was found by, when it is to be kept.
	AgentProof string `json:"agent_proof,omitempty"`
	// Known says that the agent may be remembered: it is stored, or the upstream has accepted its credential.
	Known bool `json:"known,omitempty"`
	// Doubt names what could not be found out about the exchange (whose it is, which session); front then cannot decide.
	Doubt string `json:"doubt,omitempty"`
	// Released are the approvals whose stored calls are delivered in place of an answer of the model.
	Released []string `json:"released,omitempty"`
	// Reminded is what was said to the model about an earlier turn.
	Reminded *Reminded `json:"reminded,omitempty"`
	// Wordless says that no model speaks in the answer: it counts or measures the request. What is stopped is answered with an
	// error then, nothing is said to a model, and the session does not learn of it: it is no turn.
	Wordless bool `json:"wordless,omitempty"`
	// Answered says that the response has begun: what is inserted from now on belongs to it.
	Answered bool `json:"answered,omitempty"`
	// Cut names why the response is not whole: upstream_interrupted, stream_buffer. Empty when it is.
	Cut string `json:"cut,omitempty"`
	// Follows are the provider's names for what the request continues (stored responses, conversations), and Leaves those by
	// which a later request can continue this one. They stay in the process.
	Follows []string `json:"-"`
	Leaves  []string `json:"-"`
	// Memo is what those who find the session have worked out on the way. It stays in the process.
	Memo any `json:"-"`
	// Proof is a remote gateway's word that it has left the exchange as it is; see [Client].
	Proof string `json:"proof,omitempty"`
}

// Reminded is the delivery of warnings about an earlier turn: which, and the edit that put them into the request.
type Reminded struct {
	IDs  []string `json:"ids"`
	Edit Edit     `json:"edit"`
}

// Event is a deed that is recorded: a change of an agent or a key, or something that an agent tells of itself.
type Event struct {
	Type   string          `json:"type"`             // agent.paused
	Target string          `json:"target,omitempty"` // id of what it was done to
	Data   json.RawMessage `json:"data,omitempty"`   // an object; never a secret
}

// Ask gives parts their IDs and appends them to the request.
func (x *Exchange) Ask(parts ...Part) {
	id := x.nextID()
	x.Request = append(x.Request, parts...)
	for i := range parts {
		x.Request[len(x.Request)-len(parts)+i].ID = id + i
	}
}

// Answer gives parts their IDs and appends them to the response, which has thereby begun.
func (x *Exchange) Answer(parts ...Part) {
	x.Answered = true
	for _, p := range parts {
		p.ID = x.nextID()
		x.Response = append(x.Response, p)
	}
}

func (x *Exchange) nextID() int { return len(x.Request) + len(x.Response) }

// Part finds a part of the request or the response; nil when there is none.
func (x *Exchange) Part(id int) *Part {
	if id < 0 || id >= x.nextID() {
		return nil
	}
	if n := len(x.Request); id >= n {
		return &x.Response[id-n]
	}
	return &x.Request[id]
}

// Outcome is the strongest outcome of all decisions at a checkpoint: Pass when there is none.
func (x *Exchange) Outcome(at Checkpoint) Outcome {
	out := Pass
	for _, d := range x.Decisions {
		if d.At == at && d.Outcome.Stronger(out) {
			out = d.Outcome
		}
	}
	return out
}

// AllPass reports whether no checkpoint saw anything.
func (x *Exchange) AllPass() bool {
	for _, at := range Checkpoints {
		if x.Outcome(at) != Pass {
			return false
		}
	}
	return true
}

// Stopped is the decision that ended the exchange, nil when none did.
func (x *Exchange) Stopped() *Decision {
	for i := range x.Decisions {
		if x.Decisions[i].Stop {
			return &x.Decisions[i]
		}
	}
	return nil
}

// Analysis is the raw word for X-AIP-Verdict: empty when integrity was not reached.
func (x *Exchange) Analysis() string {
	word := ""
	for _, d := range x.Decisions {
		if d.At == Integrity && d.Analysis != "" {
			word = d.Analysis
		}
	}
	return word
}

// Advisories are all advisories of all decisions, most severe first, in order of decision otherwise.
func (x *Exchange) Advisories() []Advisory {
	var all []Advisory
	for _, d := range x.Decisions {
		all = append(all, d.Advisories...)
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Severity.rank() > all[j].Severity.rank() })
	return all
}

func (s Severity) rank() int {
	switch s {
	case Warn:
		return 1
	case Critical:
		return 2
	}
	return 0
}

// Apply makes the edits. Replacements of one part must not overlap; they refer to the text before any of them.
// An edit of a part that does not exist, or of a span outside its text, is ignored: the engine checks edits first.
func (x *Exchange) Apply(edits []Edit) {
	if len(edits) == 0 {
		return
	}
	spans := map[int][]Edit{}
	for _, e := range edits {
		switch e.Op {
		case Replace:
			spans[e.Part] = append(spans[e.Part], e)
		case Remove:
			if p := x.Part(e.Part); p != nil {
				p.Removed, p.Notice = true, e.Text
			}
		case Insert:
			x.insert(e)
		}
	}
	for id, list := range spans {
		if p := x.Part(id); p != nil && !p.Signed {
			p.Text = p.edit(list)
		}
	}
}

// edit is the part's text after replacements. Those of the first time are kept as they are; they say what became of which
// bytes of the wire's text.
func (p *Part) edit(list []Edit) string {
	if p.spans = nil; !p.Edited {
		sort.SliceStable(list, func(i, j int) bool { return list[i].Start < list[j].Start })
		p.Edited, p.Was, p.spans = true, p.Text, &list
	}
	return Splice(p.Text, list)
}

func (x *Exchange) insert(e Edit) {
	p := Part{ID: x.nextID(), Kind: Text, Inserted: true, Text: e.Text, Choice: e.Choice}
	if x.Answered {
		p.Role = Assistant
		x.Response = append(x.Response, p)
		return
	}
	p.Role, p.Latest = User, true
	x.Request = append(x.Request, p)
}

// Notice is what the assistant says where a checkpoint stopped the exchange: by what, and the request id.
func (x *Exchange) Notice() string {
	d := x.Stopped()
	if d == nil {
		return ""
	}
	return "This request was stopped by the " + string(d.At) + " checkpoint: " + d.Reason + " (request id " + x.ID + ")."
}

// Splice applies replacements to a text; all offsets refer to the text as given.
func Splice(text string, edits []Edit) string {
	list := append([]Edit(nil), edits...)
	sort.SliceStable(list, func(i, j int) bool { return list[i].Start < list[j].Start })
	size := len(text)
	for _, e := range list {
		size += len(e.Text)
	}
	var out strings.Builder
	out.Grow(size)
	at := 0
	for _, e := range list {
		if e.Start < at || e.End < e.Start || e.End > len(text) {
			continue
		}
		out.WriteString(text[at:e.Start])
		out.WriteString(e.Text)
		at = e.End
	}
	out.WriteString(text[at:])
	return out.String()
}
