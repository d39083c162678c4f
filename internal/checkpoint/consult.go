package checkpoint

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
	"github.com/gatehouse-gateway/gatehouse/internal/judge"
	"github.com/gatehouse-gateway/gatehouse/internal/provenance"
	"github.com/gatehouse-gateway/gatehouse/internal/redact"
)

const (
	// judgedMost is how many texts of one exchange the judge is asked about, those with the highest scores: what it costs is bounded.
	judgedMost = 4
	// judgedFrom is the share of warn from which a text is uncertain. Below it a judge would see one text in a hundred for nothing.
	judgedFrom = 0.5
)

// judgement is what the judge says of a text.
type judgement struct {
	of    *read
	label judge.Label
	whole bool // it was shown all of it
}

// consult asks the judge about what the detectors leave open. It moves a score by one step at most: what it takes for an attack up to the
// next threshold, what it takes for harmless down below the last, and never below what patterns have found. Without an answer all
// stays as it is.
func (l look) consult(ctx context.Context, o *opinion, list []read) {
	if l.s.Judge == nil {
		return
	}
	open := l.uncertain(list)
	if len(open) == 0 {
		return
	}
	silent := l.inquire(ctx, open)
	for _, j := range open {
		if j.label == judge.None {
			continue
		}
		name := l.s.Judge.Detector()
		if !j.whole {
			name += " (in part)"
		}
		for i := range o.coverage {
			if c := &o.coverage[i]; c.Part == j.of.part.ID && len(c.Detectors) > 0 {
				c.Detectors = append(slices.Clone(c.Detectors), name)
			}
		}
		switch j.label {
		case judge.Attack:
			l.raised(j.of)
		case judge.Benign:
			l.lowered(&j.of.result)
		}
	}
	if silent {
		o.advise("gatehouse.coverage", gatehouse.Info, "the judge gave no answer about uncertain text: the detectors' own score counts", "")
	}
}

// uncertain are the texts to ask about.
func (l look) uncertain(list []read) []*judgement {
	var open []*judgement
	for i := range list {
		t := &list[i]
		if !t.tells() || !t.result.Complete || t.result.Score < judgedFrom*l.s.Warn || t.result.Score >= l.s.Block {
			continue
		}
		// Of a tool's result something is cut out, so that it must be known where.
		if teller(t.part) == provenance.ToolResult && len(of("injection", t.result.Findings)) == 0 {
			continue
		}
		open = append(open, &judgement{of: t})
	}
	slices.SortStableFunc(open, func(a, b *judgement) int { return cmp.Compare(b.of.result.Score, a.of.result.Score) })
	return open[:min(len(open), judgedMost)]
}

// inquire asks about all of them at once, and reports whether an answer is missing.
func (l look) inquire(ctx context.Context, open []*judgement) (silent bool) {
	missing := make([]bool, len(open))
	var all sync.WaitGroup
	for i, j := range open {
		var q judge.Question
		q, j.whole = question(j.of)
		all.Go(func() {
			var err error
			j.label, err = l.s.Judge.Ask(ctx, q)
			missing[i] = err != nil
		})
	}
	all.Wait()
	return slices.Contains(missing, true)
}

// question is what the judge is shown: the text without secrets and personal data, and of a long one what stands around the worst of it.
func question(t *read) (q judge.Question, whole bool) {
	var private []gatehouse.Finding
	for _, f := range t.result.Findings {
		if f.Kind == "secret" || f.Kind == "pii" {
			private = append(private, f)
		}
	}
	edits := redact.Edits(t.part.Text, private, redact.Token)
	worst := top(of("injection", t.result.Findings))
	text := gatehouse.Splice(t.part.Text, edits)
	q.Channel = string(detect.Input)
	if teller(t.part) == provenance.ToolResult {
		q.Channel = string(detect.ToolResult)
	}
	q.Text, whole = judge.Excerpt(text, moved(edits, worst.Start, false), moved(edits, worst.End, true))
	return q, whole
}

// raised lifts a text to the next threshold, but not from nothing to a stop.
func (l look) raised(t *read) {
	score := l.s.Quarantine
	if t.result.Score >= l.s.Quarantine {
		score = l.s.Block
	}
	f := gatehouse.Finding{Kind: "injection", Type: "prompt_injection", Detector: l.s.Judge.Detector(), Score: score, Severity: gatehouse.Critical,
		Part: t.part.ID, End: len(t.part.Text)}
	if worst := top(of("injection", t.result.Findings)); teller(t.part) == provenance.ToolResult {
		f.Type, f.Start, f.End = "indirect_injection", worst.Start, worst.End
	}
	t.result.Findings = append(slices.Clone(t.result.Findings), f)
	t.result.Score = score
}

// lowered takes what models of texts have found below the threshold that it has passed. Patterns are no matter of opinion.
func (l look) lowered(r *detect.Result) {
	limit := l.s.Warn
	if r.Score >= l.s.Quarantine {
		limit = l.s.Quarantine
	}
	r.Findings = slices.Clone(r.Findings)
	r.Score = min(r.Score, math.Nextafter(limit, 0))
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Kind != "injection" {
			continue
		}
		if opinionated(f.Detector) {
			f.Score = min(f.Score, math.Nextafter(limit, 0))
		}
		r.Score = max(r.Score, f.Score)
	}
}

// opinionated reports whether a detector has learnt what it says.
func opinionated(detector string) bool {
	return strings.HasPrefix(detector, "linear/") || strings.HasPrefix(detector, "model/")
}
