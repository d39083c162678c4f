package config

import (
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
)

var verdicts = []gatehouse.Verdict{gatehouse.Allow, gatehouse.Flag, gatehouse.Block}

func (c *Config) tools() field {
	flag := texts("flag", "Tools that need approval: globs. Replaces the built-in list; [] turns it off.", &c.Tools.Flag, anything)
	readFlag := flag.read
	flag.read = func(d *decoder, n *yaml.Node, path string) {
		readFlag(d, n, path)
		c.Tools.FlagSet = true
	}
	return section("tools", "What the agent may call.",
		texts("allow", "The fence: globs. A tool outside is blocked.", &c.Tools.Allow, anything),
		flag,
		c.provenance(),
		c.rules(),
	)
}

func (c *Config) provenance() field {
	words := []gatehouse.Verdict{policy.Off, gatehouse.Flag, gatehouse.Block}
	return value("provenance", "Verdict for calls with side effects whose destination comes from a tool result that held an injection: off, flag or block.",
		object{"enum": words},
		func(s string) error {
			err := chooseWord(gatehouse.Verdict(s), &c.Tools.Provenance, words, nil)
			if c.Tools.Provenance == policy.Off {
				c.Tools.Provenance = ""
			}
			return err
		},
		func() string {
			if c.Tools.Provenance == "" {
				return string(policy.Off)
			}
			return string(c.Tools.Provenance)
		})
}

func (c *Config) rules() field {
	return field{"rules", "Rules; of all that match, the strictest counts.",
		func(d *decoder, n *yaml.Node, path string) {
			rules := []policy.Rule{}
			if d.list(n, path, func(n *yaml.Node, path string) {
				r := policy.Rule{Line: n.Line}
				before := len(d.problems)
				d.section(n, path, ruleFields(&r))
				if len(d.problems) == before && (r.Tool == "" || r.Verdict == "") {
					d.fail(n.Line, path, "needs a tool and a verdict")
				}
				rules = append(rules, r)
			}) {
				c.Tools.Rules = rules
			}
		},
		func() *yaml.Node {
			if len(c.Tools.Rules) == 0 {
				return nil
			}
			out := &yaml.Node{Kind: yaml.SequenceNode}
			for _, r := range c.Tools.Rules {
				one := showFields(ruleFields(&r))
				one.Style = yaml.FlowStyle
				out.Content = append(out.Content, one)
			}
			return out
		},
		object{"type": "array", "items": fieldsSchema(ruleFields(new(policy.Rule)))},
	}
}

func ruleFields(r *policy.Rule) []field {
	return []field{
		text("tool", "A glob over the full name.", &r.Tool, func(s string) error {
			if s == "" {
				return errors.New("must name a tool")
			}
			return nil
		}),
		choice("verdict", "What happens to its calls.", &r.Verdict, verdicts),
		condition("when", "The rule counts only when this is true: an expression of CEL.", &r.When, &r.WhenAt),
		condition("unless", "The rule counts only when this is false: an expression of CEL.", &r.Unless, &r.UnlessAt),
	}
}

// condition remembers where its text stands, so that what is wrong inside it can be pointed at.
func condition(name, doc string, to *string, at *policy.Position) field {
	f := text(name, doc, to, func(s string) error {
		if strings.TrimSpace(s) == "" {
			return errors.New("must not be empty; remove the key for a rule without a condition")
		}
		return nil
	})
	read := f.read
	f.read = func(d *decoder, n *yaml.Node, path string) {
		read(d, n, path)
		*at = position(resolve(n), *to)
	}
	f.show = func() *yaml.Node {
		if *to == "" {
			return nil
		}
		return scalarNode(*to)
	}
	return f
}

// position is where the text of a scalar begins. Only the line is known of a block, and of a text that variables changed.
func position(n *yaml.Node, text string) policy.Position {
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return policy.Position{Line: n.Line + 1, Private: n.Value != text}
	case n.Value != text:
		return policy.Position{Line: n.Line, Private: true}
	case n.Style&yaml.SingleQuotedStyle != 0:
		return policy.Position{Line: n.Line, Column: n.Column + 1, Escaped: "'"}
	case n.Style&yaml.DoubleQuotedStyle != 0:
		return policy.Position{Line: n.Line, Column: n.Column + 1, Escaped: `"\`}
	}
	return policy.Position{Line: n.Line, Column: n.Column}
}

// policy reports what is wrong with the tools section as a whole, unless it was said before.
func (d *decoder) policy(err error) {
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	before := d.problems
	for _, one := range all {
		var p *policy.Error
		if !errors.As(one, &p) {
			d.fail(d.line("tools"), "tools", "%v", one)
			continue
		}
		known := func(have Problem) bool { return have.Path == p.Path || strings.HasPrefix(p.Path, have.Path+".") }
		if slices.ContainsFunc(before, known) {
			continue
		}
		problem := Problem{d.file, p.Line, p.Column, p.Path, p.Reason}
		if p.Column == 0 {
			problem.Line = max(p.Line, d.line(p.Path)) // one is the rule's, and the nearer comes later
		}
		d.problems = append(d.problems, problem)
	}
}
