package checkpoint

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
	"github.com/gatehouse-gateway/gatehouse/internal/provenance"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

// ruleConversation names the findings that no text gives rise to alone.
const ruleConversation = "conversation"

const (
	// runOn is how many texts before a new one are read as its beginning, and gathered how many suspicious ones are read beside it.
	runOn, gathered = 3, 4
	// joinedMost is how many texts of one exchange are read beside those before them, the newest: a first request may bring a
	// conversation of any length.
	joinedMost = 32
)

// read is a part of a request and what the detectors saw in it.
type read struct {
	part   *gatehouse.Part
	result detect.Result
	alone  float64 // its score by the detectors alone
	opaque bool    // nothing can read it
}

// suspicion follows a session through the new texts of an exchange.
type suspicion struct {
	look
	sum session.Suspicion
}

// suspicion is what the session has added up to before this exchange.
func (l look) suspicion(ctx context.Context) (*suspicion, error) {
	s := &suspicion{look: l}
	if l.x.Agent == "" || l.x.Session == "" || l.x.Fresh {
		return s, nil
	}
	var err error
	s.sum, err = l.sessions.Store.Suspicion(ctx, l.x.Agent, l.x.Session)
	return s, err
}

// accumulate adds to each new text what it says together with those before it. The findings say so, and everything else follows from them.
func (l look) accumulate(ctx context.Context, list []read) error {
	s, err := l.suspicion(ctx)
	if err != nil {
		return fmt.Errorf("session: %w", err)
	}
	late := 0
	for i := range list {
		if list[i].tells() {
			late++
		}
	}
	for i := range list {
		if !list[i].tells() {
			continue
		}
		if late--; late < joinedMost {
			if err := s.weigh(ctx, &list[i]); err != nil {
				return err
			}
		}
		p, r := list[i].part, &list[i].result
		e := l.evidenceOf(p, list[i].alone, top(of("injection", r.Findings)).Score >= l.s.Warn)
		s.sum.Add(e)
	}
	return nil
}

// tells reports whether a part is one that an attack may come in a little at a time.
func (r *read) tells() bool { return !r.opaque && teller(r.part) != "" }

// teller is who says a part, of those who may attack; empty: nobody.
func teller(p *gatehouse.Part) provenance.Source {
	switch {
	case p.Inserted || p.Skip || p.Replayed || p.Text == "":
		return ""
	case p.Kind == gatehouse.ToolResult:
		return provenance.ToolResult
	case p.Kind == gatehouse.Text && p.Role == gatehouse.User:
		return provenance.User
	}
	return ""
}

// weigh looks at a text beside those before it.
func (s *suspicion) weigh(ctx context.Context, t *read) error {
	p, r := t.part, &t.result
	source := string(teller(p))
	if tight := s.sum.Tightness(); tight < 1 {
		r.Findings = slices.Clone(r.Findings)
		for i := range r.Findings {
			if f := &r.Findings[i]; f.Kind == "injection" && f.Score < s.s.Warn && f.Score/tight >= s.s.Warn {
				f.Score, f.Detector, f.Severity = min(f.Score/tight, 1), ruleConversation, gatehouse.Warn
			}
		}
		if p.Kind == gatehouse.Text && r.Score >= s.s.Warn*tight {
			t.found(min(r.Score/tight, 1), "prompt_injection")
		}
	}
	if len(p.Text) > session.MaxPiece || r.Score >= s.s.Warn {
		return nil
	}
	for _, text := range s.runs(source, p.Text) {
		j, err := s.together(ctx, p, text)
		if err != nil {
			return err
		}
		// The halves are harmless apart, and honest people stop without an end, too.
		if j.Score >= s.s.Block {
			t.found(j.Score, splitType(p))
			return nil
		}
	}
	after := s.sum
	after.Pieces = slices.Clone(after.Pieces)
	e := s.evidenceOf(p, t.alone, false)
	after.Add(e)
	tight := after.Tightness()
	if source != string(provenance.User) || e.Adds() <= 0 || tight == 1 {
		return nil
	}
	texts := s.reopened(s.sum.Suspicious(gathered), p.Text)
	if len(texts) == 0 {
		return nil
	}
	j, err := s.together(ctx, p, sentences(append(texts, p.Text)))
	if err == nil && j.Score >= s.s.Quarantine*tight {
		t.found(min(j.Score/tight, 1), "social_engineering")
	}
	return err
}

// splitType is the threat of a payload that comes in parts.
func splitType(p *gatehouse.Part) string {
	if p.Kind == gatehouse.ToolResult {
		return "indirect_injection"
	}
	return "prompt_injection"
}

// runs are the texts that a new one may be the end of: what it goes on with, and what was handed over piece by piece.
func (s *suspicion) runs(source, text string) []string {
	before := s.reopened(s.sum.Open(source, session.MaxPieces), text)
	var out, run, pieces []string
	for _, b := range before {
		if unended(b) {
			run = append(run, b)
		}
		if h := handed(b); h != "" {
			pieces = append(pieces, h)
		}
	}
	if run = run[max(0, len(run)-runOn):]; len(run) > 0 {
		out = append(out, strings.Join(append(run, text), " "))
	}
	if h := handed(text); h != "" && len(pieces) > 0 {
		pieces = append(pieces, h)
		out = append(out, strings.Join(pieces, ""), strings.Join(pieces, " "))
	}
	return out
}

// sentences are texts one after the other, each with an end.
func sentences(texts []string) string {
	var b strings.Builder
	for _, t := range texts {
		b.WriteString(ended(strings.TrimSpace(t)))
		b.WriteByte(' ')
	}
	return b.String()
}

// together looks at several texts as one.
func (s *suspicion) together(ctx context.Context, p *gatehouse.Part, text string) (detect.Result, error) {
	c := detect.Input
	if p.Kind == gatehouse.ToolResult {
		c = detect.ToolResult
	}
	r := s.scanner.Scan(ctx, detect.Text{Channel: c, Tool: p.Tool, Text: text})
	if !r.Complete {
		return r, errUnscanned(p)
	}
	return r, nil
}

// found adds a finding of the conversation to a text, where it says more than what was found in the text alone.
func (r *read) found(score float64, threat string) {
	if score <= top(of("injection", r.result.Findings)).Score {
		return
	}
	r.result.Score = max(r.result.Score, score)
	r.result.Findings = append(r.result.Findings, gatehouse.Finding{Kind: "injection", Type: threat, Detector: ruleConversation, Score: score,
		Severity: gatehouse.Critical, Part: r.part.ID, End: len(r.part.Text)})
}

// reopened are the texts of pieces, less a text itself, which may have been refused and told again.
func (l look) reopened(list []session.Piece, but string) []string {
	var out []string
	if l.sessions.Box == nil {
		return nil
	}
	for _, p := range list {
		if text, err := l.sessions.Box.Open(p.Sealed, l.pieceOwner()); err == nil && string(text) != but {
			out = append(out, string(text))
		}
	}
	return out
}

func (l look) pieceOwner() string { return "piece " + l.x.Agent + " " + l.x.Session }

// evidenceOf is what a new text says of an attack that comes a little at a time.
func (l look) evidenceOf(p *gatehouse.Part, score float64, caught bool) session.Evidence {
	text := p.Original()
	d := l.sessions.TextDigest(ruleConversation, *p)
	e := session.Evidence{Text: binary.BigEndian.Uint64(d[:8]), Source: string(teller(p)), Score: score, Caught: caught}
	if len(text) > session.MaxPiece {
		return e
	}
	e.Open = unended(text) || handed(text) != ""
	e.Pressing = e.Source == string(provenance.User) && detect.Pressing(text)
	if l.sessions.Box != nil && !caught {
		e.Sealed = l.sessions.Box.Seal([]byte(text), l.pieceOwner())
	}
	return e
}

// accumulated is what the new texts of an exchange that has ended say, by what front wrote down.
func (l look) accumulated() []session.Evidence {
	own := map[int]float64{}
	for _, d := range l.x.Decisions {
		if d.At != gatehouse.Front {
			continue
		}
		for _, c := range d.Coverage {
			if len(c.Detectors) > 0 {
				own[c.Part] = max(own[c.Part], c.Score)
			}
		}
	}
	worst := scores(l.x)
	var out []session.Evidence
	for i := range l.x.Request {
		p := &l.x.Request[i]
		if score, looked := own[p.ID]; looked && teller(p) != "" {
			out = append(out, l.evidenceOf(p, score, worst[p.ID] >= l.s.Warn))
		}
	}
	return out
}
