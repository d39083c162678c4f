// Package gatehouse is the vocabulary of a checkpoint gateway for AI agents: an [Exchange] passes four
// checkpoints, each answers with a [Decision], and [Guard] puts them in order around the call to the model.
//
// The package promises that the order of the checkpoints, the meaning of the modes and the writing of the record
// exist once. It leaves wire formats to codecs, detection to detectors, and storage to stores. It imports the
// standard library only.
package gatehouse

import (
	"context"
	"time"
)

// Checkpoint is a place where an exchange is checked.
type Checkpoint string

// The four gateway checkpoints, in the order of the X-Mnemom-Verdict header.
const (
	Front     Checkpoint = "front"     // protection inbound: user text and tool results, before the model
	Autonomy  Checkpoint = "autonomy"  // the tool-call gate: tools declared, and tool calls that the model emits
	Integrity Checkpoint = "integrity" // the model's reasoning
	Back      Checkpoint = "back"      // protection outbound: text and arguments that leave
)

// Checkpoints lists all four in header order.
var Checkpoints = [4]Checkpoint{Front, Autonomy, Integrity, Back}

// Mode says whether a verdict is acted on.
type Mode string

// Modes from weakest to strictest.
const (
	Off     Mode = "off"     // the checkpoint does not run
	Observe Mode = "observe" // it runs and records; nothing changes
	Nudge   Mode = "nudge"   // it runs and adds a warning; nothing is taken away
	Enforce Mode = "enforce" // its verdict happens
)

// Verdict is what policy wants to happen.
type Verdict string

// Verdicts from weakest to strictest.
const (
	Allow  Verdict = "allow"
	Redact Verdict = "redact" // texts are edited, the exchange goes on
	Flag   Verdict = "flag"   // held for a human's approval
	Block  Verdict = "block"
)

// Stricter reports whether v is stricter than w. The zero value is weaker than Allow.
func (v Verdict) Stricter(w Verdict) bool { return v.rank() > w.rank() }

func (v Verdict) rank() int {
	switch v {
	case Allow:
		return 1
	case Redact:
		return 2
	case Flag:
		return 3
	case Block:
		return 4
	}
	return 0
}

// Outcome is what a checkpoint did, in the words of the X-Mnemom-Verdict header.
type Outcome string

// Outcomes from weakest to strongest.
const (
	Pass     Outcome = "pass"
	Observed Outcome = "observed"
	Nudged   Outcome = "nudged"
	Enforced Outcome = "enforced"
)

// Stronger reports whether o is stronger than p. The zero value is weaker than Pass.
func (o Outcome) Stronger(p Outcome) bool { return o.rank() > p.rank() }

func (o Outcome) rank() int {
	switch o {
	case Pass:
		return 1
	case Observed:
		return 2
	case Nudged:
		return 3
	case Enforced:
		return 4
	}
	return 0
}

// Severity grades findings and advisories.
type Severity string

// Severities from least to most severe.
const (
	Info     Severity = "info"
	Warn     Severity = "warn"
	Critical Severity = "critical"
)

// Role says who speaks a part.
type Role string

// Roles as the providers use them; developer messages are System.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// Kind says what a part is.
type Kind string

// Kinds of part.
const (
	Text       Kind = "text"
	Reasoning  Kind = "reasoning"   // the model's thinking
	ToolCall   Kind = "tool_call"   // Text holds the arguments as the wire has them, normally JSON
	ToolResult Kind = "tool_result" // what a tool returned
	ToolDef    Kind = "tool_def"    // a tool that the request declares; Text holds its description and the texts of its schema
	Opaque     Kind = "opaque"      // something that no detector reads: an image, audio, an unknown item
)

// Part is one piece of text on the wire, decoded. Codecs make parts; checkpoints read them; edits change Text,
// Removed and Notice, and the codec that made the part writes them back.
type Part struct {
	ID     int    `json:"id"` // unique in its exchange, counted from 0 over request and response
	Kind   Kind   `json:"kind"`
	Role   Role   `json:"role"`
	Path   string `json:"path,omitempty"` // where in the body: messages[2].content[0].text
	Tool   string `json:"tool,omitempty"` // name of the tool, for calls, results and definitions; "hosted:NAME" and "mcp:LABEL/TOOL" for tools the provider runs
	CallID string `json:"call_id,omitempty"`
	Choice int    `json:"choice,omitempty"` // which of several alternatives of the response
	Media  string `json:"media,omitempty"`  // what an opaque part holds: image_url, input_audio, the unknown type's name; freeform for a call whose arguments are text
	Text   string `json:"text,omitempty"`   // UTF-8
	Latest bool   `json:"latest,omitempty"` // request only: stands after the last assistant turn, so it may block
	Signed bool   `json:"signed,omitempty"` // reasoning that the provider signed or encrypted: never edited

	// Policy is what the agent's own code says of a tool that it declares: allow, flag, block, or nothing. The strictest of
	// that and the gateway's policy counts; allow lifts a built-in flag, where the code runs in the gateway's own process.
	Policy Verdict `json:"policy,omitempty"`
	// Skip says that the surface has this part's checkpoint switched off; coverage tells it.
	Skip bool `json:"skip,omitempty"`

	Replayed bool   `json:"replayed,omitempty"` // this session has had this text decided before
	Removed  bool   `json:"removed,omitempty"`  // a call that shall not leave
	Notice   string `json:"notice,omitempty"`   // text that stands in place of a removed part
	Edited   bool   `json:"edited,omitempty"`   // Text is not what the wire had
	Was      string `json:"was,omitempty"`      // the text as the wire had it, when Edited
	Inserted bool   `json:"inserted,omitempty"` // not on the wire: the gateway's own text, to be placed by the codec

	Memo any `json:"-"` // what the checker knows of the part; it stays in the process

	spans *[]Edit // see Changes; a pointer, so that parts can be compared
}

// Changes are the replacements of what the wire had, in order and free of overlaps, that make the part's text, or, of a part
// that still grows, will make it: those that were made, or one for all of it where these are not known. There are none of a
// text that nobody has edited.
func (p *Part) Changes() []Edit {
	switch {
	case p.spans != nil:
		return *p.spans
	case p.Edited:
		return []Edit{{Part: p.ID, Op: Replace, End: len(p.Was), Text: p.Text}}
	}
	return nil
}

// LeaveAsked is the Media of a call of a tool that the provider runs, for which it asks the client's leave first.
const LeaveAsked = "mcp_approval_request"

// Hosted reports whether the provider, not the client, runs the tool.
func (p Part) Hosted() bool {
	return len(p.Tool) > 7 && p.Tool[:7] == "hosted:" || len(p.Tool) > 4 && p.Tool[:4] == "mcp:"
}

// Original is the text as the wire had it, before any edit.
func (p Part) Original() string {
	if p.Edited {
		return p.Was
	}
	return p.Text
}

// Finding is something a detector saw in a part.
type Finding struct {
	Kind     string   `json:"kind"`     // injection, secret, pii, canary, dlp, exfiltration, policy
	Type     string   `json:"type"`     // the rule's threat type or secret class: instruction_override, aws-access-token
	Detector string   `json:"detector"` // stage and rule: patterns/override-ignore-previous
	Score    float64  `json:"score"`    // 0..1; thresholds apply to it
	Severity Severity `json:"severity"`
	Part     int      `json:"part"`  // Part.ID
	Start    int      `json:"start"` // UTF-8 byte offsets into the part's text as it was inspected; End is exclusive
	End      int      `json:"end"`
}

// Edit is one change to one part. Start and End are byte offsets into the text as it was inspected.
type Edit struct {
	Part   int    `json:"part"` // Part.ID
	Op     EditOp `json:"op"`
	Start  int    `json:"start,omitempty"`
	End    int    `json:"end,omitempty"`
	Text   string `json:"text,omitempty"`   // what stands there afterwards
	Choice int    `json:"choice,omitempty"` // for Insert into a response
}

// EditOp says what an edit does.
type EditOp string

// The edits there are.
const (
	Replace EditOp = "replace" // the bytes Start..End become Text
	Remove  EditOp = "remove"  // the part goes; Text stands in its place
	Insert  EditOp = "insert"  // Text is added: after the last user turn of a request, to the end of a response's choice
)

// Advisory is one operator-facing line of the X-Mnemom-Advisory header.
type Advisory struct {
	Source   string   `json:"source"`
	Text     string   `json:"text"`
	Severity Severity `json:"severity,omitempty"`
	ID       string   `json:"id,omitempty"`
}

// Coverage says of one part which detectors read it, or why none did. In a record, several parts in a row that were skipped
// because they are replayed are one entry, without path and kind and with the bytes of all of them.
type Coverage struct {
	Part      int      `json:"part"`
	Parts     int      `json:"parts,omitempty"` // how many parts the entry stands for, from Part on; left out for one
	Path      string   `json:"path,omitempty"`
	Kind      Kind     `json:"kind,omitempty"`
	Bytes     int      `json:"bytes"`
	Detectors []string `json:"detectors,omitempty"` // those that read it, name@version
	Score     float64  `json:"score,omitempty"`     // its injection score, also where it is too low for a finding
	Skipped   string   `json:"skipped,omitempty"`   // opaque, replayed, deadline, off, trusted
	// Partial names detectors that have read less of the part than the others.
	Partial []Partial `json:"partial,omitempty"`
}

// Partial says of a detector how much of a part it has read, in passages of some sentences, and why not all.
type Partial struct {
	Detector string `json:"detector"`
	Read     int    `json:"read"`
	Of       int    `json:"of"` // 0: nobody has counted
	// Why is worst (the rest looked better to cheaper detectors), sure (those had decided), deadline, cancelled, busy, slow, off, absent,
	// unused or error.
	Why string `json:"why"`
}

// Hurried reports whether it was for want of time, so that the same detector would read more another day.
func (p Partial) Hurried() bool {
	return p.Why == "deadline" || p.Why == "cancelled" || p.Why == "busy" || p.Why == "error"
}

// Decision is what one checkpoint said of an exchange and what came of it.
type Decision struct {
	At         Checkpoint    `json:"at"`
	Mode       Mode          `json:"mode"`
	Verdict    Verdict       `json:"verdict"` // what to do now
	Would      Verdict       `json:"would"`   // what it were without modes
	Outcome    Outcome       `json:"outcome"`
	Rule       string        `json:"rule,omitempty"`
	Reason     string        `json:"reason,omitempty"` // never quotes content
	Score      float64       `json:"score,omitempty"`
	Findings   []Finding     `json:"findings,omitempty"`
	Edits      []Edit        `json:"edits,omitempty"` // those that were applied
	Calls      []CallVerdict `json:"calls,omitempty"` // autonomy: one for each call that was judged
	Stop       bool          `json:"stop,omitempty"`  // the exchange ends here: the model is not called
	Failed     bool          `json:"failed,omitempty"`
	Coverage   []Coverage    `json:"coverage,omitempty"`
	Advisories []Advisory    `json:"advisories,omitempty"`
	Analysis   string        `json:"analysis,omitempty"` // integrity: the raw X-AIP-Verdict word
	Took       time.Duration `json:"took_ns"`
}

// CallVerdict is the gate's answer to one tool call.
type CallVerdict struct {
	Part    int     `json:"part"`
	Tool    string  `json:"tool"`
	CallID  string  `json:"call_id,omitempty"`
	Verdict Verdict `json:"verdict"`
	Rule    string  `json:"rule"`
	Reason  string  `json:"reason"`

	Digest   string    `json:"digest,omitempty"`   // of a call that was flagged: SHA-256 of its canonical arguments, in hex
	Approval string    `json:"approval,omitempty"` // id of the approval that it waits for, or that let it through
	State    string    `json:"state,omitempty"`    // of that approval
	Expires  time.Time `json:"expires,omitzero"`   // of a pending one
}

// Usage is the provider's own count.
type Usage struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
}

// Checker decides. The engine in this process and the client of a remote gateway both implement it; surfaces see
// nothing else.
type Checker interface {
	// Check decides at one checkpoint, applies the mode, appends the decision to x and applies its edits. It never
	// fails: a checkpoint that cannot decide becomes a decision by the configured failure mode.
	Check(ctx context.Context, x *Exchange, at Checkpoint) Decision
	// Finish writes the one record of the exchange. An error means that the record is not safe.
	Finish(ctx context.Context, x *Exchange) error
}
