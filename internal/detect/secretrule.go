package detect

import (
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// secretRule is one rule of gitleaks, ready to be used on texts.
type secretRule struct {
	id       string
	source   string // the expression as its authors wrote it
	keywords []string
	uses     []use // of each keyword
	entropy  float64
	group    int
	allow    []*allowlist
	spaced   bool // a match may hold white space
	tailed   bool // behind a value stands what ends one
	bounded  bool // a match begins where a word does
	lined    bool // an allowlist looks at the line around a match
	least    int  // characters of a match, or of the value that is assigned
	most     int

	search func() *expression // finds a match in a text
	begin  func() *expression // matches where one begins
	value  func() *expression // matches where an assigned value begins; nil of rules that are not about assignments

	leniency func() *leniency // all allowlists that go for it
}

// use is what a keyword says about where a match stands.
type use byte

const (
	nearby use = iota // somewhere around
	begins            // the match begins with the keyword
	names             // the keyword is in the name that a value is assigned to
)

func newSecretRule(g gitleaksRule, memory *dfaMemory) (*secretRule, error) {
	whole, err := syntax.Parse(g.Regex, syntax.Perl)
	if err != nil {
		return nil, err
	}
	r := &secretRule{
		id: g.ID, source: g.Regex, entropy: g.Entropy, group: g.SecretGroup, allow: allowlists(g.Allowlist, g.Allowlists, memory),
		search:  compiled(widened(g.Regex), memory),
		begin:   compiled(`\A(?:`+widened(g.Regex)+`)`, memory),
		spaced:  spaced(g.Regex),
		bounded: strings.HasPrefix(strings.TrimPrefix(g.Regex, "(?i)"), `\b`),
	}
	r.least, r.most = lengths(whole)
	if err := r.assigns(g.Regex, memory); err != nil {
		return nil, err
	}
	first, _ := heads(whole)
	for _, k := range g.Keywords {
		k = strings.ToLower(k)
		if slices.Contains(r.keywords, k) {
			continue
		}
		u := nearby
		if slices.ContainsFunc(first, func(head string) bool { return strings.HasPrefix(head, k) }) {
			u = begins
		} else if r.value != nil {
			continue // it is in the value
		}
		r.keywords, r.uses = append(r.keywords, k), append(r.uses, u)
	}
	return r, nil
}

// nameLeast is how much must be known of a name that goes on.
const nameLeast = 4

// assigns makes a rule one about an assignment, where its expression is: the names become its keywords.
func (r *secretRule) assigns(expression string, memory *dfaMemory) error {
	before, after, ok := strings.Cut(expression, operators+valueStart)
	if !ok || strings.Contains(before, "|"+operators) {
		return nil
	}
	if strings.Count(before, "(") > strings.Count(before, ")") {
		before += ")"
	}
	name, err := syntax.Parse(strings.NewReplacer(`[\w.-]{0,50}?`, "", `(?:[ \t\w.-]{0,20})`, "", nameEnd, "").Replace(before), syntax.Perl)
	if err != nil {
		return err
	}
	list, whole := heads(name)
	if slices.ContainsFunc(list, func(head string) bool { return head == "" || !whole && len(head) < nameLeast }) {
		return nil
	}
	flags := ""
	if strings.HasPrefix(expression, "(?i)") {
		flags = "(?i)"
	}
	value, err := syntax.Parse(flags+after, syntax.Perl)
	if err != nil {
		return err
	}
	for _, k := range list {
		if !slices.Contains(r.keywords, k) {
			r.keywords, r.uses = append(r.keywords, k), append(r.uses, names)
		}
	}
	r.least, r.most = lengths(value)
	r.tailed = strings.HasSuffix(after, tail)
	r.value = compiled(flags+`\A(?:`+widened(after)+`)`, memory)
	return nil
}

func compiled(pattern string, memory *dfaMemory) func() *expression {
	return sync.OnceValue(func() *expression { return newExpression(pattern, memory) })
}

// spaced reports whether matches of an expression may hold white space.
func spaced(expression string) bool {
	body := strings.TrimSuffix(strings.TrimSuffix(expression, tail), azureTail)
	body = strings.TrimPrefix(body, azureHead)
	for _, part := range []string{" ", `\s`, "[^", ".*", ".{", `\n`, `\t`, "(?s"} {
		if strings.Contains(body, part) {
			return true
		}
	}
	return false
}

// secretLeast is less than any secret has. A group that holds less is one of the parts of a repetition.
const secretLeast = 6

// secret is where the secret stands in a match: in the rule's group, else in the first group that holds one, else it is the match. A
// group with a name says what sort of secret it is.
func (r *secretRule) secret(e *expression, m []int) (from, to int) {
	if r.group > 0 && 2*r.group+1 < len(m) {
		return m[2*r.group], m[2*r.group+1]
	}
	sorts := e.exact.SubexpNames()
	for i := 1; 2*i+1 < len(m); i++ {
		if from, to = m[2*i], m[2*i+1]; to-from >= secretLeast && sorts[i] == "" {
			return from, to
		}
	}
	return m[0], m[1]
}
