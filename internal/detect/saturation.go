package detect

import (
	"sort"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
)

const (
	// decisiveFrom is the score from which a finding decides: user text that holds one never reaches the model.
	decisiveFrom = 0.80
	// decisiveMost is how many decisive phrases, each apart from the others, stand in the readings of a text before the rest of one counts as
	// payload.
	decisiveMost = 24
	// decisiveLeast is how many it holds itself, where other readings of the text hold some: two readings may have one phrase.
	decisiveLeast = 8
	// saturated is the detector that such a rest is told by.
	saturated = "patterns/saturated"
)

// saturation counts the decisive phrases of a reading. Once there are [decisiveMost] of them no score can get worse, and what is left
// to find out is only where to cut. All from the last of them on is cut then, and nobody looks for more injections there: a text that is an
// attack from end to end would otherwise take many times what another takes.
type saturation struct {
	before  int    // phrases in other readings of the text
	phrases []span // in the normalised text, apart from each other
	kind    string // what the last of them is
	from    int    // where the rest begins; -1 while there is none
}

// add counts a phrase. cursor is how far literals have been looked for.
func (s *saturation) add(phrase span, kind string, cursor int) {
	if s.from >= 0 {
		return
	}
	for i := len(s.phrases) - 1; i >= 0; i-- {
		if phrase.start < s.phrases[i].end && s.phrases[i].start < phrase.end {
			return
		}
	}
	if s.phrases, s.kind = append(s.phrases, phrase), kind; len(s.phrases) < max(decisiveMost-s.before, decisiveLeast) {
		return
	}
	for _, p := range s.phrases {
		s.from = max(s.from, p.end)
	}
	s.from = max(min(s.from, cursor-windowBefore), 0) // what begins behind that may have a literal that nobody has seen yet
}

// rest is the finding of all from s.from on, with the sentence that this stands in.
func (s *saturation) rest(n *Normalized) gatehouse.Finding {
	at, _ := n.locate(min(s.from, len(n.Text)-1))
	var plain span
	start := sentenceIn(n.Original, span{at, at}, n.json, false, &plain).start
	return gatehouse.Finding{
		Kind: "injection", Type: s.kind, Detector: saturated, Score: 1, Severity: severity(1), Start: start, End: len(n.Original),
	}
}

// everything is all that can be cut out of the text that was given for a part of the original, and not what says most alone: keys of JSON as
// well, and words outside of its strings, where it is broken.
func (n *Normalized) everything(s span) []span {
	var all []span
	if n.parent != nil {
		for _, o := range n.outer(s) {
			all = append(all, n.parent.everything(o)...)
		}
		return all
	}
	for _, part := range n.aroundTags(s) {
		if n.json {
			all = n.withinJSON(all, n.wholeEscapes(part))
		} else {
			all = append(all, part)
		}
	}
	return all
}

// withinJSON appends the strings of a part of the original, and the words between them.
func (n *Normalized) withinJSON(all []span, s span) []span {
	list := n.literals()
	at := s.start
	for i := sort.Search(len(list), func(i int) bool { return list[i].end >= s.start }); i < len(list) && list[i].start < s.end; i++ {
		all = n.betweenStrings(all, span{at, min(list[i].start, s.end)})
		if part := (span{max(list[i].start, s.start), min(list[i].end, s.end)}); part.start < part.end {
			all = append(all, part)
		}
		at = min(list[i].end, s.end)
	}
	return n.betweenStrings(all, span{at, s.end})
}

// betweenStrings appends what of a part of the original between two strings is no JSON: from the first word on, up to the last.
func (n *Normalized) betweenStrings(all []span, s span) []span {
	for s.start < s.end && strings.IndexByte(structure, n.Original[s.start]) >= 0 {
		s.start++
	}
	for s.start < s.end && strings.IndexByte(structure, n.Original[s.end-1]) >= 0 {
		s.end--
	}
	if s.start >= s.end {
		return all
	}
	for word := range strings.FieldsFuncSeq(n.Original[s.start:s.end], func(r rune) bool { return r < 0x80 && strings.IndexByte(structure, byte(r)) >= 0 }) { //nolint:gosec // ASCII
		switch word {
		case "true", "false", "null", "e", "E":
		default:
			return append(all, s)
		}
	}
	return all
}

// structure is what JSON consists of outside of strings, but for three words and the exponents of numbers.
const structure = " \t\r\n{}[]:,\"+-.0123456789"
