package checkpoint

import (
	"fmt"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
)

// Settings are what an operator decides. The engine reads one value of it for each check, so that it can be replaced while
// exchanges run.
type Settings struct {
	Protection gatehouse.Mode // front and back
	Autonomy   gatehouse.Mode
	Integrity  gatehouse.Mode

	Warn, Quarantine, Block float64 // thresholds on the injection score, 0..1, ascending

	Incoming, Outgoing, ToolCalls, ToolResponses bool // which surfaces protection screens

	PII            map[string]string             // class → redact, report, off; in tool results and output
	Secrets        string                        // redact, report, off
	Uninspected    string                        // forward, refuse
	BlockWithError bool                          // a stopped exchange is an error, not an assistant turn
	OpenOnError    map[gatehouse.Checkpoint]bool // a failing checkpoint lets the exchange go on
	ScanTime       time.Duration                 // one checkpoint's time for detectors
	Durability     string                        // all, decisions, batched
	Policy         *policy.Policy

	ApprovalWait time.Duration // how long the proxy holds an answer for a human
	ApprovalAge  time.Duration // how long an approval stands
	ApprovalURL  string        // where approvals can be looked at, without a slash at its end

	decidedUnder string // see epoch; set by Engine.Use
}

func (s *Settings) mode(at gatehouse.Checkpoint) gatehouse.Mode {
	switch at {
	case gatehouse.Autonomy:
		return s.Autonomy
	case gatehouse.Integrity:
		return s.Integrity
	}
	return s.Protection
}

// epoch names everything that the decision on a text depends on, so that a text decided under other settings is new.
func (s *Settings) epoch(detectors string) string {
	return fmt.Sprintf("%s %v %v %v %v %v %s %v %s", s.Protection, s.Warn, s.Quarantine, s.Block, s.Incoming, s.ToolResponses, s.Secrets, s.PII, detectors)
}

// private says what is done about a secret or a piece of PII: redact, report or off.
func (s *Settings) private(f gatehouse.Finding) string {
	switch f.Kind {
	case "secret":
		return s.Secrets
	case "pii":
		return s.PII[f.Type]
	}
	return "off"
}
