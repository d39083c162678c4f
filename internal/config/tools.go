package config

import (
	"errors"

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
	provenance := later("provenance", "Verdict for calls whose arguments come from a tainted tool result.", "off")
	provenance.show = func() *yaml.Node { return scalarNode("off") }
	return section("tools", "What the agent may call.",
		texts("allow", "The fence: globs. A tool outside is blocked.", &c.Tools.Allow, anything),
		flag,
		provenance,
		c.rules(),
	)
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
		condition("when"),
		condition("unless"),
	}
}

// condition is refused: a rule without its condition would be another rule.
func condition(name string) field {
	f := later(name, "When the rule counts.")
	f.read = func(d *decoder, n *yaml.Node, path string) {
		d.fail(resolve(n).Line, path, "conditions are not supported yet")
	}
	return f
}
