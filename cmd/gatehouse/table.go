package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// column is a column of a table for people: its head, the field of the resource that stands in it (a.b is b of a), and what stands
// there when the field is empty.
type column struct{ head, field, empty string }

// cell is what stands in the column.
func (c column) cell(resource map[string]any) string {
	var value any = resource
	for name := range strings.SplitSeq(c.field, ".") {
		inner, _ := value.(map[string]any) //nolint:errcheck // a field that is not there is empty
		value = inner[name]
	}
	text := ""
	switch v := value.(type) {
	case nil:
	case []any:
		words := make([]string, len(v))
		for i := range v {
			words[i] = fmt.Sprint(v[i])
		}
		text = strings.Join(words, ",")
	case string:
		text = v
		if at, err := time.Parse(time.RFC3339Nano, v); err == nil {
			text = at.UTC().Format(time.RFC3339) // whole seconds are enough for people
		}
	default:
		text = fmt.Sprint(v)
	}
	if text == "" {
		text = c.empty
	}
	if text == "" {
		text = "-"
	}
	return printable(text)
}

// writeTable writes resources as lines of a table.
func writeTable(w io.Writer, columns []column, list []json.RawMessage) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	heads := make([]string, len(columns))
	for i, c := range columns {
		heads[i] = c.head
	}
	fmt.Fprintln(tw, strings.Join(heads, "\t"))
	for _, raw := range list {
		resource, err := fields(raw)
		if err != nil {
			return err
		}
		cells := make([]string, len(columns))
		for i, c := range columns {
			cells[i] = c.cell(resource)
		}
		fmt.Fprintln(tw, strings.Join(cells, "\t"))
	}
	return tw.Flush()
}

// writeSheet writes one resource, a line for each column.
func writeSheet(w io.Writer, columns []column, raw json.RawMessage) error {
	resource, err := fields(raw)
	if err != nil {
		return err
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range columns {
		fmt.Fprintf(tw, "%s\t%s\n", strings.ToLower(c.head), c.cell(resource))
	}
	return tw.Flush()
}

func fields(raw json.RawMessage) (resource map[string]any, err error) {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	err = dec.Decode(&resource)
	return resource, err
}

// show writes one resource for whoever asked: a person or a machine.
func (a *admin) show(w io.Writer, columns []column, raw json.RawMessage) error {
	if a.json {
		return writeJSON(w, raw)
	}
	return writeSheet(w, columns, raw)
}

// list writes resources likewise; for a machine as one JSON list.
func (a *admin) list(w io.Writer, columns []column, list []json.RawMessage) error {
	if a.json {
		return writeJSON(w, list)
	}
	return writeTable(w, columns, list)
}

// reveal writes a secret that is shown once: the secret alone on standard output, and what it is on standard error. For a machine
// it is a field of the resource.
func (a *admin) reveal(stdout, stderr io.Writer, raw json.RawMessage, field, what string) error {
	resource, err := fields(raw)
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "%s %s. It is shown this once: keep it now.\n", what, printable(fmt.Sprint(resource["id"])))
	if a.json {
		return writeJSON(stdout, raw)
	}
	_, err = fmt.Fprintln(stdout, resource[field])
	return err
}
