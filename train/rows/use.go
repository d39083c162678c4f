package rows

import (
	"slices"
	"strings"
)

// Usable are the rows that injection detectors learn from: those about secrets and personal data say nothing, and prompts that operators
// wrote are what a detector for tool results has to find when a tool returns them, whoever wrote them. The requests of the
// generator "made" stand so close together that no mailbox is like them; it only measures over-defence. CyberSecEval is one of the
// sets that detectors are judged by: its list of false refusals is no lesson either.
func Usable(all []Row, sample int) []Row {
	k := 0
	return slices.DeleteFunc(all, func(r Row) bool {
		switch {
		case r.Kind == "", strings.HasPrefix(r.Source, "presidio"), strings.Contains(r.Source, "gitleaks"), r.Source == "own look-alike", r.Source == "made-prompts", r.Source == "CyberSecEval-FRR":
			return true
		case r.Family == "benign" && strings.HasPrefix(r.Hand, "hand/"):
			return false
		case r.Family == "benign":
			k++
			return k%sample > 0
		}
		return false
	})
}

// Ordinary reports whether a benign text is one as it comes, and none that somebody wrote to mislead a detector.
func (r Row) Ordinary() bool {
	return r.Label == 0 && r.Hand != "made" && !r.Misleading()
}

// Misleading reports whether somebody wrote a benign text to mislead a detector: a twin of an attack, or one full of words that attacks use.
func (r Row) Misleading() bool {
	return r.Label == 0 && (strings.HasPrefix(r.Hand, "hand/") || strings.HasPrefix(r.Hand, "authored/") || strings.HasPrefix(r.Source, "own"))
}

// Jailbreak reports whether an attack of a user's is one on the model's own rules.
func (r Row) Jailbreak() bool {
	return r.Attack == "jailbreak" || strings.HasSuffix(r.Source, "jailbreak") || strings.HasPrefix(r.Family, "jailbreak")
}
