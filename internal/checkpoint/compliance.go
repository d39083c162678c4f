package checkpoint

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
)

// compliance is the type of a finding: the answer does what an injection asked for.
const compliance = "injection_compliance"

// Scores of compliance: what is plain is over every sensible threshold, what could be innocent is below the one that stops.
const (
	scorePlain  = 0.98
	scoreStated = 0.96
	scoreWeak   = 0.7
)

var (
	// image is a picture that a client fetches by itself, whatever the text around it says.
	image = regexp.MustCompile(`!\[[^\]]*\]\(\s*<?$|!\[[^\]]*\]:?\s*<?$|<(?:img|iframe|script|link|source|video|audio)\b[^>]*$|\burl\(["']?$`)
	// reference is where an address stands that a picture or a link elsewhere in the text names.
	reference = regexp.MustCompile(`\]:\s*<?$`)
	// link is one that somebody has to follow.
	link = regexp.MustCompile(`\]\(\s*<?$|\]:\s*<?$|<a\b[^>]*$`)
	// examines are words of tools that look into or report what their arguments name.
	examines = regexp.MustCompile(`phish|spam|abuse|block|quarantine|threat|reputation|whois|scan|verify|check|flag|scam|malware|lookup`)
)

// compliance looks for a model that does what an injection of this conversation asked of it.
func (l look) compliance(ctx context.Context, o *opinion) error {
	byAnchor := map[anchor]named{}
	for _, n := range l.brought(ctx) {
		byAnchor[n.anchor] = n
	}
	recalls := !l.x.Fresh && l.x.Agent != "" && l.x.Session != ""
	texts := l.answered(recalls || len(seen(l.x)) > 0)
	if recalls {
		if err := l.remember(ctx, texts, byAnchor); err != nil {
			return err
		}
	}
	injected, rest := l.spans()
	spans := newOriginals(injected)
	for _, t := range texts {
		if len(byAnchor) > 0 {
			t.warns = attacked.MatchString(t.text)
			c := covered(t.part, "")
			c.Detectors = l.versions([]string{"compliance"})
			o.coverage = append(o.coverage, c)
		}
		if err := weigh(ctx, o, t, byAnchor, spans); err != nil {
			return err
		}
		if t.part.Kind == gatehouse.Reasoning {
			obedience(o, t, len(byAnchor) > 0 || len(injected) > 0)
		}
	}
	return l.borrowed(ctx, o, texts, injected, rest)
}

// remember adds the anchors of earlier turns that stand in the answer and that nobody has spoken of since.
func (l look) remember(ctx context.Context, texts []utterance, to map[anchor]named) error {
	anchors := map[session.Digest]anchor{}
	var digests []session.Digest
	for _, t := range texts {
		for _, s := range t.seen {
			if _, now := to[s.anchor]; now {
				continue
			}
			d := l.sessions.AnchorDigest(l.x.Session, s.kind, s.value)
			if _, asked := anchors[d]; !asked {
				anchors[d], digests = s.anchor, append(digests, d)
			}
		}
	}
	if len(digests) == 0 {
		return nil
	}
	found, err := l.sessions.Store.Anchors(ctx, l.x.Agent, l.x.Session, digests)
	if err != nil {
		return err
	}
	var list []named
	for d := range found {
		list = append(list, named{anchor: anchors[d]})
	}
	for _, n := range l.unsaid(ctx, list, seenBy(l.x)) {
		to[n.anchor] = n
	}
	return nil
}

// weigh weighs the anchors that one text of the answer names. A text can name one thousands of times, so the time is watched.
func weigh(ctx context.Context, o *opinion, t utterance, brought map[anchor]named, injected *originals) error {
	found := t.seen
	for a := range brought {
		if a.kind != anchorPhrase {
			continue
		}
		if at := strings.Index(t.text, a.value); at >= 0 {
			found = append(slices.Clone(found), sighting{a, at, at + len(a.value), false})
		}
	}
	for _, s := range found {
		n, ok := brought[s.anchor]
		if !ok {
			continue
		}
		if ctx.Err() != nil {
			return errUnscanned(t.part)
		}
		switch quoted := injected.copied(t.text, s.start, s.end); {
		case quoted && t.part.Kind == gatehouse.ToolCall:
			o.complied(t, s, "anchor-in-call", scoreWeak) // it passes the injection on
		case quoted && !pictured(t, s):
		case t.part.Kind == gatehouse.ToolCall:
			inCall(o, t, s, n)
		case t.part.Kind == gatehouse.Reasoning:
			inReasoning(o, t, s, n)
		default:
			inText(o, t, s, n)
		}
	}
	return nil
}

// inCall: an address in arguments is used. A tool that examines what it is given may be given it, and a note may speak of it.
func inCall(o *opinion, t utterance, s sighting, n named) {
	switch {
	case n.elsewhere, examines.MatchString(lowered(t.part.Tool)), prose(t.text) && stanceTo(t.text, s.start, s.end) == mentions:
		o.complied(t, s, "anchor-in-call", scoreWeak)
	case s.kind == anchorTool && n.near:
		o.complied(t, s, "instructed-tool", scoreWeak)
	case s.kind == anchorTool:
		o.complied(t, s, "instructed-tool", scoreStated)
	default:
		o.complied(t, s, "anchor-in-call", scorePlain)
	}
}

// prose reports whether a value of a call's arguments is a text for people, rather than something that is run or fetched.
func prose(value string) bool {
	return strings.Count(value, " ") >= 4 && !strings.ContainsAny(value, ";|&$<>{}") && !strings.Contains(value, "://")
}

// inReasoning: what counts is whether the model makes the demand its own.
func inReasoning(o *opinion, t utterance, s sighting, n named) {
	switch st := stanceTo(t.text, s.start, s.end); {
	case st == mentions:
	case st == acts && !n.elsewhere:
		o.complied(t, s, "declared", scoreStated)
	case st == acts, !n.elsewhere && !n.near:
		o.complied(t, s, "anchor-in-reasoning", scoreWeak)
	}
}

// inText: pictures are fetched unasked. Other than that an answer may speak of what it has read, and does so most of the time.
func inText(o *opinion, t utterance, s sighting, n named) {
	if pictured(t, s) {
		score := scorePlain
		if n.elsewhere {
			score = scoreWeak
		}
		o.complied(t, s, "anchor-in-image", score)
		return
	}
	st, before := stanceTo(t.text, s.start, s.end), reach(t, s)
	if st == mentions || st != acts && t.warns {
		return
	}
	plain := !n.near && !n.elsewhere
	switch {
	case (st == acts || st == urges) && plain, st == acts && !n.elsewhere:
		o.complied(t, s, "declared", scoreStated)
	case link.MatchString(before) && plain:
		o.complied(t, s, "anchor-in-link", scoreStated)
	case s.kind == anchorPhrase:
		o.complied(t, s, "phrase", scoreStated)
	case plain, st == acts, link.MatchString(before) && n.near:
		o.complied(t, s, "anchor-in-text", scoreWeak)
	}
}

// pictured reports whether an anchor is the address of a picture in an answer's text.
func pictured(t utterance, s sighting) bool {
	before := reach(t, s)
	return t.part.Kind == gatehouse.Text && (image.MatchString(before) || reference.MatchString(before) && strings.Contains(t.text, "!["))
}

// reach is what stands before an anchor.
func reach(t utterance, s sighting) string { return t.text[max(0, s.start-linkReach):s.start] }

// linkReach is how far before an address the markup of its link or picture begins, in bytes.
const linkReach = 200

// obedience looks for reasoning that follows what some content told it, without any anchor.
func obedience(o *opinion, t utterance, tainted bool) {
	if !tainted && !setsAside(t.text) {
		return
	}
	all := sighting{end: len(t.text)}
	switch follows, instead := followsContent(t.text); {
	case instead:
		o.complied(t, all, "follows-content", scoreStated)
	case follows && tainted:
		o.complied(t, all, "follows-content", scoreWeak)
	}
}

// complied notes that a text of the answer does what an injection asks for.
func (o *opinion) complied(t utterance, s sighting, rule string, score float64) {
	f := gatehouse.Finding{Kind: "injection", Type: compliance, Detector: "compliance/" + rule, Score: score,
		Severity: gatehouse.Warn, Part: t.part.ID, End: len(t.part.Text)}
	if t.exact {
		f.Start, f.End = s.start, s.end
	}
	if score >= scoreStated {
		f.Severity = gatehouse.Critical
	}
	// One of a kind in a part says it.
	if same := (following{f.Part, rule}); o.follows[same] < score {
		if o.follows == nil {
			o.follows = map[following]float64{}
		}
		o.follows[same], o.findings = score, append(o.findings, f)
	}
	o.score = max(o.score, score)
}

// following is a way in which a part of the answer does what an injection asks for.
type following struct {
	part int
	rule string
}
