package detect

import (
	"fmt"
	"math/rand"
	"os"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
)

// everySecret makes the tests with generated secrets as large as the figures in the documentation were measured with.
const everySecret = "GATEHOUSE_SECRETS_FULL"

// share is a part of a whole.
type share struct{ part, all int }

func (s share) rate() float64 { return float64(s.part) / float64(max(s.all, 1)) }

func (s *share) count(hit bool) {
	s.all++
	if hit {
		s.part++
	}
}

// TestSecretRules generates secrets of every rule from its own expression and puts them where tools write them.
func TestSecretRules(t *testing.T) {
	each := 3
	if os.Getenv(everySecret) != "" {
		each = 40
	}
	s := set(t, "secrets")
	rules, _, err := gitleaksRules()
	if err != nil {
		t.Fatal(err)
	}
	detector := s.detectors[0].(*secrets)
	byCarrier, all := map[string]*share{}, share{}
	for _, r := range rules {
		g := newSecretSampler(t, detector, r)
		found, why := share{}, map[string]int{}
		for range each {
			name, value, secret := g.secret()
			if value == "" {
				t.Errorf("%s: no secret could be made", r.id)
				break
			}
			for _, c := range g.carriers() {
				text, written := c.write(name, value, secret)
				hit := covered(scan(t, s, text), text, written)
				found.count(hit)
				all.count(hit)
				if byCarrier[c.name] == nil {
					byCarrier[c.name] = &share{}
				}
				byCarrier[c.name].count(hit)
				if !hit {
					why[c.name]++
				}
			}
		}
		if found.part < found.all {
			t.Logf("%s: %d of %d", r.id, found.part, found.all)
		}
		if found.rate() < 0.95 {
			t.Errorf("%s: %d of %d found; missed %v", r.id, found.part, found.all, why)
		}
	}
	t.Logf("%d rules, %d of %d found", len(rules), all.part, all.all)
	for _, c := range carriers {
		if n := byCarrier[c.name]; n != nil {
			t.Logf("%-16s %d of %d", c.name, n.part, n.all)
		}
	}
}

// covered reports whether nine tenths of what is written are within findings.
func covered(r Result, text, written string) bool {
	start := strings.Index(text, written)
	if start < 0 || written == "" {
		panic("the carrier does not hold the value: " + fmt.Sprintf("%q", text))
	}
	end, n := start+len(written), 0
	for _, f := range r.Findings {
		n += max(0, min(f.End, end)-max(f.Start, start))
	}
	return n*10 >= len(written)*9
}

// secretSampler makes secrets of one rule, with the names that the rule asks for.
type secretSampler struct {
	sampler
	detector *secrets
	rule     *secretRule
	whole    *syntax.Regexp
	name     *syntax.Regexp // of what stands before the operator; nil where the rule asks for none
}

func newSecretSampler(t *testing.T, detector *secrets, r *secretRule) *secretSampler {
	t.Helper()
	g := &secretSampler{sampler: sampler{rand.New(rand.NewSource(7))}, detector: detector, rule: r} //nolint:gosec // repeatable on purpose
	parse := func(text string) *syntax.Regexp {
		e, err := syntax.Parse(text, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	g.whole = parse(r.source)
	if before, _, assigns := strings.Cut(r.source, operators); assigns {
		if strings.Count(before, "(") > strings.Count(before, ")") {
			before += ")"
		}
		g.name = parse(regexp.MustCompile(`\[\\w\.-]\{0,50}\?|\(\?:\[ \\t\\w\.-]\{0,20}\)|\[\\s'"]\{0,3}`).ReplaceAllString(before, ""))
	}
	return g
}

// secret is a name and a value that the rule takes for a secret, as far as its entropy and allowlists go, and the part of the value
// that is secret.
func (g *secretSampler) secret() (name, value, secret string) {
	source := &expression{exact: regexp.MustCompile(g.rule.source)}
	for range 10_000 {
		match := g.text(g.whole)
		m := source.find(match)
		if m == nil {
			continue
		}
		from, to := g.rule.secret(source, m)
		value, secret = match[from:to], strings.TrimSpace(match[from:to])
		hit := candidate{secret: value, match: match[m[0]:m[1]], line: match}
		bare := hit
		bare.secret = strings.Trim(value, `"`)
		if entropy(value) <= g.rule.entropy || g.allows(hit) || g.allows(bare) {
			continue
		}
		if slices.Contains(wholeMatches, g.rule.id) {
			if value = match[m[0]:m[1]]; !g.keyword(value) {
				continue
			}
		}
		return g.named(value), strings.TrimSpace(value), secret
	}
	return "", "", ""
}

func (g *secretSampler) allows(c candidate) bool {
	return g.rule.leniency().allows(c)
}

// named is a name for a value: what the rule asks for, with a word behind it.
func (g *secretSampler) named(value string) string {
	if g.name != nil {
		return g.text(g.name) + g.pick("_key", "_api_key", "_token", "_SECRET", "")
	}
	if g.keyword(value) {
		return g.pick("API_KEY", "token", "secret", "value")
	}
	return g.rule.keywords[0] + "_token"
}

// keyword reports whether a value holds one of the rule's keywords.
func (g *secretSampler) keyword(value string) bool {
	low := strings.ToLower(value)
	return slices.ContainsFunc(g.rule.keywords, func(k string) bool { return strings.Contains(low, k) })
}

// wholeMatches are rules about more than a value: what they match stands for itself.
var wholeMatches = []string{
	"curl-auth-header", "curl-auth-user", "freemius-secret-key", "kubernetes-secret-yaml", "nuget-config-password", "private-key",
	"sidekiq-sensitive-url",
}

func (g *secretSampler) carriers() []carrier {
	if !slices.Contains(wholeMatches, g.rule.id) {
		return carriers
	}
	all := []carrier{
		plainCarrier("text", "The notes of today:\n\nVALUE\n\nRegards"),
		plainCarrier("code block", "# Notes\n\n```\nVALUE\n```\n"),
		plainCarrier("log", "2026-03-11T10:22:01Z INFO done\nVALUE\n2026-03-11T10:22:02Z INFO done\n"),
	}
	for _, c := range carriers {
		if slices.Contains([]string{"JSON", "JSON in JSON", "base64"}, c.name) {
			all = append(all, c)
		}
	}
	return all
}
