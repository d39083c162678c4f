package config

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"
)

const mask = "********"

// Masked is the effective configuration as YAML, with secrets masked.
func (c *Config) Masked() []byte {
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(showFields(c.fields())); err != nil {
		panic(err) // nodes of our own making into memory
	}
	return out.Bytes()
}

func showFields(fields []field) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, f := range fields {
		if v := f.show(); v != nil {
			n.Content = append(n.Content, scalarNode(f.name), v)
		}
	}
	return n
}

// scalarNode escapes what would be read as a variable; the encoder quotes what would be read as another type.
func scalarNode(text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: strings.ReplaceAll(text, "${", "$${")}
	if text == "" || text == "null" || text == "~" || strings.ContainsAny(text, "*?#&!|>%@`\"'") {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

func showTexts(items []string) *yaml.Node {
	if items == nil {
		return nil
	}
	n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, s := range items {
		n.Content = append(n.Content, scalarNode(s))
	}
	return n
}
