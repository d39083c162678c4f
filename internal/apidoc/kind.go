package main

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// kind says in a few words what a schema allows.
func (p *page) kind(s schema) string {
	if s.Ref != "" {
		name := last(s.Ref)
		return "[" + name + "](#" + strings.ToLower(name) + ")"
	}
	if choices := slices.Concat(s.OneOf, s.AnyOf); len(choices) > 0 {
		var names []string
		for _, c := range choices {
			names = append(names, p.kind(c))
		}
		return strings.Join(names, " or ")
	}
	words := values(s)
	if words == nil {
		words = p.types(s)
	}
	for _, bound := range []struct {
		format string
		value  *int64
	}{{"at least %d", s.Minimum}, {"at most %d", s.Maximum}, {"at most %d characters", s.MaxLength}, {"at most %d of them", s.MaxItems}} {
		if bound.value != nil {
			words = append(words, fmt.Sprintf(bound.format, *bound.value))
		}
	}
	if s.Pattern != "" {
		words = append(words, "`"+cell(s.Pattern)+"`")
	}
	if s.Default.Value != "" {
		words = append(words, s.Default.Value+" when it is left out")
	}
	return strings.Join(words, ", ")
}

// values are those that an enumeration allows; nil when it is none.
func values(s schema) []string {
	list := s.Enum
	if s.Const.Kind == yaml.ScalarNode {
		list = append(list, &s.Const.Value)
	}
	var words []string
	for _, v := range list {
		if v == nil {
			words = append(words, "null")
		} else {
			words = append(words, "`"+*v+"`")
		}
	}
	return words
}

// types are the JSON types of a schema.
func (p *page) types(s schema) []string {
	var names []string
	switch s.Type.Kind {
	case yaml.ScalarNode:
		names = []string{s.Type.Value}
	case yaml.SequenceNode:
		for _, n := range s.Type.Content {
			names = append(names, n.Value)
		}
	default:
		names = []string{"any JSON"}
	}
	text := strings.Join(names, " or ")
	if s.Items != nil {
		text += " of " + p.kind(*s.Items)
	}
	if len(s.Properties) > 0 {
		var fields []string
		for _, f := range s.Properties {
			fields = append(fields, "`"+f.Name+"`: "+p.kind(f.Value))
		}
		text += " (" + strings.Join(fields, "; ") + ")"
	}
	if s.Format != "" {
		text += ", " + s.Format
	}
	return []string{text}
}

// cell is a text fit for a cell of a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}
