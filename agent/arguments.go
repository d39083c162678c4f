package agent

import (
	"encoding/json"
	"strings"
	"unicode"
)

// object is what the gate has read in a call's arguments: nothing is an empty object, and a string may hold one.
func object(arguments string) json.RawMessage {
	arguments = strings.TrimSpace(arguments)
	if inner := ""; strings.HasPrefix(arguments, `"`) && json.Unmarshal([]byte(arguments), &inner) == nil {
		arguments = strings.TrimSpace(inner)
	}
	if arguments == "" {
		arguments = "{}"
	}
	return json.RawMessage(arguments)
}

// ambiguous reports whether an object in the arguments has two names that differ in case alone: the gate judges one of them, and
// a handler that reads with encoding/json takes the other.
func ambiguous(arguments string) bool {
	var v any
	return json.Unmarshal(object(arguments), &v) == nil && folds(v)
}

func folds(v any) bool {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if folds(e) {
				return true
			}
		}
	case map[string]any:
		seen := map[string]bool{}
		for name, e := range v {
			name = strings.Map(folded, name)
			if seen[name] || folds(e) {
				return true
			}
			seen[name] = true
		}
	}
	return false
}

// folded is the smallest of the runes that differ from r in case alone, as encoding/json compares names.
func folded(r rune) rune {
	for {
		next := unicode.SimpleFold(r)
		if next <= r {
			return next
		}
		r = next
	}
}
