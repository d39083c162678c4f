package detect

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

//go:embed rules/*.yaml rules/languages/*.yaml
var ruleFiles embed.FS

// rule is one injection pattern as the files in rules have it; rules/README.md explains the fields.
type rule struct {
	ID              string    `yaml:"id"`
	Description     string    `yaml:"description"`
	Type            string    `yaml:"type"`
	Score           float64   `yaml:"score"`
	Literals        []string  `yaml:"literals"`
	Needs           []string  `yaml:"needs"`
	Pattern         wordings  `yaml:"pattern"`
	NotAfter        []string  `yaml:"not_after"`
	Reach           string    `yaml:"reach"`
	Channels        []Channel `yaml:"channels"`
	Examples        []string  `yaml:"examples"`
	CounterExamples []string  `yaml:"counter_examples"`

	compiled func() *expression
	needed   *automaton // of Needs; nil without
}

// wordings is an expression, or a list of them of which one has to match.
type wordings string

// UnmarshalYAML reads one expression or a list.
func (w *wordings) UnmarshalYAML(n *yaml.Node) error {
	var list []string
	if n.Kind != yaml.SequenceNode {
		list = append(list, n.Value)
	} else if err := n.Decode(&list); err != nil {
		return err
	}
	*w = wordings(strings.Join(list, "|"))
	return nil
}

// loadRules reads all rule files, in order of their paths.
func loadRules() ([]rule, error) {
	var all []rule
	memory := &dfaMemory{limit: dfaBytes}
	err := fs.WalkDir(ruleFiles, "rules", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".yaml" {
			return err
		}
		doc, err := ruleFiles.ReadFile(name)
		if err != nil {
			return err
		}
		rules, err := parseRules(doc, memory)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, rules...)
		return nil
	})
	return all, err
}

// parseRules reads one file. The expressions of its rules share a memory.
func parseRules(doc []byte, memory *dfaMemory) ([]rule, error) {
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
		pattern := foldRunes(string(r.Pattern))
		r.compiled = sync.OnceValue(func() *expression { return newExpression(pattern, memory) })
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

// barred reports whether a match does not count behind a text.
func (r *rule) barred(before string) bool {
	before = strings.TrimRight(before, " \n")
	return slices.ContainsFunc(r.NotAfter, func(end string) bool { return strings.HasSuffix(before, end) })
}

func (r *rule) on(c Channel) bool {
	if len(r.Channels) == 0 {
		return c != Output // the model may quote what it read
	}
	return slices.Contains(r.Channels, c)
}
