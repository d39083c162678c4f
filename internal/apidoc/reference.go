package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// reference is docs/api.md of openapi.yaml.
func reference(raw []byte) (string, error) {
	d, list, err := read(raw)
	if err != nil {
		return "", err
	}
	p := &page{document: d, used: map[string]bool{}, failures: map[string]bool{}, headers: d.headers()}
	p.line("# The HTTP API\n")
	p.line("<!-- Made of openapi.yaml by: go run ./internal/apidoc openapi.yaml > docs/api.md -->\n")
	p.line("%s\n", strings.TrimSpace(d.Info.Description))
	for _, tag := range d.Tags {
		p.index(tag.Name, tag.Description, list)
	}
	for _, tag := range d.Tags {
		p.operations(tag.Name, list)
	}
	p.tables()
	p.line("## Schemas\n")
	for _, s := range d.Components.Schemas {
		p.schema(s.Name, s.Value)
	}
	return strings.TrimRight(p.text.String(), "\n") + "\n", nil
}

// page is the reference as far as it is written.
type page struct {
	document document
	text     strings.Builder
	used     map[string]bool   // names of parameters
	failures map[string]bool   // status and name of answers
	headers  map[string]header // by the name on the wire
}

func (p *page) line(format string, args ...any) { fmt.Fprintf(&p.text, format+"\n", args...) }

// index lists the operations of a tag.
func (p *page) index(tag, description string, list []operation) {
	p.line("**%s**: %s\n", tag, description)
	p.line("| | |\n|---|---|")
	for _, o := range list {
		if slices.Contains(o.Tags, tag) {
			p.line("| [`%s %s`](#%s) | %s |", o.Method, o.Path, strings.ToLower(o.OperationID), cell(o.Summary))
		}
	}
	p.line("")
}

// operations describes those of a tag.
func (p *page) operations(tag string, list []operation) {
	p.line("## Operations: %s\n", tag)
	for _, o := range list {
		if !slices.Contains(o.Tags, tag) {
			continue
		}
		p.line("### %s\n", o.OperationID)
		p.line("`%s %s`: %s. %s\n", o.Method, o.Path, o.Summary, strings.TrimSpace(o.Description))
		p.parameters(o)
		for _, m := range o.RequestBody.Content {
			optional := ""
			if !o.RequestBody.Required {
				optional = ", may be left out"
			}
			p.line("Body%s: %s\n", optional, p.kind(m.Value.Schema))
		}
		p.answers(o)
	}
}

// parameters names those of an operation; the table describes them.
func (p *page) parameters(o operation) {
	var names []string
	for _, q := range o.Parameters {
		if q.Ref != "" {
			p.used[last(q.Ref)] = true
			q = p.document.Components.Parameters.find(last(q.Ref))
		}
		names = append(names, "`"+q.Name+"`")
	}
	if len(names) > 0 {
		p.line("Parameters: %s\n", strings.Join(names, ", "))
	}
}

// answers tells the successful ones of an operation, and names the errors, which the table describes.
func (p *page) answers(o operation) {
	var errors []string
	for _, r := range o.Responses {
		if r.Value.Ref != "" && r.Name >= "400" && r.Name < "600" {
			errors = append(errors, r.Name)
			p.failures[r.Name+last(r.Value.Ref)] = true
			continue
		}
		answer := r.Value
		if answer.Ref != "" {
			answer = p.document.Components.Responses.find(last(answer.Ref))
		}
		p.line("%s: %s%s\n", r.Name, bodies(p, answer), answer.Description)
	}
	if len(errors) > 0 {
		p.line("Errors: %s\n", strings.Join(errors, ", "))
	}
}

func bodies(p *page, r response) string {
	var names []string
	for _, m := range r.Content {
		if name := p.kind(m.Value.Schema); m.Name == "application/json" {
			names = append(names, name)
		} else {
			names = append(names, m.Name)
		}
	}
	if names == nil {
		return ""
	}
	return strings.Join(names, " or ") + ". "
}

// tables describes the parameters and errors that operations have named.
func (p *page) tables() {
	p.line("## Parameters\n\n| parameter | in | | |\n|---|---|---|---|")
	for _, q := range p.document.Components.Parameters {
		if p.used[q.Name] {
			p.line("| `%s` | %s | %s | %s |", q.Value.Name, q.Value.In, p.kind(q.Value.Schema), cell(q.Value.Description))
		}
	}
	p.line("\n## Errors\n\n| status | body | |\n|---|---|---|")
	for _, row := range p.errors() {
		p.line("| %s |", row)
	}
	p.line("\n## Headers of answers\n\n| header | | |\n|---|---|---|")
	for _, name := range slices.Sorted(maps.Keys(p.headers)) {
		h := p.headers[name]
		p.line("| `%s` | %s | %s |", name, p.kind(h.Schema), cell(h.Description))
	}
	p.line("")
}

// errors are the rows of the table of errors, by their first status: those with the same body and the same words are one.
func (p *page) errors() []string {
	var rows []string
	at := map[string]int{}
	for _, failure := range slices.Sorted(maps.Keys(p.failures)) {
		status, name := failure[:3], failure[3:]
		r := p.document.Components.Responses.find(name)
		said := strings.TrimSuffix(bodies(p, r), ". ") + " | " + cell(r.Description)
		i, known := at[said]
		if !known {
			i = len(rows)
			at[said], rows = i, append(rows, "")
		}
		if before, _, _ := strings.Cut(rows[i], " | "); before != "" {
			if strings.HasSuffix(before, status) {
				continue
			}
			status = before + ", " + status
		}
		rows[i] = status + " | " + said
	}
	return rows
}

// schema describes a named one.
func (p *page) schema(name string, s schema) {
	p.line("### %s\n", name)
	if len(s.Properties) == 0 {
		p.line("%s\n", strings.TrimSpace(p.kind(s)+". "+s.Description))
		return
	}
	if s.Description != "" {
		p.line("%s\n", s.Description)
	}
	p.line("| field | | |\n|---|---|---|")
	for _, f := range s.Properties {
		name := "`" + f.Name + "`"
		if !slices.Contains(s.Required, f.Name) {
			name += ", optional"
		}
		p.line("| %s | %s | %s |", name, p.kind(f.Value), cell(f.Value.Description))
	}
	p.line("")
}
