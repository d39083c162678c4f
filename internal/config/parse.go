package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Load reads a file. See [Parse].
func Load(path string) (*Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	return Parse(path, data)
}

// Parse reads a configuration over the defaults. Its error is [Problems], all of them; name is the file they name.
func Parse(name string, data []byte) (*Config, error) {
	c, d := Default(), &decoder{file: name, lines: map[string]int{}}
	if root := d.document(data); root != nil {
		d.section(root, "", c.fields())
		d.check(c)
	}
	if len(d.problems) > 0 {
		slices.SortStableFunc(d.problems, func(a, b Problem) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) })
		return nil, d.problems
	}
	return c, nil
}

// decoder walks the nodes of a document and collects what is wrong with them.
type decoder struct {
	file     string
	problems Problems
	lines    map[string]int // path → line, of every key and item that was met
}

// line is where a path stands, or the section around it; 1 when the file does not have it.
func (d *decoder) line(path string) int {
	for path != "" {
		if n, ok := d.lines[path]; ok {
			return n
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return 1
}

func (d *decoder) fail(line int, path, format string, args ...any) {
	d.problems = append(d.problems, Problem{File: d.file, Line: line, Path: path, Message: fmt.Sprintf(format, args...)})
}

// document is the one document of a file; nil when there is none, or none that can be read.
func (d *decoder) document(data []byte) *yaml.Node {
	var doc, second yaml.Node
	var refs references
	dec := yaml.NewDecoder(bytes.NewReader(refs.hide(data)))
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		d.syntax(err)
		return nil
	}
	if err := dec.Decode(&second); err == nil {
		d.fail(max(second.Line, 1), "", "a second document: a configuration is one")
	} else if !errors.Is(err, io.EOF) {
		d.syntax(err)
	}
	refs.restore(&doc)
	return doc.Content[0]
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// syntax reports an error of the YAML reader, which puts the line into the text.
func (d *decoder) syntax(err error) {
	line, text := 1, err.Error()
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		text = text[len(m[0]):]
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = n
		}
	}
	d.fail(line, "", "not valid YAML: %s", text)
}

// entries are the keys and values of a mapping, each key once. Null is an empty mapping: what is left of a section whose
// lines are all commented out.
func (d *decoder) entries(n *yaml.Node, path string) []entry {
	n = resolve(n)
	if n.Kind != yaml.MappingNode {
		if n.Tag != "!!null" {
			d.fail(n.Line, path, "must be a mapping of keys to values")
		}
		return nil
	}
	var out []entry
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode {
			d.fail(key.Line, path, "a key must be a plain word")
			continue
		}
		at := join(path, key.Value)
		if line, ok := first[key.Value]; ok {
			d.fail(key.Line, at, "written twice, first on line %d", line)
			continue
		}
		first[key.Value], d.lines[at] = key.Line, key.Line
		out = append(out, entry{key.Value, at, key.Line, n.Content[i+1]})
	}
	return out
}

type entry struct {
	key, path string
	line      int
	node      *yaml.Node
}

// section reads a mapping whose keys are known.
func (d *decoder) section(n *yaml.Node, path string, fields []field) {
	for _, e := range d.entries(n, path) {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == e.key })
		if i < 0 {
			d.fail(e.line, e.path, "unknown key%s", suggestion(e.key, fields))
			continue
		}
		fields[i].read(d, e.node, e.path)
	}
}

// suggestion names a key that the unknown one may have been meant to be.
func suggestion(key string, fields []field) string {
	plain := func(s string) string { return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(s)) }
	for _, f := range fields {
		a, b := plain(key), plain(f.name)
		if a == b || a+"s" == b || a == b+"s" {
			return "; did you mean " + f.name + "?"
		}
	}
	return ""
}

// list reads a sequence, item by item.
func (d *decoder) list(n *yaml.Node, path string, item func(n *yaml.Node, path string)) bool {
	n = resolve(n)
	if n.Kind != yaml.SequenceNode {
		d.fail(n.Line, path, "must be a list")
		return false
	}
	for i, one := range n.Content {
		at := fmt.Sprintf("%s[%d]", path, i)
		d.lines[at] = one.Line
		item(one, at)
	}
	return true
}

// scalar is the text of a single value, with variables filled in.
func (d *decoder) scalar(n *yaml.Node, path string) (string, bool) {
	n = resolve(n)
	if n.Kind != yaml.ScalarNode {
		d.fail(n.Line, path, "must be a single value")
		return "", false
	}
	if n.Tag == "!!null" {
		d.fail(n.Line, path, "has no value; remove the key to get the default")
		return "", false
	}
	text, err := expand(n.Value, os.LookupEnv)
	if err != nil {
		d.fail(n.Line, path, "%v", err)
		return "", false
	}
	return text, true
}

// resolve follows an alias to what it stands for.
func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
