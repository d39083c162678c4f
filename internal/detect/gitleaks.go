package detect

import (
	"fmt"
	"slices"
	"sync"

	"github.com/pelletier/go-toml/v2"
	"github.com/zricethezav/gitleaks/v8/config"
)

// gitleaksFile is the part of a gitleaks configuration that applies to texts. Paths, commits and other properties of
// files say nothing here: a rule that is limited to some file names applies to all texts.
//
// The rules come from the module that gitleaks itself is made of, so that they are kept up by its authors; we read the
// document it embeds ourselves. Its own reader goes through viper, compiles 222 expressions at once and logs; ours
// compiles each at its first use.
type gitleaksFile struct {
	Rules      []gitleaksRule      `toml:"rules"`
	Allowlist  *gitleaksAllowlist  `toml:"allowlist"`
	Allowlists []gitleaksAllowlist `toml:"allowlists"`
}

type gitleaksRule struct {
	ID          string              `toml:"id"`
	Regex       string              `toml:"regex"`
	Path        string              `toml:"path"`
	SecretGroup int                 `toml:"secretGroup"`
	Entropy     float64             `toml:"entropy"`
	Keywords    []string            `toml:"keywords"`
	Allowlist   *gitleaksAllowlist  `toml:"allowlist"`
	Allowlists  []gitleaksAllowlist `toml:"allowlists"`
}

type gitleaksAllowlist struct {
	Condition   string   `toml:"condition"`
	Paths       []string `toml:"paths"`
	Commits     []string `toml:"commits"`
	RegexTarget string   `toml:"regexTarget"`
	Regexes     []string `toml:"regexes"`
	StopWords   []string `toml:"stopwords"`
}

// gitleaksRules reads the embedded rules and the allowlists that go for all of them.
func gitleaksRules() ([]*secretRule, []*allowlist, error) {
	var file gitleaksFile
	if err := toml.Unmarshal([]byte(config.DefaultConfig), &file); err != nil {
		return nil, nil, fmt.Errorf("gitleaks configuration: %w", err)
	}
	memory := &dfaMemory{limit: dfaBytes}
	var rules []*secretRule
	for _, r := range file.Rules {
		if r.Regex == "" || len(r.Keywords) == 0 {
			continue // about file names alone
		}
		rule, err := newSecretRule(r, memory)
		if err != nil {
			return nil, nil, fmt.Errorf("gitleaks rule %s: %w", r.ID, err)
		}
		rules = append(rules, rule)
	}
	careful(file.Rules, rules, memory)
	general := allowlists(file.Allowlist, file.Allowlists, memory)
	lenient(rules, general, memory)
	return rules, general, nil
}

// lenient tells each rule of the allowlists that go for it: its own and those for all.
func lenient(rules []*secretRule, general []*allowlist, memory *dfaMemory) {
	plain := sync.OnceValue(func() *leniency { return newLeniency(general, memory) })
	for _, r := range rules {
		if r.leniency = plain; len(r.allow) > 0 {
			r.leniency = sync.OnceValue(func() *leniency { return newLeniency(slices.Concat(general, r.allow), memory) })
		}
		r.lined = slices.ContainsFunc(general, (*allowlist).aboutLine) || slices.ContainsFunc(r.allow, (*allowlist).aboutLine)
	}
}

// careful gives rules about assignments that gitleaks applies to some files alone, password = "..." say, the allowlists of the generic
// rule: what names a field in such a file is a word of any other text.
func careful(given []gitleaksRule, rules []*secretRule, memory *dfaMemory) {
	find := func(id string) *secretRule {
		i := slices.IndexFunc(rules, func(r *secretRule) bool { return r.id == id })
		return rules[max(i, 0)]
	}
	generic := find(genericRule)
	generic.allow = append(generic.allow, publicNames(memory))
	for _, g := range given {
		if r := find(g.ID); g.Path != "" && r.id == g.ID && r.value != nil {
			r.allow = append(r.allow, generic.allow...)
		}
	}
}
