package webhook

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/audit"
)

// Event is something that happened, as it is told.
type Event struct {
	ID        string // evt-<32 hex>, the same whenever it is derived from its record
	Type      string
	CreatedAt time.Time // of the record
	Account   string
	Target    string          // the endpoint that it is for; empty: all that ask for its type
	Data      json.RawMessage // a [Data], encoded
}

// Body is the event as it is sent, the same bytes at every attempt.
func (e Event) Body() ([]byte, error) {
	body, err := json.Marshal(struct {
		ID        string          `json:"id"`
		Type      string          `json:"type"`
		CreatedAt time.Time       `json:"created_at"`
		AccountID string          `json:"account_id"`
		Data      json.RawMessage `json:"data"`
	}{e.ID, e.Type, e.CreatedAt.UTC(), e.Account, e.Data})
	if err != nil {
		return nil, fmt.Errorf("encode event: %w", err)
	}
	return body, nil
}

// Data is what is told of a record. It has no content: no text of an exchange, no arguments of a call.
type Data struct {
	RequestID  string               `json:"request_id"`
	AgentID    string               `json:"agent_id,omitempty"`
	SessionID  string               `json:"session_id,omitempty"`
	Target     string               `json:"target,omitempty"` // id of what it was done to
	Verdicts   map[string]string    `json:"verdicts,omitempty"`
	Checkpoint gatehouse.Checkpoint `json:"checkpoint,omitempty"`
	Mode       gatehouse.Mode       `json:"mode,omitempty"`
	Verdict    gatehouse.Verdict    `json:"verdict,omitempty"` // what was done
	Would      gatehouse.Verdict    `json:"would,omitempty"`   // what it were without modes
	Rule       string               `json:"rule,omitempty"`
	Reason     string               `json:"reason,omitempty"`
	Score      float64              `json:"score,omitempty"`
	Findings   []gatehouse.Finding  `json:"findings,omitempty"`
	Calls      []Call               `json:"calls,omitempty"` // those that policy did not let through
}

// Call is what policy said of a tool call.
type Call struct {
	Tool    string            `json:"tool"`
	Verdict gatehouse.Verdict `json:"verdict"`
	Rule    string            `json:"rule"`
	Reason  string            `json:"reason"`
}

// Derive finds the events of a record, in the order of its decisions, at most one of each type. The same record always has the
// same events. account is whose they are.
func Derive(r audit.Record, account string) ([]Event, error) {
	if r.Event != nil {
		return deed(r, account)
	}
	var order []string
	told := map[string]*Data{}
	for _, d := range r.Decisions {
		for _, s := range signals(d) {
			data := told[s.kind]
			if data == nil {
				data = about(r)
				told[s.kind], order = data, append(order, s.kind)
			}
			data.add(d, s.findings)
		}
	}
	var list []Event
	for _, kind := range order {
		e, err := newEvent(r, kind, account, told[kind])
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// deed is the one event of a record that says what was done.
func deed(r audit.Record, account string) ([]Event, error) {
	data := about(r)
	data.Target, data.Verdicts = r.Event.Target, nil
	e, err := newEvent(r, r.Event.Type, account, data)
	if err != nil {
		return nil, err
	}
	if e.Type == TypeTest {
		e.Target = r.Event.Target
	}
	return []Event{e}, nil
}

func about(r audit.Record) *Data {
	return &Data{RequestID: r.ID, AgentID: r.Subject(), SessionID: r.Session, Verdicts: r.Verdicts}
}

func newEvent(r audit.Record, kind, account string, data *Data) (Event, error) {
	raw, err := json.Marshal(data)
	if err != nil {
		return Event{}, fmt.Errorf("encode event data: %w", err)
	}
	return Event{ID: EventID(r.ID, kind), Type: kind, CreatedAt: r.Time, Account: account, Data: raw}, nil
}

// EventID is the id of the event of a type that a request had.
func EventID(request, kind string) string {
	sum := sha256.Sum256([]byte(request + "\n" + kind))
	return "evt-" + hex.EncodeToString(sum[:16])
}

// add tells of one more decision: its words, if it is the strictest so far, and its findings.
func (t *Data) add(d gatehouse.Decision, findings []gatehouse.Finding) {
	if t.Checkpoint == "" || d.Would.Stricter(t.Would) {
		t.Checkpoint, t.Mode, t.Verdict, t.Would = d.At, d.Mode, d.Verdict, d.Would
		t.Rule, t.Reason, t.Score = d.Rule, d.Reason, d.Score
	}
	t.Findings = append(t.Findings, findings...)
	for _, c := range d.Calls {
		if c.Verdict != gatehouse.Allow {
			t.Calls = append(t.Calls, Call{Tool: c.Tool, Verdict: c.Verdict, Rule: c.Rule, Reason: c.Reason})
		}
	}
}

// signal is a reason to tell of a decision.
type signal struct {
	kind     string
	findings []gatehouse.Finding
}

// signals are those of one decision.
func signals(d gatehouse.Decision) (list []signal) {
	if d.Failed {
		return []signal{{kind: "checkpoint.failed"}}
	}
	switch d.At {
	case gatehouse.Front:
		if kind := evaluation(d); kind != "" {
			list = append(list, signal{kind, ofKind(d.Findings, true)})
		}
	case gatehouse.Integrity:
		if d.Analysis == "boundary_violation" {
			list = append(list, signal{"integrity.violation", d.Findings})
		}
	case gatehouse.Autonomy:
		if d.Would == gatehouse.Block || d.Would == gatehouse.Flag {
			list = append(list, signal{"policy.violation", d.Findings})
		}
	}
	if gone := redacted(d); len(gone) > 0 {
		list = append(list, signal{"sh.dlp.redacted", gone})
	}
	return list
}

// evaluation names what the input scan found. The advisories tell, because thresholds are not in the record: a critical one is of
// text that is taken out, a warning of text that stays.
func evaluation(d gatehouse.Decision) string {
	kind := ""
	for _, a := range d.Advisories {
		switch {
		case a.Source != "safe_house" && a.Source != "safe_house.quarantine":
		case d.Would == gatehouse.Block:
			return "sh.evaluation.block"
		case a.Severity == gatehouse.Critical:
			kind = "sh.evaluation.quarantine"
		case kind == "":
			kind = "sh.evaluation.warn"
		}
	}
	return kind
}

// redacted are the findings of secrets and personal data that an edit has taken out.
func redacted(d gatehouse.Decision) (list []gatehouse.Finding) {
	if d.At != gatehouse.Front && d.At != gatehouse.Back {
		return nil
	}
	for _, f := range ofKind(d.Findings, false) {
		for _, e := range d.Edits {
			whole := e.Op == gatehouse.Remove
			if e.Part == f.Part && (whole || e.Op == gatehouse.Replace && e.Start < f.End && f.Start < e.End) {
				list = append(list, f)
				break
			}
		}
	}
	return list
}

// ofKind are the findings of injections, or all the others.
func ofKind(findings []gatehouse.Finding, injection bool) (list []gatehouse.Finding) {
	for _, f := range findings {
		if (f.Kind == "injection") == injection {
			list = append(list, f)
		}
	}
	return list
}
