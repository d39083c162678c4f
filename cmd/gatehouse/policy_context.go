package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/gatehouse-gateway/gatehouse/internal/policy"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
)

// policyContext is what is known around a call, as users write it. What they leave out is an agent without a name, a
// conversation that has not begun, and values that the model made; a time that they leave out is not known.
type policyContext struct {
	Agent struct {
		ID      string `yaml:"id"`
		Name    string `yaml:"name"`
		Account string `yaml:"account"`
	} `yaml:"agent"`
	Session struct {
		ID      string  `yaml:"id"`
		Risk    float64 `yaml:"risk"`
		Tainted bool    `yaml:"tainted"`
		Turns   int     `yaml:"turns"`
	} `yaml:"session"`
	Now     time.Time    `yaml:"now"`
	Origins []caseOrigin `yaml:"origins"`
}

type caseOrigin struct {
	Value  yaml.Node     `yaml:"value"`
	Source policy.Source `yaml:"source"`
	Tool   string        `yaml:"tool"`
	// Tainted says that a result which held an injection brought the value; Partly, that only a part of it was said there.
	Tainted bool `yaml:"tainted"`
	Partly  bool `yaml:"partly"`
}

// contextKeys are the keys of the mappings in a context.
var contextKeys = map[string][]string{
	"":        {"agent", "session", "now", "origins"},
	"agent":   {"id", "name", "account"},
	"session": {"id", "risk", "tainted", "turns"},
	"origins": {"value", "source", "tool", "tainted", "partly"},
}

// UnmarshalYAML refuses unknown keys: a context of which half is not understood is another one.
func (p *policyContext) UnmarshalYAML(n *yaml.Node) error {
	if err := knownKeys(n, contextKeys[""]...); err != nil {
		return err
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		values := []*yaml.Node{n.Content[i+1]}
		switch n.Content[i].Value {
		case "now":
			continue
		case "origins":
			values = values[0].Content
		}
		for _, v := range values {
			if err := knownKeys(v, contextKeys[n.Content[i].Value]...); err != nil {
				return err
			}
		}
	}
	type plain policyContext
	if err := n.Decode((*plain)(p)); err != nil {
		return err
	}
	return p.check(n.Line)
}

func (p *policyContext) check(line int) error {
	if !(p.Session.Risk >= 0 && p.Session.Risk <= 1) {
		return fmt.Errorf("line %d: context: session.risk must be a number from 0 to 1", line)
	}
	for _, o := range p.Origins {
		switch o.Source {
		case policy.User, policy.System, policy.Model, policy.ToolResult:
		default:
			return fmt.Errorf("line %d: context: the source of an origin must be user, system, tool_result or model", line)
		}
		if o.Value.Kind != yaml.ScalarNode {
			return fmt.Errorf("line %d: context: the value of an origin must be a single value", line)
		}
	}
	return nil
}

// fill tells a call what is known around it.
func (p *policyContext) fill(c *policy.Call) {
	agent, session := policy.Agent(p.Agent), policy.Session(p.Session)
	c.Agent, c.Session, c.Now = &agent, &session, p.Now
	known := map[string]policy.Origin{}
	for _, o := range p.Origins {
		known[o.Value.Value] = policy.Origin{Source: o.Source, Tool: o.Tool, Tainted: o.Tainted, Partly: o.Partly}
	}
	c.Origin = func(value any) policy.Origin {
		if o, ok := known[fmt.Sprint(value)]; ok {
			return o
		}
		return policy.Origin{Source: policy.Model}
	}
}

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// jsonText is a value of YAML as JSON. A text is taken as the JSON that it is. Keys that stand twice stay, and numbers
// keep their digits.
func jsonText(n *yaml.Node) (string, error) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
		return n.Value, nil
	}
	var out bytes.Buffer
	if n.IsZero() {
		return "", nil
	}
	err := writeNode(&out, n, 0)
	return out.String(), err
}

func writeNode(out *bytes.Buffer, n *yaml.Node, depth int) error {
	if depth > 1000 {
		return errors.New("the arguments hold themselves, or are nested too deep")
	}
	switch n.Kind {
	case yaml.AliasNode:
		return writeNode(out, n.Alias, depth+1)
	case yaml.ScalarNode:
		return writeScalar(out, n)
	}
	open, end, step := byte('['), byte(']'), 1
	if n.Kind == yaml.MappingNode {
		open, end, step = '{', '}', 2
	}
	out.WriteByte(open)
	for i := 0; i < len(n.Content); i += step {
		if i > 0 {
			out.WriteByte(',')
		}
		if step == 2 {
			out.Write(rawjson.Quote(n.Content[i].Value))
			out.WriteByte(':')
		}
		if err := writeNode(out, n.Content[i+step-1], depth+1); err != nil {
			return err
		}
	}
	out.WriteByte(end)
	return nil
}

func writeScalar(out *bytes.Buffer, n *yaml.Node) error {
	switch tag := n.ShortTag(); {
	case (tag == "!!int" || tag == "!!float") && jsonNumber.MatchString(n.Value):
		out.WriteString(n.Value)
		return nil
	case tag == "!!int" || tag == "!!float" || tag == "!!bool" || tag == "!!null":
		var v any
		if err := n.Decode(&v); err != nil {
			return err
		}
		text, err := json.Marshal(v)
		out.Write(text)
		return err
	}
	out.Write(rawjson.Quote(n.Value))
	return nil
}
