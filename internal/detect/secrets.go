package detect

import (
	"context"
	"sort"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
)

// secrets finds keys, tokens and passwords by the rules of gitleaks. A keyword must occur before a rule's expression is
// tried, on the lines around the keyword alone.
type secrets struct {
	rules  []*secretRule
	allow  []*allowlist // for all rules
	words  *automaton
	byWord [][]int // word → rules
}

func newSecrets() (*secrets, error) {
	rules, allow, err := gitleaksRules()
	if err != nil {
		return nil, err
	}
	s := &secrets{rules: rules, allow: allow}
	index := map[string]int{}
	var words []string
	for i, r := range rules {
		for _, word := range r.keywords {
			id, known := index[word]
			if !known {
				id = len(words)
				index[word], words, s.byWord = id, append(words, word), append(s.byWord, nil)
			}
			s.byWord[id] = append(s.byWord[id], i)
		}
	}
	s.words = newAutomaton(words)
	return s, nil
}

func (*secrets) Name() string { return "secrets" }

const (
	// secretBefore and secretAfter bound what an expression sees around a keyword, in bytes, before that is widened to
	// whole lines by lineReach at most. The longest tokens that rules describe have about a thousand characters.
	secretBefore, secretAfter, lineReach = 128, 512, 256
	// blockAfter is for keys in PEM and the like.
	blockAfter = chunkOverlap - 256
	// secretMax bounds windows that run into each other.
	secretMax = 16 << 10
)

// Detect looks at the text with escapes undone: the letter of \n would make one word with a key behind it. Two backslashes
// may as well stand for one, as in C:\\npm, and what follows them begins a word then; so such a text is looked at as it
// was given, too.
func (s *secrets) Detect(ctx context.Context, t Text, n *Normalized) []gatehouse.Finding {
	plain := n.unescaped()
	all := plain.back(s.find(ctx, plain.text))
	if plain.origin != nil && strings.Contains(t.Text, `\\`) {
		all = append(all, s.find(ctx, t.Text)...)
	}
	return specific(all)
}

func (s *secrets) find(ctx context.Context, text string) []gatehouse.Finding {
	var all []gatehouse.Finding
	open := map[int]window{}
	look := func(i int, w window) {
		all = append(all, s.match(s.rules[i], text, w)...)
	}
	s.words.each(text, func(word uint32, end int) bool {
		for _, i := range s.byWord[word] {
			r := s.rules[i]
			if !r.plausible(text, end) {
				continue
			}
			w, waiting := open[i]
			next := r.window(text, end)
			if waiting && next.from <= w.to && w.to-w.from < secretMax {
				open[i] = window{w.from, next.to}
				continue
			}
			if waiting {
				look(i, w)
			}
			open[i] = next
		}
		return ctx.Err() == nil
	})
	for i, w := range open {
		if ctx.Err() != nil {
			break
		}
		look(i, w)
	}
	return all
}

// match runs one rule on one window.
func (s *secrets) match(r *secretRule, text string, w window) []gatehouse.Finding {
	var all []gatehouse.Finding
	part := text[w.from:w.to]
	for _, m := range r.expression().FindAllStringSubmatchIndex(part, -1) {
		from, to := r.secret(m)
		if from >= to {
			continue
		}
		hit := candidate{secret: part[from:to], match: part[m[0]:m[1]], line: lineOf(part, m[0], m[1])}
		if r.entropy > 0 && entropy(hit.secret) <= r.entropy || allowed(s.allow, hit) || allowed(r.allow, hit) {
			continue
		}
		all = append(all, gatehouse.Finding{
			Kind: "secret", Type: r.id, Detector: "secrets/" + r.id, Score: 1, Severity: gatehouse.Critical,
			Start: w.from + from, End: w.from + to,
		})
	}
	return all
}

// lineOf is the whole lines that hold a match.
func lineOf(text string, from, to int) string {
	start := strings.LastIndexByte(text[:from], '\n') + 1
	if end := strings.IndexByte(text[to:], '\n'); end >= 0 {
		return text[start : to+end]
	}
	return text[start:]
}

const genericRule = "generic-api-key"

// specific drops findings of the generic rule that a rule with a name for them covers.
func specific(all []gatehouse.Finding) []gatehouse.Finding {
	if len(all) < 2 {
		return all
	}
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i], all[j]
		if (a.Type == genericRule) != (b.Type == genericRule) {
			return b.Type == genericRule
		}
		return a.Start < b.Start || a.Start == b.Start && a.Type < b.Type
	})
	out := all[:0]
	named := 0
	for _, f := range all {
		if f.Type != genericRule {
			named++
		} else if overlaps(out[:named], f) {
			continue
		}
		out = append(out, f)
	}
	return out
}

// overlaps reports whether f overlaps one of the findings, which are sorted by Start.
func overlaps(list []gatehouse.Finding, f gatehouse.Finding) bool {
	i := sort.Search(len(list), func(i int) bool { return list[i].Start >= f.End })
	for i--; i >= 0; i-- {
		if list[i].End > f.Start {
			return true
		}
		if list[i].Start+secretMax < f.Start {
			return false
		}
	}
	return false
}
