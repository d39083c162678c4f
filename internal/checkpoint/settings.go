package checkpoint

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/judge"
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
	WithoutModel   bool                          // the transformer reads nothing
	Durability     string                        // all, decisions, batched
	Policy         *policy.Policy
	Judge          *judge.Judge // asked about texts that the detectors leave open; nil: nobody is

	ApprovalWait time.Duration // how long the proxy holds an answer for a human
	ApprovalAge  time.Duration // how long an approval stands
	ApprovalURL  string        // where approvals can be looked at, without a slash at its end

	decidedUnder string  // see epoch; set by Engine.Use, as is
	scanner      Scanner // the engine's, or what of it shall run
	scannedBy    string  // its version
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

// patience is the time of one checkpoint: that of its detectors, and where the judge may be asked its own beside it.
func (s *Settings) patience(at gatehouse.Checkpoint) time.Duration {
	if at == gatehouse.Front && s.Judge != nil {
		return 2*s.ScanTime + s.Judge.Timeout
	}
	return s.ScanTime
}

// epoch names everything that the decision on a text depends on, so that a text decided under other settings is new.
func (s *Settings) epoch(detectors string) string {
	if s.Judge != nil {
		detectors += " " + s.Judge.Version()
	}
	all := fmt.Sprintf("%s %v %v %v %v %v %s %v %v %s", s.Protection, s.Warn, s.Quarantine, s.Block, s.Incoming, s.ToolResponses, s.Secrets, s.PII, s.WithoutModel, detectors)
	sum := sha256.Sum256([]byte(all)) // it is part of the hash of every text
	return string(sum[:])
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
