package detect

import (
	"context"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
)

// secrets finds keys, tokens and passwords by the rules of gitleaks. A keyword must occur before a rule's expression is
// tried, and then only where the keyword says that a match may stand.
type secrets struct {
	rules  []*secretRule
	words  *automaton
	cues   *cueTable   // with the same words: most texts are searched once for both
	byWord [][]keyword // word → rules
	byPart [secretParts][][]keyword
}

// keyword is a word as one rule uses it.
type keyword struct {
	rule, size int
	use        use
}

func newSecrets() (*secrets, error) {
	rules, _, err := gitleaksRules()
	if err != nil {
		return nil, err
	}
	s := &secrets{rules: rules}
	index := map[string]int{}
	var words []string
	for i, r := range rules {
		for k, word := range r.keywords {
			id, known := index[word]
			if !known {
				id = len(words)
				index[word], words, s.byWord = id, append(words, word), append(s.byWord, nil)
			}
			s.byWord[id] = append(s.byWord[id], keyword{i, len(word), r.uses[k]})
		}
	}
	s.divide()
	s.words, s.cues = newAutomaton(words), newCueTable(words...)
	return s, nil
}

func (*secrets) Name() string { return "secrets" }

// Detect looks at the text with escapes undone: the letter of \n would make one word with a key behind it. Two backslashes
// may as well stand for one, as in C:\\npm, and what follows them begins a word then; so such a text is looked at as it
// was given, too. Addresses escape signs in their own way.
func (s *secrets) Detect(ctx context.Context, t Text, n *Normalized) []gatehouse.Finding {
	plain := n.unescaped()
	all := plain.back(s.known(ctx, n, plain.text, s.byWord))
	if ambiguous(t, &plain) {
		all = append(all, s.find(ctx, t.Text)...)
	}
	if escaped := addresses(t.Text); escaped.text != "" {
		all = append(all, escaped.back(s.find(ctx, escaped.text))...)
	}
	return specific(all)
}

// ambiguous reports whether backslashes of a text may stand for one or for two.
func ambiguous(t Text, plain *unescaped) bool {
	return plain.origin != nil && strings.Contains(t.Text, `\\`)
}

// known finds secrets in a reading without escapes by some rules. Where their words stand was found when cues were.
func (s *secrets) known(ctx context.Context, n *Normalized, text string, rules [][]keyword) []gatehouse.Finding {
	if n.sought != s.cues {
		return s.find(ctx, text)
	}
	l := secretLook{secrets: s, text: text, byWord: rules}
	for _, o := range n.stands {
		if !l.word(ctx, o.word, o.end) {
			break
		}
	}
	return l.all
}

func (s *secrets) find(ctx context.Context, text string) []gatehouse.Finding {
	l := secretLook{secrets: s, text: text, byWord: s.byWord}
	s.words.each(text, func(word uint32, end int) bool { return l.word(ctx, word, end) })
	return l.all
}

// word looks at what a keyword may name. It reports whether there is time for more.
func (l *secretLook) word(ctx context.Context, word uint32, end int) bool {
	for _, k := range l.byWord[word] {
		l.look(k, end)
	}
	return ctx.Err() == nil
}
