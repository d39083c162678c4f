package config

import (
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// reference is a variable as it may stand anywhere in a file. One with quotation marks, escapes or line ends in its default
// is left to YAML, which knows what those mean.
var reference = regexp.MustCompile(`\$?\$\{[A-Za-z_][A-Za-z0-9_]*(?::-[^}\r\n"'\\]*)?\}|` + standInStart)

// standIn is what stands for a reference while YAML is read: a number between two characters of Unicode's private area.
var standIn = regexp.MustCompile(standInStart + `([0-9]+)` + standInEnd)

const standInStart, standInEnd = "\uE000", "\uE001"

// references are those of a file. YAML would take their braces for a mapping.
type references []string

// hide puts plain characters in place of the references. No line end comes or goes.
func (r *references) hide(data []byte) []byte {
	return reference.ReplaceAllFunc(data, func(ref []byte) []byte {
		*r = append(*r, string(ref))
		return []byte(standInStart + strconv.Itoa(len(*r)-1) + standInEnd)
	})
}

// restore puts the references back into the scalars of a document.
func (r references) restore(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode {
		n.Value = standIn.ReplaceAllStringFunc(n.Value, func(s string) string {
			i, err := strconv.Atoi(s[len(standInStart) : len(s)-len(standInEnd)])
			if err != nil || i >= len(r) {
				return s // written in the file by an escape
			}
			return r[i]
		})
	}
	for _, c := range n.Content {
		r.restore(c)
	}
}
