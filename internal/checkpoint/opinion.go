package checkpoint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

// opinion is what a checkpoint thinks of an exchange: what it would do, were it enforcing.
type opinion struct {
	verdict    gatehouse.Verdict // empty: allow
	stop       bool              // the exchange shall end here
	rule       string
	reason     string // for people; never quotes content
	score      float64
	seen       bool // worth telling although nothing shall happen
	findings   []gatehouse.Finding
	edits      []gatehouse.Edit
	warning    string // what a nudge says, in the response or to the model
	calls      []gatehouse.CallVerdict
	advisories []advisory
	coverage   []gatehouse.Coverage
	analysis   string
	follows    map[following]float64 // what was told of compliance
}

// raise makes the opinion at least as strict as v; the reason of the strictest verdict stays.
func (o *opinion) raise(v gatehouse.Verdict, rule, reason string) {
	o.seen = true
	if v.Stricter(o.verdict) {
		o.verdict, o.rule, o.reason = v, rule, reason
	}
}

// note reports something that changes nothing.
func (o *opinion) note(reason string) {
	o.seen = true
	if o.reason == "" {
		o.reason = reason
	}
}

// advisory is a line for operators: what was seen, and what is done about it where the mode lets it be done.
type advisory struct {
	gatehouse.Advisory
	done string
}

// advise adds a line; ten findings of a kind make one.
func (o *opinion) advise(source string, severity gatehouse.Severity, text, done string) {
	a := advisory{gatehouse.Advisory{Source: source, Severity: severity, Text: text}, done}
	if !slices.Contains(o.advisories, a) {
		o.advisories = append(o.advisories, a)
	}
}

// under turns the opinion into the decision that the mode makes of it.
func (o *opinion) under(d *gatehouse.Decision, x *gatehouse.Exchange) {
	d.Rule, d.Reason, d.Score = o.rule, o.reason, o.score
	d.Findings, d.Calls, d.Coverage, d.Analysis = o.findings, o.calls, o.coverage, o.analysis
	if o.verdict != "" {
		d.Would = o.verdict
	}
	switch {
	case !o.seen:
	case d.Mode == gatehouse.Enforce && d.Would != gatehouse.Allow:
		d.Verdict, d.Outcome, d.Edits, d.Stop = d.Would, gatehouse.Enforced, o.edits, o.stop
	case d.Mode == gatehouse.Nudge && d.Would != gatehouse.Allow:
		d.Outcome, d.Edits = gatehouse.Nudged, nudges(x, o.warning)
	default:
		d.Outcome = gatehouse.Observed
	}
	for _, a := range o.advisories {
		if a.done != "" && d.Outcome == gatehouse.Enforced {
			a.Text += ": " + a.done
		}
		d.Advisories = append(d.Advisories, a.Advisory)
	}
}

// nudges adds the warning to the request, or to every choice of the response.
func nudges(x *gatehouse.Exchange, warning string) []gatehouse.Edit {
	if !x.Answered {
		return []gatehouse.Edit{addition(x, warning)}
	}
	var out []gatehouse.Edit
	for _, c := range choices(x) {
		out = append(out, gatehouse.Edit{Op: gatehouse.Insert, Choice: c, Text: warning})
	}
	return out
}

// choices are the indices of the alternatives in the response, which need not begin at 0 nor be without gaps; one, 0, while
// there is none.
func choices(x *gatehouse.Exchange) []int {
	var out []int
	seen := map[int]bool{}
	for i := range x.Response {
		if c := x.Response[i].Choice; !seen[c] {
			seen[c], out = true, append(out, c)
		}
	}
	if out == nil {
		out = []int{0}
	}
	return out
}

// look is what a checkpoint sees with.
type look struct {
	scanner  Scanner
	version  string // of the detectors
	sessions *session.Resolver
	s        *Settings
	x        *gatehouse.Exchange
	follower *follower // what has been decided while the response grew; nil: nothing

	unsigned map[int]bool // choices of which back has dropped signed reasoning

	approvals Approvals
	enforcing bool // verdicts happen, so that flagged calls ask for leave
}

// scan reads one part and writes down that it did. Findings come back with the part's ID.
func (l look) scan(ctx context.Context, o *opinion, p *gatehouse.Part, c detect.Channel) detect.Result {
	r := l.scanner.Scan(ctx, detect.Text{Channel: c, Tool: p.Tool, Text: p.Text})
	for i := range r.Findings {
		r.Findings[i].Part = p.ID
	}
	cover := covered(p, "")
	cover.Detectors, cover.Partial, cover.Score = l.versions(r.Detectors), r.Partial, r.Score
	if !r.Complete {
		cover.Skipped = "deadline"
	}
	o.coverage = append(o.coverage, cover)
	return r
}

// versions are the names of detectors, each with its version: its own where it says one, else that of the set.
func (l look) versions(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		if out[i] = name; !strings.Contains(name, "@") {
			out[i] += "@" + l.version
		}
	}
	return out
}

func covered(p *gatehouse.Part, skipped string) gatehouse.Coverage {
	return gatehouse.Coverage{Part: p.ID, Path: p.Path, Kind: p.Kind, Bytes: len(p.Text), Skipped: skipped}
}

// skipped is the coverage of a checkpoint that looked at nothing.
func skipped(x *gatehouse.Exchange, at gatehouse.Checkpoint, why string) []gatehouse.Coverage {
	list := x.Response
	if at == gatehouse.Front || at == gatehouse.Autonomy && !x.Answered {
		list = x.Request
	}
	out := make([]gatehouse.Coverage, 0, len(list))
	for i := range list {
		out = append(out, covered(&list[i], why))
	}
	return out
}

// errUnscanned is the failure of a checkpoint whose time was up before it had read everything.
func errUnscanned(p *gatehouse.Part) error {
	return fmt.Errorf("time was up before %s was scanned", p.Path)
}

// of picks the findings of one kind.
func of(kind string, findings []gatehouse.Finding) []gatehouse.Finding {
	var out []gatehouse.Finding
	for _, f := range findings {
		if f.Kind == kind {
			out = append(out, f)
		}
	}
	return out
}

// top is the finding with the highest score; the zero Finding when there is none.
func top(findings []gatehouse.Finding) gatehouse.Finding {
	var t gatehouse.Finding
	for _, f := range findings {
		if f.Score > t.Score {
			t = f
		}
	}
	return t
}

func whole(p *gatehouse.Part, text string) gatehouse.Edit {
	return gatehouse.Edit{Part: p.ID, Op: gatehouse.Replace, End: len(p.Text), Text: text}
}
