package detect

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
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
	var rules []*secretRule
	for _, r := range file.Rules {
		if r.Regex == "" || len(r.Keywords) == 0 {
			continue // about file names alone
		}
		rules = append(rules, newSecretRule(r))
	}
	return rules, allowlists(file.Allowlist, file.Allowlists), nil
}

// secretRule is one rule of gitleaks, ready to be used on texts.
type secretRule struct {
	id         string
	keywords   []string
	entropy    float64
	group      int
	allow      []*allowlist
	shape      shape
	expression func() *regexp.Regexp
}

// shape is what can be said about a rule's matches without trying its expression.
type shape byte

const (
	anyShape   shape = iota
	assignment       // a name, which holds the keyword, an operator, a value
	token            // no white space: the keyword is part of one long word
	block            // a key in PEM
)

const (
	operators = `(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)`
	tail      = `(?:[\x60'"\s;]|\\[nr]|$)`
)

func newSecretRule(r gitleaksRule) *secretRule {
	s := &secretRule{
		id: r.ID, entropy: r.Entropy, group: r.SecretGroup,
		allow:      allowlists(r.Allowlist, r.Allowlists),
		shape:      shapeOf(r.Regex, r.Keywords),
		expression: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(r.Regex) }),
	}
	for _, k := range r.Keywords {
		s.keywords = append(s.keywords, strings.ToLower(k))
	}
	return s
}

func shapeOf(expression string, keywords []string) shape {
	body := strings.TrimSuffix(expression, tail)
	name, _, assigns := strings.Cut(strings.ToLower(body), operators)
	named := func(keyword string) bool { return strings.Contains(name, strings.ToLower(keyword)) }
	switch {
	case strings.Contains(expression, "-----BEGIN"):
		return block
	case assigns && slices.ContainsFunc(keywords, named):
		return assignment
	case strings.ContainsAny(body, " ") || strings.Contains(body, `\s`) || strings.Contains(body, "[^") ||
		strings.Contains(body, ".*") || strings.Contains(body, ".{") || strings.Contains(body, `\n`) ||
		strings.Contains(body, `\t`) || strings.Contains(body, "(?s"):
		return anyShape
	}
	return token
}

// shortestSecret is less than any rule's secret takes, with the keyword where that is part of it.
const shortestSecret = 10

// plausible reports whether a rule could match around a keyword that ends at byte end.
func (r *secretRule) plausible(text string, end int) bool {
	switch r.shape {
	case assignment:
		return assigned(text, end)
	case token:
		return wordLonger(text, end, shortestSecret)
	}
	return true
}

// assigned reports whether an operator and a word that is long enough follow the name that holds a keyword. The bounds are
// those of the rules: at most 20 more characters of the name, 3 of white space or quotes, the operator, 5 more.
func assigned(text string, end int) bool {
	near := text[end:min(end+32, len(text))]
	i := strings.IndexAny(near, "=>:|,")
	return i >= 0 && hasWord(text[end+i:min(end+i+24, len(text))], 6)
}

// hasWord reports whether a run of size characters that values are made of stands in a text.
func hasWord(text string, size int) bool {
	run := 0
	for i := range len(text) {
		switch c := text[i]; {
		case letter(c), c >= '0' && c <= '9', c == '_', c == '-', c == '+', c == '/', c == '.', c == '=', c == '%', c == '!', c == '$', c == '@':
			if run++; run >= size {
				return true
			}
		default:
			run = 0
		}
	}
	return false
}

// wordLonger reports whether the text around byte at has at least size bytes without white space.
func wordLonger(text string, at, size int) bool {
	n := 0
	for i := at - 1; i >= 0 && text[i] > ' ' && n < size; i-- {
		n++
	}
	for i := at; i < len(text) && text[i] > ' ' && n < size; i++ {
		n++
	}
	return n >= size
}

// window is what the expression sees around a keyword that ends at byte end.
func (r *secretRule) window(text string, end int) window {
	before, after := secretBefore, secretAfter
	if r.shape == block {
		after = blockAfter
	}
	if r.shape == anyShape {
		after *= 4
	}
	from, to := max(end-before, 0), min(end+after, len(text))
	if i := strings.LastIndexByte(text[max(from-lineReach, 0):from], '\n'); i >= 0 {
		from = max(from-lineReach, 0) + i + 1
	}
	if i := strings.IndexByte(text[to:min(to+lineReach, len(text))], '\n'); i >= 0 {
		to += i
	}
	return window{runeStart(text, from), runeStart(text, to)}
}

// secret is where the secret stands in a match: in the rule's group, else in the first group that holds something.
func (r *secretRule) secret(m []int) (from, to int) {
	if r.group > 0 && 2*r.group+1 < len(m) {
		return m[2*r.group], m[2*r.group+1]
	}
	for i := 2; i+1 < len(m); i += 2 {
		if m[i] >= 0 && m[i+1] > m[i] {
			return m[i], m[i+1]
		}
	}
	return m[0], m[1]
}

// candidate is a match that an allowlist may forgive.
type candidate struct{ secret, match, line string }

// allowlist says what is no secret although it looks like one.
type allowlist struct {
	target  string
	both    bool // expressions and stop words must both match
	regexes func() []*regexp.Regexp
	stop    func() *automaton // nil without stop words
}

func allowlists(one *gitleaksAllowlist, more []gitleaksAllowlist) []*allowlist {
	if one != nil {
		more = append(more, *one)
	}
	var out []*allowlist
	for _, a := range more {
		and := strings.EqualFold(a.Condition, "and")
		if and && len(a.Paths)+len(a.Commits) > 0 || len(a.Regexes)+len(a.StopWords) == 0 {
			continue // it needs a file or a commit, and a text is neither
		}
		list := &allowlist{target: a.RegexTarget, both: and && len(a.Regexes) > 0 && len(a.StopWords) > 0}
		list.regexes = sync.OnceValue(func() []*regexp.Regexp {
			var all []*regexp.Regexp
			for _, expression := range a.Regexes {
				all = append(all, regexp.MustCompile(expression))
			}
			return all
		})
		if len(a.StopWords) > 0 {
			list.stop = sync.OnceValue(func() *automaton {
				var words []string
				for _, word := range a.StopWords {
					words = append(words, strings.ToLower(word))
				}
				return newAutomaton(words)
			})
		}
		out = append(out, list)
	}
	return out
}

func allowed(lists []*allowlist, c candidate) bool {
	for _, a := range lists {
		if a.allows(c) {
			return true
		}
	}
	return false
}

func (a *allowlist) allows(c candidate) bool {
	stopped := a.stop != nil && a.stop().any(c.secret)
	if stopped != a.both {
		return stopped // one of the two is enough, or one of both is missing
	}
	target := c.secret
	switch a.target {
	case "match":
		target = c.match
	case "line":
		target = c.line
	}
	for _, expression := range a.regexes() {
		if expression.MatchString(target) {
			return true
		}
	}
	return false
}
