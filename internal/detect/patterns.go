package detect

import (
	"context"
	"slices"
	"sync"

	"github.com/gatehouse-gateway/gatehouse"
)

// patterns finds instructions aimed at the model by their wording.
type patterns struct {
	rules    []rule
	words    *automaton
	literals []literal // by word
	silent   bool      // no rule is for what a model says

	attacks, quotations talkWords
	spare               sync.Pool // of *[]window, one for each rule, all zero
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
	p.silent = !slices.ContainsFunc(rules, func(r rule) bool { return r.on(Output) })
	p.spare.New = func() any {
		all := make([]window, len(rules))
		return &all
	}
	return p, nil
}

func (*patterns) Name() string { return "patterns" }

const (
	// windowBefore and windowAfter bound what a rule's expression sees around a literal, in bytes.
	windowBefore, windowAfter = 120, 240
	// windowMax bounds windows that run into each other, so that one call of an expression stays short.
	windowMax = 4096
)

// window is the stretch of text that one rule is to look at next; none where to is 0. found is how many findings there were with the rule's
// last; 0 without one. more says that this runs into the one before, and begins behind it.
type window struct {
	from, to, found int
	more            bool
}

func (p *patterns) Detect(ctx context.Context, t Text, n *Normalized) []gatehouse.Finding {
	if p.silent && t.Channel == Output {
		return nil
	}
	l := patternLook{patterns: p, n: n, saturation: saturation{from: -1, before: n.root().decisive}}
	var waiting *[]window // of each rule; nil until a literal is found
	p.words.each(n.Text, func(word uint32, end int) bool {
		w := &p.literals[word]
		if w.whole && end > w.size && wordByte(n.Text[end-w.size-1]) {
			return true
		}
		if waiting == nil {
			waiting = p.spare.Get().(*[]window) //nolint:errcheck // the pool holds nothing else
		}
		for _, i := range w.rules {
			if !p.rules[i].on(t.Channel) {
				continue
			}
			w := &(*waiting)[i]
			if w.to > 0 && end-windowBefore <= w.to && w.to-w.from < windowMax {
				w.to = min(end+windowAfter, len(n.Text))
				continue
			}
			if w.to > 0 {
				l.cursor = end
				l.match(w, &p.rules[i])
			}
			w.from, w.to = max(end-windowBefore, 0), min(end+windowAfter, len(n.Text))
		}
		return l.from < 0 && ctx.Err() == nil
	})
	if waiting == nil {
		return nil
	}
	if l.from < 0 {
		l.cursor = len(n.Text) + windowBefore
	}
	for i := range *waiting {
		w := &(*waiting)[i]
		if l.from >= 0 {
			w.to = min(w.to, l.from+windowAfter)
		}
		if w.to > w.from && ctx.Err() == nil {
			l.match(w, &p.rules[i])
		}
	}
	n.root().decisive += len(l.phrases)
	clear(*waiting)
	p.spare.Put(waiting)
	if l.from >= 0 {
		n.rest.Store(int64(len(n.Text) - l.from))
		l.all = append(l.all, l.saturation.rest(n))
	}
	return l.all
}

// patternLook is one look through a text.
type patternLook struct {
	*patterns
	n   *Normalized
	all []gatehouse.Finding

	saturation
	cursor int // how far literals have been looked for

	plain      span // of the original: no sentence ends in it
	attacks    silence
	quotations silence
}

// match runs one rule on its window.
func (l *patternLook) match(w *window, r *rule) {
	n := l.n
	from := runeStart(n.Text, w.from)
	seen := n.Text[from:runeStart(n.Text, w.to)]
	if r.needed != nil && !r.needed.any(seen) {
		return
	}
	for _, m := range r.compiled().matches(seen) {
		if l.from >= 0 && from+m[0] >= l.from {
			break
		}
		if !r.barred(seen[:m[0]]) {
			l.found(w, r, from+m[0], from+m[1])
		}
	}
}

// found notes a match of a rule in the normalised text. Those that run into each other become two findings, and one in the end: the first may
// say nothing new beside another detector's.
func (l *patternLook) found(w *window, r *rule, from, to int) {
	n := l.n
	if r.Score >= decisiveFrom && !l.mentioned(n.Text, from, to) {
		l.add(span{from, to}, r.Type, l.cursor)
	}
	start, end := n.origin(from, to)
	s := paired(n.Original, sentenceIn(n.Original, span{start, end}, n.json, r.Reach == "line", &l.plain))
	if w.found > 0 {
		last := &l.all[w.found-1]
		runs := s.start >= last.Start && s.start < last.End && n.smooth(s) && (w.more || n.smooth(span{last.Start, last.End}))
		if runs && (w.more || s == span{last.Start, last.End}) {
			last.End = max(last.End, s.end)
			if last.Score < r.Score && !l.mentioned(n.Text, from, to) {
				last.Score, last.Severity = r.Score, severity(r.Score)
			}
			return
		}
		w.more = runs && s.start > last.Start
	}
	score := r.Score
	if l.mentioned(n.Text, from, to) {
		score = min(score, mentionMax)
	}
	l.all = append(l.all, gatehouse.Finding{
		Kind: "injection", Type: r.Type, Detector: "patterns/" + r.ID,
		Score: score, Severity: severity(score), Start: s.start, End: s.end,
	})
	w.found = len(l.all)
}
