package policy

import (
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/provenance"
)

// Call is a tool call as the model made it, and what is known around it. What is not known may stay out: a condition that
// asks for it then fails, and counts as the stricter answer.
type Call struct {
	Tool     string // full name; "hosted:NAME" and "mcp:LABEL/TOOL" for tools that the provider runs
	Args     string // as the wire has them
	Freeform bool   // the tool takes text, not JSON: Args is not read as JSON, and conditions see it as args.input
	// Own is what the agent's own code says of the tool: block and flag count like rules, allow lifts a built-in flag. Empty: nothing.
	Own gatehouse.Verdict

	Agent   *Agent    // who calls; nil when unknown
	Session *Session  // the conversation up to this call; nil when unknown
	Now     time.Time // the time of the call; zero when unknown

	// Origin says where a value of the arguments came from. It is asked about single values only: a string, or a
	// json.Number. It must give the same answer to the same value for as long as the call is judged; it is called by
	// one goroutine at a time. When it is nil, the conversation is not known, and to ask where a value came from fails.
	Origin func(value any) Origin
	// Words are what the conversation asks for; nil when it is not known.
	Words Words
}

// Agent is who makes a call, as conditions see it.
type Agent struct {
	ID, Name, Account string
}

// Session is a conversation, as conditions see it.
type Session struct {
	ID      string
	Risk    float64 // 0..1
	Tainted bool    // a tool result of it held a finding
	Turns   int     // turns of the user up to now
}

// Source is who brought a value into a conversation.
type Source = provenance.Source

// Origin is where a value came from.
type Origin = provenance.Origin

// Sources, from the most to the least trusted.
const (
	System     = provenance.System
	User       = provenance.User
	Model      = provenance.Model
	ToolResult = provenance.ToolResult
)
