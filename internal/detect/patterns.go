package detect

import (
	"context"

	"github.com/gatehouse-gateway/gatehouse"
)

// patterns finds instructions aimed at the model by their wording.
type patterns struct {
	rules    []rule
	words    *automaton
	literals []literal // by word

	attacks, quotations talkWords
}

// literal is a word that rules wait for.
type literal struct {
	rules []int
	size  int
	whole bool // it begins with a letter or digit of ASCII, and counts where no other stands before it
}

func newPatterns() (*patterns, error) {
	rules, err := loadRules()
	if err != nil {
		return nil, err
	}
	p := &patterns{rules: rules, attacks: newTalkWords(attacks()), quotations: newTalkWords(quotations())}
	index := map[string]int{}
	var words []string
	for i, r := range rules {
		for _, word := range r.Literals {
			word = foldRunes(word)
			id, known := index[word]
			if !known {
				id = len(words)
				index[word], words = id, append(words, word)
				p.literals = append(p.literals, literal{size: len(word), whole: wordByte(word[0])})
			}
			p.literals[id].rules = append(p.literals[id].rules, i)
		}
	}
	p.words = newAutomaton(words)
	return p, nil
}

func (*patterns) Name() string { return "patterns" }

const (
	// windowBefore and windowAfter bound what a rule's expression sees around a literal, in bytes.
	windowBefore, windowAfter = 120, 240
	// windowMax bounds windows that run into each other, so that one call of an expression stays short.
	windowMax = 4096
)

// window is the stretch of text that one rule is to look at next; none where to is 0.
type window struct{ from, to int }

func (p *patterns) Detect(ctx context.Context, t Text, n *Normalized) []gatehouse.Finding {
	var all []gatehouse.Finding
	var waiting []window // of each rule; nil until a literal is found
	p.words.each(n.Text, func(word uint32, end int) bool {
		l := &p.literals[word]
		if l.whole && end > l.size && wordByte(n.Text[end-l.size-1]) {
			return true
		}
		if waiting == nil {
			waiting = make([]window, len(p.rules))
		}
		for _, i := range l.rules {
			if !p.rules[i].on(t.Channel) {
				continue
			}
			w := &waiting[i]
			if w.to > 0 && end-windowBefore <= w.to && w.to-w.from < windowMax {
				w.to = min(end+windowAfter, len(n.Text))
				continue
			}
			if w.to > 0 {
				all = append(all, p.match(i, n, *w)...)
			}
			*w = window{max(end-windowBefore, 0), min(end+windowAfter, len(n.Text))}
		}
		return ctx.Err() == nil
	})
	for i, w := range waiting {
		if ctx.Err() != nil {
			break
		}
		if w.to > 0 {
			all = append(all, p.match(i, n, w)...)
		}
	}
	return all
}

// match runs one rule on one stretch.
func (p *patterns) match(i int, n *Normalized, w window) []gatehouse.Finding {
	r := &p.rules[i]
	from := runeStart(n.Text, w.from)
	seen := n.Text[from:runeStart(n.Text, w.to)]
	if r.needed != nil && !r.needed.any(seen) {
		return nil
	}
	var all []gatehouse.Finding
	for _, m := range r.compiled().matches(seen) {
		score := r.Score
		if p.mentioned(n.Text, from+m[0], from+m[1]) {
			score = min(score, mentionMax)
		}
		start, end := n.origin(from+m[0], from+m[1])
		s := paired(n.Original, sentence(n.Original, span{start, end}, n.json, r.Reach == "line"))
		all = append(all, gatehouse.Finding{
			Kind: "injection", Type: r.Type, Detector: "patterns/" + r.ID,
			Score: score, Severity: severity(score), Start: s.start, End: s.end,
		})
	}
	return all
}
