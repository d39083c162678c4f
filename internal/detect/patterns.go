package detect

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/gatehouse-gateway/gatehouse"
)

//go:embed rules/injection.yaml
var injectionRules []byte

// rule is one injection pattern as rules/injection.yaml has it, where the fields are explained.
type rule struct {
	ID              string    `yaml:"id"`
	Description     string    `yaml:"description"`
	Type            string    `yaml:"type"`
	Score           float64   `yaml:"score"`
	Literals        []string  `yaml:"literals"`
	Needs           []string  `yaml:"needs"`
	Pattern         string    `yaml:"pattern"`
	Reach           string    `yaml:"reach"`
	Channels        []Channel `yaml:"channels"`
	Examples        []string  `yaml:"examples"`
	CounterExamples []string  `yaml:"counter_examples"`

	compiled func() *regexp.Regexp
	needed   *automaton // of Needs; nil without
}

// patterns finds instructions aimed at the model by their wording.
type patterns struct {
	rules  []rule
	words  *automaton
	byWord [][]int // word → rules
	talk   talkWords
}

func newPatterns() (*patterns, error) {
	rules, err := parseRules(injectionRules)
	if err != nil {
		return nil, err
	}
	p := &patterns{rules: rules, talk: newTalkWords()}
	index := map[string]int{}
	var words []string
	for i, r := range rules {
		for _, word := range r.Literals {
			word = foldRunes(word)
			id, known := index[word]
			if !known {
				id = len(words)
				index[word], words, p.byWord = id, append(words, word), append(p.byWord, nil)
			}
			p.byWord[id] = append(p.byWord[id], i)
		}
	}
	p.words = newAutomaton(words)
	return p, nil
}

func parseRules(doc []byte) ([]rule, error) {
	var rules []rule
	d := yaml.NewDecoder(bytes.NewReader(doc))
	d.KnownFields(true)
	if err := d.Decode(&rules); err != nil {
		return nil, err
	}
	for i := range rules {
		r := &rules[i]
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", r.ID, err)
		}
		pattern := foldRunes(r.Pattern)
		r.compiled = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
		if len(r.Needs) > 0 {
			var words []string
			for _, word := range r.Needs {
				words = append(words, foldRunes(word))
			}
			r.needed = newAutomaton(words)
		}
	}
	return rules, nil
}

func (r *rule) check() error {
	switch {
	case r.ID == "" || r.Type == "" || r.Description == "":
		return errors.New("id, type and description are required")
	case len(r.Literals) == 0 || slices.Contains(r.Literals, "") || slices.Contains(r.Needs, ""):
		return errors.New("needs literals")
	case r.Score <= 0 || r.Score > 1:
		return errors.New("score must be in 0..1")
	case r.Reach != "" && r.Reach != "sentence" && r.Reach != "line":
		return errors.New("reach must be sentence or line")
	}
	return nil
}

func (r *rule) on(c Channel) bool {
	if len(r.Channels) == 0 {
		return c != Output // the model may quote what it read
	}
	return slices.Contains(r.Channels, c)
}

func (*patterns) Name() string { return "patterns" }

const (
	// windowBefore and windowAfter bound what a rule's expression sees around a literal, in bytes.
	windowBefore, windowAfter = 120, 240
	// windowMax bounds windows that run into each other, so that one call of an expression stays short.
	windowMax = 4096
)

// window is the stretch of text that one rule is to look at next.
type window struct{ from, to int }

func (p *patterns) Detect(ctx context.Context, t Text, n *Normalized) []gatehouse.Finding {
	var all []gatehouse.Finding
	open := map[int]window{}
	look := func(i int, w window) {
		all = append(all, p.match(i, n, w)...)
	}
	p.words.each(n.Text, func(word uint32, end int) bool {
		for _, i := range p.byWord[word] {
			if !p.rules[i].on(t.Channel) {
				continue
			}
			w, waiting := open[i]
			if waiting && end-windowBefore <= w.to && w.to-w.from < windowMax {
				open[i] = window{w.from, min(end+windowAfter, len(n.Text))}
				continue
			}
			if waiting {
				look(i, w)
			}
			open[i] = window{max(end-windowBefore, 0), min(end+windowAfter, len(n.Text))}
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
func (p *patterns) match(i int, n *Normalized, w window) []gatehouse.Finding {
	r := &p.rules[i]
	from := runeStart(n.Text, w.from)
	seen := n.Text[from:runeStart(n.Text, w.to)]
	if r.needed != nil && !r.needed.any(seen) {
		return nil
	}
	var all []gatehouse.Finding
	for _, m := range r.compiled().FindAllStringIndex(seen, -1) {
		score := r.Score
		if p.mentioned(n.Text, from+m[0], from+m[1]) {
			score = min(score, mentionMax)
		}
		start, end := n.origin(from+m[0], from+m[1])
		s := sentence(n.Original, span{start, end}, n.json, r.Reach == "line")
		all = append(all, gatehouse.Finding{
			Kind: "injection", Type: r.Type, Detector: "patterns/" + r.ID,
			Score: score, Severity: severity(score), Start: s.start, End: s.end,
		})
	}
	return all
}
