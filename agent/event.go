package agent

import "github.com/gatehouse-gateway/gatehouse"

// EventKind says what happened.
type EventKind string

// What happens in a run.
const (
	TurnBegun    EventKind = "turn_begun"    // the conversation goes to the checkpoints, and then to the model
	TurnDecided  EventKind = "turn_decided"  // the checkpoints have decided, and the record is written
	CallHeld     EventKind = "call_held"     // a call waits for an approval
	CallRefused  EventKind = "call_refused"  // a call was not let through
	CallBegun    EventKind = "call_begun"    // a handler begins
	CallSettled  EventKind = "call_settled"  // a handler has ended
	RunEnded     EventKind = "run_ended"     // or paused
	CallsChecked EventKind = "calls_checked" // calls that waited were checked again
)

// Event is something that happened in a run.
type Event struct {
	Kind EventKind
	Run  string // id
	Turn int    // counted from 1
	Step Step   // of events about a call

	// RequestID and Decisions are those of the exchange, of TurnDecided and CallsChecked.
	RequestID string
	Decisions []gatehouse.Decision
	// Status is how the run stands, of RunEnded.
	Status Status
	// Err is why a handler failed.
	Err error
}
