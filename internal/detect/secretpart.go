package detect

import (
	"context"

	"github.com/gatehouse-gateway/gatehouse"
)

const (
	// secretParts is how many parts the rules fall into: the generic one, which may take as long as all others, and the others by turns.
	secretParts = 3
	// secretWords is how many words that may name a secret make it worth to look at them several times.
	secretWords = 128
)

// parts are rules, none of which knows what another has found, and the other ways to look at a text. The findings of one rule keep their
// order; that of rules is no matter, as [specific] sorts.
func (s *secrets) parts(ctx context.Context, t Text, n *Normalized) (parts []part, join func() []gatehouse.Finding) {
	var found [secretParts + 2][]gatehouse.Finding
	plain := n.unescaped()
	rules := 1
	if n.sought == s.cues && len(n.stands) >= secretWords {
		rules = secretParts
	}
	for i := range rules {
		by := s.byWord
		if rules > 1 {
			by = s.byPart[i]
		}
		parts = append(parts, part{weightWord * len(n.stands) / rules, func() { found[i] = plain.back(s.known(ctx, n, plain.text, by)) }})
	}
	if ambiguous(t, &plain) {
		parts = append(parts, part{weightByte * len(t.Text), func() { found[secretParts] = s.find(ctx, t.Text) }})
	}
	parts = append(parts, part{weightByte * len(t.Text), func() {
		if escaped := addresses(t.Text); escaped.text != "" {
			found[secretParts+1] = escaped.back(s.find(ctx, escaped.text))
		}
	}})
	return parts, func() []gatehouse.Finding {
		var all []gatehouse.Finding
		for _, list := range found {
			all = append(all, list...)
		}
		return specific(all)
	}
}

// divide sorts keywords by the parts that their rules belong to.
func (s *secrets) divide() {
	for i := range s.byPart {
		s.byPart[i] = make([][]keyword, len(s.byWord))
	}
	for word, all := range s.byWord {
		for _, k := range all {
			i := 0
			if s.rules[k.rule].id != genericRule {
				i = 1 + k.rule%(secretParts-1)
			}
			s.byPart[i][word] = append(s.byPart[i][word], k)
		}
	}
}
