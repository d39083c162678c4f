package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// field is one key: how it is read, how it is shown and how an editor is told about it. The parser, the printer and the
// schema all go through the same fields, so they cannot drift apart.
type field struct {
	name   string
	doc    string
	read   func(d *decoder, n *yaml.Node, path string)
	show   func() *yaml.Node // nil when there is nothing to show
	schema object
}

// object is a JSON object on its way into the schema.
type object = map[string]any

// section is a key that holds keys.
func section(name, doc string, fields ...field) field {
	return field{name, doc,
		func(d *decoder, n *yaml.Node, path string) { d.section(n, path, fields) },
		func() *yaml.Node {
			if n := showFields(fields); len(n.Content) > 0 {
				return n
			}
			return nil
		},
		fieldsSchema(fields),
	}
}

// value is a key that holds one value. parse says what is wrong with a text, and never quotes it: it may be a secret.
func value(name, doc string, schema object, parse func(text string) error, show func() string) field {
	return field{name, doc,
		func(d *decoder, n *yaml.Node, path string) {
			text, ok := d.scalar(n, path)
			if !ok {
				return
			}
			if err := parse(text); err != nil {
				d.fail(resolve(n).Line, path, "%v", err)
			}
		},
		func() *yaml.Node { return scalarNode(show()) },
		schema,
	}
}

func text(name, doc string, to *string, wrong func(string) error) field {
	return value(name, doc, object{"type": "string"}, func(s string) error {
		if err := wrong(s); err != nil {
			return err
		}
		*to = s
		return nil
	}, func() string { return *to })
}

// choice is a word out of a list. later are words that are known and cannot be had yet.
func choice[T ~string](name, doc string, to *T, words []T, later ...T) field {
	return value(name, doc, object{"enum": words}, func(s string) error {
		return chooseWord(T(s), to, words, later)
	}, func() string { return string(*to) })
}

func chooseWord[T ~string](word T, to *T, words, later []T) error {
	switch {
	case slices.Contains(words, word):
		*to = word
		return nil
	case slices.Contains(later, word):
		return fmt.Errorf("%s is not available in this version; use %s", word, orList(words))
	}
	return fmt.Errorf("must be %s", orList(words))
}

func orList[T ~string](words []T) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = string(w)
	}
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + " or " + all[len(all)-1]
}

func boolean(name, doc string, to *bool) field {
	return value(name, doc, orVariable(object{"type": "boolean"}), func(s string) error {
		switch s {
		case "true", "false":
			*to = s == "true"
			return nil
		}
		return fmt.Errorf("must be true or false")
	}, func() string { return strconv.FormatBool(*to) })
}

// score is a number in 0..1.
func score(name, doc string, to *float64) field {
	return value(name, doc, orVariable(object{"type": "number", "minimum": 0, "maximum": 1}), func(s string) error {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsNaN(v) || v < 0 || v > 1 {
			return fmt.Errorf("must be a number from 0 to 1")
		}
		*to = v
		return nil
	}, func() string { return strconv.FormatFloat(*to, 'g', -1, 64) })
}

func count(name, doc string, to *int, least, most int) field {
	return value(name, doc, orVariable(object{"type": "integer", "minimum": least, "maximum": most}), func(s string) error {
		v, err := strconv.Atoi(s)
		if err != nil || v < least || v > most {
			return fmt.Errorf("must be a whole number from %d to %d", least, most)
		}
		*to = v
		return nil
	}, func() string { return strconv.Itoa(*to) })
}

// size is a number of bytes, at least so many.
func size(name, doc string, to *int64, least int64) field {
	return value(name, doc, object{"type": []string{"string", "integer"}}, func(s string) error {
		v, err := parseSize(s)
		if err == nil && v < least {
			err = fmt.Errorf("must be more than nothing")
		}
		if err == nil {
			*to = v
		}
		return err
	}, func() string { return formatSize(*to) })
}

func duration(name, doc string, to *time.Duration) field {
	return value(name, doc, object{"type": "string"}, func(s string) error {
		v, err := parseDuration(s)
		if err == nil && v == 0 {
			err = fmt.Errorf("must be more than nothing")
		}
		if err == nil {
			*to = v
		}
		return err
	}, func() string { return formatDuration(*to) })
}

// texts is a list of texts, which replaces the list before it.
func texts(name, doc string, to *[]string, wrong func(string) error) field {
	return field{name, doc,
		func(d *decoder, n *yaml.Node, path string) {
			items := []string{}
			ok := d.list(n, path, func(n *yaml.Node, path string) {
				s, ok := d.scalar(n, path)
				if !ok {
					return
				}
				if err := wrong(s); err != nil {
					d.fail(resolve(n).Line, path, "%v", err)
				}
				items = append(items, s)
			})
			if ok {
				*to = items
			}
		},
		func() *yaml.Node { return showTexts(*to) },
		object{"type": "array", "items": object{"type": "string"}},
	}
}

// later is a key of a version to come. Its harmless values, written as YAML, are accepted because they ask for nothing;
// anything else is refused, since to ignore it would be to promise what is not kept.
func later(name, doc string, harmless ...string) field {
	allowed := make([]any, len(harmless))
	for i, h := range harmless {
		if err := yaml.Unmarshal([]byte(h), &allowed[i]); err != nil {
			panic(err) // a constant of this package
		}
	}
	return field{name, doc + " Not available in this version.",
		func(d *decoder, n *yaml.Node, path string) {
			var v any
			if n.Decode(&v) == nil && slices.ContainsFunc(allowed, func(a any) bool { return asksNoMore(v, a) }) {
				return
			}
			d.fail(resolve(n).Line, path, "is not available in this version%s", only(harmless))
		},
		func() *yaml.Node { return nil },
		object{"description": doc + " Not available in this version."},
	}
}

func only(harmless []string) string {
	if len(harmless) == 0 {
		return ""
	}
	return "; only " + orList(harmless) + " can be written"
}

// asksNoMore reports whether a value is the harmless one, or, for a map, a part of it.
func asksNoMore(v, harmless any) bool {
	m, isMap := v.(map[string]any)
	h, wantMap := harmless.(map[string]any)
	if isMap != wantMap {
		return v == nil && wantMap
	}
	if !isMap {
		return fmt.Sprint(v) == fmt.Sprint(harmless)
	}
	for k := range m {
		if w, ok := h[k]; !ok || !asksNoMore(m[k], w) {
			return false
		}
	}
	return true
}

// orVariable lets an editor accept ${NAME} where another type stands.
func orVariable(schema object) object {
	return object{"anyOf": []object{schema, {"type": "string", "pattern": `\$\{`}}}
}

func anything(string) error { return nil }
