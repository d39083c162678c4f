package agent

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
)

// stateVersion is the format that this package writes; another one is refused.
const stateVersion = 1

// State is a run, whole: it is plain data, goes to JSON and back, and is all that another process needs beside the configuration
// to go on. It holds what was said and what tools returned, also what the checkpoints cut from it for the model: keep it as you
// would keep the conversation.
type State struct {
	Version  int    `json:"version"`
	ID       string `json:"id"`
	Session  string `json:"session"`
	Revision int    `json:"revision"` // counts the saves: the higher is the newer
	Status   Status `json:"status"`
	Reason   string `json:"reason,omitempty"`
	Text     string `json:"text,omitempty"` // what the model said last

	Entries []Entry `json:"entries"`         // the conversation
	Steps   []Step  `json:"steps,omitempty"` // the calls of the last turn, while one of them has no result

	Turns     int             `json:"turns"`
	ToolCalls int             `json:"tool_calls"`
	Spent     time.Duration   `json:"spent_ns"` // pauses apart
	Usage     gatehouse.Usage `json:"usage"`
}

// Entry is a message as the model sees it.
type Entry struct {
	Message
	// Was is the text before the checkpoints changed it; nil: as it is. The gateway reads that again with each turn, and
	// makes the same edits.
	Was *string `json:"was,omitempty"`
	// Lost marks the result of a call of which nobody knows how it ended. The gateway is not told that the call has a result, so that
	// its approval stays among those whose call may not have been done.
	Lost bool `json:"lost,omitempty"`
}

func (e *Entry) original() string {
	if e.Was != nil {
		return *e.Was
	}
	return e.Text
}

// Progress says how far a call has come.
type Progress string

// The states of a call.
const (
	Held    Progress = "held"    // waits for an approval
	Ready   Progress = "ready"   // let through, not begun
	Begun   Progress = "begun"   // its handler runs, or ran when the process ended
	Settled Progress = "settled" // has its result
)

// Step is one call of a turn on its way to its result.
type Step struct {
	Call
	State    Progress  `json:"state"`
	Result   string    `json:"result,omitempty"`
	Failed   bool      `json:"failed,omitempty"`   // the tool failed, or did not run
	Refused  bool      `json:"refused,omitempty"`  // it did not run, because it was not let through
	Lost     bool      `json:"lost,omitempty"`     // its program was interrupted: nobody knows how it ended
	Approval string    `json:"approval,omitempty"` // id of the approval that it waits for, or that let it through
	Rule     string    `json:"rule,omitempty"`     // of the policy
	Reason   string    `json:"reason,omitempty"`   // of the policy; quotes nothing
	Expires  time.Time `json:"expires,omitzero"`   // of the approval that it waits for
}

func (p *Step) settle(result string, failed bool) {
	p.State, p.Result, p.Failed = Settled, result, failed
}

func (p *Step) refuse(notice string) {
	p.settle(notice, true)
	p.Refused = true
}

// Waiting lists the calls that wait for an approval.
func (s *State) Waiting() []Step {
	var list []Step
	for _, p := range s.Steps {
		if p.State == Held {
			list = append(list, p)
		}
	}
	return list
}

// open are the calls that have no result yet.
func (s *State) open() []Call {
	var list []Call
	for _, p := range s.Steps {
		if p.State != Settled {
			list = append(list, p.Call)
		}
	}
	return list
}

// known reports whether a call of this run has an id already.
func (s *State) known(id string) bool {
	for _, e := range s.Entries {
		for _, c := range e.Calls {
			if c.ID == id {
				return true
			}
		}
	}
	return false
}

// check refuses what is not a run that this package has written.
func (s *State) check() error {
	switch {
	case s == nil:
		return fmt.Errorf("%w: no run", ErrConfig)
	case s.Version != stateVersion:
		return fmt.Errorf("%w: the run has format %d, this version reads %d", ErrConfig, s.Version, stateVersion)
	case s.ID == "":
		return fmt.Errorf("%w: the run is not whole", ErrConfig)
	}
	seen := map[string]bool{}
	for _, p := range s.Steps {
		if seen[p.ID] {
			return fmt.Errorf("%w: two open calls of the run have one id", ErrConfig)
		}
		seen[p.ID] = true
	}
	return nil
}

// clone is a copy that shares nothing: the caller's stays as it was.
func (s *State) clone() *State {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err) // plain data always marshals
	}
	out := new(State)
	if err := json.Unmarshal(data, out); err != nil {
		panic(err)
	}
	return out
}

func (s *State) result() Result {
	return Result{Status: s.Status, Reason: s.Reason, Text: s.Text, Run: s, Turns: s.Turns, ToolCalls: s.ToolCalls, Usage: s.Usage}
}
