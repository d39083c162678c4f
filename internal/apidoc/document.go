package main

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// document is what the reference takes from openapi.yaml.
type document struct {
	Info struct {
		Description string
	}
	Tags  []struct{ Name, Description string }
	Paths ordered[ordered[yaml.Node]]

	Components struct {
		Parameters ordered[parameter]
		Headers    ordered[header]
		Responses  ordered[response]
		Schemas    ordered[schema]
	}
}

// operation is one method of one path.
type operation struct {
	Method, Path string

	Tags        []string
	OperationID string `yaml:"operationId"`
	Summary     string
	Description string
	Parameters  []parameter
	RequestBody struct {
		Required bool
		Content  ordered[media]
	} `yaml:"requestBody"`
	Responses ordered[response]
}

type parameter struct {
	Ref         string `yaml:"$ref"`
	Name, In    string
	Description string
	Required    bool
	Schema      schema
}

type header struct {
	Ref         string `yaml:"$ref"`
	Description string
	Schema      schema
}

type response struct {
	Ref         string `yaml:"$ref"`
	Description string
	Headers     ordered[header]
	Content     ordered[media]
}

type media struct{ Schema schema }

// schema is a JSON Schema as far as openapi.yaml uses it.
type schema struct {
	Ref         string `yaml:"$ref"`
	Description string
	Type        yaml.Node
	Enum        []*string
	Const       yaml.Node
	Format      string
	Pattern     string
	Minimum     *int64
	Maximum     *int64
	MaxLength   *int64 `yaml:"maxLength"`
	MaxItems    *int64 `yaml:"maxItems"`
	Default     yaml.Node
	Items       *schema
	Properties  ordered[schema]
	Required    []string
	OneOf       []schema `yaml:"oneOf"`
	AnyOf       []schema `yaml:"anyOf"`
}

// UnmarshalYAML also takes true, the schema of anything.
func (s *schema) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return nil
	}
	type plain schema
	return n.Decode((*plain)(s))
}

// ordered is a mapping in the order of the file.
type ordered[T any] []entry[T]

type entry[T any] struct {
	Name  string
	Value T
}

// find finds an entry; it is empty when there is none.
func (o ordered[T]) find(name string) (found T) {
	for _, e := range o {
		if e.Name == name {
			return e.Value
		}
	}
	return found
}

// UnmarshalYAML reads a mapping.
func (o *ordered[T]) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: want a mapping", n.Line)
	}
	for i := 0; i < len(n.Content); i += 2 {
		e := entry[T]{Name: n.Content[i].Value}
		if err := n.Content[i+1].Decode(&e.Value); err != nil {
			return err
		}
		*o = append(*o, e)
	}
	return nil
}

// read reads openapi.yaml.
func read(raw []byte) (d document, list []operation, err error) {
	if err := yaml.Unmarshal(raw, &d); err != nil {
		return d, nil, err
	}
	for _, path := range d.Paths {
		var shared []parameter
		for _, method := range path.Value {
			if method.Name == "parameters" {
				if err := method.Value.Decode(&shared); err != nil {
					return d, nil, err
				}
				continue
			}
			o := operation{Method: strings.ToUpper(method.Name), Path: path.Name}
			if err := method.Value.Decode(&o); err != nil {
				return d, nil, fmt.Errorf("%s %s: %w", o.Method, o.Path, err)
			}
			o.Parameters = slices.Concat(shared, o.Parameters)
			list = append(list, o)
		}
	}
	return d, list, nil
}

// headers are those of all answers, by their names on the wire.
func (d document) headers() map[string]header {
	all := map[string]header{}
	add := func(r response) {
		for _, h := range r.Headers {
			if h.Value.Ref != "" {
				all[h.Name] = d.Components.Headers.find(last(h.Value.Ref))
			} else if _, known := all[h.Name]; !known && h.Value.Description != "" {
				all[h.Name] = header{Description: h.Value.Description, Schema: schema{Type: yaml.Node{Kind: yaml.ScalarNode, Value: "string"}}}
			}
		}
	}
	for _, r := range d.Components.Responses {
		add(r.Value)
	}
	for _, path := range d.Paths {
		for _, method := range path.Value {
			var o operation
			if method.Value.Decode(&o) == nil {
				for _, r := range o.Responses {
					add(r.Value)
				}
			}
		}
	}
	return all
}

// last is the name that a reference ends in.
func last(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }
